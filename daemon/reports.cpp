#include "daemon/reports.hpp"

#include <algorithm>
#include <utility>

#include "base/wall_difference.hpp"

namespace samovar::daemon {

std::optional<Duration> ahead_of_most(std::vector<Duration> others, bool own_sure) {
  if (others.empty()) return std::nullopt;
  if (own_sure) others.emplace_back(Duration::zero());
  const auto middle = others.begin() + static_cast<std::ptrdiff_t>((others.size() - 1) / 2);
  std::nth_element(others.begin(), middle, others.end());
  return -*middle;
}

Reports::Reports(Loop& loop, net::Exchange& exchange, ReportsHooks hooks)
    : loop_(loop), exchange_(exchange), hooks_(std::move(hooks)) {}

Reports::~Reports() {
  *alive_ = false;
  stop();
}

void Reports::start() {
  if (running_) return;
  running_ = true;
  timer_ = loop_.after(kTick, [this] { tick(); });
}

void Reports::stop() {
  if (!running_) return;
  running_ = false;
  loop_.cancel(timer_);
}

void Reports::tick() {
  timer_ = loop_.after(kTick, [this] { tick(); });
  const auto others = hooks_.others();
  const MonoTime now = loop_.clock().mono();
  std::erase_if(entries_, [&](const auto& row) {
    return !row.second.asking && std::find(others.begin(), others.end(), row.first) == others.end();
  });
  const bool watched = hooks_.watched() || (wanted_ && now < *wanted_ + kWatchedFor);
  // Nobody leads as far as this node knows: the others may know somebody it does not.
  const bool lost = !hooks_.calm();
  const bool due = hooks_.leads() && (!asked_idle_ || now >= *asked_idle_ + kIdle);
  if (watched || lost || due) {
    if (due) asked_idle_ = now;
    for (const auto& id : others) spawn(ask(id, !watched && !lost));
  }
  look_for_turns();
}

void Reports::look_for_turns() {
  std::vector<std::string> turned;
  for (const auto& id : hooks_.others()) {
    Entry& entry = entries_[id];
    const bool now = reachable(id);
    if (now == entry.was_reachable) continue;
    entry.was_reachable = now;
    turned.push_back(id);
  }
  for (const auto& id : turned) hooks_.turned(id);
}

Task<void> Reports::ask(std::string node_id, bool brief) {
  const auto alive = alive_;
  {
    Entry& entry = entries_[node_id];
    if (entry.asking) co_return;
    entry.asking = true;
  }
  api::ReportRequest request;
  request.brief = brief;
  net::AskOptions options;
  options.deadline = kAnswerMax;
  auto answer =
      co_await exchange_.ask(node_id, net::Topic::node_report, api::encode_request(request), options);
  if (!*alive) co_return;
  Entry& entry = entries_[node_id];
  entry.asking = false;
  auto report = answer ? api::decode_report(*answer) : Result<api::NodeReport>(std::move(answer).error());
  if (report) {
    take(entry, std::move(*report));
    if (!entry.report->brief && hooks_.sampled) hooks_.sampled(node_id);
  } else {
    entry.failed = loop_.clock().mono();
  }
  if (running_) look_for_turns();
}

void Reports::take(Entry& entry, api::NodeReport report) {
  const MonoTime now = loop_.clock().mono();
  entry.answered = now;
  entry.heard = loop_.clock().wall();
  entry.ahead =
      std::chrono::duration_cast<std::chrono::milliseconds>(wall_difference(report.clock, *entry.heard));
  if (!report.brief) entry.full_at = now;
  if (!report.brief || !entry.report) {
    entry.report = std::move(report);
    return;
  }
  // What a brief one does not say stays as it was.
  entry.report->version = std::move(report.version);
  entry.report->clock = report.clock;
  entry.report->clock_sure = report.clock_sure;
  entry.report->disk = report.disk;
}

Task<void> Reports::refresh() {
  const MonoTime now = loop_.clock().mono();
  wanted_ = now;
  struct Round {
    std::size_t left = 0;
    std::function<void(bool)> done;
  };
  auto round = std::make_shared<Round>();  // shared: answers may come after the wait
  for (const auto& id : hooks_.others()) {
    const Entry& entry = entries_[id];
    if (entry.full_at && now < *entry.full_at + kFresh) continue;
    // One that did not answer a moment ago does not hold up the others again.
    if (entry.asking || (entry.failed && now < *entry.failed + kFresh)) continue;
    ++round->left;
    spawn([](Reports& self, std::shared_ptr<Round> shared, std::string node_id) -> Task<void> {
      co_await self.ask(std::move(node_id), false);
      if (--shared->left == 0 && shared->done) shared->done(true);
    }(*this, round, id));
  }
  if (round->left == 0) co_return;
  std::function<void(std::function<void(bool)>)> wait = [round](std::function<void(bool)> done) {
    round->done = std::move(done);
  };
  co_await from_callback<bool>(std::move(wait));
}

const api::NodeReport* Reports::find(std::string_view node_id) const {
  const auto at = entries_.find(node_id);
  return at == entries_.end() || !at->second.report ? nullptr : &*at->second.report;
}

bool Reports::reachable(const std::string& node_id) const {
  const MonoTime now = loop_.clock().mono();
  const auto at = entries_.find(node_id);
  const Entry none;
  const Entry& entry = at == entries_.end() ? none : at->second;
  const bool failed = entry.failed && (!entry.answered || *entry.answered < *entry.failed);
  if (entry.answered && !failed && now < *entry.answered + kTick * 2) return true;
  if (const auto heard = hooks_.heard(node_id)) return *heard;
  if (failed && now < *entry.failed + kIdle) return false;
  return hooks_.linked(node_id) || hooks_.calm();
}

std::optional<WallTime> Reports::heard_at(const std::string& node_id) const {
  const auto at = entries_.find(node_id);
  return at == entries_.end() ? std::nullopt : at->second.heard;
}

std::optional<std::chrono::milliseconds> Reports::clock_ahead(const std::string& node_id) const {
  const auto at = entries_.find(node_id);
  if (at == entries_.end() || !at->second.answered) return std::nullopt;
  return at->second.ahead;
}

}  // namespace samovar::daemon
