// Watts without a sensor: idle power plus a share for the load, from a stated model, marked as an estimate.
#include <fmt/format.h>

#include <utility>

#include "daemon/power/power_sensor.hpp"

namespace samovar::power {
namespace {

// Two computers of one model class differ by as much.
constexpr double kErrorShare = 0.5;

struct Model {
  double idle_w;
  double busy_core_w;  // more, for each processor at full load
  double gpu_w;        // more, for the GPU at full load
};

Model model_for(const Board& board) {
  // Nano 2GB is the Jetson without an INA3221: 5 W and 10 W are its documented power modes.
  if (board.is_jetson()) return {2.0, 1.0, 4.0};
  // Another ARM board names itself in the device tree and has no "model name"; else a desktop processor.
  if (board.cpu_name.empty()) return {2.5, 1.2, 0};
  return {8.0, 6.0, 0};
}

class Estimate final : public PowerSensor {
 public:
  Estimate(const Board& board, std::string why) : model_(model_for(board)), cores_(board.cores) {
    note_ = fmt::format("{}{}Estimated, not measured: {:g} W at rest plus {:g} W for each busy core of {}",
                        why, why.empty() ? "" : " ", model_.idle_w, model_.busy_core_w, cores_);
    note_ += model_.gpu_w > 0 ? fmt::format(" and up to {:g} W for the GPU.", model_.gpu_w) : ".";
  }

  std::string_view kind() const override { return "estimate"; }
  std::string note() const override { return note_; }

  PowerReading read(const PowerContext& context) override {
    PowerReading reading;
    reading.estimated = true;
    reading.error_share = kErrorShare;
    if (context.cpu)
      reading.watts = model_.idle_w + model_.busy_core_w * cores_ * *context.cpu +
                      model_.gpu_w * context.gpu_load.value_or(0);
    return reading;
  }

 private:
  Model model_;
  unsigned cores_;
  std::string note_;
};

}  // namespace

std::unique_ptr<PowerSensor> make_estimate(const Board& board, std::string why) {
  return std::make_unique<Estimate>(board, std::move(why));
}

}  // namespace samovar::power
