#include "daemon/ingest/block_dictionary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace samovar::ingest {
namespace {

const std::vector<std::string> kTokens = {"", "NA", "null and void"};

Cell cell_of(const std::string& text) {
  std::string padded = text + std::string(8, '\0');
  return make_cell(padded.data(), 0, static_cast<std::uint32_t>(text.size()));
}
std::string hex(std::uint32_t value) {
  std::string text(8, '0');
  for (std::size_t i = 0; i < 8; ++i) text[i] = "0123456789abcdef"[value >> (4 * i) & 15];
  return text;
}

// What a map says, in order of appearance.
void expect_like_a_map(BlockDictionary& dictionary, const std::vector<std::string>& texts,
                       std::size_t levels_before = 0) {
  std::vector<Cell> cells;
  std::map<std::string, std::uint32_t> known;
  std::vector<std::string> levels;
  std::vector<std::uint32_t> want;
  for (const std::string& text : texts) {
    cells.push_back(text == "gone" ? kNoCell : cell_of(text));
    if (text == "gone" || std::find(kTokens.begin(), kTokens.end(), text) != kTokens.end()) {
      want.push_back(BlockDictionary::kMissing);
      continue;
    }
    const auto [at, added] = known.emplace(text, levels.size());
    if (added) levels.push_back(text);
    want.push_back(at->second);
  }
  std::vector<std::uint32_t> codes;
  const auto expect = [&] {
    EXPECT_EQ(codes, want);
    ASSERT_EQ(dictionary.size(), levels.size());
    for (std::size_t i = 0; i < levels.size(); ++i)
      EXPECT_EQ(cell_text(dictionary.levels()[i], ""), levels[i]) << i;
  };
  dictionary.encode("", kTokens, cells, levels_before, codes);
  expect();
  if (!HexLevels::suits(kTokens)) return;
  std::vector<std::uint32_t> keys(cells.size() + HexLevels::kSlack);
  std::vector<std::uint8_t> gone(cells.size() + HexLevels::kSlack);
  const bool all_hex = std::all_of(texts.begin(), texts.end(), [](const std::string& text) {
    return text.empty() || text == "gone" ||
           (text.size() == 8 && text.find_first_not_of("0123456789abcdef") == std::string::npos);
  });
  ASSERT_EQ(HexLevels::read(cells.data(), cells.size(), true, keys.data(), gone.data()), all_hex);
  if (!all_hex) return;
  dictionary.encode(keys, gone, cells.size(), levels_before, codes);
  expect();
}

TEST(BlockDictionary, GivesHexLevelsTheSameCodesWithAndWithoutOthersAmongThem) {
  BlockDictionary dictionary;
  std::mt19937_64 random(5);
  for (const std::size_t rows : {1u, 15u, 16u, 63u, 64u, 65u, 1000u, 9000u}) {
    for (const std::uint32_t levels : {1u, 3u, 300u, 5000u, 0xffff'ffffu}) {
      for (const int missing : {0, 3, 9, 10}) {  // of ten
        std::vector<std::string> texts;
        for (std::size_t i = 0; i < rows; ++i) {
          // Neighbours and multiples: levels that want the same slot.
          const auto level = static_cast<std::uint32_t>(random() % levels) * (levels < 5000 ? 1u : 0x2'0000u);
          const bool gone = static_cast<int>(random() % 10) < missing;
          texts.push_back(!gone ? hex(level) : random() % 2 == 0 ? "" : "gone");
        }
        expect_like_a_map(dictionary, texts, random() % 2 == 0 ? 0 : rows);
        texts[random() % rows] = random() % 2 == 0 ? "0123456G" : "abc";
        expect_like_a_map(dictionary, texts);
      }
    }
  }
}

TEST(BlockDictionary, TakesCapitalsShortOnesAndTokensForWhatTheyAre) {
  BlockDictionary dictionary;
  expect_like_a_map(dictionary, {"0123abcd", "0123ABCD", "0123abcd", "0123abc", "NA", ""});
  expect_like_a_map(dictionary, {"gone", "", "gone"});
  expect_like_a_map(dictionary, {"", "ffffffff", "00000000", "ffffffff", "gone", "00000000"});
  EXPECT_FALSE(HexLevels::suits({"NA", "deadbeef"}));  // a token of eight digits is no level
  std::vector<std::uint32_t> codes;
  dictionary.encode("", {"deadbeef"}, {cell_of("deadbeef"), cell_of("00000001"), cell_of("")}, 0, codes);
  EXPECT_EQ(codes, (std::vector<std::uint32_t>{BlockDictionary::kMissing, 0, 1}));
}

}  // namespace
}  // namespace samovar::ingest
