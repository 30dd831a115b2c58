// What a node says of itself to the others: the answer to Topic::node_report, as JSON. Members are trusted to
// tell the truth about themselves, not to send good bytes: everything is checked, and what is missing or
// unknown (another version) is left out.
//
// Threading: values.
// Format: docs/formats/node-report.md
#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/api/members.hpp"
#include "daemon/api/services.hpp"
#include "daemon/power/history.hpp"
#include "daemon/power/sample.hpp"

namespace samovar::api {

inline constexpr std::size_t kReportBytesMax = 1u << 20;

struct NodeReport {
  NodeFacts facts;  // started_mono is the asker's business: see uptime
  std::chrono::seconds uptime{0};
  std::string version;
  WallTime clock{};        // its wall clock when it answered
  bool clock_sure = true;  // false: behind a time that has certainly passed, as on boards without a battery
  unsigned mtu = 0;        // of the network card that others reach it by; 0: not known
  DiskSpace disk;
  std::string url;  // of its page
  std::vector<LinkReport> links;
  power::Sample sample;
  power::Sensors sensors;
  bool brief = false;  // only version, clock and disk
};

struct ReportRequest {
  bool brief = false;
  std::optional<power::HistoryQuery> history;
};

Bytes encode_request(const ReportRequest& request);
Result<ReportRequest> decode_request(ByteView bytes);
Bytes encode_report(const NodeReport& report);
Result<NodeReport> decode_report(ByteView bytes);
Bytes encode_history(const power::HistoryTable& table);
Result<power::HistoryTable> decode_history(ByteView bytes);

}  // namespace samovar::api
