// What a node says of itself survives the way, and nonsense does not.
#include "daemon/api/node_report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/ids.hpp"

namespace samovar::api {
namespace {

NodeReport full_report() {
  NodeReport report;
  report.facts.id = "node2";
  report.facts.hostname = "urn";
  report.facts.cores = 6;
  report.facts.memory_bytes = 8ull << 30;
  report.facts.started_at = parse_time("2026-01-02T03:04:05Z").value();
  report.uptime = std::chrono::seconds(77);
  report.version = "0.1.0";
  report.clock = parse_time("2026-01-02T03:05:22Z").value();
  report.disk = {1000, 400};
  report.url = "https://10.0.0.2:8443";
  LinkReport link;
  link.from = "node2";
  link.to = "node1";
  link.up = true;
  link.rtt_ms = 0.4;
  link.trouble = "refused";
  report.links = {link};
  report.sample.t = report.clock;
  report.sample.watts = 5.5;
  report.sample.mem_used_bytes = 12;
  report.sensors.temperatures = {{"cpu", 41.5}};
  report.sensors.rails = {{"VDD_IN", 5.5}};
  report.sensors.gpu.emplace();
  return report;
}

TEST(NodeReport, ComesBackAsItWas) {
  const NodeReport sent = full_report();
  const NodeReport got = decode_report(encode_report(sent)).value();
  EXPECT_FALSE(got.brief);
  EXPECT_EQ(got.facts.cores, 6u);
  EXPECT_EQ(got.facts.started_at, sent.facts.started_at);
  EXPECT_EQ(got.uptime, sent.uptime);
  EXPECT_EQ(got.clock, sent.clock);
  EXPECT_EQ(got.disk.free_bytes, 400u);
  EXPECT_EQ(got.url, sent.url);
  ASSERT_EQ(got.links.size(), 1u);
  EXPECT_EQ(got.links[0].from, "node2");
  EXPECT_EQ(got.links[0].rtt_ms, 0.4);
  EXPECT_EQ(got.links[0].trouble, "refused");
  EXPECT_EQ(got.sample.watts, 5.5);
  EXPECT_EQ(got.sample.mem_used_bytes, 12u);
  EXPECT_EQ(got.sample.cpu, std::nullopt);
  EXPECT_EQ(got.sensors.temperatures[0].celsius, 41.5);
  EXPECT_EQ(got.sensors.rails[0].name, "VDD_IN");
  EXPECT_TRUE(got.sensors.gpu);
}

TEST(NodeReport, ABriefOneIsShort) {
  NodeReport report = full_report();
  report.brief = true;
  const Bytes bytes = encode_report(report);
  EXPECT_LT(bytes.size(), 128u);
  const NodeReport got = decode_report(bytes).value();
  EXPECT_TRUE(got.brief);
  EXPECT_EQ(got.disk.total_bytes, 1000u);
}

TEST(NodeReport, WhatIsWrongOrUnknownIsLeftOut) {
  const auto read = [](std::string_view text) { return decode_report(to_bytes(text)); };
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("[]"));
  EXPECT_FALSE(read("{\"a\":1,\"a\":2}"));
  const auto odd = read(
      "{\"clock\":\"yesterday\",\"disk\":{\"total\":-1,\"free\":\"x\"},\"news\":[],\"uptime_s\":"
      "18446744073709551615,"
      "\"facts\":{\"id\":7,\"cores\":99999999},\"links\":[3,{\"to\":\"n\"}],\"sample\":[],\"sensors\":{"
      "\"gpu\":4}}");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->clock, WallTime{});
  EXPECT_EQ(odd->disk.total_bytes, 0u);
  EXPECT_EQ(odd->facts.id, "");
  EXPECT_EQ(odd->facts.cores, 65536u);
  EXPECT_EQ(odd->links.size(), 1u);
}

TEST(NodeReport, RequestsComeBackAsTheyWere) {
  ReportRequest request;
  EXPECT_FALSE(decode_request(encode_request(request))->brief);
  request.brief = true;
  request.history.emplace();
  request.history->metrics = {"cpu", "watts"};
  request.history->from = parse_time("2026-01-02T03:04:05Z").value();
  request.history->to = parse_time("2026-01-02T04:04:05Z").value();
  request.history->step_s = 10;
  const auto got = decode_request(encode_request(request)).value();
  EXPECT_TRUE(got.brief);
  EXPECT_EQ(got.history->metrics, request.history->metrics);
  EXPECT_EQ(got.history->from, request.history->from);
  EXPECT_EQ(got.history->step_s, 10u);
  EXPECT_FALSE(decode_request(to_bytes(std::string_view("no"))));
}

TEST(NodeReport, HistoryKeepsItsHoles) {
  power::HistoryTable table;
  table.step_s = 10;
  table.start_s = 1000;
  table.end_s = 1020;
  table.names = {"t", "cpu"};
  table.cols = {{1000, 1010}, {0.5, std::numeric_limits<double>::quiet_NaN()}};
  const auto got = decode_history(encode_history(table)).value();
  EXPECT_EQ(got.names, table.names);
  EXPECT_EQ(got.start_s, 1000);
  EXPECT_EQ(got.cols[1][0], 0.5);
  EXPECT_TRUE(std::isnan(got.cols[1][1]));
  for (const std::string_view wrong :
       {"{}", "{\"names\":[\"t\"],\"cols\":[]}", "{\"names\":[\"t\"],\"cols\":[3]}",
        "{\"names\":[\"t\",\"a\"],\"cols\":[[1],[1,2]]}"})
    EXPECT_FALSE(decode_history(to_bytes(wrong))) << wrong;
}

}  // namespace
}  // namespace samovar::api
