#include "base/sim/sim_disk.hpp"

#include <algorithm>

namespace samovar {
namespace {

constexpr std::uint32_t kHalf = 500'000;

Error gone() { return {Errc::io, "the simulated power is off"}; }

}  // namespace

class SimFile : public File {
 public:
  SimFile(SimDisk& disk, std::string path, SimDisk::InodePtr inode, bool writable)
      : disk_(disk),
        path_(std::move(path)),
        inode_(std::move(inode)),
        writable_(writable),
        generation_(disk.generation_) {}

  Result<std::size_t> read_at(std::uint64_t offset, MutableBytes out) override {
    SAMOVAR_CHECK(alive());
    const Bytes& content = inode_->now;
    if (offset >= content.size()) return std::size_t{0};
    const std::size_t n = std::min<std::size_t>(out.size(), content.size() - offset);
    std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(offset), n, out.begin());
    return n;
  }

  Result<void> write_at(std::uint64_t offset, ByteView data) override {
    SAMOVAR_CHECK(alive());
    if (!writable_) return Error{Errc::denied, "cannot write " + path_ + ": opened for reading"};
    const bool powered = !disk_.off();
    if (auto allowed = disk_.may_change(); !allowed) {
      if (powered) torn_write(offset, data);
      return std::move(allowed).error();
    }
    const std::uint64_t end = offset + data.size();
    if (end > inode_->now.size()) SAMOVAR_CHECK(disk_.grow(end - inode_->now.size()));
    change({offset, to_bytes(data), std::nullopt});
    return {};
  }

  Result<void> truncate(std::uint64_t size) override {
    SAMOVAR_CHECK(alive());
    if (!writable_) return Error{Errc::denied, "cannot truncate " + path_ + ": opened for reading"};
    SAMOVAR_CHECK(disk_.may_change());
    change({0, {}, size});
    return {};
  }

  Result<void> sync() override {
    SAMOVAR_CHECK(alive());
    if (auto allowed = disk_.may_change(); !allowed) {
      // As Linux does: what could not be written is forgotten, readers go on seeing it, and a later
      // sync through another handle succeeds without it.
      in_doubt_ = true;
      disk_.settle(*inode_);
      return std::move(allowed).error();
    }
    if (in_doubt_) return Error{Errc::io, "an earlier sync of " + path_ + " failed: its content is in doubt"};
    for (const auto& pending : inode_->pending) SimDisk::apply(inode_->durable, pending);
    inode_->pending.clear();
    return {};
  }

  Result<std::uint64_t> size() override {
    SAMOVAR_CHECK(alive());
    return std::uint64_t{inode_->now.size()};
  }

 private:
  Result<void> alive() const {
    if (generation_ != disk_.generation_ || disk_.off()) return gone();
    return {};
  }
  void change(SimDisk::Change what) {
    SimDisk::apply(inode_->now, what);
    inode_->pending.push_back(std::move(what));
  }
  // A failed write may have put down any first part of its bytes.
  void torn_write(std::uint64_t offset, ByteView data) {
    const auto part = static_cast<std::size_t>(disk_.rng_.below(data.size() + 1));
    if (part > 0) change({offset, to_bytes(data.first(part)), std::nullopt});
  }

  SimDisk& disk_;
  const std::string path_;
  const SimDisk::InodePtr inode_;
  const bool writable_;
  const std::uint64_t generation_;
  bool in_doubt_ = false;  // a sync failed
};

SimDisk::SimDisk(std::uint64_t seed, std::uint64_t capacity_bytes)
    : rng_(seed), capacity_(capacity_bytes), dirs_{"/", "."} {}

