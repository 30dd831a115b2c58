#include "daemon/net/dial.hpp"

#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>

#include "daemon/net/address.hpp"
#include "daemon/net/tls_socket.hpp"

namespace samovar::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

Dial::Dial(asio::io_context& context, std::string address, DialOptions options, Done done)
    : address_(std::move(address)),
      options_(std::move(options)),
      done_(std::move(done)),
      resolver_(context),
      socket_(context) {}

std::shared_ptr<Dial> Dial::start(asio::io_context& context, std::string address, DialOptions options,
                                  Done done) {
  std::shared_ptr<Dial> dial(new Dial(context, std::move(address), std::move(options), std::move(done)));
  // Not from inside this call: the caller does not know its dial yet.
  asio::post(context, [dial] { dial->begin(); });
  return dial;
}

void Dial::cancel() {
  done_ = {};
  resolver_.cancel();
  error_code ignored;
  socket_.close(ignored);
}

void Dial::finish(Result<Socket> result) {
  if (!done_) return;
  const Done done = std::exchange(done_, {});
  done(std::move(result));
}

void Dial::begin() {
  if (!done_) return;
  const auto parsed = parse_host_port(address_, options_.port_default);
  if (!parsed) return finish(parsed.error());
  error_code failed;
  const asio::ip::address numeric = asio::ip::make_address(parsed->host, failed);
  if (!failed) {
    endpoints_.emplace_back(numeric, parsed->port);
    return connect(0);
  }
  resolver_.async_resolve(
      parsed->host, std::to_string(parsed->port),
      [self = shared_from_this()](const error_code& error, const tcp::resolver::results_type& found) {
        if (!self->done_) return;
        if (error || found.empty())
          return self->finish(Error{Errc::not_found, "no machine is known as '" + self->address_ +
                                                         "'; give its address in numbers"});
        for (const auto& entry : found) self->endpoints_.push_back(entry.endpoint());
        self->connect(0);
      });
}

void Dial::connect(std::size_t index) {
  const tcp::endpoint endpoint = endpoints_[index];
  error_code failed;
  socket_.close(failed);
  socket_.open(endpoint.protocol(), failed);
  const auto& source = options_.source;
  // From 127.0.0.2 nothing but the loopback is reached, and to it only from there.
  if (!failed && source && !source->is_unspecified() && source->is_v4() == endpoint.address().is_v4() &&
      source->is_loopback() == endpoint.address().is_loopback()) {
    error_code ignored;
    socket_.bind({*source, 0}, ignored);
  }
  if (failed) return finish(dial_error(failed, address_));
  socket_.async_connect(endpoint, [self = shared_from_this(), index](const error_code& error) {
    if (!self->done_) return;
    if (!error) {
      tune_socket(self->socket_);
      return self->finish(std::move(self->socket_));
    }
    if (index + 1 < self->endpoints_.size()) return self->connect(index + 1);
    self->finish(dial_error(error, self->address_));
  });
}

Error dial_error(const error_code& error, const std::string& address) {
  if (error == asio::error::connection_refused)
    return {Errc::unavailable, address + " refused: nothing listens there, or a firewall rejects it"};
  if (error == asio::error::host_unreachable)
    return {Errc::io, "no way to " + address + ": the machine is off, or its cable is out"};
  if (error == asio::error::network_unreachable)
    return {Errc::io, "no way to " + address + ": no network card of this node is in its network"};
  if (error == asio::error::timed_out) return timed_out(address);
  return {Errc::io, "no connection to " + address + ": " + error.message()};
}

Error timed_out(const std::string& address) {
  return {Errc::timeout, address + " does not answer: a firewall drops it, or the address is wrong"};
}

asio::ip::address unmapped(const asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped())
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  return address;
}

std::string remote_text(const tcp::socket& socket) {
  error_code failed;
  const tcp::endpoint remote = socket.remote_endpoint(failed);
  return failed ? std::string() : format_host_port({unmapped(remote.address()).to_string(), remote.port()});
}

Result<tcp::acceptor> listen_on(asio::io_context& context, const std::string& address) {
  SAMOVAR_TRY(const HostPort parsed, parse_host_port(address));
  error_code failed;
  const asio::ip::address numeric = asio::ip::make_address(parsed.host, failed);
  if (failed) return Error{Errc::invalid, "'" + parsed.host + "' is not an IP address to listen on"};
  const tcp::endpoint endpoint(numeric, parsed.port);
  tcp::acceptor acceptor(context);
  acceptor.open(endpoint.protocol(), failed);
  if (failed) return Error{Errc::unsupported, "cannot listen on " + address + ": " + failed.message()};
  acceptor.set_option(tcp::acceptor::reuse_address(true), failed);
  // So that "0.0.0.0" and "::" can share a port.
  if (!failed && numeric.is_v6()) acceptor.set_option(asio::ip::v6_only(true), failed);
  if (!failed) acceptor.bind(endpoint, failed);
  if (!failed) acceptor.listen(asio::socket_base::max_listen_connections, failed);
  if (!failed) return acceptor;
  // A kernel told to do without IPv6 has no "::".
  if (failed == boost::system::errc::address_not_available && numeric.is_v6() && numeric.is_unspecified())
    return Error{Errc::unsupported, "cannot listen on " + address + ": this machine has no IPv6"};
  if (failed == asio::error::address_in_use)
    return Error{Errc::conflict, address +
                                     " is already in use; 'ss -ltnp sport = :" + std::to_string(parsed.port) +
                                     "' names the program. Stop it, or choose another port with mesh_listen"};
  if (failed == asio::error::access_denied)
    return Error{Errc::denied, "not allowed to listen on " + address +
                                   "; ports below 1024 need CAP_NET_BIND_SERVICE, choose a higher one"};
  return Error{Errc::invalid, "cannot listen on " + address + ": " + failed.message() +
                                  "; give an address of this machine in mesh_listen"};
}

}  // namespace samovar::net
