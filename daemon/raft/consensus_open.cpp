// How a log is begun, or verified and loaded.
#include <utility>

#include <fmt/format.h>

#include "base/disk.hpp"
#include "base/log.hpp"
#include "daemon/raft/consensus_log_impl.hpp"
#include "daemon/raft/log_check.hpp"
#include "daemon/raft/witness_file.hpp"

namespace samovar::raft {
namespace {

// Out of libraft's way, but not gone: the bytes may still interest somebody.
Result<void> set_aside(Disk& disk, const std::string& dir, const std::string& name) {
  std::string target = dir + "/torn-" + name;
  for (int i = 2; disk.exists(target); ++i) target = fmt::format("{}/torn-{}.{}", dir, name, i);
  SAMOVAR_LOG(warn, raft, "a write was cut off before it was acknowledged; set aside", kv("file", target));
  SAMOVAR_CHECK(disk.rename(dir + "/" + name, target));
  return disk.sync_dir(dir);
}

}  // namespace

ConsensusLog::Impl::Impl(Loop& loop, ConsensusOptions options, security::SecretBytes key,
                         StateMachine& machine)
    : loop_(loop),
      options_(std::move(options)),
      sealer_(std::move(key), options_.cluster_id, options_.key_generation),
      machine_(machine) {}

ConsensusLog::Impl::~Impl() {
  // Callers that still wait are gone by now.
  failure_ = "closed";
  for (auto* list : {&queue_, &batch_}) list->clear();
  applied_.clear();
  witnessing_.clear();
  if (hold_timer_ != 0) loop_.cancel(hold_timer_);
  if (driver_) driver_->stop();
}

Result<void> ConsensusLog::Impl::open() {
  SAMOVAR_CHECK(options_.bootstrap ? prepare_new() : verify_existing());
  SAMOVAR_TRY(driver_, UvDriver::create(loop_, [this] { return turn(); }));
  SAMOVAR_TRY(witness_writer_, WitnessWriter::open(*driver_, options_.dir + "/" + kWitnessName));
  const Position verified = head_;
  head_ = {};
  RaftHandleOptions native;
  native.dir = options_.dir;
  native.bootstrap = options_.bootstrap;
  native.snapshot_threshold = options_.snapshot_threshold;
  native.snapshot_trailing = options_.snapshot_trailing;
  native.segment_bytes = options_.segment_bytes;
  auto started = RaftHandle::start(*driver_, *this, native);
  if (!failure_.empty()) return Error{Errc::corrupt, failure_};
  if (!started) return std::move(started).error();
  raft_ = *std::move(started);
  if (!(head_ == verified))
    return Error{Errc::corrupt,
                 fmt::format("{}: the log loaded {} changes, but {} were verified. Restore the folder "
                             "from a backup of this node.",
                             options_.dir, head_.sequence, verified.sequence)};
  replaying_ = false;
  head_index_ = raft_->applied_index();
  driver_->start();
  SAMOVAR_LOG(debug, raft, "log open", kv("dir", options_.dir), kv("sequence", head_.sequence),
              kv("index", head_index_));
  return {};
}

Result<void> ConsensusLog::Impl::prepare_new() {
  Disk& disk = real_disk();
  SAMOVAR_CHECK(disk.make_dir(options_.dir));
  SAMOVAR_TRY(const auto names, disk.list(options_.dir));
  if (!names.empty())
    return Error{Errc::conflict,
                 fmt::format("{} is not empty: a new log is begun only in an empty folder. Move what "
                             "is there aside first.",
                             options_.dir)};
  return create_witness(disk, options_.dir, sealer_);
}

Result<void> ConsensusLog::Impl::verify_existing() {
  Disk& disk = real_disk();
  if (!disk.exists(options_.dir))
    return Error{Errc::not_found, fmt::format("{}: there is no log", options_.dir)};
  SAMOVAR_TRY(const auto names, disk.list(options_.dir));
  if (names.empty()) return Error{Errc::not_found, fmt::format("{}: there is no log", options_.dir)};
  SAMOVAR_TRY(witnessed_, load_witness(disk, options_.dir, sealer_));
  SAMOVAR_TRY(const LogCheck check, check_log(disk, options_.dir, sealer_, witnessed_));
  head_ = check.head;
  for (const auto& name : check.torn_segments) SAMOVAR_CHECK(set_aside(disk, options_.dir, name));
  return {};
}

}  // namespace samovar::raft
