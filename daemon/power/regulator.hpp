// Holds one node at the watts it was given: clock setting and duty of its workers, from what it draws.
//
// It learns while it works. The power of a setting at full duty follows from what was measured at a part of
// it; a setting never run is approached from below; a small integral takes out what is left (heat, sensors).
//
//   no cap:  fastest setting, full duty
//   cap:     unknown kind of model → Prober, a few seconds at several settings, all within the cap
//            known                 → the setting and duty that do most samples within it
//            cannot be told from rest (an estimate on a machine that others keep busy, a sensor that is too
//            coarse) → the duty climbs for as long as the reading stays below the cap
//
// Threading: none of its own; one step about every second.
#pragma once
#include <optional>
#include <string>

#include "daemon/power/curve.hpp"

namespace samovar::power {

struct RegulatorInput {
  double seconds = 1;           // since the step before, which these readings cover
  std::optional<double> watts;  // of the board
  double rate = 0;              // samples a second
  bool working = false;         // workers run
  std::string kind;             // of model; what curves are kept under
  std::optional<double> cap_watts;
  double heat_share = 1;  // of active power, from ThermalGuard
};

struct Drive {
  std::size_t level = 0;  // of the actuator; 0 is the fastest
  double duty = 1;
};

class Regulator {
 public:
  static constexpr double kDutyMin = 0.02;
  static constexpr double kDutyUnknown = 0.15;       // of a setting that was never run, at first
  static constexpr double kProbeAgainSeconds = 300;  // after a probing that taught nothing

  // levels: of the actuator, 1 when there is only the duty.
  explicit Regulator(std::size_t levels) : levels_(levels == 0 ? 1 : levels) {}

  Drive step(const RegulatorInput& input);

  const Drive& drive() const noexcept { return drive_; }
  double idle_watts() const noexcept { return idle_.value_or(0); }
  bool probing() const noexcept { return prober_.has_value(); }
  // The power of what runs now is known: false while it cannot be told from rest.
  bool knows() const { return book_.at(kind_, drive_.level).has_value(); }
  // As far as known; nothing before the first reading at work.
  std::optional<Curve> curve() const;
  // The most it draws while `kind` runs as heat allows; 0 when not known.
  double watts_max() const;

 private:
  void learn(const RegulatorInput& input);
  void rest(const RegulatorInput& input);
  Drive choose(double cap);
  double duty_for(std::size_t level, double cap) const;
  void correct(const RegulatorInput& input, double cap);
  void climb(const RegulatorInput& input, double cap);
  void forget_climb();

  const std::size_t levels_;
  CurveBook book_;
  std::optional<Prober> prober_;
  std::string kind_;
  std::optional<double> idle_;
  Drive drive_;
  double bias_ = 0;          // watts taken off the cap
  double held_seconds_ = 0;  // at this level
  double heat_share_ = 1;
  double duty_unknown_ = kDutyUnknown;  // of a setting whose power is not known
  double probed_seconds_ago_ = kProbeAgainSeconds;
};

}  // namespace samovar::power
