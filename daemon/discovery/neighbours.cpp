#include "daemon/discovery/neighbours.hpp"

#include <algorithm>
#include <charconv>
#include <map>

#include "base/log.hpp"
#include "base/rng.hpp"
#include "daemon/discovery/beacon_socket.hpp"
#include "daemon/discovery/interfaces.hpp"

namespace samovar::discovery {
namespace {

constexpr Duration kFast = std::chrono::seconds(3);
constexpr Duration kSlow = std::chrono::seconds(30);
constexpr Duration kLively = std::chrono::minutes(1);  // how long a change is told at the fast pace
constexpr Duration kLookAround = std::chrono::seconds(10);
constexpr Duration kSeedPause = std::chrono::seconds(10);
constexpr std::size_t kSeedsMax = 64;
constexpr unsigned kReceiveBatch = 64;  // then the loop gets a turn

struct Seed {
  std::string address;
  std::uint16_t port = 0;
};

// Host names are for the mesh, which can wait for an answer; here only addresses count.
std::vector<Seed> parse_seeds(const std::vector<std::string>& texts, std::uint16_t port) {
  std::vector<Seed> out;
  for (const std::string& text : texts) {
    if (out.size() >= kSeedsMax) break;
    const std::size_t colon = text.rfind(':');
    Seed seed{text.substr(0, colon), port};
    if (colon != std::string::npos) {
      const char* end = text.data() + text.size();
      const auto parsed = std::from_chars(text.data() + colon + 1, end, seed.port);
      if (parsed.ec != std::errc{} || parsed.ptr != end) continue;
    }
    out.push_back(std::move(seed));
  }
  return out;
}

}  // namespace

struct Neighbours::Impl {
  Impl(Loop& the_loop, const security::NodeIdentity& the_identity, NeighbourOptions the_options,
       BeaconSocket the_socket, std::uint64_t the_boot)
      : loop(the_loop),
        identity(the_identity),
        options(std::move(the_options)),
        boot(the_boot),
        socket(std::move(the_socket)),
        table(identity.node_id, boot, options.limits) {}

  // Constant after construction.
  Loop& loop;
  const security::NodeIdentity& identity;
  const NeighbourOptions options;
  const std::uint64_t boot;

  // Loop only.
  struct Way {
    Interface interface;
    InterfaceReport report;
    bool joined = false;
  };
  BeaconSocket socket;
  NeighbourTable table;
  std::map<unsigned, Way> ways;  // by index
  std::vector<Seed> seeds;
  Beacon said;
  Bytes datagram;  // what everybody gets
  Bytes asking;    // what a seed gets
  std::uint64_t sequence = 0;
  MonoTime lively_until{};
  MonoTime seeds_due{};
  std::function<void()> listener;
  Loop::Id send_timer = 0;
  Loop::Id look_timer = 0;
  Loop::Id tell_timer = 0;
  Loop::Id group_watch = 0;
  Loop::Id own_watch = 0;

