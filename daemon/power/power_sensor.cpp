#include "daemon/power/power_sensor.hpp"

namespace samovar::power {
namespace {

std::string why_no_sensor(const Sysfs& sys, const Board& board) {
  for (const std::string& zone : sys.list("/sys/class/powercap"))
    if (zone.rfind("intel-rapl", 0) == 0 && sys.exists("/sys/class/powercap/" + zone + "/energy_uj"))
      return "The processor's energy counter (RAPL) is there but this service may not read it: give its "
             "group read access to /sys/class/powercap/intel-rapl:*/energy_uj.";
  if (board.virtual_machine) return "A virtual machine cannot see its host's power meter.";
  return "This computer shows no power sensor.";
}

}  // namespace

std::unique_ptr<PowerSensor> detect_power_sensor(const Sysfs& sys, const Board& board) {
  if (auto sensor = detect_ina3221_iio(sys)) return sensor;
  if (auto sensor = detect_ina3221_hwmon(sys)) return sensor;
  if (auto sensor = detect_rapl(sys)) return sensor;
  return make_estimate(board, why_no_sensor(sys, board));
}

}  // namespace samovar::power
