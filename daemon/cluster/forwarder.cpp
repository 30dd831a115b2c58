#include "daemon/cluster/forwarder.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "base/metrics.hpp"

namespace samovar::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTriesMax = seconds(10);
constexpr Duration kAskMax = seconds(3);       // an election takes no longer, and then another one leads
constexpr Duration kPause = milliseconds(50);  // between tries
constexpr Duration kTick = milliseconds(500);
// No leader for so long: it is no election, it is a minority. Waiting would only make people wait.
constexpr Duration kLeaderlessMax = seconds(6);
// The same for who waits to hear what became of a change: others may lead and be reached, only not by this
// node, and whoever asked can ask one of them.
constexpr Duration kOutcomeMax = seconds(3);
// Connections break and are there again: only then it is a minority for who waits to hear what became of it.
constexpr Duration kMinoritySure = milliseconds(500);
constexpr Duration kClockEvery = seconds(30);
constexpr Duration kClockKept = seconds(120);

// Nothing happened for certain, and another try or another node may do it.
bool elsewhere(Errc code) { return code == Errc::conflict; }
bool unknown(Errc code) { return code == Errc::unavailable || code == Errc::timeout; }

Error outcome_unknown() {
  return Error{
      Errc::unavailable,
      "whether the change was made is not known: the node that leads could not be asked. Load the page "
      "again, and repeat it if it is not there"};
}

}  // namespace

Forwarder::Forwarder(Loop& loop, LogPort& log, net::Exchange& exchange, ForwarderView view)
    : loop_(loop), log_(log), exchange_(exchange), view_(std::move(view)) {
  exchange_.on_ask(net::Topic::propose, [this](std::string from, Bytes question) {
    return answer(std::move(from), std::move(question));
  });
  tick();
}

Forwarder::~Forwarder() { stop(); }

void Forwarder::stop() {
  if (stopped_) return;
  stopped_ = true;
  *alive_ = false;
  exchange_.on_ask(net::Topic::propose, {});
  loop_.cancel(timer_);
  while (!waiting_.empty())
    finish(waiting_.begin()->first, Error{Errc::unavailable, "this node is stopping"});
}

void Forwarder::finish(std::uint64_t id, Result<Bytes> result) {
  auto node = waiting_.extract(id);
  if (!node.empty()) node.mapped().done(std::move(result));
}

// A leader that was cut off is silent: its answer would be waited for longer than the next one is elected.
void Forwarder::leader_changed() {
  loop_.post([this, alive = alive_] {
    if (!*alive || stopped_) return;
    const std::string leader = log_.status().leader_id;
    std::vector<std::uint64_t> over;
    for (const auto& [id, waiting] : waiting_)
      if (!waiting.asked.empty() && waiting.asked != leader) over.push_back(id);
    for (const std::uint64_t id : over)
      finish(id, Error{Errc::unavailable, "the leader changed while the change was under way"});
  });
}

Task<Result<Bytes>> Forwarder::interruptible(std::function<void(Done)> start, std::string asked) {
  if (stopped_) co_return Error{Errc::unavailable, "this node is stopping"};
  const std::uint64_t id = ++next_wait_;
  std::function<void(Done)> begin = [this, id, &start, &asked](Done done) {
    waiting_.emplace(id, Waiting{std::move(done), std::move(asked)});
    start([this, id, alive = alive_](Result<Bytes> result) {
      if (*alive) finish(id, std::move(result));
    });
  };
  co_return co_await from_callback<Result<Bytes>>(std::move(begin));
}

Task<Result<void>> Forwarder::pause(Duration time) {
  std::function<void(Done)> start = [this, time](Done done) {
    loop_.after(time, [done = std::move(done)] { done(Bytes()); });
  };
  auto over = co_await interruptible(std::move(start));
  if (!over) co_return std::move(over).error();
  co_return Result<void>();
}

Task<Result<Bytes>> Forwarder::propose(Bytes command) {
  // Not interruptible: closing the log ends it, with the outcome when that is known.
  std::function<void(Done)> start = [this, &command](Done done) {
    log_.propose(std::move(command), std::move(done));
  };
  co_return co_await from_callback<Result<Bytes>>(std::move(start));
}

