// The messages of JoinHost: dialling until J3, and from the right code to J7.
#include <utility>

#include "base/log.hpp"
#include "daemon/join_host_impl.hpp"

namespace samovar::daemon {
namespace {

using security::JoinKind;

cluster::NodeRecord record_of(const security::JoinCandidate& candidate, const std::string& address) {
  cluster::NodeRecord record;
  record.id = candidate.node_id;
  record.name = candidate.facts.hostname.empty() ? security::short_node_id(candidate.node_id)
                                                 : candidate.facts.hostname;
  record.addresses.push_back(address);  // the one that works from here comes first
  for (const std::string& other : candidate.facts.addresses)
    if (other != address) record.addresses.push_back(other);
  record.sign_public = to_bytes(ByteView(candidate.sign_public));
  record.box_public = to_bytes(ByteView(candidate.box_public));
  record.disk_bytes = candidate.facts.disk_bytes;
  record.hostname = candidate.facts.hostname;
  record.model = candidate.facts.model;
  record.version = candidate.facts.version;
  record.arch = candidate.facts.arch;
  return record;
}

Error gone_error() { return Error{Errc::unavailable, "this member stops"}; }

}  // namespace

// Until the first message after J3, or the end of the line.
Task<void> JoinHost::Impl::watch(PendingPtr entry) {
  const auto self = shared_from_this();
  entry->watched = true;
  auto message = co_await entry->line->receive(limits.code_wait + limits.step);
  entry->watched = false;
  if (entry->waiter) {
    std::exchange(entry->waiter, nullptr)(std::move(message));
  } else if (!gone && entry->view.state == PendingState::code_needed) {
    const bool refused = message && security::join_kind(*message) == JoinKind::refusal;
    end(entry,
        refused ? "the node ended it: add it again"
                : "the connection to the node was lost: look whether it is still on, and add it again",
        security::JoinRefusal::cancelled);
  }
}

Task<Result<Bytes>> JoinHost::Impl::next_message(PendingPtr entry, Duration deadline) {
  if (!entry->watched) co_return co_await entry->line->receive(deadline);
  auto start = [this, entry, deadline](std::function<void(Result<Bytes>)> done) {
    entry->waiter = std::move(done);
    entry->timer = loop.after(deadline, [entry] {
      if (entry->waiter) std::exchange(entry->waiter, nullptr)(Error{Errc::timeout, "no message in time"});
    });
  };
  auto message = co_await from_callback<Result<Bytes>>(std::move(start));
  loop.cancel(entry->timer);
  co_return message;
}

Task<Result<Bytes>> JoinHost::Impl::expect(PendingPtr entry, JoinKind kind, Duration deadline) {
  auto message = co_await next_message(entry, deadline);
  if (gone) co_return gone_error();
  if (!entry->ended.empty()) co_return Error{Errc::conflict, entry->ended};
  if (!message && message.error().code() == Errc::timeout)
    co_return Error{Errc::timeout,
                    "the node does not answer any more: look whether it is still on, and add it again"};
  if (!message)
    co_return Error{Errc::unavailable,
                    "the connection to the node was lost: look whether it is still on, and add it again"};
  const auto got = security::join_kind(*message);
  if (got == JoinKind::refusal) {
    const auto refusal = security::decode_refusal(*message);
    if (!refusal) co_return Error{Errc::denied, "the node refused"};
    const bool later = refusal->reason == security::JoinRefusal::busy ||
                       refusal->reason == security::JoinRefusal::code_shown ||
                       refusal->reason == security::JoinRefusal::too_many;
    const bool unknown = refusal->reason == security::JoinRefusal::unknown;
    co_return Error{later     ? Errc::busy
                    : unknown ? Errc::not_found
                              : Errc::denied,
                    security::describe(*refusal)};
  }
  if (got != kind)
    co_return Error{Errc::invalid, "what answers at this address does not join as a node does"};
  co_return message;
}

// The door takes one line at a time, and the question "who is there?" may just have ended.
Task<Result<std::unique_ptr<net::JoinLine>>> JoinHost::Impl::dial_patiently(std::string address) {
  for (unsigned i = 1;; ++i) {
    auto line = co_await hooks.dial(address, limits.dial);
    const bool ended_at_once = !line && line.error().code() == Errc::unavailable &&
                               line.error().message().find("refused") == std::string::npos;
    if (!ended_at_once || gone) co_return line;
    if (i >= limits.dials)
      co_return Error{Errc::busy,
                      address +
                          " takes the call and ends it at once: the node talks to another member, or shows "
                          "the code of an earlier attempt. Look at its screen, and try again"};
    co_await pause(limits.dial_pause);
    if (gone) co_return gone_error();
  }
}

Task<Result<void>> JoinHost::Impl::reach(PendingPtr entry, security::JoinForm form) {
  auto line = co_await dial_patiently(entry->view.address);
  if (gone) co_return gone_error();
  if (!line) co_return std::move(line).error();
  entry->line = *std::move(line);
  if (!entry->ended.empty()) co_return Error{Errc::conflict, entry->ended};
  entry->cluster = hooks.cluster();
  entry->cluster.form = form;
  entry->view.cluster_name = entry->cluster.cluster_name;
  SAMOVAR_CO_TRY(auto member, security::JoinMember::begin(entry->cluster));
  entry->member.emplace(std::move(member));
  SAMOVAR_CO_CHECK(entry->line->send(entry->member->j1()));
  auto j2 = co_await expect(entry, JoinKind::j2, limits.step);
  if (!j2 && j2.error().code() == Errc::unavailable)
    co_return Error{Errc::unavailable,
                    "what answers at " + entry->view.address +
                        " ended the call: a member of a cluster, which does not talk to strangers, "
                        "or a node that was just switched off"};
  if (!j2) co_return std::move(j2).error();
  SAMOVAR_CO_TRY(entry->candidate, entry->member->take_j2(*j2));
  const std::string& node_id = entry->candidate.node_id;
  if (!entry->view.node_id.empty() && entry->view.node_id != node_id)
    co_return Error{Errc::denied, "another node answers at " + entry->view.address + ": " +
                                      security::short_node_id(node_id) + " instead of " +
                                      security::short_node_id(entry->view.node_id)};
  SAMOVAR_CO_CHECK(check_barred(node_id));
  SAMOVAR_CO_CHECK(hooks.may_join(entry->candidate));
  entry->view.node_id = node_id;
  entry->view.facts = entry->candidate.facts;
  entry->view.clock_skew_us =
      entry->candidate.facts.clock_us - loop.clock().wall().time_since_epoch().count();
  co_return entry->line->send(entry->member->j3());
}

Result<security::JoinGrant> JoinHost::Impl::make_grant(Pending& entry) const {
  SAMOVAR_TRY(security::JoinGrant grant, hooks.grant(entry.candidate));
  SAMOVAR_TRY(grant.certificate,
              security::issue_node_certificate(entry.cluster.ca, *entry.ca_key,
                                               entry.candidate.tls_public_key, entry.candidate.node_id));
  grant.ca = entry.cluster.ca;
  grant.cluster_id = entry.cluster.cluster_id;
  entry.ca_key.reset();  // used once, gone at once
  return grant;
}

// The order is the point: see join_host.hpp.
Task<Result<cluster::NodeRecord>> JoinHost::Impl::finish(PendingPtr entry) {
  SAMOVAR_CO_TRY(const security::JoinGrant grant, make_grant(*entry));
  SAMOVAR_CO_TRY(Bytes j4, entry->member->j4(grant));
  SAMOVAR_CO_CHECK(entry->line->send(std::move(j4)));
  SAMOVAR_CO_TRY(const Bytes j5, co_await expect(entry, JoinKind::j5, limits.step));
  SAMOVAR_CO_CHECK(entry->member->take_j5(j5));
  SAMOVAR_CO_TRY(Bytes j6, entry->member->j6(grant));  // before the commit: nothing may fail after it

  cluster::NodeRecord wanted = record_of(entry->candidate, entry->view.address);
  cluster::Call call = entry->call;
  auto admitted = co_await hooks.admit(std::move(call), std::move(wanted));
  if (gone) co_return gone_error();
  if (!admitted) {
    ignore(entry->line->send(security::encode_refusal({security::JoinRefusal::not_admitted, 0})),
           "the node forgets its grant by itself after ten minutes");
    co_return std::move(admitted).error();
  }
  SAMOVAR_LOG(info, main, "a node was added", kv("node", entry->candidate.node_id),
              kv("address", entry->view.address));
  const auto brought = co_await bring(entry, j6);
  if (!brought && !gone) spawn(bring_again(entry, std::move(j6)));
  co_return admitted;
}

Task<Result<void>> JoinHost::Impl::bring(PendingPtr entry, Bytes j6) {
  SAMOVAR_CO_CHECK(entry->line->send(std::move(j6)));
  SAMOVAR_CO_TRY(const Bytes j7, co_await expect(entry, JoinKind::j7, limits.keep));
  co_return entry->member->take_j7(j7);
}

// The cluster counts on the node from now on: it must hear of it, be it over another line.
Task<void> JoinHost::Impl::bring_again(PendingPtr entry, Bytes j6) {
  const auto self = shared_from_this();
  const std::string node_id = entry->candidate.node_id;
  bringing.push_back(entry);
  const bool heard = co_await bring_until_heard(entry, std::move(j6));
  std::erase(bringing, entry);
  if (heard || gone) co_return;
  SAMOVAR_LOG(warn, main, "a new member did not confirm that it was added; add it again if it stays away",
              kv("node", node_id));
}

Task<bool> JoinHost::Impl::bring_until_heard(PendingPtr entry, Bytes j6) {
  for (unsigned i = 0; i < limits.redelivery_max; ++i) {
    entry->line.reset();
    co_await pause(limits.redelivery_pause);
    if (gone || (hooks.seen && hooks.seen(entry->candidate.node_id))) co_return true;
    auto line = co_await hooks.dial(entry->view.address, limits.dial);
    if (gone) co_return false;
    if (!line) continue;
    entry->line = *std::move(line);
    const auto brought = co_await bring(entry, j6);
    if (gone || brought) co_return brought.has_value();
    if (brought.error().code() == Errc::not_found) co_return false;  // it was restarted meanwhile
  }
  co_return false;
}

Task<void> JoinHost::Impl::pause(Duration span) {
  auto start = [this, span](std::function<void(bool)> done) { loop.after(span, [done] { done(true); }); };
  co_await from_callback<bool>(std::move(start));
}

}  // namespace samovar::daemon
