// The state directory: its layout, its lock, and what an earlier run left in it.
//
//   identity/   the node's keys            tls/        web root and leaf
//   keyring     the wrapped master key     key         auto-unlock key (mode 0400), in key_file mode
//   member/     the node's certificate of its cluster, and the cluster's CA
//   raft/       the sealed log             history/    sealed metrics history
//   data/       uploads and data sets, sealed (daemon/store/data_dir.hpp)
//   clock       last known time            lock        held while a daemon runs
//
// keyring.new → keyring by rename is the commit point of set-up:
//   keyring                       set up
//   keyring.new, no keyring       an interrupted set-up: set aside, begin anew
//   neither, but raft/            the keyring is missing: refuse, touch nothing
//   none of them                  new
//
// A node that is added to a cluster commits the same way; its raft/ is empty until the leader's log comes.
// `recovered` is there from a recovery at the console until the audit log has it.
// `wiping` is there while a factory reset runs: one that was cut off is finished by the next start.
//
// Threading: start-up and loop.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "base/disk.hpp"
#include "base/result.hpp"

namespace samovar::daemon {

class StateDir {
 public:
  // Less than this free and the node does not start: the log needs room to open.
  static constexpr std::uint64_t kStartBytesMin = 32ull << 20;

  // Creates it when missing and takes the lock. Errors say what to do.
  static Result<std::unique_ptr<StateDir>> open(Disk& disk, const std::string& path);
  ~StateDir();
  StateDir(const StateDir&) = delete;
  StateDir& operator=(const StateDir&) = delete;

  enum class Found : std::uint8_t { fresh, interrupted, set_up, wiping };
  // Errc::not_found when the keyring of a set-up node is missing.
  Result<Found> look() const;
  // Moves what a half-made set-up left into interrupted-<n>/, its key file elsewhere to <path>.interrupted.
  Result<void> set_aside_interrupted(const std::string& key_path);

  // Factory reset: everything but the lock and the clock goes, the keys first; the key file elsewhere, too,
  // when it is this box's.
  Result<void> wipe(const std::string& key_path);

  const std::string& path() const noexcept { return path_; }
  std::string identity() const { return path_ + "/identity"; }
  std::string tls() const { return path_ + "/tls"; }
  std::string keyring() const { return path_ + "/keyring"; }
  std::string keyring_new() const { return path_ + "/keyring.new"; }
  std::string member() const { return path_ + "/member"; }
  std::string node_certificate() const { return member() + "/node.crt"; }
  std::string ca_certificate() const { return member() + "/ca.crt"; }
  std::string first_peers() const { return member() + "/peers"; }     // whom to trust until the state says it
  std::string joining_mark() const { return member() + "/joining"; }  // the state has not arrived yet
  std::string removed_mark() const { return member() + "/removed"; }  // no member any more
  std::string raft() const { return path_ + "/raft"; }
  std::string history() const { return path_ + "/history"; }
  std::string data() const { return path_ + "/data"; }
  std::string clock() const { return path_ + "/clock"; }
  std::string clock_caps() const { return path_ + "/clock-caps"; }  // there while processors are held back
  // There from samovard --recover-alone until the audit log has it.
  std::string recovered() const { return path_ + "/recovered"; }

 private:
  std::string wiping() const { return path_ + "/wiping"; }
  bool key_belongs(const std::string& keyring_path, const std::string& key_path) const;
  StateDir(Disk& disk, std::string path, int lock_fd)
      : disk_(disk), path_(std::move(path)), lock_fd_(lock_fd) {}

  Disk& disk_;
  const std::string path_;
  const int lock_fd_;
};

}  // namespace samovar::daemon
