// The clock of the mesh: signs of life, rates over ten seconds, and what the loop is told of the links.
#include <algorithm>

#include "base/log.hpp"
#include "daemon/net/engine.hpp"

namespace samovar::net {

using boost::system::error_code;

namespace {

constexpr Duration kTick = std::chrono::milliseconds(500);  // and as often as patience is short
constexpr Duration kRateSpan = std::chrono::seconds(10);
constexpr Duration kBulkIdle = std::chrono::seconds(60);
constexpr Duration kSettled = std::chrono::seconds(1);

}  // namespace

void Engine::tick() {
  if (stopped_) return;
  const MonoTime now = real_clock().mono();
  for (const auto& [id, link] : links_) {
    tick_lane(link->control, now);
    tick_lane(link->bulk, now);
    sample(*link, now);
    publish(*link, false);
  }
  ticker_.expires_after(std::min<Duration>(kTick, options_.silence_max / 13));
  ticker_.async_wait([this](const error_code& cancelled) {
    if (!cancelled) tick();
  });
}

void Engine::tick_lane(LaneState& lane, MonoTime now) {
  for (const ConnectionPtr& live : lane.live) live->tick(now);
  const Connection* keeper = preferred(lane);
  if (keeper == nullptr) return;
  for (const ConnectionPtr& live : lane.live) {
    // Whoever made it ends it: the other end may not know yet which one is meant to stay. The other end waits
    // much longer, for a caller that is gone without a word.
    const int patience = live->dialled() ? 1 : 10;
    const bool surplus = live.get() != keeper && now - keeper->opened_at() >= kSettled * patience &&
                         now - live->opened_at() >= kSettled * patience;
    const bool idle = live->lane() == Lane::bulk && now - live->used_at() >= kBulkIdle * patience;
    if (surplus || idle) live->retire();
  }
}

void Engine::sample(Link& link, MonoTime now) {
  LinkRates& rates = link.state.rates;
  if (!link.samples.empty() && now - link.samples.back().at < kTick / 2) return;
  link.samples.push_back({now, rates.sent_bytes, rates.received_bytes});
  // One sample from before the span stays, so that the whole span is covered.
  while (link.samples.size() > 2 && now - link.samples[1].at >= kRateSpan) link.samples.pop_front();
  const Sample& first = link.samples.front();
  const double seconds = std::chrono::duration<double>(now - first.at).count();
  if (seconds <= 0) return;
  rates.send_bytes_per_second = static_cast<double>(rates.sent_bytes - first.sent) / seconds;
  rates.receive_bytes_per_second = static_cast<double>(rates.received_bytes - first.received) / seconds;
}

void Engine::publish(Link& link, bool news) {
  const Connection* control = preferred(link.control);
  link.state.address = link.state.up && control != nullptr ? control->remote() : "";
  for (const LaneState* lane : {&link.control, &link.bulk}) {
    for (const ConnectionPtr& live : lane->live)
      link.state.heard = std::max(link.state.heard.value_or(MonoTime{}), live->heard_at());
  }
  hub_.publish(link.state);
  if (!news) return;
  News told;
  told.kind = News::Kind::link;
  told.peer = link.id;
  told.link = link.state;
  hub_.to_loop(std::move(told));
}

void Engine::set_up(Link& link, bool up) {
  if (up) link.state.trouble.clear();
  const bool changed = link.state.up != up;
  if (changed || !link.state.since) link.state.since = real_clock().mono();
  link.state.up = up;
  link.up_gauge.set(up ? 1 : 0);
  if (changed && up) {
    SAMOVAR_LOG(info, net, "link up", kv("node", link.id), kv("address", link.working));
  } else if (changed) {
    SAMOVAR_LOG(info, net, "link down", kv("node", link.id), kv("why", link.state.trouble));
  }
  publish(link, changed);
}

}  // namespace samovar::net
