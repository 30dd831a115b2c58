// libraft with this node as the only voter and no network: the C side of ConsensusLog.
//
// Threading: loop only; callbacks run inside uv_run.
// Ownership: borrows the UvDriver and the callbacks' target, which outlive it.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::raft {

class UvDriver;

// What libraft calls. All inside uv_run, or inside start().
class RaftEvents {
 public:
  virtual ~RaftEvents() = default;
  // False stops the log: the entry cannot be applied.
  virtual bool on_apply(std::uint64_t index, ByteView entry) = 0;
  virtual Result<Bytes> on_snapshot() = 0;
  virtual bool on_restore(ByteView snapshot) = 0;
  // The last submit could not be written or was given up.
  virtual void on_submit_failed(std::string why) = 0;
};

struct RaftHandleOptions {
  std::string dir;
  bool bootstrap = false;
  unsigned snapshot_threshold = 1024;
  unsigned snapshot_trailing = 256;
  std::size_t segment_bytes = 4u * 1024 * 1024;
};

class RaftHandle {
 public:
  // Loads and replays; on_restore and on_apply have run for everything on disk when it returns.
  static Result<std::unique_ptr<RaftHandle>> start(UvDriver& driver, RaftEvents& events,
                                                   const RaftHandleOptions& options);
  // Closed, or never started; waits for libraft's threads when it was not.
  ~RaftHandle();
  RaftHandle(const RaftHandle&) = delete;
  RaftHandle& operator=(const RaftHandle&) = delete;

  // One write for all of them. The next only after these were applied or failed.
  Result<void> submit(const std::vector<Bytes>& entries);
  void close(std::function<void()> done);
  // From the next entry on. `trailing` is at least 1: 0 means something else to libraft.
  void set_snapshots(unsigned threshold, unsigned trailing);

  bool leader() const;
  std::uint64_t term() const;
  std::uint64_t last_index() const;
  std::uint64_t applied_index() const;

 private:
  struct Native;
  RaftHandle(UvDriver& driver, RaftEvents& events);
  Result<void> init(const RaftHandleOptions& options);
  void close_now();

  UvDriver& driver_;
  std::unique_ptr<Native> native_;
};

}  // namespace samovar::raft
