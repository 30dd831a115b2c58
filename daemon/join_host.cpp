// Limits and bookkeeping of JoinHost; the messages are in join_host_steps.cpp.
#include "daemon/join_host.hpp"

#include <algorithm>

#include "base/ids.hpp"
#include "base/log.hpp"
#include "base/rng.hpp"
#include "daemon/join_host_impl.hpp"

namespace samovar::daemon {
namespace {

using security::JoinForm;
using security::JoinRefusal;

constexpr std::size_t kLastWordsMax = 64;
constexpr std::size_t kTriedMax = 256;     // addresses per invitation
constexpr unsigned kOffersPerAddress = 5;  // while nobody refused: cables and restarts
constexpr unsigned kNeverAgain = 1'000'000;

std::string minutes_text(Duration span) {
  const auto minutes = std::max<long>(1, std::chrono::ceil<std::chrono::minutes>(span).count());
  return std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
}

}  // namespace

void JoinHost::Impl::forget_old() {
  std::erase_if(barred, [&](const auto& row) { return row.second <= mono(); });
  while (!wrong_codes.empty() && wrong_codes.front() + limits.wrong_codes_window <= mono())
    wrong_codes.pop_front();
  if (invited && invited->until <= mono()) invited.reset();
}

JoinHost::Impl::PendingPtr JoinHost::Impl::find(const std::string& node_id) const {
  for (const PendingPtr& entry : pending)
    if (!node_id.empty() && entry->view.node_id == node_id) return entry;
  return nullptr;
}

Result<void> JoinHost::Impl::check_barred(const std::string& node_id) {
  const auto found = barred.find(node_id);
  if (found == barred.end() || found->second <= mono()) return {};
  return Error{Errc::denied, "three wrong codes were typed for this node: it can be added again in " +
                                 minutes_text(found->second - mono())};
}

Result<void> JoinHost::Impl::check_limits(const std::string& node_id, const std::string& address) {
  forget_old();
  if (wrong_codes.size() >= limits.wrong_codes_max)
    return Error{Errc::busy, "too many wrong codes were typed within an hour: nodes can be added again in " +
                                 minutes_text(wrong_codes.front() + limits.wrong_codes_window - mono())};
  SAMOVAR_CHECK(check_barred(node_id));
  if (pending.size() >= limits.pending_max)
    return Error{Errc::busy, "eight nodes are being added already: finish or cancel one of them first"};
  for (const PendingPtr& entry : pending)
    if (entry->view.address == address)
      return Error{Errc::conflict, "a node at " + address + " is being added already"};
  return {};
}

JoinHost::Impl::PendingPtr JoinHost::Impl::open(std::string node_id, std::string address,
                                                cluster::Call call) {
  auto entry = std::make_shared<Pending>();
  entry->view.id = new_id("joi", loop.clock(), system_rng());
  entry->view.node_id = std::move(node_id);
  entry->view.address = std::move(address);
  entry->view.tries_left = limits.tries;
  entry->view.expires_at =
      loop.clock().wall() + std::chrono::duration_cast<std::chrono::microseconds>(limits.code_wait);
  entry->call = std::move(call);
  pending.push_back(entry);
  return entry;
}

// The line is only closed here: whoever waits on it still holds it.
void JoinHost::Impl::end(const PendingPtr& entry, std::string reason, JoinRefusal told) {
  if (!entry->ended.empty()) return;
  entry->ended = std::move(reason);
  entry->ca_key.reset();
  loop.cancel(entry->timer);
  if (entry->line) {
    ignore(entry->line->send(security::encode_refusal({told, 0})), "the node times out by itself");
    entry->line->close();
  }
  std::erase(pending, entry);
  if (last_words.size() >= kLastWordsMax) last_words.erase(last_words.begin());
  last_words[entry->view.node_id] = entry->ended;
  tell();
}

// ---- by code ----

Task<Result<PendingJoin>> JoinHost::Impl::approve(JoinApproval approval) {
  const auto self = shared_from_this();
  if (const PendingPtr known = find(approval.node_id)) {
    if (known->view.state == PendingState::code_needed) co_return known->view;
    co_return Error{Errc::conflict, "this node is being added just now"};
  }
  SAMOVAR_CO_CHECK(check_limits(approval.node_id, approval.address));
  const PendingPtr entry = open(approval.node_id, approval.address, std::move(approval.call));
  entry->ca_key.emplace(std::move(approval.ca_key));
  tell();
  auto reached = co_await reach(entry, JoinForm::code);
  if (gone) co_return Error{Errc::unavailable, "this member stops"};
  if (!reached) {
    end(entry, reached.error().message(), JoinRefusal::cancelled);
    co_return std::move(reached).error();
  }
  entry->view.state = PendingState::code_needed;
  entry->view.expires_at =
      loop.clock().wall() + std::chrono::duration_cast<std::chrono::microseconds>(limits.code_wait);
  const std::weak_ptr<Impl> weak = self;
  entry->timer = loop.after(limits.code_wait, [weak, entry] {
    const auto host = weak.lock();
    if (host && !host->gone && entry->view.state == PendingState::code_needed)
      host->end(entry, "nobody typed the code within ten minutes: add the node again",
                JoinRefusal::cancelled);
  });
  spawn(watch(entry));
  tell();
  co_return entry->view;
}

ConfirmResult JoinHost::Impl::wrong_code(const PendingPtr& entry) {
  wrong_codes.push_back(mono());
  --entry->view.tries_left;
  ConfirmResult result{ConfirmResult::Kind::wrong_code, {}, entry->view.tries_left, {}};
  SAMOVAR_LOG(warn, main, "a wrong code was typed for a node", kv("node", entry->view.node_id),
              kv("tries_left", entry->view.tries_left));
  const bool closed = wrong_codes.size() >= limits.wrong_codes_max;
  if (entry->view.tries_left > 0 && !closed) {
    tell();
    return result;
  }
  result.kind = ConfirmResult::Kind::over;
  if (entry->view.tries_left == 0) {
    barred[entry->view.node_id] = mono() + limits.bar;
    end(entry,
        "three wrong codes were typed: the node can be added again in " + minutes_text(limits.bar) +
            ". If the code on its console is another one than you were told, somebody may sit between the "
            "two",
        JoinRefusal::cancelled);
  }
  result.reason = entry->ended;
  if (closed) {
    const std::vector<PendingPtr> all = pending;
    for (const PendingPtr& other : all)
      end(other, "too many wrong codes were typed within an hour", JoinRefusal::cancelled);
    if (result.reason.empty()) result.reason = entry->ended;
  }
  return result;
}

Task<ConfirmResult> JoinHost::Impl::confirm(std::string node_id, std::string code) {
  const auto self = shared_from_this();
  forget_old();
  ConfirmResult result;
  const PendingPtr entry = find(node_id);
  if (!entry) {
    const auto why = last_words.find(node_id);
    result.reason = why != last_words.end() ? why->second : "this node is not being added: begin anew";
    co_return result;
  }
  if (entry->view.state != PendingState::code_needed) {
    result.reason = "this node is being added just now";
    co_return result;
  }
  if (!entry->member->code_matches(code)) co_return wrong_code(entry);
  entry->view.state = PendingState::finishing;
  loop.cancel(entry->timer);
  tell();
  auto joined = co_await finish(entry);
  if (gone) co_return result;
  if (!joined) {
    end(entry, joined.error().message(), JoinRefusal::cancelled);
    result.reason = joined.error().message();
    co_return result;
  }
  std::erase(pending, entry);
  last_words[node_id] = "this node is a member now";
  tell();
  result.kind = ConfirmResult::Kind::joined;
  result.node = *std::move(joined);
  co_return result;
}

// ---- by words ----

Task<Result<cluster::NodeRecord>> JoinHost::Impl::offer(std::string node_id, std::string address) {
  const auto self = shared_from_this();
  forget_old();
  if (!invited) co_return Error{Errc::conflict, "no invitation by words is open"};
  const bool room = invited->tried.contains(address) || invited->tried.size() < kTriedMax;
  if (invited->offering || !room || invited->tried[address] >= kOffersPerAddress || find(node_id))
    co_return Error{Errc::conflict, "this node was tried already, or another one is being tried"};
  SAMOVAR_CO_CHECK(check_limits(node_id, address));
  const std::uint64_t number = invited->number;
  ++invited->tried[address];
  invited->offering = true;
  const PendingPtr entry = open(std::move(node_id), std::move(address), invited->call);
  auto done = co_await reach(entry, JoinForm::words);
  if (done && !gone) done = co_await prove_words(entry, number);
  if (gone) co_return Error{Errc::unavailable, "this member stops"};
  if (invited && invited->number == number) {
    invited->offering = false;
    if (!done && done.error().code() == Errc::denied) invited->tried[entry->view.address] = kNeverAgain;
  }
  if (!done) {
    end(entry, done.error().message(), JoinRefusal::cancelled);
    co_return std::move(done).error();
  }
  entry->view.state = PendingState::finishing;
  auto joined = co_await finish(entry);
  if (gone) co_return Error{Errc::unavailable, "this member stops"};
  if (!joined) {
    end(entry, joined.error().message(), JoinRefusal::cancelled);
    co_return std::move(joined).error();
  }
  std::erase(pending, entry);
  tell();
  co_return joined;
}

// Takes the invitation's key with it: single use begins with the right words.
Task<Result<void>> JoinHost::Impl::prove_words(PendingPtr entry, std::uint64_t invitation) {
  SAMOVAR_CO_TRY(const Bytes proof, co_await expect(entry, security::JoinKind::words, limits.step));
  forget_old();
  if (!invited || invited->number != invitation)
    co_return Error{Errc::conflict, "the invitation is over: make a new one"};
  if (!entry->member->words_proof_matches(invited->words_key, proof)) {
    ignore(entry->line->send(security::encode_refusal({JoinRefusal::wrong_words, 0})),
           "the node times out by itself");
    if (++invited->failures >= limits.words_failures_max) {
      SAMOVAR_LOG(warn, main, "an invitation by words ended after too many wrong answers");
      invited.reset();
    }
    co_return Error{Errc::denied, "the words typed at the node are not those of this invitation"};
  }
  Bytes answer = entry->member->words_proof(invited->words_key);
  entry->ca_key.emplace(std::move(invited->ca_key));
  invited.reset();
  co_return entry->line->send(std::move(answer));
}

// ---- from outside ----

JoinHost::JoinHost(Loop& loop, JoinHostHooks hooks, JoinHostLimits limits)
    : impl_(std::make_shared<Impl>(loop, std::move(hooks), limits)) {}

JoinHost::~JoinHost() {
  const std::vector<Impl::PendingPtr> all = impl_->pending;
  impl_->gone = true;
  for (const auto& entry : all) impl_->end(entry, "this member stops", JoinRefusal::cancelled);
  for (const auto& entry : impl_->bringing)
    if (entry->line) entry->line->close();
}

Task<Result<PendingJoin>> JoinHost::approve(JoinApproval approval) {
  return impl_->approve(std::move(approval));
}

Task<ConfirmResult> JoinHost::confirm(std::string node_id, std::string code) {
  return impl_->confirm(std::move(node_id), std::move(code));
}

bool JoinHost::cancel(const std::string& node_id) {
  const auto entry = impl_->find(node_id);
  // What is being committed cannot be called back.
  if (!entry || entry->view.state == PendingState::finishing) return false;
  impl_->end(entry, "cancelled", JoinRefusal::cancelled);
  return true;
}

std::vector<PendingJoin> JoinHost::pending() const {
  std::vector<PendingJoin> out;
  for (const auto& entry : impl_->pending) out.push_back(entry->view);
  return out;
}

std::optional<PendingJoin> JoinHost::find(const std::string& node_id) const {
  const auto entry = impl_->find(node_id);
  return entry ? std::optional(entry->view) : std::nullopt;
}

void JoinHost::invite(JoinInvitation invitation) {
  const MonoTime until = impl_->mono() + invitation.window;
  const WallTime until_wall =
      impl_->loop.clock().wall() + std::chrono::duration_cast<std::chrono::microseconds>(invitation.window);
  Impl::Invited invited{std::move(invitation.words_key),
                        std::move(invitation.call),
                        std::move(invitation.ca_key),
                        until,
                        until_wall,
                        0,
                        false,
                        {},
                        ++impl_->invitations};
  impl_->invited.emplace(std::move(invited));
}

void JoinHost::revoke_invitation() { impl_->invited.reset(); }

std::optional<WallTime> JoinHost::invited_until() const {
  impl_->forget_old();
  return impl_->invited ? std::optional(impl_->invited->until_wall) : std::nullopt;
}

Task<Result<cluster::NodeRecord>> JoinHost::offer(std::string node_id, std::string address) {
  return impl_->offer(std::move(node_id), std::move(address));
}

}  // namespace samovar::daemon
