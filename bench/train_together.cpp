#include "bench/train_together.hpp"

#include <sched.h>
#include <unistd.h>

#include <cmath>
#include <functional>
#include <map>
#include <thread>

#include "base/json.hpp"
#include "bench/bench.hpp"
#include "trainer/sync/local_group.hpp"
#include "trainer/train.hpp"

namespace samovar::bench {

namespace {

using nlohmann::json;

struct Times {
  double wall = -1;  // not yet
  double cpu = 0;
  double waited = 0;
};
// What a worker said on its way.
struct Said {
  double rows = 0, seconds = 0, bytes = 0, loss = 0;
};

// Notes when training begins and ends, the worker's figures and its curve.
class Watch final : public trainer::TrainObserver {
 public:
  std::function<double()> seconds, waited;

  bool progress(const trainer::TrainProgress& progress) override {
    if (progress.step == "training" && began.wall < 0) began = now();
    if (progress.step == "evaluating" && ended.wall < 0) ended = now();
    return true;
  }
  bool metric(const trainer::TrainMetric& metric) override {
    if (began.wall < 0) began = now();
    for (const auto& [name, value] : metric.values) {
      last[name] = value;
      first.emplace(name, value);
    }
    // What was waited for before the first step is not the training's.
    if (steps == 0) began.waited = waited();
    rows = static_cast<double>(metric.rows);
    steps = static_cast<double>(metric.step);
    stepped = now();
    const auto loss = last.find("valid_loss");
    if (loss != last.end() && std::isfinite(loss->second))
      curve.push_back({rows, stepped.wall, last["bytes_sent"], loss->second});
    return true;
  }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t, const trainer::CheckpointPieces&) override { return {}; }

  // Of the training: what was before it is not its own.
  double grown(const std::string& name) { return last[name] - first[name]; }
  Times now() const { return {seconds(), cpu_seconds(), waited()}; }