  MonoTime now() { return loop.clock().mono(); }
  void tell();
  void look_around();
  void look_again();
  void use(Way& way, const Interface& seen, const std::string& why_not);
  void encode();
  void send();
  void send_to_seeds();
  void hear(const Datagram& datagram);
  void receive(int fd);
};

// Changes come in bursts; a listener that rebuilds a list wants one of them.
void Neighbours::Impl::tell() {
  if (tell_timer != 0) return;
  tell_timer = loop.after(std::chrono::seconds(1), [this] {
    tell_timer = 0;
    if (listener) listener();
  });
}

void Neighbours::Impl::use(Way& way, const Interface& seen, const std::string& why_not) {
  InterfaceReport& report = way.report;
  const bool moved = way.interface.addresses != seen.addresses;
  way.interface = seen;
  report.name = seen.name;
  report.addresses = seen.addresses;
  report.mtu = seen.mtu;
  report.why_not = why_not;
  report.used = why_not.empty();
  if (!report.used) {
    if (way.joined) socket.leave(seen.index);
    way.joined = false;
    return;
  }
  const bool was_joined = way.joined;
  auto joined = socket.join(seen.index);
  way.joined = joined.has_value();
  report.trouble = joined ? "" : joined.error().message();
  if (!was_joined || moved) lively_until = now() + kLively;  // new here, or under a new address: say so
}

void Neighbours::Impl::look_around() {
  const std::vector<Interface> seen = list_interfaces();
  std::erase_if(ways, [&](const auto& entry) {
    const bool there = std::any_of(seen.begin(), seen.end(), [&](const Interface& interface) {
      return interface.index == entry.first && interface.name == entry.second.interface.name;
    });
    if (!there && entry.second.joined) socket.leave(entry.first);
    return !there;
  });
  const InterfaceRules rules{options.interfaces, options.loopback};
  for (const Interface& interface : seen)
    use(ways[interface.index], interface, why_not_used(interface, rules));
  if (table.expire(now())) tell();
}

void Neighbours::Impl::look_again() {
  look_timer = loop.after(kLookAround, [this] {
    look_around();
    look_again();
  });
}

void Neighbours::Impl::encode() {
  const auto encoded = [&](bool ask) {
    Beacon beacon = said;
    beacon.ask = ask;
    auto bytes = encode_beacon(beacon, identity);
    return bytes ? *std::move(bytes) : Bytes{};
  };
  datagram = encoded(false);
  asking = encoded(true);
}

void Neighbours::Impl::send() {
  loop.cancel(send_timer);
  if (datagram.empty()) return;
  for (auto& [index, way] : ways) {
    if (!way.joined) continue;
    const auto sent = socket.send_to_group(index, way.interface.addresses.front(), datagram);
    way.report.trouble = sent ? "" : sent.error().message();
    if (sent) ++way.report.sent;
  }
  send_to_seeds();
  const bool fast = !said.member || now() < lively_until;
  send_timer = loop.after(fast ? kFast : kSlow, [this] { send(); });
}

void Neighbours::Impl::send_to_seeds() {
  if (now() < seeds_due) return;
  seeds_due = now() + kSeedPause;
  for (const Seed& seed : seeds)
    ignore(socket.send_to(seed.address, seed.port, asking), "a seed that is down is tried again");
}

void Neighbours::Impl::hear(const Datagram& datagram_in) {
  const auto way = ways.find(datagram_in.interface);
  const NeighbourTable::Source source{
      datagram_in.address, way == ways.end() ? "" : way->second.interface.name, datagram_in.multicast};
  const Heard heard = table.hear(now(), datagram_in.bytes, source);
  if (way != ways.end()) {
    InterfaceReport& report = way->second.report;
    if (heard == Heard::fresh || heard == Heard::same) ++report.heard;
    if (heard == Heard::own) ++report.heard_own;
    if (heard == Heard::bad) ++report.bad;
    if (heard == Heard::later) ++report.later;
  }
  if (heard == Heard::fresh) tell();
  if ((heard == Heard::fresh || heard == Heard::same) && !datagram.empty() &&
      table.answer_wanted(now(), source))
    ignore(socket.send_to(datagram_in.address, datagram_in.port, datagram), "it asks again");
}

void Neighbours::Impl::receive(int fd) {
  socket.receive(fd, kReceiveBatch, [this](const Datagram& one) { hear(one); });
}

Neighbours::Neighbours(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Result<std::unique_ptr<Neighbours>> Neighbours::open(Loop& loop, const security::NodeIdentity& identity,
                                                     NeighbourOptions options) {
  SAMOVAR_TRY(BeaconSocket socket, BeaconSocket::open(options.group, options.port));
  auto impl =
      std::make_unique<Impl>(loop, identity, std::move(options), std::move(socket), system_rng().next());
  Impl* self = impl.get();
  self->seeds = parse_seeds(self->options.seeds, self->options.port);
  self->look_around();
  self->look_again();
  self->group_watch = loop.watch(self->socket.group_fd(), [self] { self->receive(self->socket.group_fd()); });
  self->own_watch = loop.watch(self->socket.own_fd(), [self] { self->receive(self->socket.own_fd()); });
  return std::unique_ptr<Neighbours>(new Neighbours(std::move(impl)));
}

Neighbours::~Neighbours() {
  for (const Loop::Id timer : {impl_->send_timer, impl_->look_timer, impl_->tell_timer})
    impl_->loop.cancel(timer);
  impl_->loop.unwatch(impl_->group_watch);
  impl_->loop.unwatch(impl_->own_watch);
}

void Neighbours::announce(Beacon beacon) {
  impl_->said = std::move(beacon);
  impl_->said.boot = impl_->boot;
  impl_->said.sequence = ++impl_->sequence;
  impl_->lively_until = impl_->now() + kLively;
  impl_->encode();
  impl_->send();
}

void Neighbours::set_seeds(std::vector<std::string> seeds) {
  impl_->seeds = parse_seeds(seeds, impl_->options.port);
  impl_->seeds_due = MonoTime{};
  impl_->send_to_seeds();
}

std::vector<Neighbour> Neighbours::list() const { return impl_->table.list(impl_->now()); }

std::vector<InterfaceReport> Neighbours::interfaces() const {
  std::vector<InterfaceReport> out;
  for (const auto& [index, way] : impl_->ways) out.push_back(way.report);
  return out;
}

const Bytes& Neighbours::datagram() const { return impl_->datagram; }

Result<Neighbour> Neighbours::note(ByteView datagram, const std::string& address) {
  SAMOVAR_TRY(const Beacon beacon, decode_beacon(datagram));
  const Heard heard = impl_->table.hear(impl_->now(), datagram, {address, "", false});
  if (heard == Heard::own) return Error{Errc::conflict, "this node itself answers at " + address};
  if (heard == Heard::fresh) impl_->tell();
  for (Neighbour& row : impl_->table.list(impl_->now()))
    if (row.beacon.node_id == beacon.node_id) return std::move(row);
  return Error{Errc::busy, "too many beacons just now: try again in a moment"};
}

void Neighbours::on_change(std::function<void()> listener) { impl_->listener = std::move(listener); }

}  // namespace samovar::discovery
