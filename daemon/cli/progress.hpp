// How far long work is, on stderr: a bar on a terminal, else a line each 10 s, or JSON lines for programs.
//
// Ownership: borrows App, which outlives it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.hpp"

namespace samovar::cli {

class App;

// What `done` and `total` count. Of a share only the bar is shown, and what the step says.
enum class Measure : std::uint8_t { bytes, rows, share };

class Progress {
 public:
  // `what` is the verb in the lines ("sending"), `title` the file or data set.
  Progress(App& app, std::string what, std::string title, Measure measure = Measure::bytes);
  ~Progress();  // leaves a bar's line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Call as often as you like; shown at most five times a second. `total` 0: not known.
  void update(std::uint64_t done, std::uint64_t total, std::string_view step = {});
  // Shows the last state even when it came too soon after the one before.
  void flush();
  // A sentence in between, on a line of its own.
  void say(std::string_view text);

 private:
  enum class Mode : std::uint8_t { none, bar, lines, json_lines };
  void show();
  std::string bar_text() const;
  std::string speed_text() const;
  std::string amount_text() const;
  std::string count_text(double count) const;

  App& app_;
  const std::string what_;
  const std::string title_;
  const Measure measure_;
  Mode mode_ = Mode::none;
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::uint64_t first_done_ = 0;  // what was there when we began counts for no speed
  std::string step_;
  bool begun_ = false;
  bool shown_last_ = true;
  bool open_line_ = false;
  MonoTime began_{};
  MonoTime shown_{};
};

}  // namespace samovar::cli
