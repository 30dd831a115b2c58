// samovar data … on data sets that are there, against canned answers.
#include <gtest/gtest.h>

#include "base/json.hpp"
#include "daemon/cli/config.hpp"
#include "fake_box.hpp"

namespace samovar::cli {
namespace {

using nlohmann::json;

constexpr const char* kList = R"({"items":[
 {"id":"dst_1","name":"Readmissions","description":"","owner_id":"usr_1","owner":"ada","created_at":"2026-11-16T05:00:00Z",
  "version":2,"rows":101766,"bad_rows":3,"columns":2,"stored_bytes":10485760,"source_bytes":20000000,"binned_at":null,
  "purge_at":null,"granted":[],"may_read_rows":true,"damaged":false,"revision":7}],"next_cursor":null})";

class Data : public testing::Test {
 protected:
  Data() {
    bench.box.on("GET /api/v1/datasets?limit=200", 200, kList);
    bench.box.on("GET /api/v1/datasets?bin=true&limit=200", 200, kList);
    json one = json::parse(kList)["items"][0];
    one["schema"] = {{"columns", {{{"name", "age"}, {"type", "integer"}, {"sensitive", false}}}}};
    bench.box.on("GET /api/v1/datasets/dst_1", 200, one.dump());
    bench.io.pauses_left = 100;
  }
  bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }
  Bench bench;
};

TEST_F(Data, ListAndShowByNameWithoutCase) {
  Outcome outcome = bench.run({"data", "list"});
  EXPECT_TRUE(has(outcome.out, "Readmissions  101,766        2  10.0 MiB        2  ada")) << outcome.out;
  EXPECT_EQ(bench.run({"data", "list", "-q"}).out, "dst_1\n");
  EXPECT_EQ(bench.run({"data", "show", "readmissions", "--json=id"}).out, "{\n  \"id\": \"dst_1\"\n}\n");
  outcome = bench.run({"data", "show", "Readmisions"});
  EXPECT_EQ(outcome.code, 3);
  EXPECT_TRUE(has(outcome.err, "did you mean \"Readmissions\"")) << outcome.err;
}

