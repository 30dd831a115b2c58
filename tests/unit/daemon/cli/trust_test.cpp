// First contact, pins and refusals, against a box whose certificate the test chooses.
#include "daemon/cli/trust.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using ::testing::HasSubstr;

constexpr const char* kOther =
    "FF:EE:DD:CC:BB:AA:99:88:77:66:55:44:33:22:11:00:FF:EE:DD:CC:BB:AA:99:88:77:66:55:44:33:22:11:00";

TEST(Fingerprint, AllCommonFormsAreOne) {
  std::string bare;
  for (const char c : std::string(FakeBox::kLeaf)) {
    if (c != ':') bare.push_back(static_cast<char>(std::tolower(c)));
  }
  EXPECT_EQ(normalize_fingerprint(bare).value(), FakeBox::kLeaf);
  EXPECT_EQ(normalize_fingerprint("sha256:" + bare).value(), FakeBox::kLeaf);
  EXPECT_EQ(normalize_fingerprint(FakeBox::kLeaf).value(), FakeBox::kLeaf);
  EXPECT_FALSE(normalize_fingerprint("AB:CD"));
  EXPECT_FALSE(normalize_fingerprint(bare.substr(1) + "g"));
}

TEST(Trust, FirstContactAsksAndPins) {
  Bench bench;
  bench.forget_all();
  bench.io.terminal = true;
  bench.io.answers = {"y"};
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  const Outcome outcome = bench.run({"status"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, HasSubstr(FakeBox::kLeaf));
  EXPECT_EQ(load_config(bench.env.config_dir)->contexts["127.0.0.1:8443"].pin.leaf_sha256, FakeBox::kLeaf);
}

TEST(Trust, ANoSendsNothing) {
  Bench bench;
  bench.forget_all();
  bench.io.terminal = true;
  bench.io.answers = {"n"};
  EXPECT_EQ(bench.run({"status"}).code, 2);
  EXPECT_TRUE(bench.box.requests.empty());
  EXPECT_TRUE(load_config(bench.env.config_dir)->contexts.empty());
}

TEST(Trust, WithoutATerminalOnlyAFlagTrusts) {
  Bench bench;
  bench.forget_all();
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"new"})");
  Outcome outcome = bench.run({"status"});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("--fingerprint"));
  EXPECT_TRUE(bench.box.requests.empty());
  EXPECT_EQ(bench.run({"status", "--fingerprint", FakeBox::kLeaf}).code, 0);
}

TEST(Trust, AnotherFingerprintThanGivenIsRefused) {
  Bench bench;
  bench.forget_all();
  const Outcome outcome = bench.run({"status", "--yes", "--fingerprint", kOther});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_TRUE(bench.box.requests.empty());
}

TEST(Trust, AChangedCertificateIsRefusedLoudlyEvenWithYes) {
  Bench bench;
  bench.box.leaf = kOther;
  const Outcome outcome = bench.run({"whoami", "--yes"});
  EXPECT_EQ(outcome.code, 4);
  EXPECT_THAT(outcome.err, HasSubstr("HAS CHANGED"));
  EXPECT_THAT(outcome.err, HasSubstr(std::string("--fingerprint ") + kOther));
  EXPECT_TRUE(bench.box.requests.empty()) << "a request reached a stranger";
}

TEST(Trust, TheRemedyOfAChangedCertificateWorks) {
  Bench bench;
  bench.box.leaf = kOther;
  bench.box.on("GET /api/v1/session", 200, R"({"id":"s"})");
  EXPECT_EQ(bench.run({"whoami", "--fingerprint", kOther}).code, 0);
  EXPECT_EQ(bench.run({"whoami"}).code, 0);
}

}  // namespace
}  // namespace samovar::cli
