// Where the time of a worker goes, in seconds of the clock since it began: with the wait for others these are
// all of it.
#pragma once
#include <cstdint>

#include "trainer/solvers/problem.hpp"

namespace samovar::trainer {

// Reading and decrypting happen beside these, on the reader's thread: what of them is not hidden is the wait
// for data.
struct PhaseSeconds {
  double data_wait = 0;
  double encode = 0;
  double step = 0;      // forward, backward and update are one
  double exchange = 0;  // with other workers, without the wait for them
  double told = 0;      // telling how far it is, saving, and keeping the pace that was asked for
  double began = 0;

  void add_to(StepReport& report, std::uint64_t rows, double now) {
    if (began == 0) began = now;
    const double rate = now > began ? static_cast<double>(rows) / (now - began) : 0;
    report.figures.emplace_back("samples_per_second", rate);
    report.figures.emplace_back("data_wait_seconds", data_wait);
    report.figures.emplace_back("encode_seconds", encode);
    report.figures.emplace_back("step_seconds", step);
    report.figures.emplace_back("exchange_seconds", exchange);
    report.figures.emplace_back("tell_seconds", told);
  }
};

}  // namespace samovar::trainer
