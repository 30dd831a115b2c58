// Parallel text: a sentence and its translation, a word and its sounds, a question and an answer.
#include <algorithm>
#include <array>

#include "daemon/ingest/detect_parts.hpp"
#include "daemon/ingest/infer.hpp"

namespace samovar::ingest {
namespace {

constexpr std::size_t kLinesLooked = 2000;

struct Pair {
  std::string_view source;
  std::string_view target;
  bool fits = false;  // exactly one separator
};

Pair cut(std::string_view line, char delimiter) {
  const std::string_view separator = delimiter == ' ' ? "  " : "\t";
  const std::size_t at = line.find(separator);
  if (at == line.npos) return {};
  Pair pair{trim(line.substr(0, at)), trim(line.substr(at + separator.size())), true};
  pair.fits = pair.target.find(separator) == pair.target.npos;
  return pair;
}

bool is_comment(std::string_view line) {
  return line.substr(0, 3) == ";;;" || line.substr(0, 2) == "##" || line.substr(0, 2) == "//";
}

bool has_letter(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80;
  });
}

bool is_header_word(std::string_view cell) {
  constexpr std::array<std::string_view, 22> kWords{
      "source", "target", "src",     "tgt",      "text",     "label",   "question", "answer",
      "prompt", "reply",  "english", "french",   "german",   "en",      "fr",       "de",
      "input",  "output", "word",    "sentence", "phonemes", "response"};
  std::string low;
  for (const char c : cell) low += c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return std::find(kWords.begin(), kWords.end(), low) != kWords.end();
}

std::uint64_t leading_comments(const std::vector<std::string_view>& lines) {
  std::uint64_t count = 0;
  while (count < lines.size() && (is_comment(lines[count]) || trim(lines[count]).empty())) ++count;
  return count;
}

bool fits(const std::vector<std::string_view>& lines, std::uint64_t from, char delimiter) {
  std::size_t rows = 0;
  std::size_t regular = 0;
  std::size_t prose = 0;
  for (std::size_t i = from; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    ++rows;
    const Pair pair = cut(lines[i], delimiter);
    if (!pair.fits || !has_letter(pair.source) || !has_letter(pair.target)) continue;
    ++regular;
    if (pair.source.find(' ') != pair.source.npos || pair.target.find(' ') != pair.target.npos) ++prose;
  }
  return rows >= 5 && regular * 100 >= rows * 97 && prose * 2 >= rows;
}

}  // namespace

bool looks_like_pairs(const SampleText& sample, Detection& out) {
  const auto lines = split_lines(sample.text, kLinesLooked, sample.whole);
  const std::uint64_t comments = leading_comments(lines);
  for (const char delimiter : {'\t', ' '}) {
    if (!fits(lines, comments, delimiter)) continue;
    const Pair first = cut(lines[comments], delimiter);
    // With a header it is a table of two columns like any other.
    if (is_header_word(first.source) && is_header_word(first.target)) return false;
    out.options.delimiter = delimiter;
    out.options.skip_lines = comments;
    return true;
  }
  return false;
}

Result<void> detect_pairs(const SampleText& sample, const ParseHints& hints, Detection& out) {
  if (hints.delimiter)
    out.options.delimiter = *hints.delimiter;
  else if (out.options.delimiter != ' ')
    out.options.delimiter = '\t';
  if (hints.skip_lines) out.options.skip_lines = *hints.skip_lines;
  out.options.quote.reset();
  out.options.header = hints.header.value_or(false);
  // In prose "None" and "-" are words: only nothing is missing.
  out.options.missing = hints.missing.value_or(std::vector<std::string>{""});

  const auto lines = split_lines(sample.text, kSampleRowsMax, sample.whole);
  ColumnSample source{"source", {}, 0};
  ColumnSample target{"target", {}, 0};
  std::uint64_t bad = 0;
  const std::size_t first = out.options.skip_lines + (out.options.header ? 1 : 0);
  for (std::size_t i = first; i < lines.size(); ++i) {
    if (trim(lines[i]).empty()) continue;
    const Pair pair = cut(lines[i], out.options.delimiter);
    if (!pair.fits) {
      ++bad;
      continue;
    }
    ++out.sample_rows;
    for (auto [column, cell] : {std::pair(&source, pair.source), std::pair(&target, pair.target)}) {
      if (cell.empty())
        ++column->missing;
      else
        column->values.push_back(cell);
    }
  }
  if (out.sample_rows == 0) return Error{Errc::invalid, "no line has two texts with a tab between them"};
  for (const auto* column : {&source, &target})
    out.columns.push_back(
        describe_column(*column, trainer::ColumnType::text, "one of two texts side by side"));
  if (bad > 0)
    out.notes.push_back(
        "Lines of the sample that do not hold exactly two texts and will be bad rows: " + grouped(bad) + ".");
  return {};
}

}  // namespace samovar::ingest
