// Writes witness slots while the node runs: one at a time, on libuv's threads, durable when told.
//
// Threading: loop only; `written` runs inside uv_run.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::raft {

class UvDriver;

class WitnessWriter {
 public:
  static Result<std::unique_ptr<WitnessWriter>> open(UvDriver& driver, const std::string& path);
  ~WitnessWriter();
  WitnessWriter(const WitnessWriter&) = delete;
  WitnessWriter& operator=(const WitnessWriter&) = delete;

  bool busy() const;
  // Not while busy.
  void write(std::uint64_t offset, Bytes slot, std::function<void(Result<void>)> written);

 private:
  struct State;
  explicit WitnessWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace samovar::raft
