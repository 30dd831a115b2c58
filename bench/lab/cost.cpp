#include <algorithm>
#include <cmath>

#include "bench/lab/lab.hpp"

namespace samovar::bench::lab {

double joules_of(const Choice& choice, const Outcome& outcome, std::size_t nodes) {
  return choice.watts_idle * outcome.seconds * static_cast<double>(nodes) +
         (choice.watts_busy - choice.watts_idle) * outcome.cpu;
}

namespace {

// The line through two points, or the level of one.
struct Line {
  double at_zero = 0, slope = 0;
  double at(double x) const { return std::max(0.0, at_zero + slope * x); }
};
Line through(const std::vector<std::pair<double, double>>& points) {
  if (points.empty()) return {};
  if (points.size() == 1) return {points[0].second, 0};
  const auto [x0, y0] = points.front();
  const auto [x1, y1] = points.back();
  // What falls with more nodes is noise: it is not taken to go on falling.
  const double slope = std::max(0.0, (y1 - y0) / (x1 - x0));
  return {y0 - slope * x0, slope};
}

}  // namespace

std::vector<Prediction> predict(const Findings& findings) {
  const Run* alone = nullptr;
  for (const Run& run : findings.runs) {
    if (run.nodes == 1 && run.failed.empty()) alone = &run;
  }
  if (alone == nullptr || alone->outcome.steps < 1) return {};
  const Outcome& one = alone->outcome;
  const double step = one.seconds / one.steps;
  const double rows_per_step = one.rows / one.steps;
  std::map<std::pair<std::string, std::string>, std::vector<const Run*>> kinds;
  for (const Run& run : findings.runs) {
    if (run.in_virtual_time && run.failed.empty() && run.outcome.rounds >= 1)
      kinds[{run.strategy, run.codec}].push_back(&run);
  }
  std::vector<Prediction> out;
  for (const auto& [kind, runs] : kinds) {
    std::vector<std::pair<double, double>> work, waits;
    double tau = 1, bytes = 0;
    for (const Run* run : runs) {
      const Outcome& o = run->outcome;
      const auto nodes = static_cast<double>(run->nodes);
      work.emplace_back(nodes, o.exchange / o.rounds);
      waits.emplace_back(nodes, o.waited / o.rounds);
      tau = std::max(1.0, o.rows / rows_per_step / nodes / o.rounds);
      // Everything but the own slice, to its owners and back.
      bytes = o.bytes / nodes / o.rounds / (1 - 1 / nodes);
    }
    const Line work_line = through(work), wait_line = through(waits);
    for (const std::size_t many : findings.choice.many) {
      const auto nodes = static_cast<double>(many);
      // At least a head to and from each of the others.
      const double sent = bytes * (1 - 1 / nodes) + 2 * 64 * nodes;
      // A link is full duplex: what is sent and what comes go at the same time.
      const double wire = sent / findings.choice.link.bytes_per_second;
      const double over = work_line.at(nodes) + wait_line.at(nodes);
      const double round = std::max(tau * step + over, wire);
      const double rows = tau * rows_per_step;
      Prediction p;
      p.strategy = kind.first;
      p.codec = kind.second;
      p.nodes = many;
      p.rows_per_second = nodes * rows / round;
      p.efficiency = tau * step / round;
      p.tau_for_tenth = std::ceil(std::max(9 * over, wire) / step);
      p.bytes_per_row = sent / rows;
      p.joules_per_row =
          (findings.choice.watts_idle * round +
           (findings.choice.watts_busy - findings.choice.watts_idle) * (tau * step + work_line.at(nodes))) /
          rows;
      out.push_back(p);
    }
  }
  return out;
}

}  // namespace samovar::bench::lab
