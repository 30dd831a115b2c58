// This node's part in the power budget, and the leader's.
//
//   each second, on every node:  sample → Regulator → clock caps and the duty of its workers
//                                status → leader → its cap, held by a lease (power/cap_lease.hpp);
//                                rarely while it rests and no budget holds (power/report_pace.hpp)
//   on the leader as well:       what all said → BudgetKeeper → caps
//
// The leader's book is in its memory only: a new one gathers what nodes say within seconds, while each goes
// on with what it was told.
//
// Threading: loop only; a change of clock caps writes a few bytes to the kernel's files.
// Ownership: borrows loop, disk and exchange, which outlive it; shares the dial with the threads beside
// workers.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "base/task.hpp"
#include "daemon/jobs/power_work.hpp"
#include "daemon/jobs/worker_pace.hpp"
#include "daemon/net/exchange.hpp"
#include "daemon/power/actuator.hpp"
#include "daemon/power/board.hpp"
#include "daemon/power/budget_keeper.hpp"
#include "daemon/power/cap_lease.hpp"
#include "daemon/power/regulator.hpp"
#include "daemon/power/report_pace.hpp"
#include "daemon/power/sample.hpp"
#include "daemon/power/thermal_guard.hpp"

namespace samovar::daemon {

// Of the exchange, docs/formats/exchange.md: how a node's watts stand, and what it may draw.
inline constexpr auto kPowerTopic = static_cast<net::Topic>(10);

struct PowerHooks {
  std::function<std::string()> leader;                // empty: nobody is known to lead
  std::function<std::vector<std::string>()> members;  // with this one, without those removed
  std::function<power::Settings()> settings;
  std::function<power::LocalTime()> local_time;  // in the box's time zone
  std::function<jobs::PowerWork()> work;
};

class PowerControl {
 public:
  static constexpr std::chrono::milliseconds kAnswerMax{1500};

  // `root` is the fake tree of tests, `keep_path` where clock caps that were found are written down: those of
  // a run that crashed are put back at once.
  PowerControl(Loop& loop, Disk& disk, net::Exchange& exchange, std::string root, std::string keep_path,
               PowerHooks hooks);
  ~PowerControl();
  PowerControl(const PowerControl&) = delete;
  PowerControl& operator=(const PowerControl&) = delete;

  // For those who start workers.
  const std::shared_ptr<jobs::WorkerDial>& dial() const noexcept { return dial_; }
  // The state is there: from now on the budget is asked for.
  void start();
  // Clock caps are put back and workers let run.
  void stop();
  void on_sample(const power::Sample& sample);

  // How all nodes stand, from the leader; without one only this node.
  Task<power::ClusterPower> look();
  // As last told; for alerts and gauges.
  std::optional<double> cap_watts() const noexcept { return cap_; }
  const power::PowerStatus& status() const noexcept { return status_; }
  // Of all nodes at rest, as last heard of: a node that rests itself hears of it rarely.
  std::optional<double> cluster_idle_watts() const { return lease_.last().idle_watts; }
  // What the leader last said, while it holds.
  const power::CapAnswer* told() const;
  std::optional<power::ClusterPower> led() const;  // nothing unless this node leads
  std::string advice(const power::Board& board) const { return actuator_.advice(board); }

 private:
  void regulate(const power::Sample& sample, const power::Settings& settings);
  void drive(const power::Drive& wanted);
  void lead(const power::Settings& settings);
  Task<void> report();
  Task<Result<Bytes>> answer(std::string from, Bytes body);
  bool leads() const;
  bool rests() const;

  Loop& loop_;
  net::Exchange& exchange_;
  const PowerHooks hooks_;
  const power::Sysfs sys_;
  const std::shared_ptr<jobs::WorkerDial> dial_ = std::make_shared<jobs::WorkerDial>();

  power::Actuator actuator_;
  std::optional<power::Regulator> regulator_;  // never empty
  power::ThermalGuard guard_;
  power::CapLease lease_;
  power::ReportPace pace_;
  power::PowerStatus status_;
  std::optional<power::BudgetKeeper> keeper_;
  std::optional<double> cap_;
  std::uint64_t rows_ = 0;
  unsigned until_battery_ = 0;  // seconds until the power supplies are looked at again
  bool running_ = false;
  bool reporting_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // shared with questions under way
};

}  // namespace samovar::daemon