Task<Result<ProposeAnswer>> Forwarder::ask(std::string leader, ProposeQuestion question, Duration deadline,
                                           bool may_repeat) {
  const MonoTime asked = loop_.clock().mono();
  std::function<void(Done)> start = [this, &leader, &question, deadline](Done done) {
    net::AskOptions options;
    options.deadline = deadline;
    spawn<Result<Bytes>>(exchange_.ask(leader, net::Topic::propose, encode_question(question), options),
                         std::move(done));
  };
  std::string whom = may_repeat ? leader : std::string();
  SAMOVAR_CO_TRY(const Bytes bytes, co_await interruptible(std::move(start), std::move(whom)));
  SAMOVAR_CO_TRY(ProposeAnswer answer, decode_answer(bytes));
  // Its clock when it answered, which was half of the way ago; a long wait for the log says nothing.
  const MonoTime heard = loop_.clock().mono();
  if (question.kind == ProposeKind::clock) {
    skew_ = loop_.clock().wall() - answer.time - (heard - asked) / 2;
    clock_heard_ = heard;
    clock_leader_ = leader;
  }
  co_return answer;
}

Task<Result<void>> Forwarder::wait_applied(std::uint64_t index, Duration deadline) {
  std::function<void(Done)> start = [this, index, deadline](Done done) {
    log_.when_applied(index, deadline, [done = std::move(done)](Result<void> applied) {
      applied ? done(Bytes()) : done(std::move(applied).error());
    });
  };
  auto applied = co_await interruptible(std::move(start));
  if (!applied)
    co_return Error{Errc::unavailable,
                    "the change was made, but this node has not heard of it yet: load the page again"};
  co_return Result<void>();
}

bool Forwarder::is_cut_off() const {
  return leader_seen_ && loop_.clock().mono() - *leader_seen_ > kLeaderlessMax;
}

// Nobody leads, and waiting would not change it.
bool Forwarder::is_hopeless() const { return (view_.in_minority && view_.in_minority()) || is_cut_off(); }

Task<Result<void>> Forwarder::catch_up(Duration deadline) {
  const MonoTime end = loop_.clock().mono() + deadline;
  const raft::ConsensusStatus status = log_.status();
  if (!status.leader) {
    if (status.leader_id.empty() || status.leader_id == exchange_.self()) co_return view_.no_leader();
    ProposeQuestion question;
    const auto answer =
        co_await ask(status.leader_id, std::move(question), std::min<Duration>(deadline, kAskMax));
    bool applied = false;
    if (answer) {
      const Duration left = std::max<Duration>(end - loop_.clock().mono(), milliseconds(1));
      applied = (co_await wait_applied(answer->index, left)).has_value();
    }
    if (!applied)
      co_return Error{Errc::unavailable,
                      "this node was away and does not know all that the others do: try again in a moment"};
  }
  was_away_ = false;
  co_return Result<void>();
}

Task<Result<Bytes>> Forwarder::submit(Command command) {
  static auto& forwarded =
      metrics::counter("samovar_cluster_commands_forwarded_total", "Commands asked of the leader");
  static auto& repeated =
      metrics::counter("samovar_cluster_commands_repeated_total", "Commands asked again after no answer");
  const MonoTime end = loop_.clock().mono() + kTriesMax;
  const bool may_repeat = !command.request_id.empty();
  bool asked = false;  // the outcome of an earlier try is not known
  for (;;) {
    if (stopped_) co_return asked ? outcome_unknown() : Error{Errc::unavailable, "this node is stopping"};
    const raft::ConsensusStatus status = log_.status();
    if (status.failed) co_return Error{Errc::unavailable, status.failure};
    const MonoTime now = loop_.clock().mono();
    if (status.leader || !status.leader_id.empty()) leader_seen_ = now;
    Result<Bytes> reply = Error{Errc::conflict, ""};
    if (status.leader) {
      command.time = view_.now();
      Bytes bytes = encode_command(command);
      reply = co_await propose(std::move(bytes));
    } else if (!status.leader_id.empty() && status.leader_id != exchange_.self()) {
      forwarded.add(1);
      ProposeQuestion question{ProposeKind::command, encode_command(command)};
      const Duration deadline = std::clamp<Duration>(end - now, milliseconds(1), kAskMax);
      auto answer = co_await ask(status.leader_id, std::move(question), deadline, may_repeat);
      if (answer) {
        const Duration left = std::max<Duration>(end - loop_.clock().mono(), seconds(1));
        SAMOVAR_CO_CHECK(co_await wait_applied(answer->index, left));
        co_return std::move(answer->reply);
      }
      reply = std::move(answer).error();
    } else if (!asked && is_hopeless()) {
      co_return view_.no_leader();
    } else if (asked && minority_since_ && now - *minority_since_ >= kMinoritySure) {
      co_return outcome_unknown();  // this node led and was cut off: the others may have it or not
    } else if (asked && leader_seen_ && now - *leader_seen_ > kOutcomeMax) {
      co_return outcome_unknown();  // this node does not hear who leads
    }
    if (reply) co_return reply;
    const Errc code = reply.error().code();
    if (unknown(code) && !may_repeat) co_return std::move(reply).error();
    if (!unknown(code) && !elsewhere(code)) co_return std::move(reply).error();
    if (unknown(code)) {
      asked = true;
      repeated.add(1);
    }
    if (loop_.clock().mono() + kPause >= end) break;
    ignore(co_await pause(kPause), "the next try finds out what has become of us");
  }
  if (asked) co_return outcome_unknown();
  co_return view_.no_leader();
}

