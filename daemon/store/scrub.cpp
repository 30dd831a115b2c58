#include "daemon/store/scrub.hpp"

#include <algorithm>

#include "security/sha256.hpp"

namespace samovar::store {
namespace {

constexpr std::size_t kSliceBytes = 1 << 20;

}  // namespace

struct ScrubPass::State {
  State(Disk& d, std::vector<ScrubTarget> t) : disk(d), targets(std::move(t)) {}

  // What is left of the current target, or nothing when it cannot be as it was.
  std::optional<std::uint64_t> begin() {
    auto opened = disk.open(targets[next].path, OpenMode::read);
    if (!opened) return std::nullopt;
    file = *std::move(opened);
    hasher = security::Sha256();
    offset = 0;
    const auto size = file->size();
    if (!size || *size != targets[next].stored_bytes) return std::nullopt;
    return *size;
  }
  Step end(std::uint64_t bytes, ScrubFinding finding) {
    const ScrubTarget& target = targets[next++];
    file.reset();
    position = target.name;
    // All of it counts, though a damaged one may not have been read to its end.
    bytes_done += target.stored_bytes - std::min(offset, target.stored_bytes);
    offset = 0;
    return {bytes, &target, finding};
  }

  Disk& disk;
  std::vector<ScrubTarget> targets;
  std::size_t next = 0;  // the target being read
  std::unique_ptr<File> file;
  security::Sha256 hasher;
  std::uint64_t offset = 0;
  Bytes slice;
  std::string position;
  std::uint64_t bytes_done = 0;
  std::uint64_t bytes_total = 0;
};

ScrubPass::ScrubPass(Disk& disk, std::vector<ScrubTarget> targets, std::string after) {
  const auto by_name = [](const ScrubTarget& a, const ScrubTarget& b) { return a.name < b.name; };
  std::sort(targets.begin(), targets.end(), by_name);
  state_ = std::make_unique<State>(disk, std::move(targets));
  for (const ScrubTarget& target : state_->targets) {
    state_->bytes_total += target.stored_bytes;
    if (after.empty() || target.name > after) continue;
    state_->bytes_done += target.stored_bytes;
    ++state_->next;
  }
  state_->position = std::move(after);
}

ScrubPass::~ScrubPass() = default;

ScrubPass::Step ScrubPass::step(std::size_t bytes_max) {
  State& state = *state_;
  if (done()) return {};
  const ScrubTarget& target = state.targets[state.next];
  if (!state.file && !state.begin()) return state.end(0, ScrubFinding::damaged);
  const std::uint64_t left = target.stored_bytes - state.offset;
  state.slice.resize(
      static_cast<std::size_t>(std::min<std::uint64_t>(left, std::max<std::size_t>(bytes_max, 1))));
  const auto got = state.file->read_at(state.offset, state.slice);
  if (!got || *got != state.slice.size()) return state.end(0, ScrubFinding::damaged);
  state.hasher.update(state.slice);
  state.offset += *got;
  state.bytes_done += *got;
  if (state.offset < target.stored_bytes) return {*got, nullptr, ScrubFinding::good};
  const bool same = state.hasher.digest() == target.hash;
  return state.end(*got, same ? ScrubFinding::good : ScrubFinding::damaged);
}

bool ScrubPass::done() const noexcept { return state_->next == state_->targets.size(); }
const std::string& ScrubPass::position() const noexcept { return state_->position; }
std::uint64_t ScrubPass::bytes_done() const noexcept { return state_->bytes_done; }
std::uint64_t ScrubPass::bytes_total() const noexcept { return state_->bytes_total; }

Result<ScrubFinding> scrub_file(Disk& disk, const ScrubTarget& target) {
  ScrubPass pass(disk, {target});
  while (true) {
    const ScrubPass::Step step = pass.step(kSliceBytes);
    if (step.finished != nullptr) return step.finding;
  }
}

Duration scrub_rest(std::uint64_t bytes, Duration took, std::uint64_t bytes_per_second) noexcept {
  if (bytes_per_second == 0) return Duration::zero();
  const double seconds = static_cast<double>(bytes) / static_cast<double>(bytes_per_second);
  const auto due = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
  return std::max(Duration::zero(), due - took);
}

}  // namespace samovar::store
