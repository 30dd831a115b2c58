#include "daemon/power/probe.hpp"

#include <algorithm>
#include <utility>

namespace samovar::power {

Probe::Probe(Disk& disk, std::string state_dir, std::string root)
    : disk_(disk),
      state_dir_(std::move(state_dir)),
      sys_(std::move(root)),
      board_(identify_board(sys_)),
      power_(detect_power_sensor(sys_, board_)),
      gpu_(Gpu::detect(sys_)) {}

Reading Probe::read(WallTime wall, MonoTime mono) {
  Reading out;
  Sample& sample = out.sample;
  sample.t = wall;

  Counters now = read_counters(sys_, mono);
  if (last_) {
    const Rates rates = rates_between(*last_, now);
    sample.covers_s = std::max(0.0, std::chrono::duration<double>(mono - last_->at).count());
    sample.cpu = rates.cpu;
    sample.process_cpu = rates.process_cpu;
    sample.net_rx_bps = rates.net_rx_bps;
    sample.net_tx_bps = rates.net_tx_bps;
  }
  sample.load1 = now.load1;
  sample.mem_total_bytes = now.mem_total_bytes;
  if (now.mem_total_bytes && now.mem_available_bytes)
    sample.mem_used_bytes = *now.mem_total_bytes - std::min(*now.mem_total_bytes, *now.mem_available_bytes);
  sample.process_rss_bytes = now.process_rss_bytes;
  last_ = std::move(now);

  if (const auto space = disk_.space(state_dir_)) {
    sample.disk_total_bytes = space->total_bytes;
    sample.disk_free_bytes = space->free_bytes;
    sample.disk_used_bytes = space->total_bytes - std::min(space->total_bytes, space->free_bytes);
  }

  if (gpu_) {
    out.sensors.gpu = gpu_->read();
    sample.gpu_load = out.sensors.gpu->load;
  }
  PowerReading power = power_->read({mono, sample.cpu, sample.gpu_load});
  sample.watts = power.watts;
  sample.watts_estimated = power.estimated;
  sample.watts_error_share = power.error_share;
  sample.watts_error = power.error_watts;
  out.sensors.power = power_->kind();
  out.sensors.power_note = power_->note();
  out.sensors.rails = std::move(power.rails);

  out.sensors.temperatures = read_temperatures(sys_);
  if (const Temperature* most = hottest(out.sensors.temperatures)) {
    sample.temp_max_c = most->celsius;
    sample.temp_max_name = most->name;
  }
  return out;
}

}  // namespace samovar::power
