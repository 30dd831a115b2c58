#include "daemon/power/ina3221.hpp"

#include <algorithm>
#include <utility>

namespace samovar::power {
namespace {

// A shunt of 1 %, and the chip's own gain of shunt and bus voltage.
constexpr double kErrorShare = 0.02;
// Half a step of the chip, 20 µV, over the usual 5 mΩ, at the 5 V of most modules: for each rail.
constexpr double kErrorWatts = 0.02;

// Beyond these a reading is garbage on the bus: no board of this kind takes a kilowatt.
constexpr std::int64_t kMilliwattsMax = 1'000'000;
constexpr std::int64_t kMillivoltsMax = 100'000;
constexpr std::int64_t kMilliampsMax = 200'000;

std::optional<std::int64_t> within(std::optional<std::int64_t> value, std::int64_t max) {
  if (!value || *value > max || *value < -max) return std::nullopt;
  return value;
}

std::optional<double> read_watts(const Sysfs& sys, const InaRail& rail) {
  if (!rail.power_path.empty())
    if (const auto power_mw = within(sys.number(rail.power_path), kMilliwattsMax))
      return static_cast<double>(std::max<std::int64_t>(0, *power_mw)) / 1e3;
  const auto voltage_mv = within(sys.number(rail.voltage_path), kMillivoltsMax);
  const auto current_ma = within(sys.number(rail.current_path), kMilliampsMax);
  if (!voltage_mv || !current_ma) return std::nullopt;
  // A rail at rest reads a few mA below zero; it feeds nothing back.
  const double watts = static_cast<double>(*voltage_mv) * static_cast<double>(*current_ma) / 1e6;
  return std::max(0.0, watts);
}

class Ina3221 final : public PowerSensor {
 public:
  Ina3221(const Sysfs& sys, std::vector<InaRail> rails, std::string note)
      : sys_(sys), rails_(std::move(rails)), note_(std::move(note)) {
    total_ = static_cast<std::size_t>(
        std::find_if(rails_.begin(), rails_.end(), [](const InaRail& r) { return is_total_rail(r.name); }) -
        rails_.begin());
  }

  std::string_view kind() const override { return "ina3221"; }
  std::string note() const override { return note_; }

  PowerReading read(const PowerContext&) override {
    PowerReading reading;
    double sum = 0;
    bool complete = true;
    for (std::size_t i = 0; i < rails_.size(); ++i) {
      const auto watts = read_watts(sys_, rails_[i]);
      if (!watts) {
        complete = false;
        continue;
      }
      reading.rails.push_back({rails_[i].name, *watts});
      sum += *watts;
      if (i == total_) reading.watts = watts;
    }
    if (total_ == rails_.size() && complete) reading.watts = sum;
    reading.error_share = kErrorShare;
    const double measured_rails = total_ == rails_.size() ? static_cast<double>(rails_.size()) : 1;
    reading.error_watts = kErrorWatts * measured_rails;
    return reading;
  }

 private:
  const Sysfs& sys_;
  std::vector<InaRail> rails_;
  std::size_t total_ = 0;  // rails_.size() when the total is the sum
  std::string note_;
};

}  // namespace

bool is_total_rail(std::string_view name) noexcept { return name == "POM_5V_IN" || name == "VDD_IN"; }

bool is_i2c_device(std::string_view name) noexcept {
  const std::size_t dash = name.find('-');
  return dash != std::string_view::npos && dash > 0 && name.size() == dash + 5 &&
         name.find_first_not_of("0123456789") == dash &&
         name.find_first_not_of("0123456789abcdef", dash + 1) == std::string_view::npos;
}

std::unique_ptr<PowerSensor> make_ina3221(const Sysfs& sys, std::vector<InaRail> rails, std::string form) {
  const auto dead = [&sys](const InaRail& rail) { return !read_watts(sys, rail); };
  const std::size_t found = rails.size();
  rails.erase(std::remove_if(rails.begin(), rails.end(), dead), rails.end());
  if (rails.empty()) return nullptr;

  const auto total =
      std::find_if(rails.begin(), rails.end(), [](const InaRail& r) { return is_total_rail(r.name); });
  std::string note = "Measured by the module's INA3221 (" + std::move(form) + "): ";
  note += total != rails.end()
              ? total->name + " is the whole module; its carrier board is not included."
              : "the sum of " + std::to_string(rails.size()) + " rails; the carrier board is not included.";
  if (rails.size() < found) note += " " + std::to_string(found - rails.size()) + " rails cannot be read.";
  return std::make_unique<Ina3221>(sys, std::move(rails), std::move(note));
}

}  // namespace samovar::power
