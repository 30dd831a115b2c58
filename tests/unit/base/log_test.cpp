#include "base/log.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "base/json.hpp"
#include "base/log_format.hpp"

namespace samovar::log {
namespace {

using nlohmann::json;

class Log : public testing::Test {
 protected:
  Log() {
    set_sink([this](std::string_view line) {
      const std::lock_guard lock(mutex_);
      lines_.emplace_back(line);
    });
  }
  ~Log() override {
    set_sink({});
    set_format(Format::text);
    set_level(Level::info);
  }
  std::string only_line() const {
    EXPECT_EQ(lines_.size(), 1U);
    return lines_.empty() ? "" : lines_[0];
  }

  std::mutex mutex_;
  std::vector<std::string> lines_;
};

std::string text_of(std::string_view message, std::vector<Field> fields = {}) {
  return format_text({WallTime{}, Level::info, Category::jobs, message, fields, "base/x.cpp", 7});
}
json json_of(std::string_view message, std::vector<Field> fields = {}) {
  return json::parse(
      format_json({WallTime{}, Level::warn, Category::jobs, message, fields, "base/x.cpp", 7}));
}

TEST_F(Log, TextHasTimeLevelCategoryMessageAndFields) {
  EXPECT_EQ(text_of("round done", {kv("job", "a b"), kv("loss", 3), kv("ok", true), kv("node", "n-1")}),
            "1970-01-01T00:00:00.000000Z info  jobs: round done job=\"a b\" loss=3 ok=true node=n-1");
}

TEST_F(Log, WarningsNameTheirPlace) {
  SAMOVAR_LOG(warn, base, "careful");
  EXPECT_NE(only_line().find("(tests/unit/base/log_test.cpp:"), std::string::npos) << only_line();
}

TEST_F(Log, NothingInAValueBeginsANewLine) {
  const std::string forged = "x\n2026-01-01T00:00:00Z error main: forged\r\x1b[2K\x7f";
  const std::string line = text_of(forged, {kv("user", forged), kv("k\ney", "v")});
  EXPECT_EQ(line.find('\n'), std::string::npos);
  EXPECT_EQ(line.find('\r'), std::string::npos);
  EXPECT_EQ(line.find('\x1b'), std::string::npos);
  EXPECT_EQ(line.find('\x7f'), std::string::npos);
  EXPECT_NE(line.find("x\\n2026"), std::string::npos);
  EXPECT_NE(line.find("\\x0d\\x1b[2K\\x7f"), std::string::npos);
}

TEST_F(Log, AQuoteDoesNotCloseTheValue) {
  EXPECT_NE(text_of("m", {kv("user", "a\" role=\"admin")}).find(R"(user="a\" role=\"admin")"),
            std::string::npos);
  EXPECT_NE(text_of("m", {kv("user", "a\\")}).find(R"(user="a\\")"), std::string::npos);
}

TEST_F(Log, ScreenTricksAreShownAsEscapes) {
  // C1 control, line separator, right-to-left override, byte-order mark.
  EXPECT_NE(text_of("a\xc2\x9b"
                    "b\xe2\x80\xa8"
                    "c\xe2\x80\xae"
                    "d\xef\xbb\xbf")
                .find("a\\x9bb\\u2028c\\u202ed\\ufeff"),
            std::string::npos);
  EXPECT_NE(text_of("тест ✓ 😀").find("тест ✓ 😀"), std::string::npos);
}

TEST_F(Log, BytesThatAreNotUtf8AreEscaped) {
  // A lone continuation, an overlong slash, a surrogate, past the last code point, a cut sequence.
  EXPECT_NE(text_of("\x80 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82")
                .find(R"(\x80 \xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80 \xe2\x82)"),
            std::string::npos);
}

TEST_F(Log, JsonIsOneObjectPerLine) {
  const json line = json_of("round\ndone", {kv("job", "j\"1"), kv("n", 3), kv("f", 0.5), kv("b", false)});
  EXPECT_EQ(line["time"], "1970-01-01T00:00:00.000000Z");
  EXPECT_EQ(line["level"], "warn");
  EXPECT_EQ(line["category"], "jobs");
  EXPECT_EQ(line["message"], "round\ndone");
  EXPECT_EQ(line["file"], "base/x.cpp");
  EXPECT_EQ(line["line"], 7);
  EXPECT_EQ(line["fields"]["job"], "j\"1");
  EXPECT_EQ(line["fields"]["n"], 3);
  EXPECT_EQ(line["fields"]["f"], 0.5);
  EXPECT_EQ(line["fields"]["b"], false);
}

TEST_F(Log, JsonStaysJsonWhateverIsLogged) {
  const json line = json_of("\xff\x01", {kv("nan", std::numeric_limits<double>::quiet_NaN()),
                                         kv("inf", std::numeric_limits<double>::infinity()), kv("", "\xc3")});
  EXPECT_EQ(line["message"], "\xef\xbf\xbd\x01");
  EXPECT_TRUE(line["fields"]["nan"].is_string());
  EXPECT_EQ(line["fields"]["inf"], "inf");
}

TEST_F(Log, JournalFieldsKeepTheirBytes) {
  const std::vector<Field> fields = {kv("job-id", "a\nPRIORITY=0"), kv("n", 2)};
  const auto parts =
      format_journal({WallTime{}, Level::error, Category::raft, "lost\nit", fields, "daemon/raft/x.cpp", 9});
  EXPECT_EQ(parts, (std::vector<std::string>{"MESSAGE=lost\\nit job-id=\"a\\nPRIORITY=0\" n=2", "PRIORITY=3",
                                             "SAMOVAR_CATEGORY=raft", "CODE_FILE=daemon/raft/x.cpp",
                                             "CODE_LINE=9", "SAMOVAR_JOB_ID=a\nPRIORITY=0", "SAMOVAR_N=2"}));
}

TEST_F(Log, FormatIsChosenAtRunTime) {
  set_format(Format::json);
  SAMOVAR_LOG(info, main, "hello", kv("n", 1));
  EXPECT_EQ(json::parse(only_line())["message"], "hello");
  set_format(Format::journal);
  SAMOVAR_LOG(info, main, "hello");
  EXPECT_EQ(lines_.back().substr(0, 25), "MESSAGE=hello\nPRIORITY=6\n");
}

TEST_F(Log, LevelsArePerCategory) {
  SAMOVAR_LOG(debug, power, "no");
  set_level(Level::debug, Category::power);
  SAMOVAR_LOG(debug, power, "yes");
  SAMOVAR_LOG(debug, api, "no");
  set_level(Level::error);
  SAMOVAR_LOG(warn, power, "no");
  SAMOVAR_LOG(error, api, "yes");
  ASSERT_EQ(lines_.size(), 2U);
  EXPECT_NE(lines_[0].find("debug power: yes"), std::string::npos);
  EXPECT_NE(lines_[1].find("error api: yes"), std::string::npos);
}

TEST_F(Log, DisabledLinesEvaluateNothing) {
  int calls = 0;
  const auto expensive = [&] { return ++calls; };
  SAMOVAR_LOG(debug, base, "x", kv("n", expensive()));
  EXPECT_EQ(calls, 0);
  SAMOVAR_LOG(info, base, "x", kv("n", expensive()));
  EXPECT_EQ(calls, 1);
}

TEST_F(Log, LinesOfManyThreadsStayWhole) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int i = 0; i < 200; ++i) SAMOVAR_LOG(info, base, "line", kv("t", t), kv("i", i), kv("end", "e"));
    });
  }
  for (auto& thread : threads) thread.join();
  ASSERT_EQ(lines_.size(), 800U);
  for (const auto& line : lines_) EXPECT_TRUE(line.ends_with(" end=e")) << line;
}

