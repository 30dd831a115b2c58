#include "daemon/ingest/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/daemon/ingest/input_support.hpp"

namespace samovar::ingest {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string lines(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i)
    text += std::to_string(i * 7919 % 100'003) + ",some text," + std::to_string(i) + "\n";
  return text;
}

struct Packed {
  Compression compression;
  std::string file;
};
std::vector<Packed> packed(const std::string& text) {
  return {{Compression::none, text},
          {Compression::gzip, gzip(text)},
          {Compression::zstd, zstd(text)},
          {Compression::xz, xz(text)},
          {Compression::zip, zip({{"data.csv", text}})}};
}

TEST(OpenDecoded, GivesBackWhatWasPackedHoweverItArrives) {
  const std::string text = lines(3'000);
  for (const auto& [compression, file] : packed(text)) {
    EXPECT_EQ(detect_compression(as_bytes(file)), compression) << to_string(compression);
    for (const std::size_t step : {std::size_t{1}, std::size_t{13}, std::size_t{1} << 20})
      EXPECT_TRUE(decode(file, compression, Encoding::utf8, {}, step) == text)
          << to_string(compression) << step;
  }
}

TEST(OpenDecoded, EmptyContentIsEmpty) {
  for (const auto& [compression, file] : packed(""))
    EXPECT_EQ(decode(file, compression), "") << to_string(compression);
}

TEST(OpenDecoded, SaysThatAFileWasCut) {
  const std::string text = lines(5'000);
  for (const auto& [compression, file] : packed(text)) {
    if (compression == Compression::none) continue;
    for (const std::size_t keep : {file.size() / 2, file.size() - 1, std::size_t{20}}) {
      // Behind the first bytes of zip's end record nothing is needed any more.
      if (compression == Compression::zip && keep == file.size() - 1) continue;
      EXPECT_THAT(decode(std::string_view(file).substr(0, keep), compression),
                  testing::AllOf(StartsWith("error: "), HasSubstr("ends in the middle: upload it again")))
          << to_string(compression) << " " << keep;
    }
  }
}

TEST(OpenDecoded, SaysThatAFileIsDamagedAndNeverGivesOtherContent) {
  const std::string text = lines(3'000);
  for (const auto& [compression, file] : packed(text)) {
    if (compression == Compression::none) continue;
    int refused = 0;
    for (std::size_t at = 20; at + 8 < file.size(); at += file.size() / 40 + 1) {
      std::string damaged = file;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      const std::string got = decode(damaged, compression);
      const bool said = got.rfind("error: ", 0) == 0;
      refused += said ? 1 : 0;
      // zstd without a checksum cannot know; the others must.
      const bool may_differ = compression == Compression::zstd;
      EXPECT_TRUE(may_differ || said || got == text) << to_string(compression) << at;
    }
    EXPECT_GT(refused, 5) << to_string(compression);
  }
}

TEST(OpenDecoded, JoinsMembersFramesAndStreams) {
  EXPECT_EQ(decode(gzip("a,b\n") + gzip("1,2\n"), Compression::gzip), "a,b\n1,2\n");
  EXPECT_EQ(decode(gzip("a,b\n") + std::string(512, '\0'), Compression::gzip), "a,b\n");
  EXPECT_EQ(decode(zstd("a,b\n") + zstd("1,2\n"), Compression::zstd), "a,b\n1,2\n");
  EXPECT_EQ(decode(xz("a,b\n") + xz("1,2\n"), Compression::xz), "a,b\n1,2\n");
  EXPECT_THAT(decode(gzip("a,b\n") + "rubbish", Compression::gzip), HasSubstr("bytes behind the gzip data"));
}

TEST(OpenDecoded, RefusesABombBeforeItHasUnpacked) {
  const std::string zeros(2 << 20, '0');
  UnpackLimits limits;
  limits.ratio_free_bytes = 256 << 10;
  for (const auto& [compression, file] : packed(zeros)) {
    if (compression == Compression::none) continue;
    EXPECT_THAT(decode(file, compression, Encoding::utf8, limits), HasSubstr("as a zip bomb does"))
        << to_string(compression);
  }
  // What is small may be packed as well as it likes.
  EXPECT_EQ(decode(gzip(zeros), Compression::gzip).size(), zeros.size());
  UnpackLimits small;
  small.bytes_max = 1 << 20;
  EXPECT_THAT(decode(zeros, Compression::none, Encoding::utf8, small),
              HasSubstr("split it into smaller files"));
}

TEST(OpenDecoded, ReadsEveryKindOfZipMember) {
  const std::string text = lines(2'000);
  for (const bool deflated : {true, false})
    for (const bool zip64 : {true, false}) {
      ZipMember member{"folder/data.csv", text, deflated, false, zip64};
      EXPECT_TRUE(decode(zip({member}), Compression::zip) == text) << deflated << zip64;
      if (!deflated) continue;
      member.sizes_follow = true;
      EXPECT_TRUE(decode(zip({member}), Compression::zip) == text) << "sizes follow " << zip64;
    }
}

TEST(OpenDecoded, ZipMayHoldFoldersAndWhatMacOsAdds) {
  const auto file = zip({{"folder/", "", false},
                         {"folder/data.csv", "a\n1\n"},
                         {"__MACOSX/folder/._data.csv", "junk"},
                         {"folder/.DS_Store", "junk"}});
  EXPECT_EQ(decode(file, Compression::zip), "a\n1\n");
}

TEST(OpenDecoded, ZipRefusesWithAReason) {
  const auto refusal = [](const std::vector<ZipMember>& members) {
    return decode(zip(members), Compression::zip);
  };
  EXPECT_THAT(refusal({{"a.csv", "1\n"}, {"b.csv", "2\n"}}), HasSubstr("more than one file"));
  EXPECT_THAT(refusal({{"../a.csv", "1\n"}}), HasSubstr("no plain file name"));
  EXPECT_THAT(refusal({{"x/../../a.csv", "1\n"}}), HasSubstr("no plain file name"));
  EXPECT_THAT(refusal({{"/etc/passwd", "1\n"}}), HasSubstr("no plain file name"));
  EXPECT_THAT(refusal({{"c:\\a.csv", "1\n"}}), HasSubstr("no plain file name"));
  EXPECT_THAT(refusal({{"[Content_Types].xml", "<Types/>"}}), HasSubstr("Excel"));
  EXPECT_THAT(refusal({}), HasSubstr("empty"));
  ZipMember link{"a.csv", "/etc/passwd"};
  link.mode = 0120777;
  EXPECT_THAT(refusal({link}), HasSubstr("a link instead of a file"));
  ZipMember secret{"a.csv", "1\n"};
  secret.flags = 1;
  EXPECT_THAT(refusal({secret}), HasSubstr("encrypted"));
  ZipMember odd{"a.csv", "1\n"};
  odd.method_override = 12;
  EXPECT_THAT(refusal({odd}), HasSubstr("packed with bzip2"));
}

TEST(Transcode, DropsTheByteOrderMark) {
  EXPECT_EQ(decode("\xef\xbb\xbf"
                   "a,b\n",
                   Compression::none),
            "a,b\n");
  EXPECT_EQ(decode("\xef\xbb\xbf", Compression::none), "");
  EXPECT_EQ(decode("\xef\xbb", Compression::none), "\xef\xbb");
  EXPECT_EQ(decode("a", Compression::none), "a");
  for (const std::size_t step : {1, 2, 5})
    EXPECT_EQ(decode("\xef\xbb\xbf"
                     "a,\xc3\xa9\n",
                     Compression::none, Encoding::utf8, {}, step),
              "a,é\n");
}

TEST(Transcode, Latin1IsReadAsWindows1252) {
  EXPECT_EQ(decode("caf\xe9 \x80 \x96 \x81", Compression::none, Encoding::latin1), "café € – \u0081");
}

std::string utf16(std::u16string_view text, bool big_endian) {
  std::string out;
  for (const char16_t unit : text) {
    const char low = static_cast<char>(unit & 0xff);
    const char high = static_cast<char>(unit >> 8);
    out += big_endian ? high : low;
    out += big_endian ? low : high;
  }
  return out;
}

TEST(Transcode, Utf16InBothOrdersWithPairs) {
  const std::u16string text =
      u"\ufeff"
      u"naïve,€,😀\n";
  for (const bool big : {false, true})
    for (const std::size_t step : {1, 3, 4096})
      EXPECT_EQ(
          decode(utf16(text, big), Compression::none, big ? Encoding::utf16be : Encoding::utf16le, {}, step),
          "naïve,€,😀\n");
}

TEST(Transcode, HalfAPairAndAnOddByteBecomeTheReplacement) {
  const std::u16string text{u'a', char16_t(0xd83d), u'b'};
  EXPECT_EQ(decode(utf16(text, false), Compression::none, Encoding::utf16le),
            "a\ufffd"
            "b");
  EXPECT_EQ(decode(utf16(u"a", false) + "x", Compression::none, Encoding::utf16le), "a\ufffd");
  EXPECT_EQ(decode(utf16(std::u16string{char16_t(0xd83d)}, false), Compression::none, Encoding::utf16le),
            "\ufffd");
}

}  // namespace
}  // namespace samovar::ingest
