// The history on disk: sealed, written at most every five minutes and at stop, replaced atomically.
//
// History is a comfort, never a condition: a file that does not open is set aside under
// <path>.damaged with a warning, and recording goes on with what is in memory.
//
// Threading: loop only; sealing and writing go through `offload` when given, one write at a time.
// Ownership: borrows Loop, Disk and History, which outlive it.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include "base/disk.hpp"
#include "base/loop.hpp"
#include "daemon/power/history.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::power {

struct HistoryFileOptions {
  std::string dir;  // e.g. <state>/history; made when missing
  std::function<bool(std::function<void()>)> offload;
};

class HistoryFile {
 public:
  static constexpr Duration kSavePeriod = std::chrono::minutes(5);

  // key: derived for this purpose only. Kept until destruction.
  HistoryFile(Loop& loop, Disk& disk, History& history, security::SecretBytes key,
              HistoryFileOptions options);
  ~HistoryFile();
  HistoryFile(const HistoryFile&) = delete;
  HistoryFile& operator=(const HistoryFile&) = delete;

  // Merges what an earlier run left, then saves every kSavePeriod. Call once the key is known.
  void start();
  // Saves now, on this thread, and ends the timer. Errors are returned for the log; nothing depends on them.
  Result<void> stop();

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the one write that may be on its way
};

}  // namespace samovar::power
