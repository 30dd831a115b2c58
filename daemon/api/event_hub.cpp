#include "daemon/api/event_hub.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/encoding.hpp"

namespace samovar::api {
namespace {

std::string random_boot(Rng& rng) {
  Bytes bytes(5);
  rng.fill(bytes);
  return base32_encode(bytes);
}

bool hears(const Subscription& subscription, const Audience& audience) {
  if (audience.all || subscription.admin || (audience.auditors && subscription.audit)) return true;
  return !subscription.user_id.empty() && std::find(audience.users.begin(), audience.users.end(),
                                                    subscription.user_id) != audience.users.end();
}

bool wants(const Subscription& subscription, std::string_view event, const Audience& audience = {}) {
  if (!hears(subscription, audience)) return false;
  if (event.substr(0, 6) == "audit." && !subscription.audit) return false;
  if (subscription.topics.empty()) return true;
  return std::any_of(subscription.topics.begin(), subscription.topics.end(), [&](const std::string& topic) {
    return event == topic || (event.size() > topic.size() && event.substr(0, topic.size()) == topic &&
                              event[topic.size()] == '.');
  });
}

std::string event_text(std::string_view id, std::string_view event, std::string_view data) {
  if (id.empty()) return fmt::format("event: {}\ndata: {}\n\n", event, data);
  return fmt::format("id: {}\nevent: {}\ndata: {}\n\n", id, event, data);
}

}  // namespace

struct EventHub::Stream {
  std::shared_ptr<EventSink> sink;
  Subscription subscription;
  bool warned = false;  // session.expiring was sent
  bool open = true;
};

EventHub::EventHub(Loop& loop, Rng& rng) : loop_(loop), boot_(random_boot(rng)) {}

EventHub::~EventHub() {
  *alive_ = false;
  if (timer_ != 0) loop_.cancel(timer_);
}

std::string EventHub::last_id() const { return fmt::format("{}-{}", boot_, seq_); }

void EventHub::subscribe(std::shared_ptr<EventSink> sink, Subscription subscription) {
  auto stream = std::make_shared<Stream>();
  stream->sink = std::move(sink);
  stream->subscription = std::move(subscription);
  streams_.push_back(stream);
  std::weak_ptr<Stream> weak = stream;
  stream->sink->on_closed([this, weak, alive = alive_] {
    if (!*alive) return;
    if (const auto closed = weak.lock()) end(closed, false);
  });
  stream->sink->send("retry: 2000\n\n");
  const std::string hello = event_text(last_id(), "hello", stream->subscription.hello());
  if (!stream->sink->send(hello)) return end(stream, false);
  if (!stream->subscription.last_event_id.empty()) replay(*stream, stream->subscription.last_event_id);
  arm();
}

void EventHub::replay(Stream& stream, std::string_view last_event_id) {
  const auto dash = last_event_id.rfind('-');
  std::uint64_t seen = 0;
  bool known = dash != std::string_view::npos && last_event_id.substr(0, dash) == boot_;
  if (known) {
    const std::string_view digits = last_event_id.substr(dash + 1);
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seen);
    known = error == std::errc{} && stop == digits.data() + digits.size() && seen <= seq_;
  }
  const std::uint64_t oldest = ring_.empty() ? seq_ + 1 : ring_.front().seq;
  if (!known || seen + 1 < oldest) {
    stream.sink->send(event_text(last_id(), "reset", "{}"));
    return;
  }
  for (const Change& change : ring_)
    if (change.seq > seen && wants(stream.subscription, change.event, change.audience))
      stream.sink->send(change.text);
}

void EventHub::publish_change(std::string_view event, std::string_view data, const Audience& audience) {
  ++seq_;
  ring_.push_back({seq_, std::string(event), event_text(last_id(), event, data), audience});
  if (ring_.size() > kRingMax) ring_.pop_front();
  const std::string text = ring_.back().text;
  const auto listeners = streams_;  // a send may end a stream
  for (const auto& stream : listeners)
    if (stream->open && wants(stream->subscription, event, audience) && !stream->sink->send(text))
      end(stream, false);
}

void EventHub::publish_sample(std::string_view event, std::string_view key, std::string_view data,
                              const Audience& audience) {
  constexpr auto kApart = std::chrono::milliseconds(450);  // 2 Hz, with room for a timer that is early
  const MonoTime now = loop_.clock().mono();
  const std::string name = fmt::format("{} {}", event, key);
  const auto last = sampled_.find(name);
  if (last != sampled_.end() && now - last->second < kApart) return;
  sampled_[name] = now;
  const std::string text = event_text({}, event, data);
  const auto listeners = streams_;
  for (const auto& stream : listeners)
    if (stream->open && wants(stream->subscription, event, audience)) stream->sink->send(text);
}

void EventHub::recheck() {
  const auto listeners = streams_;
  for (const auto& stream : listeners) {
    if (!stream->open || !stream->subscription.remaining) continue;
    const auto remaining = stream->subscription.remaining();
    if (remaining < std::chrono::seconds::zero()) {
      end(stream, true);
    } else if (remaining > kExpiringSoon) {
      stream->warned = false;
    } else if (!stream->warned && wants(stream->subscription, "session.expiring")) {
      stream->warned = stream->sink->send(
          event_text({}, "session.expiring", fmt::format("{{\"in_s\":{}}}", remaining.count())));
    }
  }
}

void EventHub::end(const std::shared_ptr<Stream>& stream, bool bye) {
  if (!stream->open) return;
  stream->open = false;
  if (bye) stream->sink->send(event_text({}, "bye", "{}"));
  streams_.erase(std::remove(streams_.begin(), streams_.end(), stream), streams_.end());
  stream->sink->close();
}

void EventHub::close_all() {
  const auto listeners = streams_;
  for (const auto& stream : listeners) end(stream, false);
}

void EventHub::arm() {
  if (timer_ != 0 || streams_.empty()) return;
  timer_ = loop_.after(kPing, [this] {
    timer_ = 0;
    tick();
  });
}

void EventHub::tick() {
  const auto listeners = streams_;
  for (const auto& stream : listeners)
    if (stream->open) stream->sink->send(": ping\n\n");
  if (++ticks_ % 4 == 0) recheck();
  arm();
}

}  // namespace samovar::api
