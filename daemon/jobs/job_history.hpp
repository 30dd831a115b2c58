// What a training showed of itself: its curve, its log, how long it ran and what it took. In memory while it
// runs, and as a sealed file beside its checkpoints, so that a chart survives a restart.
//
// Threading: loop only; encoding and decoding are pure.
// Format:    docs/formats/data-dir.md
#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "daemon/jobs/model_service.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::jobs {

class JobHistory {
 public:
  static constexpr std::size_t kLinesMax = 2000;   // older ones are dropped
  static constexpr std::size_t kPointsMax = 4000;  // then every second one goes
  static constexpr std::size_t kWorkerPointsMax = 500;
  static constexpr std::size_t kAllWorkersPointsMax = 6000;  // then the longest is thinned
  static constexpr std::size_t kNamesMax = 128;              // of values; further ones are not kept
  static constexpr std::size_t kWorkersMax = 256;            // whose curves are kept; the oldest go
  static constexpr std::size_t kEventsMax = 100;
  static constexpr std::size_t kDevicesMax = 1024;
  static constexpr std::size_t kBytesMax = 8 << 20;  // of the file

  // The point as a table of one row, for whoever listens.
  JobMetrics add(const MetricMessage& point);
  // Of one worker of several.
  JobMetrics add(std::uint32_t worker, const std::string& node_id, const MetricMessage& point);
  const JobLogLine& log(WallTime now, std::string level, std::string text);
  // What a node computes on: an empty name leaves the one before, and an empty note on a CPU too, so that why
  // it is the CPU stays known.
  void computes_on(const std::string& node_id, const DeviceMessage& told);
  const JobEvent& event(WallTime now, std::string kind, std::string node_id, std::string text);

  // The same on another node: what the calls above changed, one after the other, each counting the revision
  // up by one. Whoever misses some asks for the whole.
  std::uint64_t revision() const noexcept { return revision_; }
  void skip_revisions(std::uint64_t count) noexcept { revision_ += count; }
  nlohmann::json take_news();
  // The devices as a list, and back; what is not in order is left out.
  nlohmann::json devices_json() const;
  void read_devices(const nlohmann::json& list);
  // `news` leads from revision `begin` to `end`; what is known of it already is passed over. False when
  // something before it is missing. Errc::corrupt for what take_news would not give. `point` and `line` hear
  // of each.
  Result<bool> follow(std::uint64_t begin, std::uint64_t end, const nlohmann::json& news,
                      const std::function<void(const JobMetrics&)>& point,
                      const std::function<void(const JobLogLine&)>& line);
  // What came after the checkpoint that is gone on from happens again; with 0 all of it does.
  void cut_after(std::uint64_t step);

  const JobMetrics& metrics() const noexcept { return metrics_; }
  const std::map<std::uint32_t, JobMetrics>& worker_metrics() const noexcept { return workers_; }
  const std::deque<JobEvent>& events() const noexcept { return events_; }
  std::vector<JobLogLine> lines(std::uint64_t after, std::size_t limit) const;
  // The deciding metric and its best value.
  const std::string& metric() const noexcept { return metric_; }
  const std::optional<double>& best() const noexcept { return best_; }

  Bytes encode() const;
  // Errc::corrupt for anything encode would not write.
  static Result<JobHistory> decode(ByteView bytes);

  // Of all runs since the last start from nothing.
  double seconds = 0;
  double joules = 0;
  bool joules_estimated = true;
  double joules_error = 0;  // how far off they may be
  double box_joules = 0;    // of all nodes, with those at rest, while it ran,
  double box_seconds = 0;   // as far as that was told
  double speed_share = 1;   // how much of the time its workers were let work
  std::optional<WallTime> started_at;
  std::uint64_t rows = 0;
  std::uint32_t pass = 0;
  std::map<std::string, JobDevice> devices;  // by node

 private:
  void find_best();

  JobMetrics metrics_;
  std::map<std::uint32_t, JobMetrics> workers_;
  std::deque<JobEvent> events_;
  std::uint64_t event_seq_ = 0;
  std::uint64_t revision_ = 0;
  nlohmann::json news_;  // since take_news(); null: nobody asked yet
  std::deque<JobLogLine> lines_;
  std::uint64_t seq_ = 0;
  std::string metric_;
  std::optional<double> best_;
};

}  // namespace samovar::jobs
