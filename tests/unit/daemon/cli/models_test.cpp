// samovar models … that change something or take a file, against canned answers.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "daemon/cli/digest.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

class Models : public testing::Test {
 protected:
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
};

TEST_F(Models, PromoteAndRollback) {
  bench.box.on("POST /api/v1/models/stay/versions/2:promote", 200, R"({"name":"stay","serving":2})");
  EXPECT_EQ(bench.run({"models", "promote", "stay@2"}).code, 0);
  bench.box.on("POST /api/v1/models/stay:rollback", 200, R"({"name":"stay","serving":1})");
  const Outcome outcome = bench.run({"models", "rollback", "stay"});
  EXPECT_TRUE(has(outcome.err, "stay@1 serves again")) << outcome.err;
  EXPECT_EQ(bench.run({"models", "promote", "stay"}).code, 2) << "which version?";
}

TEST_F(Models, ProtectDescribeShareDelete) {
  bench.box.on("PATCH /api/v1/models/stay/versions/2", 200, R"({"version":2,"protected":true})");
  EXPECT_EQ(bench.run({"models", "protect", "stay@2"}).code, 0);
  EXPECT_EQ(json::parse(bench.box.last("PATCH", "/versions/2").body), json::parse(R"({"protected":true})"));
  bench.box.on("PATCH /api/v1/models/stay", 200, R"({"name":"stay"})");
  EXPECT_EQ(bench.run({"models", "describe", "stay", "Days in hospital"}).code, 0);
  bench.box.on("PUT /api/v1/models/stay/grants/usr_7", 204, "");
  EXPECT_EQ(bench.run({"models", "grant", "stay", "usr_7"}).code, 0);
  bench.box.on("DELETE /api/v1/models/stay/versions/2", 409,
               R"({"status":409,"code":"model_protected","detail":"It is protected."})");
  EXPECT_EQ(bench.run({"models", "delete", "stay@2"}).code, 2) << "asks first";
  EXPECT_EQ(bench.run({"models", "delete", "stay@2", "--yes"}).code, 5);
}

TEST_F(Models, AnExportIsComparedWithItsHash) {
  bench.box.on("POST /api/v1/models/stay/versions/2:export", 200, "the model",
               {{"samovar-sha256", sha256_hex("the model")}});
  const std::string file = (bench.home / "stay.onnx").string();
  EXPECT_EQ(bench.run({"models", "export", "stay@2", "--out", file}).code, 2) << "without a reason";
  Outcome outcome = bench.run({"models", "export", "stay@2", "--reason", "a tablet", "--out", file});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(read_file(file).value(), "the model");
  EXPECT_EQ(json::parse(bench.box.last("POST", ":export").body),
            json::parse(R"({"format":"onnx","reason":"a tablet"})"));
  bench.box.on("POST /api/v1/models/stay/versions/3:export", 200, "the model",
               {{"samovar-sha256", sha256_hex("another")}});
  outcome = bench.run({"models", "export", "stay@3", "--reason", "a tablet", "--out", file + "2"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_FALSE(std::filesystem::exists(file + "2") || std::filesystem::exists(file + "2.part"));
}

TEST_F(Models, AnImportSendsTheFile) {
  const std::string file = (bench.home / "stay.json").string();
  ASSERT_TRUE(write_private_file(file, R"({"format":"samovar"})"));
  std::string sent;
  bench.box.serve = [&](const HttpRequest& request) -> std::optional<Result<HttpReply>> {
    if (!request.read_body) return std::nullopt;
    char buffer[100];
    sent.assign(buffer, request.read_body(buffer, sizeof buffer));
    EXPECT_EQ(request.read_bytes, sent.size());
    EXPECT_TRUE(request.url.ends_with("/models:import?name=stay2"));
    HttpReply reply;
    reply.status = 201;
    reply.body = R"({"version":1})";
    return Result<HttpReply>(std::move(reply));
  };
  const Outcome outcome = bench.run({"models", "import", file, "--name", "stay2"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(sent, R"({"format":"samovar"})");
  EXPECT_TRUE(has(outcome.err, "samovar models promote stay2@1")) << outcome.err;
  EXPECT_EQ(bench.run({"models", "import", file}).code, 2);
  EXPECT_EQ(bench.run({"models", "import", file + ".no", "--name", "x"}).code, 3);
}

}  // namespace
}  // namespace samovar::cli
