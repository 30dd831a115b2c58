#include "daemon/ingest/detect.hpp"

#include <algorithm>
#include <cstring>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/detect_encoding.hpp"
#include "daemon/ingest/detect_magic.hpp"
#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/sampled_source.hpp"

namespace samovar::ingest {
namespace {

// Gives bytes again that were read to have a look.
class ReplaySource final : public Source {
 public:
  ReplaySource(ByteView head, Source* rest) : head_(head), rest_(rest) {}
  Result<std::size_t> read(MutableBytes out) override {
    if (at_ == head_.size()) return rest_ == nullptr ? Result<std::size_t>(std::size_t{0}) : rest_->read(out);
    const std::size_t size = std::min(out.size(), head_.size() - at_);
    std::memcpy(out.data(), head_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return rest_ == nullptr ? at_ : rest_->raw_bytes_read(); }

 private:
  const ByteView head_;
  Source* const rest_;
  std::size_t at_ = 0;
};

// As far as the source goes, and not beyond `bytes_max`.
Result<Bytes> read_full(Source& source, std::size_t bytes_max) {
  Bytes out;
  std::size_t have = 0;
  while (have < bytes_max) {
    SAMOVAR_TRY(const std::size_t size, source.read(more_room(out, have, bytes_max)));
    if (size == 0) break;
    have += size;
  }
  out.resize(have);
  return out;
}

// Of what is only the beginning of a file: that it ends in the middle is no fault.
Result<Bytes> read_sample(Source& source, bool whole, std::size_t bytes_max) {
  Bytes out;
  std::size_t have = 0;
  while (have < bytes_max) {
    auto size = source.read(more_room(out, have, bytes_max));
    if (!size && !whole && have > 0) break;
    if (!size) return std::move(size).error();
    if (*size == 0) break;
    have += *size;
  }
  out.resize(have);
  return out;
}

Result<void> refuse(ByteView head) {
  if (auto sentence = not_a_table(head.first(std::min(head.size(), kMagicBytes))))
    return Error{Errc::invalid, *std::move(sentence)};
  return {};
}

Result<void> detect_content(const SampleText& sample, const ParseHints& hints, Detection& out) {
  if (hints.format) {
    out.options.format = *hints.format;
  } else {
    SAMOVAR_TRY(out.options.format, detect_format(sample));
    if (out.options.format == Format::csv && !hints.delimiter && !hints.header &&
        looks_like_pairs(sample, out))
      out.options.format = Format::pairs;
  }
  switch (out.options.format) {
    case Format::csv:
      return detect_csv(sample, hints, out);
    case Format::pairs:
      return detect_pairs(sample, hints, out);
    case Format::libsvm:
      return detect_libsvm(sample, out);
    case Format::arff:
      return detect_arff(sample, hints, out);
    case Format::jsonl:
      return detect_jsonl(sample, hints, out);
  }
  return {};
}

Error empty_file() { return Error{Errc::invalid, "the file is empty: there is nothing to read"}; }

}  // namespace

Result<Detection> detect(Source& raw, [[maybe_unused]] std::string_view file_name, const ParseHints& hints) {
  Detection out;
  SAMOVAR_TRY(const Bytes head, read_full(raw, kMagicBytes));
  if (head.empty()) return empty_file();
  SAMOVAR_CHECK(refuse(head));
  out.options.compression = detect_compression(head);

  ReplaySource replay(head, &raw);
  SAMOVAR_TRY(const auto unpacked, open_unpacked(replay, out.options.compression));
  SAMOVAR_TRY(const Bytes packed_sample, read_full(*unpacked, kSampleBytesMax));
  const bool whole = packed_sample.size() < kSampleBytesMax;
  if (packed_sample.empty()) return empty_file();
  SAMOVAR_CHECK(refuse(packed_sample));

  if (hints.encoding) {
    out.options.encoding = *hints.encoding;
  } else {
    SAMOVAR_TRY(out.options.encoding, detect_encoding(packed_sample, out.notes));
  }
  const auto decoded =
      make_transcoder(std::make_unique<ReplaySource>(packed_sample, nullptr), out.options.encoding);
  SAMOVAR_TRY(const Bytes text, read_sample(*decoded, whole, kSampleBytesMax));
  // Latin-1 grows by transcoding: what did not fit is missing at the end, as in any sample.
  const bool text_whole = whole && text.size() < kSampleBytesMax;
  const SampleText sample{as_text(text), text_whole};
  if (sample.text.find_first_not_of(" \t\r\n") == std::string_view::npos)
    return Error{Errc::invalid, "the file holds nothing but blanks and line ends"};
  if (!sample.whole && sample.text.find_first_of("\r\n") == std::string_view::npos)
    return Error{
        Errc::invalid,
        "the first line is longer than 4 MB: this is no table with rows and columns, or its line ends "
        "were lost"};
  SAMOVAR_CHECK(detect_content(sample, hints, out));
  return out;
}

}  // namespace samovar::ingest
