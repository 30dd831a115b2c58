// What a training showed of itself: its curve, its log, how long it ran and what it took. In memory while it
// runs, and as a sealed file beside its checkpoints, so that a chart survives a restart.
//
// Threading: loop only; encoding and decoding are pure.
// Format:    docs/formats/data-dir.md
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/jobs/model_service.hpp"
#include "daemon/jobs/train_protocol.hpp"

namespace samovar::jobs {

class JobHistory {
 public:
  static constexpr std::size_t kLinesMax = 2000;     // older ones are dropped
  static constexpr std::size_t kPointsMax = 4000;    // then every second one goes
  static constexpr std::size_t kBytesMax = 8 << 20;  // of the file

  // The point as a table of one row, for whoever listens.
  JobMetrics add(const MetricMessage& point);
  const JobLogLine& log(WallTime now, std::string level, std::string text);
  // What came after the checkpoint that is gone on from happens again; with 0 all of it does.
  void cut_after(std::uint64_t step);

  const JobMetrics& metrics() const noexcept { return metrics_; }
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
  std::optional<WallTime> started_at;
  std::uint64_t rows = 0;
  std::uint32_t pass = 0;

 private:
  std::size_t column(std::string_view name);
  void thin();
  void find_best();

  JobMetrics metrics_;
  std::deque<JobLogLine> lines_;
  std::uint64_t seq_ = 0;
  std::string metric_;
  std::optional<double> best_;
};

}  // namespace samovar::jobs