  Times began, stepped, ended;
  double rows = 0, steps = 0;
  std::map<std::string, double> first, last;
  std::vector<Said> curve;
};

void pin(std::size_t worker) {
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  cpu_set_t own;
  CPU_ZERO(&own);
  CPU_SET(static_cast<std::size_t>(cores - 1 - static_cast<long>(worker) % cores), &own);
  (void)sched_setaffinity(0, sizeof own, &own);  // its reader too
}

// One curve of all: at each moment of the lead's the others stand where they last said.
std::vector<CurvePoint> curve_of(std::vector<Watch>& watches, double began, double scale) {
  std::vector<CurvePoint> out;
  for (const Said& said : watches[0].curve) {
    CurvePoint point{0, (said.seconds - began) * scale, 0, 0};
    double heard = 0;
    for (const Watch& watch : watches) {
      const Said* latest = nullptr;
      for (const Said& other : watch.curve) {
        if (other.seconds <= said.seconds) latest = &other;
      }
      if (latest == nullptr) continue;
      point.rows += latest->rows;
      point.bytes += latest->bytes;
      point.loss += latest->loss;
      ++heard;
    }
    point.loss /= heard;
    out.push_back(point);
  }
  return out;
}

Result<Outcome> outcome_of(std::vector<Watch>& watches, const trainer::Trained& lead, bool in_turns) {
  const json evaluation = json::parse(lead.evaluation_json);
  const json summary = json::parse(lead.summary_json);
  const json& test = evaluation["metrics"]["test"];
  Outcome out;
  if (test.contains("auc")) out.auc = test["auc"]["value"];
  if (test.contains("log_loss")) out.log_loss = test["log_loss"]["value"];
  Times began = watches[0].began, stepped = watches[0].stepped, ended = watches[0].ended;
  for (Watch& watch : watches) {
    if (watch.began.wall < began.wall) began.wall = watch.began.wall;
    if (watch.began.cpu < began.cpu) began.cpu = watch.began.cpu;
    if (watch.stepped.wall > stepped.wall) stepped.wall = watch.stepped.wall;
    if (watch.stepped.cpu > stepped.cpu) stepped.cpu = watch.stepped.cpu;
    if (watch.ended.wall > ended.wall) ended.wall = watch.ended.wall;
    out.waited = std::max(out.waited, watch.stepped.waited - watch.began.waited);
    out.bytes += watch.grown("bytes_sent");
    out.rows += watch.rows;
    out.steps = std::max(out.steps, watch.steps);
  }
  const auto workers = static_cast<double>(watches.size());
  out.wall = stepped.wall - began.wall;
  out.cpu = stepped.cpu - began.cpu;
  out.seconds = in_turns ? out.wall : out.cpu / workers + out.waited;
  out.finish = ended.wall - stepped.wall;
  out.tau = watches[0].last["tau"];
  out.rounds = watches[0].grown("round");
  out.exchange = watches[0].grown("exchange_work_seconds");
  out.curve = curve_of(watches, began.wall, out.wall > 0 ? out.seconds / out.wall : 1);
  for (const json& note : summary["notes"]) {
    if (note.get<std::string>().starts_with("Trained by")) out.note = note;
  }
  return out;
}

Result<Outcome> train_all(TrainingData& data, const trainer::JobSpec& spec, std::size_t workers,
                          std::optional<VirtualLink> link, bool apart, Spread spread, double step_seconds) {
  const auto dealt =
      spread.runs ? deal_runs(data.blocks->blocks(), workers) : deal(data.blocks->blocks(), workers);
  using Blocks = trainer::LocalGroup::Blocks;
  trainer::LocalGroup local(dealt, spread.rotate ? Blocks::go_round : Blocks::stay);
  VirtualGroup turns(dealt, link.value_or(VirtualLink{}), spread.rotate, step_seconds);
  std::vector<Watch> watches(workers);
  std::vector<std::unique_ptr<Result<trainer::Trained>>> trained(workers);
  std::vector<std::thread> threads;
  for (std::uint32_t i = 0; i < workers; ++i) {
    watches[i].seconds = [&, i] { return link ? turns.seconds(i) : wall_seconds(); };
    watches[i].waited = [&, i] { return link ? turns.waited(i) : watches[i].grown("wait_seconds"); };
    threads.emplace_back([&, i] {
      trainer::TrainOptions options;
      options.checkpoint_seconds = 1e9;
      if (link) {
        turns.begin(i);
        options.group = &turns.member(i);
      } else {
        pin(i);
        if (workers > 1 && !apart) options.group = &local.member(i);
      }
      trained[i] = std::make_unique<Result<trainer::Trained>>(
          trainer::train(*data.blocks, data.schema, spec, std::nullopt, options, watches[i]));
      // Without it the others would wait for ever.
      if (link) turns.end(i, !*trained[i]);
      if (!link && !*trained[i]) {
        for (std::uint32_t other = 0; other < workers; ++other) local.stop(other);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const bool asked_to_stop : {false, true}) {
    for (const auto& one : trained) {
      if (!*one && (one->error().code() == Errc::conflict) == asked_to_stop) return one->error();
    }
  }
  SAMOVAR_TRY(Outcome out, outcome_of(watches, **trained[0], link.has_value()));
  double steps = 0;
  for (std::uint32_t i = 0; link && i < workers; ++i) {
    out.messages += static_cast<double>(turns.messages_sent(i));
    out.step_cpu += turns.stepped(i);
    steps += watches[i].steps;
  }
  if (steps > 0) out.step_cpu /= steps;
  return out;
}

}  // namespace

Result<Outcome> train_together(TrainingData& data, const trainer::JobSpec& spec, std::size_t workers,
                               std::optional<VirtualLink> link, Spread spread, double step_seconds) {
  return train_all(data, spec, workers, link, false, spread, step_seconds);
}

Result<Outcome> train_apart(TrainingData& data, const trainer::JobSpec& spec, std::size_t workers) {
  return train_all(data, spec, workers, std::nullopt, true, {}, 0);
}

}  // namespace samovar::bench
