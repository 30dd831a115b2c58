#include "daemon/power/sampler.hpp"

#include <utility>

#include "base/log.hpp"
#include "daemon/power/probe.hpp"

namespace samovar::power {
namespace {

constexpr auto kPeriod = std::chrono::microseconds(std::chrono::seconds(1));
// Aim at the middle of each second of the wall clock, so that a tick which is late by less than half
// a second still falls into its own slot of the history.
constexpr auto kPhase = kPeriod / 2;
constexpr auto kDelayMin = kPeriod / 4;
constexpr unsigned kSkipsToWarn = 10;

Duration until_next_tick(WallTime now) {
  auto delay = (kPhase - now.time_since_epoch() % kPeriod + kPeriod) % kPeriod;
  if (delay < kDelayMin) delay += kPeriod;
  return delay;
}

}  // namespace

struct Sampler::State : std::enable_shared_from_this<State> {
  State(Loop& loop_, Disk& disk, SamplerOptions options)
      : loop(loop_),
        offload(std::move(options.offload)),
        probe(std::make_shared<Probe>(disk, std::move(options.state_dir), std::move(options.root))) {}

  void tick() {
    timer = loop.after(until_next_tick(loop.clock().wall()), [this] { tick(); });
    if (reading) {
      if (++skipped == kSkipsToWarn)
        SAMOVAR_LOG(warn, power, "a sensor does not answer: vital signs stand still until it does");
      return;
    }
    begin_reading();
  }

  void begin_reading() {
    if (!offload) {
      finish(probe->read(loop.clock().wall(), loop.clock().mono()));
      return;
    }
    reading = true;
    auto work = [weak = weak_from_this(), probe_ = probe, &loop_ = loop] {
      auto result = std::make_shared<Reading>(probe_->read(loop_.clock().wall(), loop_.clock().mono()));
      loop_.post([weak, result] {
        if (const auto self = weak.lock()) self->finish(std::move(*result));
      });
    };
    // A full pool costs this second only.
    if (!offload(std::move(work))) reading = false;
  }

  void finish(Reading result) {
    reading = false;
    skipped = 0;
    sample = std::move(result.sample);
    sensors = std::move(result.sensors);
    // A copy: the receiver may stop the sampler.
    if (const auto receiver = on_sample) receiver(sample);
  }

  Loop& loop;
  const std::function<bool(std::function<void()>)> offload;
  const std::shared_ptr<Probe> probe;  // shared with the reading on its way, which may outlive us
  // Loop only.
  OnSample on_sample;
  Loop::Id timer = 0;
  bool reading = false;
  unsigned skipped = 0;
  Sample sample;
  Sensors sensors;
};

Sampler::Sampler(Loop& loop, Disk& disk, SamplerOptions options)
    : state_(std::make_shared<State>(loop, disk, std::move(options))) {
  state_->sensors.power = state_->probe->power().kind();
  state_->sensors.power_note = state_->probe->power().note();
  SAMOVAR_LOG(info, power, "sensors found", kv("board", board().model), kv("power", state_->sensors.power),
              kv("note", state_->sensors.power_note));
}

Sampler::~Sampler() { stop(); }

void Sampler::start(OnSample on_sample) {
  stop();
  state_->on_sample = std::move(on_sample);
  state_->tick();
}

void Sampler::stop() {
  if (state_->timer != 0) state_->loop.cancel(std::exchange(state_->timer, 0));
  state_->on_sample = nullptr;
}

const Board& Sampler::board() const { return state_->probe->board(); }
const Sample& Sampler::latest() const { return state_->sample; }
const Sensors& Sampler::sensors() const { return state_->sensors; }

}  // namespace samovar::power