Task<Result<Bytes>> Forwarder::answer(std::string from, Bytes question) {
  SAMOVAR_CO_CHECK(view_.may_ask(from));
  SAMOVAR_CO_TRY(ProposeQuestion asked, decode_question(question));
  if (!log_.status().leader) co_return Error{Errc::conflict, "this node does not lead"};
  ProposeAnswer answer;
  if (asked.kind == ProposeKind::command) {
    SAMOVAR_CO_TRY(answer.reply, co_await answer_command(std::move(from), std::move(asked.body)));
  }
  // Whatever is applied by now is behind the command, so waiting for it shows the asker the command, too. One
  // that asks for the time learns how far it should be.
  answer.index = log_.status().applied_index;
  answer.time = view_.now();
  co_return encode_answer(answer);
}

Task<Result<Bytes>> Forwarder::answer_command(std::string from, Bytes body) {
  SAMOVAR_CO_TRY(Command command, decode_command(body));
  if (auto may = view_.may_propose(command); !may) {
    SAMOVAR_LOG(warn, cluster, "a command of another node is refused", kv("node", from),
                kv("type", command.type), kv("why", may.error().message()));
    co_return std::move(may).error();
  }
  command.time = view_.now();
  Bytes bytes = encode_command(command);
  co_return co_await propose(std::move(bytes));
}

std::optional<Duration> Forwarder::clock_skew() const {
  if (!clock_heard_) return std::nullopt;
  const Duration age = loop_.clock().mono() - *clock_heard_;
  if (!log_.status().leader && age <= kClockKept) return skew_;
  // Nobody tells the time any more, or we do. A clock that was far off is still wrong: the cluster's time
  // goes on as it was, and comes nearer to ours so slowly that nobody is surprised.
  const Duration far = (skew_ < Duration::zero() ? -skew_ : skew_) - age / 64;
  if (far <= Duration(kSkewBlocks)) return std::nullopt;
  return skew_ < Duration::zero() ? -far : far;
}

bool Forwarder::sees_leader() const {
  const raft::ConsensusStatus status = log_.status();
  return status.leader || !status.leader_id.empty();
}

void Forwarder::tick() {
  if (stopped_) return;
  const raft::ConsensusStatus status = log_.status();
  const MonoTime now = loop_.clock().mono();
  // Also one that stood still itself, and still believes in the leader it had.
  if (leader_seen_ && now - *leader_seen_ > kOutcomeMax) was_away_ = true;
  // From the start on: a node that never sees a leader says so as soon as one that lost it.
  if (!leader_seen_ || status.leader || !status.leader_id.empty()) leader_seen_ = now;
  if (!view_.in_minority || !view_.in_minority()) {
    minority_since_.reset();
  } else if (!minority_since_) {
    minority_since_ = now;
  }
  if (!status.leader && !status.leader_id.empty()) {
    const bool other = status.leader_id != clock_leader_;
    const Duration every = other ? Duration(seconds(2)) : kClockEvery;
    if (!clock_asked_ || now - *clock_asked_ >= every) sync_clock(status.leader_id);
  }
  timer_ = loop_.after(kTick, [this] { tick(); });
}

void Forwarder::sync_clock(std::string leader) {
  clock_asked_ = loop_.clock().mono();
  // Without captures: the frame must not outlive what a lambda holds.
  spawn([](Forwarder& self, std::string whom) -> Task<void> {
    ProposeQuestion question;
    ignore(co_await self.ask(std::move(whom), std::move(question), kAskMax), "asked again later");
  }(*this, std::move(leader)));
}

}  // namespace samovar::cluster
