// Calling: when, where, and how long to wait after a failure; and what happens to what waits meanwhile.
#include <algorithm>
#include <boost/asio/post.hpp>

#include "base/log.hpp"
#include "base/rng.hpp"
#include "daemon/net/engine.hpp"

namespace samovar::net {

using boost::system::error_code;

namespace {

constexpr Duration kStagger = std::chrono::milliseconds(200);  // between the calls to a peer's addresses
constexpr Duration kCrossing = std::chrono::seconds(2);        // two calls within this crossed each other
constexpr Duration kHintPause = std::chrono::seconds(1);
constexpr std::size_t kHintsMax = 8;

// How much a failure tells: one address out of three may be stale, and its "no route" explains nothing.
int telling(const Error& error) {
  switch (error.code()) {
    case Errc::conflict:
      return 6;
    case Errc::denied:
      return 5;
    case Errc::unsupported:
      return 4;
    case Errc::unavailable:
      return 3;
    case Errc::timeout:
      return 2;
    default:
      return error.message().empty() ? 0 : 1;
  }
}

}  // namespace

void Engine::carry_out() {
  if (stopped_) return;
  Hub::Orders orders = hub_.take_orders();
  const std::size_t before = orders.members ? orders.members_at : orders.outgoing.size();
  queue_all(std::span(orders.outgoing).first(before));
  if (!orders.members) return;
  set_members(*std::move(orders.members));
  queue_all(std::span(orders.outgoing).subspan(before));
}

void Engine::queue_all(std::span<Outgoing> all) {
  std::vector<std::pair<LinkPtr, Lane>> touched;
  for (Outgoing& outgoing : all) {
    const LinkPtr link = find(outgoing.to);
    if (!link) continue;
    link->of(outgoing.lane).queue.push_back(std::move(outgoing.message));
    if (touched.empty() || touched.back() != std::pair(link, outgoing.lane))
      touched.emplace_back(link, outgoing.lane);
  }
  for (const auto& [link, lane] : touched) kick(link, lane);
}

void Engine::set_members(std::vector<Member> members) {
  std::map<std::string, LinkPtr> kept;
  std::vector<LinkPtr> fresh;
  for (Member& member : members) {
    const std::string id = member.peer.node_id;
    const auto found = links_.find(id);
    // Removed and taken back before we looked: what was under way counts as lost, and it begins anew.
    if (found == links_.end() || found->second->share != member.share) {
      fresh.push_back(kept[id] = std::make_shared<Link>(context_, std::move(member)));
      continue;
    }
    const LinkPtr link = kept[id] = found->second;
    links_.erase(found);
    if (link->addresses == member.peer.addresses) continue;
    link->addresses = std::move(member.peer.addresses);
    retry_now(link);
  }
  const Error removed{Errc::denied, "not a member any more"};
  for (const auto& [id, link] : links_) {
    cut(link, removed);
    hub_.forget(id);
    SAMOVAR_LOG(info, net, "cut a node that is no member any more", kv("node", id));
  }
  links_ = std::move(kept);
  for (const LinkPtr& link : fresh) publish(*link, false);
}

void Engine::hint(const std::string& node_id, const std::string& address) {
  const LinkPtr link = find(node_id);
  if (!link) return;
  const std::vector<std::string> known = candidates(*link);
  const bool news = std::find(known.begin(), known.end(), address) == known.end();
  // Beacons come every few seconds, and from anybody: an address that was just tried can wait its turn.
  if (!news && real_clock().mono() - link->control.round_at < kHintPause) return;
  if (news) {
    link->hints.insert(link->hints.begin(), address);
    if (link->hints.size() > kHintsMax) link->hints.pop_back();
  }
  retry_now(link);
}

std::vector<std::string> Engine::candidates(const Link& link) const {
  std::vector<std::string> out;
  const auto add = [&](const std::string& address) {
    if (!address.empty() && std::find(out.begin(), out.end(), address) == out.end()) out.push_back(address);
  };
  add(link.working);
  for (const std::string& address : link.addresses) add(address);
  for (const std::string& address : link.hints) add(address);
  return out;
}

// Newest first, but of two that crossed the smaller id's: both ends come to the same choice.
bool Engine::better(const Connection& a, const Connection& b) const {
  const Duration apart = a.opened_at() - b.opened_at();
  if (a.dialled() != b.dialled() && std::max(apart, -apart) < kCrossing)
    return a.dialled() == (self_ < a.node_id());
  return apart > Duration::zero();
}

Connection* Engine::preferred(const LaneState& lane) const {
  Connection* best = nullptr;
  for (const ConnectionPtr& live : lane.live) {
    if (live->open() && (best == nullptr || better(*live, *best))) best = live.get();
  }
  return best;
}

void Engine::kick(const LinkPtr& link, Lane which) {
  LaneState& lane = link->of(which);
  if (Connection* connection = preferred(lane)) return connection->wake();
  if (link->share->of(which).down) {
    if (!lane.queue.empty()) drop_queue(link, which);
    return;
  }
  // Bulk goes where control goes: one link is up or down as a whole.
  if (which == Lane::bulk && preferred(link->control) == nullptr) return kick(link, Lane::control);
  lane.wanted = true;
  start_round(link, which);
}

void Engine::start_round(const LinkPtr& link, Lane which) {
  LaneState& lane = link->of(which);
  if (!lane.dialling.empty() || preferred(lane) != nullptr) return;
  lane.timer.cancel();
  lane.round_at = real_clock().mono();
  lane.candidates = candidates(*link);
  lane.next_candidate = 0;
  lane.worst = Error{Errc::io, "no address of node " + security::short_node_id(link->id) + " is known"};
  dial_next(link, which);
}

void Engine::dial_next(const LinkPtr& link, Lane which) {
  LaneState& lane = link->of(which);
  lane.timer.cancel();
  if (lane.next_candidate >= lane.candidates.size()) {
    if (lane.dialling.empty()) round_failed(link, which);
    return;
  }
  const std::string address = lane.candidates[lane.next_candidate++];
  const ConnectionPtr connection = make_connection();
  lane.dialling.push_back(connection);
  connection->dial(address, which, link->id, dial_options_);
  if (lane.next_candidate >= lane.candidates.size()) return;
  // A silent address costs the next one a moment, not the whole time limit.
  lane.timer.expires_after(kStagger);
  lane.timer.async_wait([this, which, weak = std::weak_ptr(link)](const error_code& cancelled) {
    const LinkPtr still = weak.lock();
    if (!cancelled && still) dial_next(still, which);
  });
}

void Engine::dial_failed(const LinkPtr& link, Lane which, const Error& why) {
  LaneState& lane = link->of(which);
  if (telling(why) > telling(lane.worst) || lane.worst.code() == Errc::io) lane.worst = why;
  if (preferred(lane) == nullptr) dial_next(link, which);
}

void Engine::round_failed(const LinkPtr& link, Lane which) {
  LaneState& lane = link->of(which);
  lane.backoff = std::clamp(lane.backoff * 2, options_.retry_min, options_.retry_max);
  link->share->of(which).down = true;
  if (which == Lane::control) link->share->of(Lane::bulk).down = true;
  const bool news = link->state.trouble != lane.worst.message();
  link->state.trouble = lane.worst.message();
  publish(*link, news);
  drop_queue(link, which);
  if (which == Lane::control) drop_queue(link, Lane::bulk);
  // Who says that we are a clone will not think otherwise in a tenth of a second.
  if (lane.worst.code() == Errc::conflict) lane.backoff = options_.retry_max;
  retry_in(link, which, lane.backoff / 2 + jitter(lane.backoff / 2));
}

void Engine::retry_in(const LinkPtr& link, Lane which, Duration delay) {
  LaneState& lane = link->of(which);
  lane.timer.expires_after(delay);
  lane.timer.async_wait([this, which, weak = std::weak_ptr(link)](const error_code& cancelled) {
    const LinkPtr still = weak.lock();
    if (cancelled || !still) return;
    if (which == Lane::control) return start_round(still, which);
    // Bulk is called again when somebody wants it.
    still->share->of(which).down = preferred(still->control) == nullptr;
    if (!still->bulk.queue.empty()) kick(still, which);
  });
}

void Engine::retry_now(const LinkPtr& link) {
  LaneState& lane = link->control;
  if (!lane.wanted || preferred(lane) != nullptr || !lane.dialling.empty()) {
    // The round under way learns of the new address, too.
    for (const std::string& address : candidates(*link)) {
      if (!lane.dialling.empty() &&
          std::find(lane.candidates.begin(), lane.candidates.end(), address) == lane.candidates.end())
        lane.candidates.push_back(address);
    }
    return;
  }
  lane.backoff = {};
  start_round(link, Lane::control);
}

// One that has greeted may be in use at the other end already: it comes to life, too, and is retired in
// peace.
void Engine::stop_dialling(LaneState& lane, bool greeting_too) {
  lane.timer.cancel();
  lane.next_candidate = lane.candidates.size();
  for (const ConnectionPtr& connection : std::exchange(lane.dialling, {})) {
    if (greeting_too || connection->state() <= Connection::State::handshake)
      connection->close(Error{Errc::unavailable, "not needed any more"});
    else
      lane.dialling.push_back(connection);
  }
}

void Engine::live_ended(const LinkPtr& link, Lane which, const ConnectionPtr& connection, const Error& why) {
  LaneState& lane = link->of(which);
  if (!connection->graceful()) {
    link->lost_counter.add();
    lost(link, which);
  }
  if (link->challenger && preferred(link->control) == nullptr && preferred(link->bulk) == nullptr)
    end_challenge(link, false);
  if (Connection* other = preferred(lane)) return other->wake();
  if (which == Lane::bulk) {
    if (!lane.queue.empty()) kick(link, which);
    return;
  }
  if (!connection->graceful()) link->state.trouble = why.message();
  set_up(*link, false);
  lane.wanted = true;
  if (!lane.dialling.empty()) return;
  // Both ends notice; a moment for the smaller id's call saves the larger one's.
  const bool denied = why.code() == Errc::denied || why.code() == Errc::conflict;
  if (denied) lane.backoff = options_.retry_max;
  retry_in(link, which,
           denied             ? options_.retry_max / 2 + jitter(options_.retry_max / 2)
           : self_ < link->id ? Duration::zero()
                              : options_.retry_min + jitter(options_.retry_min));
}

void Engine::drop_queue(const LinkPtr& link, Lane which) {
  LaneState& lane = link->of(which);
  for (const Bytes& message : lane.queue) link->share->of(which).queued -= queue_cost(message);
  const bool some = !lane.queue.empty();
  lane.queue.clear();
  if (some) lost(link, which);
}

void Engine::lost(const LinkPtr& link, Lane which) {
  News news;
  news.kind = News::Kind::lost;
  news.peer = link->id;
  news.lane = which;
  hub_.to_loop(std::move(news));
}

Duration Engine::jitter(Duration span) const {
  return span <= Duration::zero()
             ? Duration::zero()
             : Duration(system_rng().below(static_cast<std::uint64_t>(span.count()) + 1));
}

}  // namespace samovar::net
