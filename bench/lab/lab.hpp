// What the lab runs and finds: every strategy with every codec on some nodes.
//
// Threading: values.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "bench/train_together.hpp"

namespace samovar::bench::lab {

struct Choice {
  std::string file, target;  // empty: generated clicks
  std::uint64_t rows = 200'000;
  unsigned hash_bits = 18;
  unsigned passes = 3;
  std::uint32_t tau = 4;
  std::vector<std::string> strategies, codecs, calibrate;
  std::vector<std::size_t> threads = {1, 2};  // as threads of this machine
  std::vector<std::size_t> nodes = {4, 8};    // in virtual time
  std::vector<std::size_t> many = {16, 64, 250, 1000};
  VirtualLink link;
  double watts_busy = 10, watts_idle = 4;  // of a node's core and its share of the board
  std::string out = "build/lab";
};

struct Run {
  std::string strategy, codec;
  std::size_t nodes = 1;
  bool in_virtual_time = false;
  std::string failed;  // why; empty: it did not
  Outcome outcome;
  double joules = 0;
};

// Throughput of more nodes than are run: a round is tau steps and what comes on top of them, which is taken
// to grow with the nodes along a line through what was found in virtual time.
struct Prediction {
  std::string strategy, codec;
  std::size_t nodes = 0;
  double rows_per_second = 0;
  double efficiency = 0;     // of as many times one node
  double tau_for_tenth = 0;  // steps between exchanges that keep them to a tenth of the time
  double bytes_per_row = 0;
  double joules_per_row = 0;
};

struct Calibration {
  std::string strategy;
  double predicted = 0, measured = 0;  // rows a second of two nodes: in virtual time, and as threads
};

struct Findings {
  std::string data;
  Choice choice;
  std::vector<Run> runs;
  std::vector<Calibration> calibrations;
  std::vector<Prediction> predictions;
};

double joules_of(const Choice& choice, const Outcome& outcome, std::size_t nodes);

// cost.cpp
std::vector<Prediction> predict(const Findings& findings);

// report.cpp: lab.md and lab.csv; page.cpp: lab.html.
std::string as_markdown(const Findings& findings);
std::string as_csv(const Findings& findings);
std::string as_page(const Findings& findings);

}  // namespace samovar::bench::lab
