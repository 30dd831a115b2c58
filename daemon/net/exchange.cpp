#include "daemon/net/exchange.hpp"

#include <array>
#include <vector>

#include "base/log.hpp"
#include "base/metrics.hpp"
#include "base/rng.hpp"
#include "daemon/net/envelope.hpp"

namespace samovar::net {
namespace {

constexpr std::size_t kTopics = 256;

std::string_view topic_name(std::uint8_t topic) {
  static constexpr std::array<std::string_view, 10> kNames = {
      "other",      "raft",       "propose",    "node_report", "blob_read",
      "blob_fetch", "blob_check", "link_probe", "farewell",    "job"};
  return topic < kNames.size() ? kNames[topic] : kNames[0];
}

// What a question costs its asker, from the call to the answer.
metrics::Histogram& round_trips(std::uint8_t topic) {
  return metrics::histogram("samovar_link_ask_seconds", "Questions to other nodes, until their answer.",
                            {{"topic", std::string(topic_name(topic))}});
}

}  // namespace

struct Exchange::Impl : std::enable_shared_from_this<Exchange::Impl> {
  struct Open {
    std::string peer;
    Lane lane = Lane::control;
    std::uint8_t topic = 0;
    MonoTime asked{};
    Loop::Id timer = 0;
    std::function<void(Result<Bytes>)> done;
  };

  Impl(Loop& on, Transport& over, ExchangeOptions with)
      : loop(on),
        transport(over),
        options(with),
        next_request(with.first_request != 0 ? with.first_request : system_rng().next()) {}

  Result<void> send(const std::string& to, Bytes message, Lane lane);
  void receive(const std::string& from, Bytes message);
  void answered(const std::string& from, const Envelope& envelope, Result<Bytes> result);
  void finish(std::uint64_t request, Result<Bytes> result);
  void lost(const std::string& peer, const Lane* lane);
  Result<std::uint64_t> new_request(const std::string& to);
  static Task<void> serve(std::shared_ptr<Impl> self, std::string from, Envelope envelope, Bytes body);
  static Task<Result<Bytes>> ask(std::shared_ptr<Impl> self, std::string to, std::uint8_t topic, Bytes body,
                                 AskOptions options);

