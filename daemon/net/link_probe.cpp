#include "daemon/net/link_probe.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "daemon/net/envelope.hpp"
#include "security/wire.hpp"

namespace samovar::net {
namespace {

constexpr std::uint32_t kPieceBytes = 512 * 1024;
constexpr std::uint32_t kPieceBytesMax = 1u << 20;
constexpr unsigned kInFlight = 8;
constexpr int kRoundTrips = 5;

enum class Direction : std::uint8_t { take = 1, give = 2 };

Bytes question(Direction direction, std::uint32_t bytes) {
  Bytes body;
  body.reserve(5 + (direction == Direction::take ? bytes : 0) + kEnvelopeBytesMax);
  security::WireWriter to(body);
  to.number(static_cast<std::uint8_t>(direction));
  to.number(bytes);
  if (direction == Direction::take) body.resize(body.size() + bytes);
  return body;
}

Result<Bytes> answer(ByteView body) {
  security::WireReader from(body);
  const auto direction = from.number<std::uint8_t>();
  const auto bytes = from.number<std::uint32_t>();
  if (!from.ok() || bytes > kPieceBytesMax) return Error{Errc::invalid, "not a probe of a link"};
  if (direction == static_cast<std::uint8_t>(Direction::take)) return Bytes{};
  if (direction != static_cast<std::uint8_t>(Direction::give) || !from.at_end())
    return Error{Errc::invalid, "not a probe of a link"};
  Bytes out;
  out.reserve(bytes + kEnvelopeBytesMax);
  out.resize(bytes);
  return out;
}

// One direction: a few pieces are always on their way.
struct Run {
  Loop& loop;
  Exchange& exchange;
  std::string to;
  Direction direction;
  std::uint64_t bytes_left;
  MonoTime until;
  std::uint64_t bytes_done = 0;
  unsigned workers = kInFlight;
  std::optional<Error> failed;
  std::function<void(Result<void>)> done;
};

Task<void> work(std::shared_ptr<Run> run) {  // shared by the workers, the last one ends it
  while (run->bytes_left > 0 && !run->failed && run->loop.clock().mono() < run->until) {
    const auto piece = static_cast<std::uint32_t>(std::min<std::uint64_t>(run->bytes_left, kPieceBytes));
    run->bytes_left -= piece;
    Bytes body = question(run->direction, piece);
    AskOptions options;
    options.lane = Lane::bulk;
    options.deadline = std::chrono::seconds(10);
    auto asked = run->exchange.ask(run->to, Topic::link_probe, std::move(body), options);
    const Result<Bytes> result = co_await std::move(asked);
    if (!result) {
      run->failed = result.error();
    } else {
      run->bytes_done += piece;
    }
  }
  if (--run->workers == 0) run->done(run->bytes_done > 0 || !run->failed ? Result<void>() : *run->failed);
}

Task<Result<double>> rate(Loop& loop, Exchange& exchange, std::string to, Direction direction,
                          LinkProbeOptions options) {
  const MonoTime start = loop.clock().mono();
  auto run = std::make_shared<Run>(Run{loop,
                                       exchange,
                                       std::move(to),
                                       direction,
                                       options.bytes,
                                       start + options.time_max,
                                       0,
                                       kInFlight,
                                       {},
                                       {}});
  std::function<void(std::function<void(Result<void>)>)> begin =
      [&run](std::function<void(Result<void>)> done) {
        run->done = std::move(done);
        for (unsigned i = 0; i < kInFlight; ++i) spawn(work(run));
      };
  Result<void> result = co_await from_callback<Result<void>>(std::move(begin));
  run->done = {};
  if (!result) co_return std::move(result).error();
  const double seconds = std::chrono::duration<double>(loop.clock().mono() - start).count();
  co_return static_cast<double>(run->bytes_done) / std::max(seconds, 1e-9);
}

}  // namespace

void serve_link_probe(Exchange& exchange) {
  exchange.on_ask(Topic::link_probe,
                  [](std::string, Bytes body) -> Task<Result<Bytes>> { co_return answer(body); });
}

Task<Result<LinkMeasure>> measure_link(Loop& loop, Exchange& exchange, std::string to,
                                       LinkProbeOptions options) {
  LinkMeasure measure;
  for (int i = 0; i < kRoundTrips; ++i) {
    const MonoTime start = loop.clock().mono();
    Bytes body = question(Direction::give, 0);
    auto asked = exchange.ask(to, Topic::link_probe, std::move(body));
    const Result<Bytes> result = co_await std::move(asked);
    if (!result) co_return result.error();
    const double ms = std::chrono::duration<double, std::milli>(loop.clock().mono() - start).count();
    measure.rtt_ms = i == 0 ? ms : std::min(measure.rtt_ms, ms);
  }
  auto sending = rate(loop, exchange, to, Direction::take, options);
  Result<double> sent = co_await std::move(sending);
  if (!sent) co_return std::move(sent).error();
  auto receiving = rate(loop, exchange, to, Direction::give, options);
  Result<double> received = co_await std::move(receiving);
  if (!received) co_return std::move(received).error();
  measure.send_bytes_per_second = *sent;
  measure.receive_bytes_per_second = *received;
  co_return measure;
}

}  // namespace samovar::net
