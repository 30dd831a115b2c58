// One job trained by one worker and by several: rows a second of the training, the AUC after as many passes,
// and what codecs make of both. Generated clicks with 39 hashed inputs, a million weights.
//
// Two workers run as threads, each on a core of its own. On a busy machine the clock on the wall says little:
// the figures that end in _cpu divide by the mean of the workers' processor seconds and the longest wait for
// others. Four and eight run in virtual time (virtual_group.hpp) over links of 1 Gbit/s, with steps that cost
// what those of the one worker took; two do as well, and that what is predicted for them is what was measured
// shows how far it is to be trusted. Two jobs side by side that exchange nothing show what two cores of this
// machine are at best, for they share memory and its cache and nodes do not: `shared_memory` is that alone.
#include <algorithm>
#include <string>

#include "bench/bench.hpp"
#include "bench/train_together.hpp"
#include "security/init.hpp"
#include "trainer/sync/codec.hpp"
#include "trainer/sync/strategies.hpp"
#include "trainer/sync/together.hpp"

namespace samovar::bench {
namespace {

constexpr std::string_view kBench = "elastic";
constexpr int kRuns = 3;
constexpr unsigned kHashBits = 20;
// As between threads: no wire.
constexpr VirtualLink kMemory{4e9, 20e-6};

struct Choice {
  std::uint64_t rows = 1'000'000;
  bool two_only = false;
  bool rotate = false;
  std::string solver = "ftrl";
  unsigned tau = 0;
  unsigned passes = 0;  // 0: as a job has them that says nothing
};

void tell(const std::string& name, const Outcome& o) {
  std::fprintf(stderr,
               "%s: auc %.5f, log loss %.5f, %.0f rows, %.3f s (wall %.2f s, cpu %.2f s, waited %.3f s), one "
               "model %.2f s later, "
               "%.1f rounds of %.3f ms, %.0f B/row, tau %.0f. %s\n",
               name.c_str(), o.auc, o.log_loss, o.rows, o.seconds, o.wall, o.cpu, o.waited, o.finish,
               o.rounds, o.rounds > 0 ? 1e3 * o.exchange / o.rounds : 0, o.bytes / o.rows, o.tau,
               o.note.c_str());
}

// What an exchange of the whole vector may cost a worker of two, its half's heads included.
double promised_bytes(const trainer::Codec& codec, unsigned hash_bits) {
  constexpr std::size_t kPiece = 32'768, kHead = 64;
  const std::size_t floats = std::size_t{2} << hash_bits;
  return static_cast<double>(floats / kPiece * (codec.bytes_most(kPiece, {2, true, 1}) + kHead));
}

// With the same steps between exchanges: only the bytes differ. So few steps that there are many exchanges;
// the first one, which is floats as they are, is not what a codec promises.
void codecs(TrainingData& data, const trainer::JobSpec& with, double steps) {
  trainer::JobSpec spec = with;
  spec.strategy.tau = static_cast<std::uint32_t>(std::max(1.0, steps / 2 / 40));
  double whole_auc = 0, whole_bytes = 0;
  for (const std::string_view name : trainer::codec_names()) {
    spec.strategy.codec = name;
    const Outcome one = need(train_together(data, spec, 2, std::nullopt));
    const std::string metric(name);
    tell(metric, one);
    const double promised = promised_bytes(*trainer::make_codec(name), spec.features.hash_bits);
    if (name == "fp32") {
      whole_auc = one.auc;
      whole_bytes = promised;
    }
    print({kBench, "auc_" + metric, "1", one.auc, whole_auc, "fp32"});
    if (one.rounds < 2) continue;
    print({kBench, "bytes_" + metric, "bytes per exchange", (one.bytes / 2 - whole_bytes) / (one.rounds - 1),
           promised, "promised at most"});
    print({kBench, "exchange_" + metric, "cpu s per exchange", one.exchange / one.rounds});
  }
}

// The one that took the least: what a machine's neighbours do can only add.
Outcome best_of(int runs, TrainingData& data, const trainer::JobSpec& spec, std::size_t workers,
                std::optional<VirtualLink> link, double step_seconds = 0) {
  Outcome best = need(train_together(data, spec, workers, link, {}, step_seconds));
  for (int run = 1; run < runs; ++run) {
    Outcome next = need(train_together(data, spec, workers, link, {}, step_seconds));
    if (next.seconds / next.rows < best.seconds / best.rows) best = std::move(next);
  }
  return best;
}

// Steps between exchanges are chosen from clocks, which say nothing when workers take turns. So they are
// asked for with what was measured of one and two workers, and what the link takes for an exchange.
std::uint32_t tau_of(const Choice& choice, const Outcome& one, const Outcome& two, std::size_t nodes,
                     VirtualLink link) {
  if (choice.tau != 0) return choice.tau;
  trainer::CostQuestion question;
  question.members = nodes;
  question.floats = std::size_t{2} << kHashBits;
  const double bytes = trainer::find_strategy("easgd")->cost(question).bytes;
  trainer::TauQuestion q;
  q.work = two.rounds > 0 ? two.exchange / two.rounds : 0;
  q.step = q.step_work = one.cpu / one.steps;
  q.network = bytes / link.bytes_per_second + link.latency_seconds;
  q.steps = one.steps / static_cast<double>(nodes);
  return trainer::choose_tau(q);
}

void run(const Choice& choice) {
  const auto data = generated_clicks(choice.rows, kHashBits);
  trainer::JobSpec spec = data->spec;
  spec.strategy.tau = choice.tau;
  spec.parameters["solver"] = choice.solver;
  if (choice.passes != 0) spec.parameters["passes"] = choice.passes;
  std::fprintf(stderr, "%zu blocks, solver %s\n", data->blocks->blocks(), choice.solver.c_str());

  const Outcome one = best_of(kRuns, *data, spec, 1, std::nullopt);
  tell("one", one);
  // Two cores share memory and its cache, two nodes do not. In turn: what neighbours do, they do to both.
  Outcome two, apart;
  for (int run = 0; run < kRuns; ++run) {
    for (Outcome* const best : {&two, &apart}) {
      const bool alone = best == &apart;
      Outcome next = need(alone ? train_apart(*data, spec, 2) : train_together(*data, spec, 2, std::nullopt));
      if (run == 0 || next.seconds / next.rows < best->seconds / best->rows) *best = std::move(next);
    }
  }
  tell("two", two);
  print({kBench, "two_nodes", "rows/s wall", two.rows / two.wall, one.rows / one.wall, "one node"});
  print({kBench, "two_nodes_cpu", "rows/s cpu", two.rows / two.seconds, one.rows / one.cpu, "one node"});
  print({kBench, "auc_two", "1", two.auc, one.auc, "one node"});
  print({kBench, "two_apart_cpu", "rows/s cpu", apart.rows / apart.seconds, one.rows / one.cpu, "one node"});
  print({kBench, "two_nodes_of_apart", "rows/s cpu", two.rows / two.seconds, apart.rows / apart.seconds,
         "two jobs that know nothing of each other"});
  print({kBench, "shared_memory", "rows/s cpu", apart.rows / apart.seconds, 2 * one.rows / one.cpu,
         "two machines"});

  const double step = one.cpu / one.steps;
  spec.strategy.tau = tau_of(choice, one, two, 2, kMemory);
  const Outcome predicted = best_of(kRuns, *data, spec, 2, kMemory, step);
  tell("two, predicted", predicted);
  // Of nodes, which have their own memory; and as they would be if they shared it, as here.
  const double shared = apart.rows / apart.seconds / (2 * one.rows / one.cpu);
  const double rate = predicted.rows / predicted.seconds;
  print({kBench, "two_nodes_predicted", "rows/s cpu", rate, one.rows / one.cpu, "one node"});
  print({kBench, "two_nodes_predicted_of_measured", "rows/s cpu", rate, two.rows / two.seconds, "measured"});
  print({kBench, "two_nodes_predicted_sharing", "rows/s cpu", rate * shared, two.rows / two.seconds,
         "measured"});
  print({kBench, "step_in_turns_two", "cpu s", predicted.step_cpu, step, "one worker alone"});
  if (choice.two_only) return;
  for (const std::size_t nodes : {4u, 8u}) {
    const std::string name = nodes == 4 ? "four" : "eight";
    spec.strategy.tau = tau_of(choice, one, two, nodes, VirtualLink{});
    const Outcome many = best_of(kRuns, *data, spec, nodes, VirtualLink{}, step);
    tell(name + ", predicted", many);
    print({kBench, "step_in_turns_" + name, "cpu s", many.step_cpu, step, "one worker alone"});
    print({kBench, name + "_nodes_predicted", "rows/s cpu", many.rows / many.seconds, one.rows / one.cpu,
           "one node"});
    print({kBench, "auc_" + name, "1", many.auc, one.auc, "one node"});
  }
  if (choice.passes == 0) codecs(*data, spec, one.steps);
}

// Blocks that go round, against those that stay. The rows are in order and the blocks dealt in runs, so that
// every node has other rows than the next: ingest, which deals rows to all shards, makes no such data set.
void rotations(const Choice& choice) {
  struct Kind {
    const char* name;
    std::optional<unsigned> sorted_by;
  };
  // The label, the first category, and as ingest deals them.
  for (const Kind& kind : {Kind{"by_label", 0}, Kind{"by_category", 14}, Kind{"dealt", std::nullopt}}) {
    const auto data = generated_clicks(choice.rows, kHashBits, kind.sorted_by);
    trainer::JobSpec spec = data->spec;
    spec.parameters["solver"] = choice.solver;
    const Outcome one = need(train_together(*data, spec, 1, std::nullopt));
    for (const std::size_t nodes : {4u, 8u}) {
      spec.strategy.tau = tau_of(choice, one, one, nodes, VirtualLink{});
      const std::string name = std::string(kind.name) + "_" + std::to_string(nodes);
      const Outcome stays = need(train_together(*data, spec, nodes, VirtualLink{}, {true, false}));
      const Outcome moves = need(train_together(*data, spec, nodes, VirtualLink{}, {true, true}));
      tell(name + ", blocks stay", stays);
      tell(name + ", blocks go round", moves);
      print({kBench, "auc_one_" + name, "1", one.auc});
      print({kBench, "auc_rotated_" + name, "1", moves.auc, stays.auc, "blocks stay"});
      print({kBench, "log_loss_rotated_" + name, "1", moves.log_loss, stays.log_loss, "blocks stay"});
      print({kBench, "rows_rotated_" + name, "rows/s cpu", moves.rows / moves.seconds,
             stays.rows / stays.seconds, "blocks stay"});
      // With one copy of each block: all that a node had not before, in five passes.
      const double turns = std::min<double>(5, static_cast<double>(nodes)) - 1;
      print({kBench, "bytes_brought_" + name, "bytes", turns * static_cast<double>(data->blocks->bytes()),
             moves.bytes, "exchanges"});
    }
  }
}

}  // namespace
}  // namespace samovar::bench

int main(int argc, char** argv) {
  if (!samovar::security::init()) return 1;
  samovar::bench::Choice choice;
  if (samovar::bench::has_flag(argc, argv, "--quick")) choice.rows = 200'000;
  choice.two_only = samovar::bench::has_flag(argc, argv, "--two");
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::string(argv[i]) == "--solver") choice.solver = argv[i + 1];
    if (std::string(argv[i]) == "--rows") choice.rows = std::strtoull(argv[i + 1], nullptr, 10);
    if (std::string(argv[i]) == "--tau") choice.tau = static_cast<unsigned>(std::atoi(argv[i + 1]));
    if (std::string(argv[i]) == "--passes") choice.passes = static_cast<unsigned>(std::atoi(argv[i + 1]));
  }
  choice.rotate = samovar::bench::has_flag(argc, argv, "--rotate");
  choice.rotate ? samovar::bench::rotations(choice) : samovar::bench::run(choice);
  return 0;
}