  Loop& loop;
  Transport& transport;
  const ExchangeOptions options;
  bool closed = false;
  std::uint64_t next_request;
  std::map<std::uint64_t, Open> open;
  std::map<std::string, std::size_t> open_of;
  std::map<std::string, std::size_t> served_of;
  std::array<OnTell, kTopics> tells;
  std::array<OnAsk, kTopics> asks;
};

Result<void> Exchange::Impl::send(const std::string& to, Bytes message, Lane lane) {
  if (closed) return Error{Errc::unavailable, "this node is stopping"};
  if (to != transport.self()) return transport.send(to, std::move(message), lane);
  loop.post([weak = weak_from_this(), to, message = std::move(message)]() mutable {
    if (const auto self = weak.lock()) self->receive(to, std::move(message));
  });
  return {};
}

void Exchange::Impl::receive(const std::string& from, Bytes message) {
  if (closed) return;
  const auto envelope = take_envelope(message);
  if (!envelope) {
    SAMOVAR_LOG(warn, net, "a message is not understood", kv("from", from),
                kv("why", envelope.error().message()));
    return;
  }
  switch (envelope->kind) {
    case EnvelopeKind::tell: {
      const OnTell handler = tells[envelope->topic];  // a copy: it may replace itself
      if (handler) handler(from, std::move(message));
      return;
    }
    case EnvelopeKind::ask:
      spawn(serve(shared_from_this(), from, *envelope, std::move(message)));
      return;
    case EnvelopeKind::answer:
      answered(from, *envelope, std::move(message));
      return;
    case EnvelopeKind::error:
      answered(from, *envelope, decode_error(message));
      return;
  }
}

Task<void> Exchange::Impl::serve(std::shared_ptr<Impl> self, std::string from, Envelope envelope,
                                 Bytes body) {
  Result<Bytes> result =
      Error{Errc::unsupported, "this node does not know this question: its version differs"};
  const OnAsk handler = self->asks[envelope.topic];
  if (handler) {
    if (self->served_of[from] >= self->options.served_per_peer_max) {
      result = Error{Errc::busy, "this node works on too many questions already"};
    } else {
      ++self->served_of[from];
      Task<Result<Bytes>> work = handler(from, std::move(body));
      result = co_await std::move(work);
      if (--self->served_of[from] == 0) self->served_of.erase(from);
    }
  }
  if (self->closed) co_return;
  if (result) {
    envelope.kind = EnvelopeKind::answer;
    Bytes answer = *std::move(result);
    append_envelope(answer, envelope);
    auto sent = self->send(from, std::move(answer), envelope.lane);
    if (sent) co_return;
    result = std::move(sent).error();
  }
  envelope.kind = EnvelopeKind::error;
  Bytes refusal = encode_error(result.error());
  append_envelope(refusal, envelope);
  // On the control lane: the bulk lane may be what is full.
  ignore(self->send(from, std::move(refusal), Lane::control), "the asker's deadline tells it");
}

void Exchange::Impl::answered(const std::string& from, const Envelope& envelope, Result<Bytes> result) {
  const auto found = open.find(envelope.request);
  // Late, doubled, or somebody else's: nobody waits for it.
  if (found == open.end() || found->second.peer != from) return;
  round_trips(found->second.topic)
      .observe(std::chrono::duration<double>(loop.clock().mono() - found->second.asked).count());
  finish(envelope.request, std::move(result));
}

void Exchange::Impl::finish(std::uint64_t request, Result<Bytes> result) {
  const auto node = open.extract(request);
  if (node.empty()) return;
  Open& question = node.mapped();
  loop.cancel(question.timer);
  const auto count = open_of.find(question.peer);
  if (count != open_of.end() && --count->second == 0) open_of.erase(count);
  question.done(std::move(result));
}

void Exchange::Impl::lost(const std::string& peer, const Lane* lane) {
  if (!open_of.contains(peer)) return;
  std::vector<std::uint64_t> gone;
  for (const auto& [request, question] : open) {
    if (question.peer == peer && (lane == nullptr || question.lane == *lane)) gone.push_back(request);
  }
  for (const std::uint64_t request : gone) {
    finish(request, Error{Errc::unavailable, "the connection to node " + peer +
                                                 " was cut; whether it did what it was asked is unknown"});
  }
}

Result<std::uint64_t> Exchange::Impl::new_request(const std::string& to) {
  if (open.size() >= options.open_max) return Error{Errc::busy, "too many questions to other nodes are open"};
  const auto count = open_of.find(to);
  if (count != open_of.end() && count->second >= options.open_per_peer_max)
    return Error{Errc::busy, "too many questions to node " + to + " are open"};
  do {
    ++next_request;
  } while (next_request == 0 || open.contains(next_request));
  return next_request;
}

Task<Result<Bytes>> Exchange::Impl::ask(std::shared_ptr<Impl> self, std::string to, std::uint8_t topic,
                                        Bytes body, AskOptions how) {
  if (self->closed) co_return Error{Errc::unavailable, "this node is stopping"};
  SAMOVAR_CO_TRY(const std::uint64_t request, self->new_request(to));
  append_envelope(body, {EnvelopeKind::ask, topic, how.lane, request});
  SAMOVAR_CO_CHECK(self->send(to, std::move(body), how.lane));
  // Nothing can answer before we wait: answers come through the loop.
  std::function<void(std::function<void(Result<Bytes>)>)> wait =
      [&](std::function<void(Result<Bytes>)> done) {
        Open question{to, how.lane, topic, self->loop.clock().mono(), 0, std::move(done)};
        question.timer = self->loop.after(how.deadline, [weak = std::weak_ptr<Impl>(self), request, to] {
          if (const auto still = weak.lock())
            still->finish(request, Error{Errc::timeout, "node " + to + " did not answer in time"});
        });
        ++self->open_of[to];
        self->open.emplace(request, std::move(question));
      };
  Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(wait));
  co_return result;
}

Exchange::Exchange(Loop& loop, Transport& transport, ExchangeOptions options)
    : impl_(std::make_shared<Impl>(loop, transport, options)) {
  transport.on_message([weak = std::weak_ptr<Impl>(impl_)](const std::string& from, Bytes message) {
    if (const auto impl = weak.lock()) impl->receive(from, std::move(message));
  });
  transport.on_lost([weak = std::weak_ptr<Impl>(impl_)](const std::string& peer, Lane lane) {
    if (const auto impl = weak.lock()) impl->lost(peer, &lane);
  });
}

Exchange::~Exchange() {
  impl_->closed = true;
  impl_->transport.on_message({});
  impl_->transport.on_lost({});
  impl_->tells.fill({});
  impl_->asks.fill({});
  while (!impl_->open.empty())
    impl_->finish(impl_->open.begin()->first, Error{Errc::unavailable, "this node is stopping"});
}

const std::string& Exchange::self() const { return impl_->transport.self(); }

Result<void> Exchange::tell(const std::string& to, Topic topic, Bytes body, Lane lane) {
  append_envelope(body, {EnvelopeKind::tell, static_cast<std::uint8_t>(topic), lane, 0});
  return impl_->send(to, std::move(body), lane);
}

Task<Result<Bytes>> Exchange::ask(std::string to, Topic topic, Bytes body, AskOptions options) {
  return Impl::ask(impl_, std::move(to), static_cast<std::uint8_t>(topic), std::move(body), options);
}

void Exchange::on_tell(Topic topic, OnTell handler) {
  impl_->tells[static_cast<std::uint8_t>(topic)] = std::move(handler);
}
void Exchange::on_ask(Topic topic, OnAsk handler) {
  impl_->asks[static_cast<std::uint8_t>(topic)] = std::move(handler);
}
void Exchange::lost(const std::string& peer) { impl_->lost(peer, nullptr); }
std::size_t Exchange::open_questions() const { return impl_->open.size(); }

}  // namespace samovar::net
