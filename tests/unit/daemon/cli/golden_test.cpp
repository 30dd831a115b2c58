// Output that scripts and people rely on, byte for byte. A difference here is a change of a promise:
// if it is meant, replace the file in golden/ by the text the test prints.
#include <gtest/gtest.h>

#include "fake_box.hpp"

#include "base/json.hpp"

namespace samovar::cli {
namespace {

constexpr const char* kNodes = R"({"items":[
 {"id":"node-abc","name":"board-1","hostname":"board-1","model":"Jetson Orin Nano","state":"up","role":"voter","voice":"voter","leader":true,"self":true,"version":"0.1.0",
  "heard_at":null,"rtt_ms":null,"url":"https://192.168.1.20:8443","disk":{"total":128000000000,"free":126000000000},
  "arch":"aarch64","cores":6,"memory_bytes":8000000000,"disk_bytes":128000000000,"started_at":"2026-11-16T05:00:00Z","uptime_s":93784,
  "addresses":["192.168.1.20","fe80::1"],"sensors":{"power":"ina3221","power_note":"three rails"},"sandbox":"full",
  "compute":"computes on the CPU (cpu neon): no CUDA plug-in is installed",
  "sample":{"t":"2026-11-16T06:00:00Z","cpu":0.254,"load1":1.5,"mem_used_bytes":2147483648,"mem_total_bytes":8589934592,
   "disk_used_bytes":1073741824,"disk_total_bytes":128000000000,"watts":7.25,"watts_estimated":false,"temp_max_c":51.4,"temp_max_name":"cpu","net_rx_bps":2048,"net_tx_bps":10.5}},
 {"id":"node-def","name":"доска-2","hostname":"доска-2","model":"x86","state":"unreachable","role":"voter","voice":"voter","leader":false,"self":false,"version":"0.1.0","arch":"x86_64",
  "heard_at":"2026-11-16T05:58:59Z","rtt_ms":0.73,"url":null,"disk":null,
  "cores":2,"uptime_s":59,"addresses":[],"sample":{"cpu":1.0,"mem_used_bytes":512,"mem_total_bytes":1024,"watts":null}}],
 "next_cursor":null})";
constexpr const char* kUsers = R"({"items":[
 {"id":"usr_1","username":"ada","display_name":"Ada Lovelace","role":"admin","disabled":false,"locked_until":null,
  "created_at":"2026-11-01T00:00:00Z","last_login_at":"2026-11-16T05:53:50.123Z","etag":"\"1\""},
 {"id":"usr_2","username":"mara","display_name":"=1+1, \"Mara\"","role":"analyst","disabled":true,"locked_until":"2026-11-16T07:00:00Z",
  "created_at":"2026-11-02T00:00:00Z","last_login_at":null,"etag":"\"4\""}],"next_cursor":null})";
constexpr const char* kCluster =
    R"({"id":"clu_1","name":"Ward 3","created_at":"2026-11-01T00:00:00Z","version":"0.1.0","phase":"ready",
 "time_zone":"UTC","health":{"state":"warning","summary":"1 node is away"},"nodes":{"total":2,"up":1},
 "power":{"watts":7.25,"estimated":true,"energy_today_wh":42},"storage":{"total_bytes":128000000000,"free_bytes":64000000000},
 "time":"2026-11-16T06:00:00Z"})";
constexpr const char* kAlerts = R"({"items":[{"id":"a1","severity":"warning","title":"доска-2 is away",
 "detail":"no answer for 60 s","remedy":"Check its power and cable","since":"2026-11-16T05:59:00Z"}],"next_cursor":null})";
constexpr const char* kAudit =
    R"({"items":[{"seq":2,"time":"2026-11-16T05:01:00Z","actor":"ada","role":"admin","auth":"password",
 "address":"192.168.1.7","action":"user.create","object":"usr_2","result":"ok","details":{"role":"analyst"},"hash":"ab12"}],"next_cursor":"x"})";

struct Case {
  const char* file;
  std::vector<std::string> words;
};

// For the names of failed tests.
void PrintTo(const Case& chosen, std::ostream* out) { *out << chosen.file; }

class Golden : public ::testing::TestWithParam<Case> {};

TEST_P(Golden, OutputIsAsPromised) {
  Bench bench;
  bench.box.on("GET /api/v1/nodes?limit=200", 200, kNodes);
  bench.box.on("GET /api/v1/nodes/node-abc", 200, nlohmann::json::parse(kNodes)["items"][0].dump());
  bench.box.on("GET /api/v1/users?limit=200", 200, kUsers);
  bench.box.on("GET /api/v1/users/usr_2", 200, nlohmann::json::parse(kUsers)["items"][1].dump());
  bench.box.on("GET /api/v1/cluster", 200, kCluster);
  bench.box.on("GET /api/v1/alerts?limit=200", 200, kAlerts);
  bench.box.on("GET /api/v1/setup", 200, R"({"phase":"ready"})");
  bench.box.on("GET /api/v1/audit?limit=1", 200, kAudit);
  const Outcome outcome = bench.run(GetParam().words);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  expect_golden(GetParam().file, outcome.out);
}

INSTANTIATE_TEST_SUITE_P(
    Cli, Golden,
    ::testing::Values(Case{"nodes_list.txt", {"nodes", "list"}},
                      Case{"nodes_list_wide.txt", {"nodes", "list", "-o", "wide"}},
                      Case{"nodes_list.json", {"nodes", "list", "--json"}},
                      Case{"nodes_list_fields.json", {"nodes", "list", "--json=id,state"}},
                      Case{"nodes_list.jsonl", {"nodes", "list", "-o", "jsonl"}},
                      Case{"nodes_list.csv", {"nodes", "list", "-o", "csv"}},
                      Case{"nodes_list_quiet.txt", {"nodes", "list", "-q"}},
                      Case{"nodes_show.txt", {"nodes", "show", "board-1"}},
                      Case{"users_list.txt", {"users", "list"}},
                      Case{"users_list.csv", {"users", "list", "-o", "csv"}},
                      Case{"users_show.json", {"users", "show", "mara", "--json"}},
                      Case{"status.txt", {"status"}}, Case{"status.json", {"status", "--json"}},
                      Case{"audit_list_wide.txt", {"audit", "list", "--limit", "1", "-o", "wide"}}),
    [](const ::testing::TestParamInfo<Case>& chosen) {
      std::string name = chosen.param.file;
      for (char& c : name) c = c == '.' ? '_' : c;
      return name;
    });

TEST(GoldenColor, StatesAreColouredOnATerminalUnlessForbidden) {
  Bench bench;
  bench.io.terminal = true;
  bench.box.on("GET /api/v1/nodes?limit=200", 200, kNodes);
  EXPECT_NE(bench.run({"nodes", "list"}).out.find("\x1b[32mup\x1b[0m"), std::string::npos);
  EXPECT_EQ(bench.run({"nodes", "list", "--no-color"}).out.find('\x1b'), std::string::npos);
  bench.env.no_color = true;
  EXPECT_EQ(bench.run({"nodes", "list"}).out.find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace samovar::cli
