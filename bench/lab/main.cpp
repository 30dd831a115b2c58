// The lab: every strategy with every codec on some nodes, on generated clicks or a file, into one table and
// one page of plots. `./dev lab --help` lists what can be chosen.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "bench/bench.hpp"
#include "bench/lab/lab.hpp"
#include "security/init.hpp"
#include "trainer/sync/codec.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::bench::lab {
namespace {

constexpr const char* kHelp = R"(Usage: ./dev lab [OPTIONS]

  --file FILE [--target COLUMN]   data (CSV and what else can be uploaded); else generated clicks
  --rows N, --hash-bits N         of the generated clicks (200000, 18)
  --passes N, --tau N             over the data (3), steps between exchanges (4)
  --strategies A,B --codecs A,B   all
  --threads 1,2                   nodes as threads of this machine, a core each
  --nodes 4,8                     nodes in virtual time, with the real trainer
  --many 16,64,250,1000           nodes of the cost model
  --mbit N, --latency-us N        of the links in virtual time (936, 200)
  --calibrate A,B                 strategies of which two nodes are run both ways (the first)
  --watts BUSY,IDLE               of a node (10,4); joules are estimated with them
  --out FOLDER                    build/lab
  --quick                         20000 rows, two passes, codecs fp32, int8 and one_bit
)";

std::vector<std::string> list_of(const std::string& text) {
  std::vector<std::string> out;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) out.push_back(part);
  return out;
}
std::vector<std::size_t> counts_of(const std::string& text) {
  std::vector<std::size_t> out;
  for (const std::string& part : list_of(text)) out.push_back(std::strtoull(part.c_str(), nullptr, 10));
  for (const std::size_t count : out) {
    if (count == 0) fail("numbers of nodes are from 1 on: " + text);
  }
  return out;
}

void check_names(const std::vector<std::string>& given, const std::vector<std::string>& known) {
  for (const std::string& name : given) {
    if (std::find(known.begin(), known.end(), name) == known.end()) fail("there is no \"" + name + "\"");
  }
}

Choice choice_of(int argc, char** argv) {
  Choice out;
  const auto all_strategies = trainer::strategy_names();
  const auto all_codecs = trainer::codec_names();
  const std::vector<std::string> strategies(all_strategies.begin(), all_strategies.end());
  const std::vector<std::string> codecs(all_codecs.begin(), all_codecs.end());
  out.strategies = strategies;
  out.codecs = codecs;
  for (int i = 1; i < argc; ++i) {
    const std::string flag = argv[i];
    if (flag == "--help") {
      std::fputs(kHelp, stdout);
      std::exit(0);
    }
    if (flag == "--quick") {
      out.rows = 20'000;
      out.passes = 2;
      out.codecs = {"fp32", "int8", "one_bit"};
      continue;
    }
    if (i + 1 == argc) fail(flag + " needs a value, see --help");
    const std::string value = argv[++i];
    const auto number = [&] { return std::strtoull(value.c_str(), nullptr, 10); };
    if (flag == "--file")
      out.file = value;
    else if (flag == "--target")
      out.target = value;
    else if (flag == "--rows")
      out.rows = number();
    else if (flag == "--hash-bits")
      out.hash_bits = static_cast<unsigned>(number());
    else if (flag == "--passes")
      out.passes = static_cast<unsigned>(number());
    else if (flag == "--tau")
      out.tau = static_cast<std::uint32_t>(number());
    else if (flag == "--strategies")
      out.strategies = list_of(value);
    else if (flag == "--codecs")
      out.codecs = list_of(value);
    else if (flag == "--calibrate")
      out.calibrate = list_of(value);
    else if (flag == "--threads")
      out.threads = counts_of(value);
    else if (flag == "--nodes")
      out.nodes = counts_of(value);
    else if (flag == "--many")
      out.many = counts_of(value);
    else if (flag == "--mbit")
      out.link.bytes_per_second = static_cast<double>(number()) * 1e6 / 8;
    else if (flag == "--latency-us")
      out.link.latency_seconds = static_cast<double>(number()) / 1e6;
    else if (flag == "--out")
      out.out = value;
    else if (flag == "--watts") {
      const auto watts = counts_of(value);
      if (watts.size() != 2) fail("--watts BUSY,IDLE");
      out.watts_busy = static_cast<double>(watts[0]);
      out.watts_idle = static_cast<double>(watts[1]);
    } else
      fail("unknown option " + flag + ", see --help");
  }
  check_names(out.strategies, strategies);
  if (out.strategies.empty() || out.codecs.empty()) fail("at least one strategy and one codec, see --help");
  if (out.calibrate.empty()) out.calibrate.push_back(out.strategies.front());
  check_names(out.calibrate, out.strategies);
  check_names(out.codecs, codecs);
  return out;
}