TEST_F(Data, SchemaIsShownOrChanged) {
  bench.box.on("GET /api/v1/datasets/dst_1/schema", 200,
               R"({"version":2,"columns":[{"name":"age","type":"integer","sensitive":true}]})");
  EXPECT_TRUE(has(bench.run({"data", "schema", "dst_1"}).out, "age     integer  yes"));
  bench.box.on("PUT /api/v1/datasets/dst_1/schema", 202, R"({"id":"op_1"})");
  bench.box.on("GET /api/v1/operations/op_1", 200, R"({"id":"op_1","state":"done"})");
  const Outcome outcome = bench.run(
      {"data", "schema", "Readmissions", "--set", "a=b=real", "--rename", "age=years", "--sensitive", "age"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(json::parse(bench.box.last("PUT", "/schema").body), json::parse(R"({"columns":[
      {"column":"a=b","type":"real"},{"column":"age","rename":"years","sensitive":true}]})"));
  EXPECT_EQ(bench.run({"data", "schema", "dst_1", "--set", "age"}).code, 2);
}

TEST_F(Data, PreviewShowsRowsAndNothingThatMovesTheCursor) {
  bench.box.on("GET /api/v1/datasets/dst_1/preview", 200,
               R"({"columns":[{"name":"age/\u001b[2J"},{"name":"ward"}],"rows":[["17",null],["18","=A1"]]})");
  Outcome outcome = bench.run({"data", "preview", "dst_1"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_FALSE(has(outcome.out, "\x1b"));
  EXPECT_TRUE(has(outcome.out, "17")) << outcome.out;
  outcome = bench.run({"data", "preview", "dst_1", "-o", "csv", "--limit", "2"});
  EXPECT_TRUE(has(outcome.out, "\r\n17,\r\n18,'=A1\r\n")) << outcome.out;
}

TEST_F(Data, RowsDeniedIsExitCode4) {
  bench.box.on("GET /api/v1/datasets/dst_1/preview", 403,
               R"({"status":403,"code":"rows_denied","detail":"Not yours."})");
  EXPECT_EQ(bench.run({"data", "preview", "dst_1"}).code, 4);
}

TEST_F(Data, ProfileTellsTheColumns) {
  bench.box.on("GET /api/v1/datasets/dst_1/profile?target=ward", 200, R"({"rows":3,"bad_rows":0,"columns":[
     {"name":"age","type":"integer","missing":1,"distinct":2,"min":17,"max":18,"mean":17.123456789,"quantiles":{"0.5":17.5},"correlation":0.25},
     {"name":"ward","type":"category","missing":0,"distinct":2,"levels":[{"value":"A","count":2},{"value":"B","count":1}]}]})");
  const Outcome outcome = bench.run({"data", "profile", "dst_1", "--target", "ward"});
  EXPECT_TRUE(has(outcome.out, "17.1235") && has(outcome.out, "A, B") && has(outcome.out, "0.25"))
      << outcome.out;
}

TEST_F(Data, DownloadGoesToAFileOrStdout) {
  bench.box.on("GET /api/v1/datasets/dst_1/download", 200, "age\r\n17\r\n");
  EXPECT_EQ(bench.run({"data", "download", "dst_1"}).out, "age\r\n17\r\n");
  const std::string file = (bench.home / "out.csv").string();
  EXPECT_EQ(bench.run({"data", "download", "dst_1", "--out", file}).code, 0);
  EXPECT_EQ(read_file(file).value(), "age\r\n17\r\n");
  bench.box.on("GET /api/v1/datasets/dst_1/bad-rows", 403,
               R"({"status":403,"code":"rows_denied","detail":"no"})");
  EXPECT_EQ(bench.run({"data", "bad-rows", "dst_1", "--out", file + "2"}).code, 4);
  EXPECT_FALSE(std::filesystem::exists(file + "2") || std::filesystem::exists(file + "2.part"));
}

TEST_F(Data, BinAndBack) {
  bench.box.on("DELETE /api/v1/datasets/dst_1", 204, "");
  const Outcome outcome = bench.run({"data", "delete", "Readmissions"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_TRUE(has(outcome.err, "samovar data restore dst_1"));
  bench.box.on("POST /api/v1/datasets/dst_1:restore", 200, R"({"id":"dst_1"})");
  EXPECT_EQ(bench.run({"data", "restore", "Readmissions"}).code, 0);
  bench.box.on("POST /api/v1/datasets/dst_1:destroy", 204, "");
  EXPECT_EQ(bench.run({"data", "destroy", "Readmissions"}).code, 2) << "asks for the name";
  EXPECT_EQ(bench.run({"data", "destroy", "Readmissions", "--yes"}).code, 0);
}

TEST_F(Data, SharingTakesNamesAndIds) {
  bench.box.on("GET /api/v1/users?limit=200", 200,
               R"({"items":[{"id":"usr_7","username":"mara"}],"next_cursor":null})");
  bench.box.on("PUT /api/v1/datasets/dst_1/grants/usr_7", 204, "");
  bench.box.on("DELETE /api/v1/datasets/dst_1/grants/usr_7", 204, "");
  EXPECT_EQ(bench.run({"data", "grant", "dst_1", "mara"}).code, 0);
  EXPECT_EQ(bench.run({"data", "ungrant", "dst_1", "usr_7"}).code, 0);
  EXPECT_EQ(bench.run({"data", "grant", "dst_1", "nobody"}).code, 3);
}

TEST_F(Data, SampleWaitsAndShowsWhatWasMade) {
  bench.box.on("POST /api/v1/datasets:sample", 202, R"({"id":"op_5"})");
  bench.box.on("GET /api/v1/operations/op_5", 200, R"({"id":"op_5","state":"done","dataset_id":"dst_1"})");
  EXPECT_TRUE(has(bench.run({"data", "sample"}).out, "Readmissions"));
  EXPECT_EQ(bench.run({"data", "sample", "--no-wait"}).out, "op_5\n");
}

TEST_F(Data, NamesAreCompleted) {
  EXPECT_EQ(bench.run({"__complete", "--", "data", "show", ""}).out, "Readmissions\tdst_1\n");
}

}  // namespace
}  // namespace samovar::cli
