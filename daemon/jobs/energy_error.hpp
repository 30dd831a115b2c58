// How far off the joules of several workers may be together.
//
// A sensor that reads too high does so all night: on one node errors add up as they are. Two measured nodes
// have sensors of their own, each off in its own way: those are combined in quadrature. Estimates all come
// from the same formula and are off in the same way: those add up as they are.
//
// Threading: pure.
#pragma once
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace samovar::jobs {

struct WorkerEnergy {
  std::string node_id;
  double joules_error = 0;
  bool estimated = true;
};

inline double combined_error(const std::vector<WorkerEnergy>& workers) {
  std::map<std::string, double> measured;
  double estimated = 0;
  for (const WorkerEnergy& one : workers) {
    if (one.estimated)
      estimated += one.joules_error;
    else
      measured[one.node_id] += one.joules_error;
  }
  double squares = estimated * estimated;
  for (const auto& [node, error] : measured) squares += error * error;
  return std::sqrt(squares);
}

}  // namespace samovar::jobs
