// RAPL: energy counters of Intel and AMD processors, in microjoules since an arbitrary start.
#include <utility>

#include "daemon/power/power_sensor.hpp"

namespace samovar::power {
namespace {

// Processors since about 2013 measure; older ones, and many of AMD, count events and weigh them.
constexpr double kErrorShare = 0.1;
constexpr std::string_view kClass = "/sys/class/powercap/";
constexpr double kZoneWattsMax = 5000;  // a counter that was reset looks like far more than this
constexpr double kSecondsMin = 0.05;    // the counters step about every millisecond: shorter is noise

enum class Domain { package, psys, dram, part };  // part: inside a package, never added to it

struct Zone {
  std::string name;
  std::string energy_path;
  std::int64_t range_uj = 0;  // the counter wraps here; 0 when not stated
  Domain domain = Domain::part;
  std::int64_t last_uj = 0;
};

Domain domain_of(std::string_view name) {
  if (name.rfind("package", 0) == 0) return Domain::package;
  if (name == "psys") return Domain::psys;
  return name == "dram" ? Domain::dram : Domain::part;
}

// Zones of one family, e.g. "intel-rapl:0" and "intel-rapl:0:1", that can be read.
std::vector<Zone> find_zones(const Sysfs& sys, const std::string& prefix) {
  std::vector<Zone> zones;
  for (const std::string& entry : sys.list(kClass)) {
    if (entry.rfind(prefix, 0) != 0) continue;
    const std::string dir = std::string(kClass) + entry;
    const auto name = sys.text(dir + "/name");
    const auto energy = sys.number(dir + "/energy_uj");
    if (!name || !energy || *energy < 0) continue;
    zones.push_back({*name, dir + "/energy_uj", sys.number(dir + "/max_energy_range_uj").value_or(0),
                     domain_of(*name), *energy});
  }
  return zones;
}

bool has(const std::vector<Zone>& zones, Domain domain) {
  for (const Zone& zone : zones)
    if (zone.domain == domain) return true;
  return false;
}

class Rapl final : public PowerSensor {
 public:
  Rapl(const Sysfs& sys, std::vector<Zone> zones) : sys_(sys), zones_(std::move(zones)) {
    note_ = has(zones_, Domain::psys) ? "Measured by the processor (RAPL) for the whole platform."
                                      : "Measured by the processor (RAPL): processor packages" +
                                            std::string(has(zones_, Domain::dram) ? " and memory" : "") +
                                            " only; drives, fans and the power supply are not included.";
  }

  std::string_view kind() const override { return "rapl"; }
  std::string note() const override { return note_; }

  PowerReading read(const PowerContext& context) override {
    const double seconds = std::chrono::duration<double>(context.now - last_at_).count();
    const bool first = std::exchange(started_, true) == false;
    if (!first && seconds < kSecondsMin) return {};
    last_at_ = context.now;

    PowerReading reading;
    double packages = 0;
    double psys = 0;
    bool complete = !first;
    for (Zone& zone : zones_) {
      const auto watts = advance(zone, seconds);
      if (first) continue;
      if (!watts) {
        // Parts are for show; a missing package or memory zone makes the total wrong.
        complete = complete && zone.domain == Domain::part;
        continue;
      }
      reading.rails.push_back({zone.name, *watts});
      if (zone.domain == Domain::psys) psys += *watts;
      if (zone.domain == Domain::package || zone.domain == Domain::dram) packages += *watts;
    }
    reading.error_share = kErrorShare;
    // Some firmware leaves psys at zero or at less than its own packages: then it is not the platform.
    if (complete) reading.watts = psys >= packages ? psys : packages;
    return reading;
  }

 private:
  std::optional<double> advance(Zone& zone, double seconds) const {
    const auto now = sys_.number(zone.energy_path);
    if (!now || *now < 0) {
      zone.last_uj = -1;  // unknown: the next reading only starts anew
      return std::nullopt;
    }
    const std::int64_t before = std::exchange(zone.last_uj, *now);
    if (before < 0 || seconds <= 0) return std::nullopt;
    double delta_uj = static_cast<double>(*now) - static_cast<double>(before);
    if (delta_uj < 0) {
      if (zone.range_uj <= 0) return std::nullopt;
      delta_uj += static_cast<double>(zone.range_uj);
    }
    const double watts = delta_uj / 1e6 / seconds;
    if (watts < 0 || watts > kZoneWattsMax) return std::nullopt;
    return watts;
  }

  const Sysfs& sys_;
  std::vector<Zone> zones_;
  std::string note_;
  MonoTime last_at_{};
  bool started_ = false;
};

}  // namespace

std::unique_ptr<PowerSensor> detect_rapl(const Sysfs& sys) {
  // intel-rapl-mmio shows the same package through another register: never both.
  for (const char* family : {"intel-rapl:", "intel-rapl-mmio:"}) {
    std::vector<Zone> zones = find_zones(sys, family);
    if (has(zones, Domain::package) || has(zones, Domain::psys))
      return std::make_unique<Rapl>(sys, std::move(zones));
  }
  return nullptr;
}

}  // namespace samovar::power
