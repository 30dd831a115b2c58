#include "daemon/join_guest.hpp"

#include <algorithm>
#include <deque>
#include <set>
#include <vector>

#include "base/log.hpp"
#include "security/join_wire.hpp"
#include "security/join_words.hpp"

namespace samovar::daemon {
namespace {

using security::JoinKind;
using security::JoinRefusal;
using security::RefusalMessage;

std::uint16_t seconds_up(Duration span) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(span).count();
  return static_cast<std::uint16_t>(std::clamp<long>(seconds, 0, 65'535));
}

// Why the member ended it, as this node's console says it.
std::string ended_by_member(ByteView message) {
  const auto refusal = security::decode_refusal(message);
  if (!refusal) return "the other side broke the rules of joining";
  switch (refusal->reason) {
    case JoinRefusal::wrong_words:
      return "the words typed here are not those of the invitation";
    case JoinRefusal::not_admitted:
      return "the cluster did not take this node: see its dashboard for the reason";
    case JoinRefusal::cancelled:
      return "it was ended at the cluster: cancelled, late, or too many wrong codes";
    case JoinRefusal::version:
      return "the cluster runs another version of Samovar: bring both to the same version";
    default:
      return "the cluster ended it: a check failed there";
  }
}

}  // namespace

struct JoinGuest::Impl : std::enable_shared_from_this<JoinGuest::Impl> {
  Impl(Loop& the_loop, const security::NodeIdentity& the_identity, JoinGuestHooks the_hooks,
       JoinGuestLimits the_limits)
      : loop(the_loop), identity(the_identity), hooks(std::move(the_hooks)), limits(the_limits) {}

  // Constant after construction.
  Loop& loop;
  const security::NodeIdentity& identity;
  JoinGuestHooks hooks;
  const JoinGuestLimits limits;

  // Loop only.
  struct Words {
    security::SecretBytes key;
    std::string ca_digest;
    MonoTime until{};
    unsigned failures = 0;
  };
  GuestStatus now;
  bool closed = false;  // claimed, or the guest is gone
  bool gone = false;
  std::set<net::JoinLine*> lines;
  std::deque<MonoTime> begun;  // handshakes within the window
  MonoTime code_until{};
  std::optional<Words> words;
  // J5 was sent, J6 did not come: waits for it over another line.
  std::optional<security::JoinNode> unconfirmed;
  MonoTime unconfirmed_until{};

  MonoTime mono() { return loop.clock().mono(); }
  void tell() {
    if (!gone && hooks.changed) hooks.changed();
  }
  void enter(GuestState state, std::string trouble = {}) {
    now.state = state;
    now.trouble = std::move(trouble);
    if (state != GuestState::code) now.code.clear();
    if (state == GuestState::waiting) {
      now.cluster_name.clear();
      now.remote.clear();
    }
    tell();
  }
  void forget_old() {
    while (!begun.empty() && begun.front() + limits.handshakes_window <= mono()) begun.pop_front();
    if (unconfirmed && unconfirmed_until <= mono()) unconfirmed.reset();
    if (words && words->until <= mono()) words.reset();
  }

