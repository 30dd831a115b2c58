// StagingReader of staging.hpp.
#include <algorithm>

#include "base/assert.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/store/staging_format.hpp"
#include "daemon/store/staging_scan.hpp"

namespace samovar::store {
namespace {

using namespace staging;

constexpr std::size_t kReadBytes = 4 * kRecordStoredMax;

}  // namespace

struct StagingReader::State {
  ~State() {
    plain.resize(plain.capacity());
    security::wipe(MutableBytes(plain));
  }

  // `count` bytes of the file from `from` on, read together with what lies behind them.
  Result<ByteView> stored(std::uint64_t from, std::size_t count) {
    const bool there =
        from >= ahead_at && from - ahead_at <= ahead.size() && ahead.size() - (from - ahead_at) >= count;
    if (!there) {
      ahead.resize(static_cast<std::size_t>(
          std::max<std::uint64_t>(count, std::min<std::uint64_t>(kReadBytes, chain_end - from))));
      ahead_at = from;
      auto got = file->read_at(from, ahead);
      ahead.resize(got ? *got : 0);
      if (!got) return std::move(got).error();
      if (ahead.size() < count) return damaged("cut off");
    }
    return ByteView(ahead).subspan(static_cast<std::size_t>(from - ahead_at), count);
  }
  // The next record's header. The chain was walked before, so one that does not fit is damage.
  Result<RecordHeader> next_header() {
    SAMOVAR_TRY(const ByteView bytes, stored(at, kRecordHeaderBytes));
    const auto header = decode_record_header(bytes);
    if (!header || header->offset != opened || header->type != RecordType::data) return damaged("a record");
    return *header;
  }
  Result<void> open_next(const RecordHeader& header, MutableBytes out) {
    SAMOVAR_TRY(const ByteView record, stored(at, header.stored()));
    if (!open_record(*key, header, record, out))
      return damaged("bytes from " + std::to_string(header.offset) + " on");
    at += header.stored();
    opened += header.length;
    return {};
  }
  Result<void> walk() {
    SAMOVAR_TRY(const std::uint64_t end, file->size());
    RecordChain chain(*file, chain_end, size, end);
    while (true) {
      SAMOVAR_TRY(const std::optional<Hop> hop, chain.next());
      if (!hop) break;
      size = chain.plain();
      chain_end = chain.at();
      if (hop->header.type == RecordType::end) SAMOVAR_CHECK(take_end(*hop));
    }
    rest = end - chain_end;
    return {};
  }
  Result<void> take_end(const Hop& hop) {
    Bytes record(hop.header.stored());
    SAMOVAR_TRY(const std::size_t got, file->read_at(hop.at, record));
    security::Hash256 hash{};
    if (got != record.size() || !open_record(*key, hop.header, record, hash)) return damaged("its end");
    sha256 = hash;
    return {};
  }

  std::unique_ptr<File> file;
  std::optional<security::SecretBytes> key;
  StagingHead head;
  std::uint64_t chain_end = 0;  // in the file: end of the last whole record
  std::uint64_t size = 0;       // plain bytes before it
  std::uint64_t rest = 0;       // bytes behind it
  std::optional<security::Hash256> sha256;
  std::uint64_t at = 0;      // in the file: the next record
  std::uint64_t opened = 0;  // plain bytes before it
  Bytes ahead;               // the file's bytes from ahead_at on
  std::uint64_t ahead_at = 0;
  Bytes plain;  // a record of which `taken` bytes were handed out
  std::size_t taken = 0;
};

StagingReader::StagingReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
StagingReader::~StagingReader() = default;

Result<std::unique_ptr<StagingReader>> StagingReader::open(std::unique_ptr<File> file,
                                                           const security::SecretBytes& key) {
  SAMOVAR_ASSERT(key.size() == security::kAeadKeyBytes);
  auto state = std::make_unique<State>();
  SAMOVAR_TRY(OpenedHead opened, read_head(*file, key));
  state->file = std::move(file);
  state->key = key.clone();
  state->head = {opened.head.upload_id, std::move(opened.about)};
  state->at = state->chain_end = opened.head.bytes();
  SAMOVAR_CHECK(state->walk());
  return std::unique_ptr<StagingReader>(new StagingReader(std::move(state)));
}

Result<std::size_t> StagingReader::read(MutableBytes out) {
  State& state = *state_;
  std::size_t done = 0;
  while (done < out.size()) {
    if (state.taken < state.plain.size()) {
      const std::size_t part = std::min(state.plain.size() - state.taken, out.size() - done);
      std::copy_n(state.plain.begin() + static_cast<std::ptrdiff_t>(state.taken), part,
                  out.begin() + static_cast<std::ptrdiff_t>(done));
      state.taken += part;
      done += part;
      continue;
    }
    if (state.opened == state.size) {
      // Behind the last record nothing else lies, once the file was recovered.
      if (done == 0 && state.rest > 0) return damaged("cut off at byte " + std::to_string(state.size));
      break;
    }
    SAMOVAR_TRY(const RecordHeader header, state.next_header());
    if (out.size() - done >= header.length) {
      SAMOVAR_CHECK(state.open_next(header, out.subspan(done, header.length)));
      done += header.length;
      continue;
    }
    state.taken = 0;
    state.plain.resize(header.length);
    if (auto opened = state.open_next(header, state.plain); !opened) {
      state.plain.clear();
      return std::move(opened).error();
    }
  }
  return done;
}

std::uint64_t StagingReader::position() const noexcept {
  return state_->opened - (state_->plain.size() - state_->taken);
}
std::uint64_t StagingReader::size() const noexcept { return state_->size; }
bool StagingReader::complete() const noexcept { return state_->sha256.has_value(); }
const std::optional<security::Hash256>& StagingReader::sha256() const noexcept { return state_->sha256; }
const StagingHead& StagingReader::head() const noexcept { return state_->head; }
Result<void> StagingReader::refresh() { return state_->walk(); }

}  // namespace samovar::store
