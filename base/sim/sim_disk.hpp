// A disk in memory that forgets what was not synced, tears writes, fills up, and fails on command.
//
// The model, as hard as POSIX allows on a journaling file system: after crash() each write since the
// file's last sync is there, gone, or there in part, each on its own; of the changes of names since
// the directory's last sync a prefix is there. Everything is drawn from the seed. make_dir is durable
// at once, as the real disk's is; so is the removal of a folder, which is empty by then.
//
// Threading: one thread.
// Ownership: outlives its Files; Files opened before a crash() answer Errc::io.
#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/sim/sim_rng.hpp"

namespace samovar {

class SimDisk : public Disk {
 public:
  explicit SimDisk(std::uint64_t seed, std::uint64_t capacity_bytes = std::uint64_t{1} << 40);

  Result<std::unique_ptr<File>> open(const std::string& path, OpenMode mode) override;
  bool exists(const std::string& path) override;
  Result<void> rename(const std::string& from, const std::string& to) override;
  Result<void> remove(const std::string& path) override;
  Result<void> make_dir(const std::string& path) override;
  Result<std::vector<std::string>> list(const std::string& dir) override;
  Result<void> sync_dir(const std::string& dir) override;
  Result<DiskSpace> space(const std::string& path) override;

  // The power goes and comes back.
  void crash();
  // Operations that change something, so far: write, truncate, sync, create, rename, remove, make_dir,
  // sync_dir.
  std::uint64_t operations() const { return operations_; }
  // The n-th operation from now on fails, once (n counts from 1). A failing write may be done in part;
  // after a failing sync the file's writes since the last one are there, gone or torn, for good.
  void fail_nth(std::uint64_t n, Errc code = Errc::io);
  // From the n-th operation on, everything fails until crash(): the power goes in its middle.
  void cut_power_at(std::uint64_t n);
  void set_capacity(std::uint64_t bytes) { capacity_ = bytes; }
  // Flips one bit of a file where it rests, as a failing medium does.
  Result<void> flip_bit(const std::string& path, std::uint64_t bit);

 private:
  friend class SimFile;
  struct Change {  // one write, or a truncation when `data` is empty and `size` is set
    std::uint64_t offset = 0;
    Bytes data;
    std::optional<std::uint64_t> size;
  };
  struct Inode {
    Bytes now;                    // what readers see
    Bytes durable;                // what the platter has for sure
    std::vector<Change> pending;  // between the two, in order
  };
  // Shared: names, open files and pending changes of names all hold the file.
  using InodePtr = std::shared_ptr<Inode>;
  using Names = std::map<std::string, InodePtr>;
  struct NameChange {  // from → gone, and inode (if any) under `to`; or all of a folder
    std::string from;
    std::string to;
    InodePtr inode;
    bool folder = false;
  };

  static void apply(Bytes& content, const Change& change);
  static void apply(Names& names, const NameChange& change);
  static std::string parent_of(const std::string& path);
  bool off() const { return operations_ >= cut_at_; }
  Result<void> change_name(NameChange change);
  void move_folder(const std::string& from, const std::string& to);
  void settle(Inode& inode);  // each pending write is there, gone or torn
  Result<void> may_change();  // counts the operation and fails it when asked to
  Result<void> grow(std::uint64_t by);
  std::uint64_t used() const;

  SimRng rng_;
  std::uint64_t capacity_;
  std::set<std::string> dirs_;
  Names now_;
  Names durable_;
  std::vector<NameChange> pending_;
  std::uint64_t generation_ = 0;
  std::uint64_t operations_ = 0;
  std::uint64_t fail_at_ = 0;
  Errc fail_code_ = Errc::io;
  std::uint64_t cut_at_ = std::numeric_limits<std::uint64_t>::max();
};

}  // namespace samovar