  std::optional<RefusalMessage> refusal_of_j1();
  Task<void> serve(std::unique_ptr<net::JoinLine> line);
  Task<void> answer(net::JoinLine& line, Bytes first);
  Task<void> refuse(net::JoinLine& line, RefusalMessage refusal);
  Task<void> begin(net::JoinLine& line, Bytes j1);
  Task<Result<void>> shake_hands(net::JoinLine& line, security::JoinNode& node, security::JoinForm form);
  Task<Result<void>> prove_words(net::JoinLine& line, security::JoinNode& node);
  Task<Result<Bytes>> expect(net::JoinLine& line, JoinKind kind, Duration deadline);
  Task<Result<void>> finish(net::JoinLine& line, security::JoinNode& node, Bytes j6);
  Task<void> resume(net::JoinLine& line, Bytes j6);
};

// ---- lines ----

Task<void> JoinGuest::Impl::serve(std::unique_ptr<net::JoinLine> line) {
  const auto self = shared_from_this();
  lines.insert(line.get());
  auto first = co_await line->receive(limits.first_message);
  if (first && !gone) co_await answer(*line, *std::move(first));
  lines.erase(line.get());
  line->close();
}

Task<void> JoinGuest::Impl::answer(net::JoinLine& line, Bytes first) {
  const auto kind = security::join_kind(first);
  if (kind == JoinKind::who && security::decode_who(first) && hooks.who) {
    ignore(line.send(security::encode_here(hooks.who())), "whoever asked sees that the line ends");
    ignore(co_await line.receive(limits.linger), "only to let the answer leave");
  } else if (kind == JoinKind::j1) {
    co_await begin(line, std::move(first));
  } else if (kind == JoinKind::j6) {
    co_await resume(line, std::move(first));
  } else {
    const RefusalMessage refusal{JoinRefusal::failed, 0};
    co_await refuse(line, refusal);
  }
}

// The other end closes once it has read the reason.
Task<void> JoinGuest::Impl::refuse(net::JoinLine& line, RefusalMessage refusal) {
  if (line.send(security::encode_refusal(refusal)))
    ignore(co_await line.receive(limits.linger), "only to let the reason leave");
}

Task<Result<Bytes>> JoinGuest::Impl::expect(net::JoinLine& line, JoinKind kind, Duration deadline) {
  auto message = co_await line.receive(deadline);
  if (gone) co_return Error{Errc::unavailable, "this node stops"};
  if (!message && message.error().code() == Errc::timeout)
    co_return Error{Errc::timeout, "the other side did not go on"};
  if (!message) co_return Error{Errc::unavailable, "the other side went away"};
  if (security::join_kind(*message) == JoinKind::refusal)
    co_return Error{Errc::conflict, ended_by_member(*message)};
  if (security::join_kind(*message) != kind)
    co_return Error{Errc::invalid, "the other side broke the rules of joining"};
  co_return message;
}

// ---- the handshake ----

std::optional<RefusalMessage> JoinGuest::Impl::refusal_of_j1() {
  forget_old();
  if (closed) return RefusalMessage{JoinRefusal::claimed, 0};
  if (now.state == GuestState::code)
    return RefusalMessage{JoinRefusal::code_shown, seconds_up(code_until - mono())};
  if (now.state != GuestState::waiting) return RefusalMessage{JoinRefusal::busy, seconds_up(limits.step)};
  if (begun.size() >= limits.handshakes_max)
    return RefusalMessage{JoinRefusal::too_many,
                          seconds_up(begun.front() + limits.handshakes_window - mono())};
  if (hooks.may_begin && !hooks.may_begin()) return RefusalMessage{JoinRefusal::busy, 60};
  return {};
}

Task<void> JoinGuest::Impl::begin(net::JoinLine& line, Bytes j1) {
  if (const auto refusal = refusal_of_j1()) {
    const RefusalMessage reason = *refusal;
    co_await refuse(line, reason);
    co_return;
  }
  auto node = security::JoinNode::begin(identity, hooks.facts());
  auto cluster = node ? node->take_j1(j1) : Result<security::JoinCluster>(std::move(node).error());
  RefusalMessage reason{JoinRefusal::failed, 0};
  if (!cluster && cluster.error().code() == Errc::unsupported) reason.reason = JoinRefusal::version;
  const bool by_words = cluster && cluster->form == security::JoinForm::words;
  const bool words_fit =
      words && (words->ca_digest.empty() || security::ca_digest_matches(words->ca_digest, cluster->ca));
  if (by_words && !words_fit) reason.reason = JoinRefusal::wrong_words;
  if (!cluster || (by_words && !words_fit)) {
    co_await refuse(line, reason);
    co_return;
  }
  begun.push_back(mono());  // from here on the other side learns something: it counts
  now.cluster_name = cluster->cluster_name;
  now.remote = line.remote();
  enter(GuestState::handshake);
  SAMOVAR_LOG(info, main, "a cluster asks to add this node", kv("cluster", now.cluster_name),
              kv("from", now.remote));
  const auto done = co_await shake_hands(line, *node, cluster->form);
  if (gone || done) co_return;
  const Error why = done.error();
  enter(GuestState::waiting, why.message());
  SAMOVAR_LOG(info, main, "this node was not added", kv("why", why.message()));
  if (why.code() == Errc::conflict || why.code() == Errc::unavailable) co_return;  // they ended it
  const RefusalMessage failed{why.code() == Errc::timeout ? JoinRefusal::cancelled : JoinRefusal::failed, 0};
  co_await refuse(line, failed);
}

Task<Result<void>> JoinGuest::Impl::shake_hands(net::JoinLine& line, security::JoinNode& node,
                                                security::JoinForm form) {
  SAMOVAR_CO_CHECK(line.send(node.j2()));
  SAMOVAR_CO_TRY(const Bytes j3, co_await expect(line, JoinKind::j3, limits.step));
  SAMOVAR_CO_CHECK(node.take_j3(j3));
  if (form == security::JoinForm::words) {
    SAMOVAR_CO_CHECK(co_await prove_words(line, node));
  } else {
    now.code = node.code();
    code_until = mono() + limits.code_shown;
    enter(GuestState::code);
  }
  const Duration wait = form == security::JoinForm::words ? limits.step : limits.code_shown;
  auto j4 = co_await expect(line, JoinKind::j4, wait);
  if (!j4 && j4.error().code() == Errc::timeout)
    co_return Error{Errc::timeout, "nobody typed the code in time"};
  if (!j4) co_return std::move(j4).error();
  SAMOVAR_CO_CHECK(node.take_j4(*j4));
  enter(GuestState::finishing);
  SAMOVAR_CO_CHECK(line.send(node.j5()));
  auto j6 = co_await expect(line, JoinKind::j6, limits.commit);
  if (gone) co_return Error{Errc::unavailable, "this node stops"};
  if (!j6 && (j6.error().code() == Errc::timeout || j6.error().code() == Errc::unavailable)) {
    unconfirmed.emplace(std::move(node));
    unconfirmed_until = mono() + limits.grant_kept;
    co_return Error{Errc::unavailable, "the line to the cluster was lost at the last step; it tries again"};
  }
  if (!j6) co_return std::move(j6).error();
  auto done = co_await finish(line, node, *std::move(j6));
  if (!done && !gone) {  // our disk, most likely: the cluster counts on us, so J6 is brought again
    unconfirmed.emplace(std::move(node));
    unconfirmed_until = mono() + limits.grant_kept;
  }
  co_return done;
}

Task<Result<void>> JoinGuest::Impl::prove_words(net::JoinLine& line, security::JoinNode& node) {
  if (!words) co_return Error{Errc::denied, "the words are no longer waited for"};
  SAMOVAR_CO_CHECK(line.send(node.words_proof(words->key)));
  SAMOVAR_CO_TRY(const Bytes proof, co_await expect(line, JoinKind::words, limits.step));
  if (words && node.words_proof_matches(words->key, proof)) co_return Result<void>{};
  if (words && ++words->failures >= limits.words_failures_max) {
    words.reset();
  }
  co_return Error{Errc::denied, "the other side does not know the words typed here"};
}

Task<Result<void>> JoinGuest::Impl::finish(net::JoinLine& line, security::JoinNode& node, Bytes j6) {
  SAMOVAR_CO_TRY(security::JoinGrant grant, node.take_j6(j6));
  auto kept = co_await hooks.keep(std::move(grant));
  if (gone) co_return Error{Errc::unavailable, "this node stops"};
  if (!kept) co_return std::move(kept).error();
  closed = true;
  words.reset();
  enter(GuestState::done);
  ignore(line.send(node.j7()), "the member finds out by itself");
  ignore(co_await line.receive(limits.linger), "only to let the receipt leave");
  const std::weak_ptr<Impl> weak = weak_from_this();
  loop.post([weak] {
    const auto self = weak.lock();
    if (self && !self->gone && self->hooks.joined) self->hooks.joined();
  });
  co_return Result<void>{};
}

Task<void> JoinGuest::Impl::resume(net::JoinLine& line, Bytes j6) {
  forget_old();
  if (closed || !unconfirmed || now.state != GuestState::waiting) {
    const RefusalMessage unknown{closed ? JoinRefusal::claimed : JoinRefusal::unknown, 0};
    co_await refuse(line, unknown);
    co_return;
  }
  security::JoinNode node = *std::move(unconfirmed);
  unconfirmed.reset();
  const MonoTime until = unconfirmed_until;
  enter(GuestState::finishing);
  const auto done = co_await finish(line, node, std::move(j6));
  if (gone || done) co_return;
  unconfirmed.emplace(std::move(node));  // a stranger's J6, or our disk: the right one may come yet
  unconfirmed_until = until;
  enter(GuestState::waiting, done.error().message());
  const RefusalMessage failed{JoinRefusal::failed, 0};
  co_await refuse(line, failed);
}

// ---- from outside ----

JoinGuest::JoinGuest(Loop& loop, const security::NodeIdentity& identity, JoinGuestHooks hooks,
                     JoinGuestLimits limits)
    : impl_(std::make_shared<Impl>(loop, identity, std::move(hooks), limits)) {}

JoinGuest::~JoinGuest() {
  impl_->closed = true;
  impl_->gone = true;
  for (net::JoinLine* line : impl_->lines) line->close();
}

void JoinGuest::take(std::unique_ptr<net::JoinLine> line) {
  if (impl_->lines.size() >= impl_->limits.lines_max) return line->close();
  spawn(impl_->serve(std::move(line)));
}

GuestStatus JoinGuest::status() const {
  impl_->forget_old();
  GuestStatus status = impl_->now;
  const bool under_way = status.state != GuestState::waiting && status.state != GuestState::done;
  status.unfinished =
      static_cast<unsigned>(impl_->begun.size()) - (under_way && !impl_->begun.empty() ? 1 : 0);
  if (status.state == GuestState::done) status.unfinished = 0;
  status.words = impl_->words.has_value();
  return status;
}

void JoinGuest::expect_words(security::SecretBytes words_key, std::string ca_digest, Duration window) {
  impl_->words.emplace(Impl::Words{std::move(words_key), std::move(ca_digest), impl_->mono() + window, 0});
  const std::weak_ptr<Impl> weak = impl_;
  impl_->loop.after(window + std::chrono::seconds(1), [weak] {
    const auto self = weak.lock();
    if (!self || self->gone) return;
    self->forget_old();
    self->tell();  // the beacon said that words are waited for
  });
  impl_->tell();
}

void JoinGuest::forget_words() {
  impl_->words.reset();
  impl_->tell();
}

void JoinGuest::close() {
  impl_->closed = true;
  impl_->words.reset();
  impl_->unconfirmed.reset();
  for (net::JoinLine* line : impl_->lines) line->close();
}

}  // namespace samovar::daemon