Result<std::unique_ptr<File>> SimDisk::open(const std::string& path, OpenMode mode) {
  if (off()) return gone();
  if (dirs_.contains(path)) return Error{Errc::invalid, "cannot open " + path + ": it is a directory"};
  const auto found = now_.find(path);
  if (found != now_.end()) {
    if (mode == OpenMode::create_new)
      return Error{Errc::conflict, "cannot create " + path + ": it is there already"};
    return std::make_unique<SimFile>(*this, path, found->second, mode != OpenMode::read);
  }
  if (mode == OpenMode::read) return Error{Errc::not_found, "cannot open " + path + ": no such file"};
  if (!dirs_.contains(parent_of(path)))
    return Error{Errc::not_found, "cannot create " + path + ": no such directory"};
  auto inode = std::make_shared<Inode>();
  SAMOVAR_CHECK(change_name({"", path, inode}));
  return std::make_unique<SimFile>(*this, path, std::move(inode), true);
}

bool SimDisk::exists(const std::string& path) { return now_.contains(path) || dirs_.contains(path); }

Result<void> SimDisk::rename(const std::string& from, const std::string& to) {
  if (dirs_.contains(from)) {
    if (exists(to)) return Error{Errc::conflict, "cannot rename to " + to + ": it is there already"};
    if (!dirs_.contains(parent_of(to)))
      return Error{Errc::not_found, "cannot rename to " + to + ": no such directory"};
    return change_name({from, to, nullptr, true});
  }
  const auto found = now_.find(from);
  if (found == now_.end()) return Error{Errc::not_found, "cannot rename " + from + ": no such file"};
  if (!dirs_.contains(parent_of(to)))
    return Error{Errc::not_found, "cannot rename to " + to + ": no such directory"};
  return change_name({from, to, found->second});
}

Result<void> SimDisk::remove(const std::string& path) {
  if (dirs_.contains(path)) {
    SAMOVAR_TRY(const auto inside, list(path));
    if (!inside.empty()) return Error{Errc::io, "cannot remove " + path + ": directory not empty"};
    SAMOVAR_CHECK(may_change());
    dirs_.erase(path);
    return {};
  }
  if (!now_.contains(path)) return Error{Errc::not_found, "cannot remove " + path + ": no such file"};
  return change_name({path, "", nullptr});
}

