#include "daemon/ingest/detect_encoding.hpp"

#include <algorithm>

#include "daemon/ingest/decoders.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

struct Census {
  std::size_t nul_even = 0;
  std::size_t nul_odd = 0;
  std::size_t control = 0;  // what no text has: not tab, line end, form feed, nor the \x01 of Hive's tables
};

Census count(ByteView sample) {
  Census census;
  for (std::size_t i = 0; i < sample.size(); ++i) {
    const std::uint8_t byte = sample[i];
    if (byte == 0)
      ++(i % 2 == 0 ? census.nul_even : census.nul_odd);
    else if (byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r' && byte != '\f' && byte != 0x01 &&
             byte != 0x1a)
      ++census.control;
  }
  return census;
}

struct Utf8Census {
  std::size_t characters = 0;  // of more than one byte
  std::size_t faults = 0;
};

Utf8Census count_utf8(std::string_view text) {
  Utf8Census census;
  while (!text.empty()) {
    const std::size_t good = utf8_valid_prefix(text);
    for (std::size_t i = 0; i < good; ++i)
      if ((static_cast<unsigned char>(text[i]) & 0xc0) == 0xc0) ++census.characters;
    text.remove_prefix(good);
    // The sample may cut the last character in two.
    if (text.size() < 4) break;
    ++census.faults;
    text.remove_prefix(1);
  }
  return census;
}

}  // namespace

Result<Encoding> detect_encoding(ByteView sample, std::vector<std::string>& notes) {
  const auto begins = [&](std::initializer_list<std::uint8_t> mark) {
    return sample.size() >= mark.size() && std::equal(mark.begin(), mark.end(), sample.begin());
  };
  if (begins({0xef, 0xbb, 0xbf})) return Encoding::utf8;
  if (begins({0xff, 0xfe})) return Encoding::utf16le;
  if (begins({0xfe, 0xff})) return Encoding::utf16be;
  if (is_idx(sample)) return Encoding::idx;
  const Census census = count(sample);
  const std::size_t pairs = sample.size() / 2;
  // Western text in UTF-16 has a zero in nearly every pair, always on the same side.
  if (census.nul_odd > pairs / 3 && census.nul_even < pairs / 50) return Encoding::utf16le;
  if (census.nul_even > pairs / 3 && census.nul_odd < pairs / 50) return Encoding::utf16be;
  const std::size_t strange = census.nul_even + census.nul_odd + census.control;
  if (strange * 20 > sample.size())
    return Error{Errc::invalid, "this is no text but a binary file: export its table as CSV and upload that"};
  if (census.nul_even + census.nul_odd > 0)
    notes.push_back("The file has zero bytes (NUL) in it. Rows with one are counted as bad rows.");

  const Utf8Census utf8 = count_utf8(as_text(sample));
  if (utf8.faults == 0) return Encoding::utf8;
  if (utf8.characters >= utf8.faults * 4) {
    notes.push_back("The file is UTF-8, but not everywhere (places in the sample that are not: " +
                    std::to_string(utf8.faults) +
                    "). Rows with one are counted as bad rows; if there are many, "
                    "parts of the file were written in another encoding.");
    return Encoding::utf8;
  }
  std::string note =
      "The file is not UTF-8; it was read as Latin-1 (Windows-1252). Look whether accented letters "
      "are right.";
  if (utf8.characters > 0)
    note +=
        " Some places look like UTF-8 all the same: parts of the file may have been written in different "
        "encodings.";
  notes.push_back(std::move(note));
  return Encoding::latin1;
}

}  // namespace samovar::ingest
