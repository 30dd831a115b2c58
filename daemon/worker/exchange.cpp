#include "daemon/worker/exchange.hpp"

#include "daemon/store/staging.hpp"

namespace samovar::worker {

using ingest::Frame;
using ingest::MessageType;

namespace {

constexpr std::chrono::milliseconds kLookEvery{20};

// Errc::no_space: samovard refuses files when the disk is full, and says so.
Result<void> granted(const Frame& frame) {
  SAMOVAR_TRY(const jobs::Reply reply, jobs::decode_reply(frame.body));
  if (!reply.error.empty()) return Error{Errc::no_space, reply.error};
  return {};
}

}  // namespace

// Only a request to stop may come before the answer.
Result<Frame> Exchange::answer(MessageType type) {
  for (;;) {
    SAMOVAR_TRY(auto frame, channel_.receive(std::chrono::hours(1)));
    if (!frame) continue;
    if (frame->type == type) return *std::move(frame);
    if (frame->type != MessageType::stop) return Error{Errc::corrupt, "another message was expected"};
    stop_ = true;
  }
}

bool Exchange::stop_asked() {
  const MonoTime now = real_clock().mono();
  if (stop_ || now - looked_ < kLookEvery) return stop_;
  looked_ = now;
  const auto frame = channel_.receive(Duration::zero());
  // A closed socket ends it as well: nobody would hear of the result.
  if (!frame || *frame) stop_ = true;
  return stop_;
}

Result<ingest::Descriptor> Exchange::input(jobs::InputKind kind, std::uint32_t number) {
  SAMOVAR_CHECK(say(MessageType::want_input, jobs::WantInput{kind, number}));
  SAMOVAR_TRY(auto frame, answer(MessageType::input));
  SAMOVAR_CHECK(granted(frame));
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  return std::move(frame.descriptor);
}

Result<std::unique_ptr<File>> Exchange::output(jobs::OutputKind kind, std::uint64_t number) {
  SAMOVAR_CHECK(say(MessageType::want_output, jobs::WantOutput{kind, number}));
  SAMOVAR_TRY(auto frame, answer(MessageType::output));
  SAMOVAR_CHECK(granted(frame));
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  return store::file_from_descriptor(frame.descriptor.release());
}

Result<jobs::SavedFile> Exchange::seal(const security::SecretBytes& key, std::string_view owner,
                                       jobs::OutputKind kind, std::uint64_t number, ByteView plain) {
  SAMOVAR_TRY(auto file, output(kind, number));
  SAMOVAR_TRY(const auto writer, security::SealedStreamWriter::create(
                                     std::move(file), key, jobs::output_place(owner, kind, number)));
  SAMOVAR_CHECK(writer->append(plain));
  SAMOVAR_TRY(const security::SealedSummary summary, writer->finish());
  return jobs::SavedFile{kind, number, summary.plain_bytes, summary.stored_bytes, summary.hash};
}

Result<void> Exchange::keep(const jobs::SavedFile& file) {
  SAMOVAR_CHECK(say(MessageType::saved, file));
  SAMOVAR_TRY(const auto frame, answer(MessageType::kept));
  return granted(frame);
}

}  // namespace samovar::worker