Result<void> SimDisk::make_dir(const std::string& path) {
  if (dirs_.contains(path)) return {};
  if (now_.contains(path))
    return Error{Errc::conflict, "cannot make the directory " + path + ": it is a file"};
  if (parent_of(path) != path) SAMOVAR_CHECK(make_dir(parent_of(path)));
  SAMOVAR_CHECK(may_change());
  dirs_.insert(path);
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& dir) {
  if (!dirs_.contains(dir)) return Error{Errc::not_found, "cannot list " + dir + ": no such directory"};
  std::vector<std::string> names;
  const auto add = [&](const std::string& path) {
    if (path != dir && parent_of(path) == dir) names.push_back(path.substr(path.find_last_of('/') + 1));
  };
  for (const auto& entry : now_) add(entry.first);
  for (const auto& path : dirs_) {
    if (path != ".") add(path);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<void> SimDisk::sync_dir(const std::string& dir) {
  if (!dirs_.contains(dir)) return Error{Errc::not_found, "cannot sync " + dir + ": no such directory"};
  SAMOVAR_CHECK(may_change());
  const auto concerns = [&](const NameChange& change) {
    return (!change.from.empty() && parent_of(change.from) == dir) ||
           (!change.to.empty() && parent_of(change.to) == dir);
  };
  std::vector<NameChange> rest;
  for (auto& change : pending_) {
    if (concerns(change)) {
      apply(durable_, change);
    } else {
      rest.push_back(std::move(change));
    }
  }
  pending_ = std::move(rest);
  return {};
}

Result<DiskSpace> SimDisk::space(const std::string&) {
  return DiskSpace{.total_bytes = capacity_, .free_bytes = capacity_ - std::min(capacity_, used())};
}

void SimDisk::crash() {
  ++generation_;
  const auto kept = static_cast<std::size_t>(rng_.below(pending_.size() + 1));
  for (std::size_t i = 0; i < kept; ++i) apply(durable_, pending_[i]);
  // The last rename comes undone first.
  for (std::size_t i = pending_.size(); i > kept; --i) {
    const NameChange& undone = pending_[i - 1];
    if (undone.folder) move_folder(undone.to, undone.from);
  }
  pending_.clear();
  std::set<Inode*> seen;
  for (auto& [path, inode] : durable_) {
    if (!seen.insert(inode.get()).second) continue;
    settle(*inode);
    inode->now = inode->durable;
  }
  now_ = durable_;
  // A file whose removal did not last has its folder back, too.
  for (const auto& entry : now_) {
    for (std::string dir = parent_of(entry.first); dirs_.insert(dir).second;) dir = parent_of(dir);
  }
  fail_at_ = 0;
  cut_at_ = std::numeric_limits<std::uint64_t>::max();
}

void SimDisk::fail_nth(std::uint64_t n, Errc code) {
  fail_at_ = operations_ + n;
  fail_code_ = code;
}

void SimDisk::cut_power_at(std::uint64_t n) { cut_at_ = operations_ + n; }

Result<void> SimDisk::flip_bit(const std::string& path, std::uint64_t bit) {
  const auto found = now_.find(path);
  if (found == now_.end()) return Error{Errc::not_found, "no such file: " + path};
  Inode& inode = *found->second;
  if (bit / 8 >= inode.now.size()) return Error{Errc::invalid, path + " has no such bit"};
  const auto mask = static_cast<std::uint8_t>(1U << bit % 8);
  inode.now[bit / 8] ^= mask;
  if (bit / 8 < inode.durable.size()) inode.durable[bit / 8] ^= mask;
  return {};
}

void SimDisk::apply(Bytes& content, const Change& change) {
  if (change.size) return content.resize(*change.size);
  if (change.data.empty()) return;
  if (content.size() < change.offset + change.data.size()) content.resize(change.offset + change.data.size());
  std::copy(change.data.begin(), change.data.end(),
            content.begin() + static_cast<std::ptrdiff_t>(change.offset));
}

void SimDisk::apply(Names& names, const NameChange& change) {
  if (change.folder) {
    const std::string inside = change.from + "/";
    auto at = names.lower_bound(inside);
    while (at != names.end() && at->first.starts_with(inside)) {
      names.insert_or_assign(change.to + at->first.substr(change.from.size()), at->second);
      at = names.erase(at);
    }
    return;
  }
  if (!change.from.empty()) names.erase(change.from);
  if (change.inode) names.insert_or_assign(change.to, change.inode);
}

std::string SimDisk::parent_of(const std::string& path) {
  const auto slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void SimDisk::move_folder(const std::string& from, const std::string& to) {
  std::set<std::string> moved;
  for (const std::string& path : dirs_) {
    const bool concerned = path == from || path.starts_with(from + "/");
    moved.insert(concerned ? to + path.substr(from.size()) : path);
  }
  dirs_ = std::move(moved);
}

void SimDisk::settle(Inode& inode) {
  for (Change& change : inode.pending) {
    const auto fate = rng_.below(3);  // there, gone, or torn
    if (fate == 1) continue;
    if (fate == 2) change.data.resize(static_cast<std::size_t>(rng_.below(change.data.size() + 1)));
    apply(inode.durable, change);
  }
  inode.pending.clear();
}

Result<void> SimDisk::change_name(NameChange change) {
  const bool powered = !off();
  auto allowed = may_change();
  // When the power goes in the middle of it, nobody hears whether it was done.
  const bool half_done = !allowed && powered && off() && rng_.chance(kHalf);
  if (allowed || half_done) {
    apply(now_, change);
    if (change.folder) move_folder(change.from, change.to);
    pending_.push_back(std::move(change));
  }
  return allowed;
}

Result<void> SimDisk::may_change() {
  ++operations_;
  if (off()) return gone();
  if (operations_ == fail_at_) return Error{fail_code_, "a simulated failure of the disk"};
  return {};
}

Result<void> SimDisk::grow(std::uint64_t by) {
  if (used() + by > capacity_)
    return Error{Errc::no_space, "the simulated disk is full: free some space and try again"};
  return {};
}

std::uint64_t SimDisk::used() const {
  std::uint64_t total = 0;
  for (const auto& entry : now_) total += entry.second->now.size();
  return total;
}

}  // namespace samovar
