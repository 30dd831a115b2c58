#include <fmt/format.h>

#include "bench/lab/lab.hpp"

namespace samovar::bench::lab {

namespace {

const char* how(const Run& run) { return run.in_virtual_time ? "virtual time" : "threads"; }

}  // namespace

std::string as_csv(const Findings& findings) {
  std::string out =
      "strategy,codec,nodes,how,log_loss,auc,rows,seconds,cpu_seconds,waited_seconds,bytes,joules,rounds,tau,"
      "rows_per_second,failed\n";
  for (const Run& run : findings.runs) {
    const Outcome& o = run.outcome;
    out += fmt::format(
        "{},{},{},{},{:.6f},{:.6f},{:.0f},{:.6f},{:.6f},{:.6f},{:.0f},{:.3f},{:.0f},{:.0f},{:.0f},\"{}\"\n",
        run.strategy, run.codec, run.nodes, how(run), o.log_loss, o.auc, o.rows, o.seconds, o.cpu, o.waited,
        o.bytes, run.joules, o.rounds, o.tau, o.seconds > 0 ? o.rows / o.seconds : 0, run.failed);
  }
  for (const Prediction& p : findings.predictions)
    out += fmt::format("{},{},{},cost model,,,,,,,,,,,{:.0f},\n", p.strategy, p.codec, p.nodes,
                       p.rows_per_second);
  return out;
}

std::string as_markdown(const Findings& findings) {
  const Choice& c = findings.choice;
  std::string out = fmt::format(
      "# Lab: {}\n\n{} passes, {} steps between exchanges. Threads: a core each, seconds are processor "
      "seconds of a "
      "worker and its waits. Virtual time: links of {:.0f} MB/s and {:.0f} µs. Joules are estimated: {} W a "
      "busy "
      "node, {} W one that waits.\n\n",
      findings.data, c.passes, c.tau, c.link.bytes_per_second / 1e6, c.link.latency_seconds * 1e6,
      c.watts_busy, c.watts_idle);
  out += "| strategy | codec | nodes | how | log loss | AUC | seconds | rows/s | MB sent | joules |\n";
  out += "|---|---|---|---|---|---|---|---|---|---|\n";
  for (const Run& run : findings.runs) {
    const Outcome& o = run.outcome;
    if (!run.failed.empty()) {
      out += fmt::format("| {} | {} | {} | {} | failed: {} | | | | | |\n", run.strategy, run.codec, run.nodes,
                         how(run), run.failed);
      continue;
    }
    out += fmt::format("| {} | {} | {} | {} | {:.5f} | {:.5f} | {:.3f} | {:.0f} | {:.2f} | {:.2f} |\n",
                       run.strategy, run.codec, run.nodes, how(run), o.log_loss, o.auc, o.seconds,
                       o.seconds > 0 ? o.rows / o.seconds : 0, o.bytes / 1e6, run.joules);
  }
  out += "\n## Calibration: two nodes, predicted in virtual time and measured as threads\n\n";
  out += "| strategy | predicted rows/s | measured rows/s | ratio |\n|---|---|---|---|\n";
  for (const Calibration& one : findings.calibrations)
    out += fmt::format("| {} | {:.0f} | {:.0f} | {:.3f} |\n", one.strategy, one.predicted, one.measured,
                       one.predicted / one.measured);
  out +=
      "\n## More nodes, by the cost model\n\n"
      "Throughput only: the work of an exchange and the wait for it are taken to grow along a line through "
      "the "
      "runs in virtual time.\n\n";
  out += "| strategy | codec | nodes | rows/s | of linear | tau for a tenth | bytes/row | mJ/row |\n";
  out += "|---|---|---|---|---|---|---|---|\n";
  for (const Prediction& p : findings.predictions)
    out += fmt::format("| {} | {} | {} | {:.3g} | {:.2f} | {:.0f} | {:.1f} | {:.4f} |\n", p.strategy, p.codec,
                       p.nodes, p.rows_per_second, p.efficiency, p.tau_for_tenth, p.bytes_per_row,
                       1e3 * p.joules_per_row);
  return out;
}

}  // namespace samovar::bench::lab
