// From an address to a connected socket, or to the sentence that says which step failed.
//
// Threading: the io_context's thread. Ownership: keeps itself alive until it is done or cancelled.
#pragma once
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace samovar::net {

struct DialOptions {
  std::uint16_t port_default = 0;
  // Where we listen, when that is one address: a node told to use one of several networks also calls from it.
  std::optional<boost::asio::ip::address> source;
};

class Dial : public std::enable_shared_from_this<Dial> {
 public:
  using Socket = boost::asio::ip::tcp::socket;
  using Done = std::function<void(Result<Socket>)>;

  // Errors: invalid (no address), not_found (no such name), io (no route), unavailable (refused), timeout
  // (the kernel gave up; whoever waits shorter cancels and says timed_out below).
  static std::shared_ptr<Dial> start(boost::asio::io_context& context, std::string address,
                                     DialOptions options, Done done);
  // `done` is not called any more.
  void cancel();

 private:
  Dial(boost::asio::io_context& context, std::string address, DialOptions options, Done done);
  void begin();
  void connect(std::size_t index);
  void finish(Result<Socket> result);

  const std::string address_;
  const DialOptions options_;
  Done done_;
  boost::asio::ip::tcp::resolver resolver_;
  Socket socket_;
  std::vector<boost::asio::ip::tcp::endpoint> endpoints_;
};

// The sentences for a failed connect, and for one that never answered.
Error dial_error(const boost::system::error_code& error, const std::string& address);
Error timed_out(const std::string& address);
// "10.0.0.7:41234"; an IPv4 address mapped into IPv6 as IPv4. Empty when there is no other end.
std::string remote_text(const boost::asio::ip::tcp::socket& socket);
boost::asio::ip::address unmapped(const boost::asio::ip::address& address);

// Sockets that listen. Errors are for the console: in use, no such address, not allowed.
Result<boost::asio::ip::tcp::acceptor> listen_on(boost::asio::io_context& context,
                                                 const std::string& address);

}  // namespace samovar::net