Run run_one(TrainingData& data, const Choice& choice, const std::string& strategy, const std::string& codec,
            std::size_t nodes, std::optional<VirtualLink> link) {
  trainer::JobSpec spec = data.spec;
  spec.parameters["passes"] = choice.passes;
  spec.strategy.kind = strategy;
  spec.strategy.codec = codec;
  spec.strategy.tau = choice.tau;
  // Its momentum is that of steps without a memory of their own.
  if (strategy == "eamsgd") spec.parameters["solver"] = "sgd";
  Run run;
  run.strategy = strategy;
  run.codec = codec;
  run.nodes = nodes;
  run.in_virtual_time = link.has_value();
  Result<Outcome> outcome = train_together(data, spec, nodes, link);
  if (!outcome) {
    run.failed = outcome.error().message();
  } else {
    run.outcome = *std::move(outcome);
    run.joules = joules_of(choice, run.outcome, nodes);
  }
  std::fprintf(stderr, "%-12s %-8s %4zu %-12s log loss %.5f, AUC %.5f, %.3f s, %.2f MB %s\n",
               strategy.c_str(), codec.c_str(), nodes, link ? "virtual time" : "threads",
               run.outcome.log_loss, run.outcome.auc, run.outcome.seconds, run.outcome.bytes / 1e6,
               run.failed.c_str());
  return run;
}

// Two nodes both ways, the better of three each; so many passes that the beginning does not count.
Calibration calibrate(TrainingData& data, Choice choice, const std::string& strategy) {
  constexpr VirtualLink kMemory{4e9, 20e-6};
  constexpr std::uint64_t kRowsLeast = 3'000'000;
  std::uint64_t rows = 0;
  for (std::size_t block = 0; block < data.blocks->blocks(); ++block) rows += data.blocks->rows(block);
  choice.passes =
      std::max(choice.passes, static_cast<unsigned>(std::min<std::uint64_t>(50, kRowsLeast / rows)));
  Calibration out{strategy, 0, 0};
  for (int i = 0; i < 3; ++i) {
    const Outcome threads = run_one(data, choice, strategy, "fp32", 2, std::nullopt).outcome;
    const Outcome turns = run_one(data, choice, strategy, "fp32", 2, kMemory).outcome;
    if (threads.seconds > 0) out.measured = std::max(out.measured, threads.rows / threads.seconds);
    if (turns.seconds > 0) out.predicted = std::max(out.predicted, turns.rows / turns.seconds);
  }
  return out;
}

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) fail("cannot write " + path.string());
}

void save(const Findings& findings) {
  const std::filesystem::path folder = findings.choice.out;
  std::filesystem::create_directories(folder);
  write(folder / "lab.md", as_markdown(findings));
  write(folder / "lab.csv", as_csv(findings));
  write(folder / "lab.html", as_page(findings));
}

void run_all(const Choice& choice) {
  const auto data = choice.file.empty() ? generated_clicks(choice.rows, choice.hash_bits)
                                        : data_of_file(choice.file, choice.target);
  std::size_t most = 1;
  for (const auto* counts : {&choice.threads, &choice.nodes}) {
    for (const std::size_t count : *counts) most = std::max(most, count);
  }
  cut(*data, 8 * most);
  Findings findings;
  findings.data = data->name;
  findings.choice = choice;
  bool alone = false;
  for (const std::string& strategy : choice.strategies) {
    for (const std::string& codec : choice.codecs) {
      for (const std::size_t nodes : choice.threads) {
        // One node is the same whatever the strategy.
        if (nodes == 1 && std::exchange(alone, true)) continue;
        findings.runs.push_back(run_one(*data, choice, strategy, codec, nodes, std::nullopt));
      }
      for (const std::size_t nodes : choice.nodes)
        findings.runs.push_back(run_one(*data, choice, strategy, codec, nodes, choice.link));
    }
    if (std::find(choice.calibrate.begin(), choice.calibrate.end(), strategy) != choice.calibrate.end())
      findings.calibrations.push_back(calibrate(*data, choice, strategy));
    // So that there is something to look at when it is ended early.
    findings.predictions = predict(findings);
    save(findings);
  }
  const std::string folder = choice.out;
  std::printf("%s/lab.md, %s/lab.csv, %s/lab.html\n", folder.c_str(), folder.c_str(), folder.c_str());
}

}  // namespace
}  // namespace samovar::bench::lab

int main(int argc, char** argv) {
  if (!samovar::security::init()) return 1;
  samovar::bench::lab::run_all(samovar::bench::lab::choice_of(argc, argv));
  return 0;
}
