// What nodes tell the leader about their power each second, what it answers, and how all of them stand.
//
// Threading: values; encoding and decoding are pure.
// Format:    docs/formats/power-messages.md
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/power/curve.hpp"

namespace samovar::power {

inline constexpr std::size_t kPowerMessageBytesMax = 1 << 20;

// What a training wants while it runs. Without an id: work of another kind, which wants all there is.
struct JobWish {
  std::string id;
  std::optional<double> cap_watts;  // of all nodes together
  bool gentle = false;
  bool deadline = false;
  // The speed that keeps to the deadline, in parts of the present one; told by the training's home once it is
  // known.
  std::optional<double> pace;
};

// And what came of it.
struct JobGrant {
  std::string id;
  std::optional<double> watts;         // what the box may draw for it now; nothing: no limit
  std::optional<double> limit_watts;   // the smallest of all limits that hold
  bool late = false;                   // the deadline cannot be kept within it
  std::optional<double> needed_watts;  // late: what would do; nothing: not even all there is
};

// How a node's watts stand.
struct PowerStatus {
  bool working = false;
  std::optional<double> watts;
  bool estimated = true;
  double idle_watts = 0;
  std::vector<CurvePoint> curve;  // without rest; empty: not known yet
  double watts_max = 0;           // as heat allows; 0: no limit
  std::optional<double> celsius;
  bool hot = false;  // held back by its thermal limit
  bool on_battery = false;
  bool probing = false;
  double duty = 1;
  std::uint32_t level = 0;   // of its clocks; 0 is the fastest
  std::uint32_t levels = 1;  // 1: its clocks cannot be capped
  std::string clocks;        // what is capped: "cpufreq policy0, 57000000.gpu"
  // The least that a training which works on it wants of all nodes together.
  std::optional<double> job_watts;
  std::string job_id;         // that one
  std::vector<JobWish> jobs;  // all that run here or are looked after here
};

struct PowerQuestion {
  std::optional<PowerStatus> status;  // nothing: only looks
  bool look = false;                  // wants `all`
};

// What a node may draw.
struct CapAnswer {
  bool ready = false;  // false: the leader has not heard enough yet; what held goes on
  std::optional<double> cap_watts;
  std::optional<double> budget_watts;
  // For estimates and pages: what all nodes draw at rest, and drew in the last ten seconds.
  std::optional<double> idle_watts;
  std::optional<double> mean_watts;
  std::vector<JobGrant> jobs;
};

// "reporting", "silent" (its cap is kept free for it), "away" (counted with its rest), "unknown".
struct NodePower {
  std::string id;
  std::string state;
  std::optional<PowerStatus> status;  // as last heard
  std::optional<double> cap_watts;
};

struct ClusterPower {
  std::string leader_id;
  std::optional<double> budget_watts;  // that holds now
  std::string reason = "none";         // "none", "budget", "schedule", "ups", "job"
  std::string job_id;                  // with "job"
  bool held = true;                    // false: the nodes draw more than it even at rest
  double idle_watts = 0;
  std::optional<double> mean_watts;  // over ten seconds
  std::vector<NodePower> nodes;
  std::vector<JobGrant> jobs;
};

struct PowerReply {
  CapAnswer cap;
  std::optional<ClusterPower> all;
};

Bytes encode_question(const PowerQuestion& question);
Bytes encode_reply(const PowerReply& reply);
// Errc::corrupt for what is no JSON object; single members that do not read are left out.
Result<PowerQuestion> decode_question(ByteView bytes);
Result<PowerReply> decode_reply(ByteView bytes);

}  // namespace samovar::power