TEST_F(Log, ASinkThatThrowsHurtsNobody) {
  set_sink([](std::string_view) { throw std::runtime_error("full"); });
  EXPECT_NO_THROW(SAMOVAR_LOG(info, base, "x"));
}

TEST_F(Log, KeepsErrno) {
  errno = EAGAIN;
  SAMOVAR_LOG(info, base, "x");
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(Log, DetectsTheJournalByItsSocket) {
  struct stat info {};
  ASSERT_EQ(::fstat(STDERR_FILENO, &info), 0);
  const std::string ours = std::to_string(info.st_dev) + ":" + std::to_string(info.st_ino);
  const char* before = ::getenv("JOURNAL_STREAM");
  const std::string saved = before != nullptr ? before : "";
  ::setenv("JOURNAL_STREAM", ours.c_str(), 1);
  EXPECT_EQ(detect_format(), Format::journal);
  for (const char* other : {"1:2", "", "garbage", "1"}) {
    ::setenv("JOURNAL_STREAM", other, 1);
    EXPECT_EQ(detect_format(), Format::text) << other;
  }
  ::unsetenv("JOURNAL_STREAM");
  EXPECT_EQ(detect_format(), Format::text);
  if (before != nullptr) ::setenv("JOURNAL_STREAM", saved.c_str(), 1);
}

TEST_F(Log, WritesToStderrWithoutASink) {
  set_sink({});
  testing::internal::CaptureStderr();
  SAMOVAR_LOG(info, cli, "to stderr", kv("n", 1));
  const std::string out = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(out.ends_with(" info  cli: to stderr n=1\n")) << out;
}

TEST_F(Log, EveryCategoryAndLevelHasAName) {
  for (int i = 0; i < static_cast<int>(Category::count_); ++i) {
    EXPECT_FALSE(to_string(static_cast<Category>(i)).empty());
    EXPECT_TRUE(enabled(Level::info, static_cast<Category>(i)));
    EXPECT_FALSE(enabled(Level::debug, static_cast<Category>(i)));
  }
  EXPECT_EQ(to_string(Category::main), "main");
  EXPECT_EQ(to_string(Category::raft), "raft");
  EXPECT_EQ(to_string(Level::error), "error");
}

}  // namespace
}  // namespace samovar::log
