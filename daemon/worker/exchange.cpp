#include "daemon/worker/exchange.hpp"

#include "daemon/store/staging.hpp"

namespace samovar::worker {

using ingest::Frame;
using ingest::MessageType;

namespace {

constexpr std::chrono::milliseconds kLookEvery{20};

Result<void> granted(const Frame& frame) {
  SAMOVAR_TRY(const jobs::Reply reply, jobs::decode_reply(frame.body));
  if (!reply.error.empty()) return Error{reply.code, reply.error};
  return {};
}

}  // namespace

Result<void> Exchange::take(Frame frame) {
  switch (frame.type) {
    case MessageType::stop:
      stop_ = true;
      return {};
    case MessageType::peer_message:
      messages_.push_back(std::move(frame));
      return {};
    case MessageType::peer_sent: {
      SAMOVAR_TRY(const auto credit, jobs::decode_peer_credit(frame.body));
      sent_ += credit.count;
      return {};
    }
    case MessageType::membership: {
      SAMOVAR_TRY(auto membership, jobs::decode_membership(frame.body));
      membership_ = std::move(membership);
      return {};
    }
    case MessageType::shards: {
      SAMOVAR_TRY(const auto come, jobs::decode_shards(frame.body));
      shards_.insert(shards_.end(), come.shards.begin(), come.shards.end());
      return {};
    }
    default:
      return Error{Errc::corrupt, "another message was expected"};
  }
}

Result<Frame> Exchange::answer(MessageType type) {
  for (;;) {
    SAMOVAR_TRY(auto frame, channel_.receive(std::chrono::hours(1)));
    if (!frame) continue;
    if (frame->type == type) return *std::move(frame);
    SAMOVAR_CHECK(take(*std::move(frame)));
  }
}

Result<void> Exchange::listen(Duration wait) {
  for (;;) {
    SAMOVAR_TRY(auto frame, channel_.receive(wait));
    if (!frame) return {};
    SAMOVAR_CHECK(take(*std::move(frame)));
    wait = Duration::zero();
  }
}

bool Exchange::stop_asked() {
  const MonoTime now = real_clock().mono();
  if (stop_ || now - looked_ < kLookEvery) return stop_;
  looked_ = now;
  // A closed socket ends it as well: nobody would hear of the result.
  if (!listen(Duration::zero())) stop_ = true;
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
  return seal(key, owner, kind, number,
              [plain](const std::function<Result<void>(ByteView)>& take) { return take(plain); });
}

Result<jobs::SavedFile> Exchange::seal(const security::SecretBytes& key, std::string_view owner,
                                       jobs::OutputKind kind, std::uint64_t number, const Pieces& pieces) {
  SAMOVAR_TRY(auto file, output(kind, number));
  SAMOVAR_TRY(const auto writer, security::SealedStreamWriter::create(
                                     std::move(file), key, jobs::output_place(owner, kind, number)));
  SAMOVAR_CHECK(pieces([&writer](ByteView piece) { return writer->append(piece); }));
  SAMOVAR_TRY(const security::SealedSummary summary, writer->finish());
  return jobs::SavedFile{kind, number, summary.plain_bytes, summary.stored_bytes, summary.hash};
}

Result<void> Exchange::keep(const jobs::SavedFile& file) {
  SAMOVAR_CHECK(say(MessageType::saved, file));
  SAMOVAR_TRY(const auto frame, answer(MessageType::kept));
  return granted(frame);
}

}  // namespace samovar::worker
