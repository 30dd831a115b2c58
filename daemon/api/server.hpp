// The HTTPS server: TLS, parsing, limits and formatting on its own thread ("http"); guard and
// handlers on the loop thread. Boost is hidden behind Impl.
//
// Threading: create() and the destructor on one thread; all other calls from any thread.
// Ownership: borrows the Loop, which must outlive the server's destructor and whatever handlers are
// still running then (their answers go nowhere).
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "daemon/api/http.hpp"
#include "daemon/api/limits.hpp"
#include "daemon/api/router.hpp"
#include "daemon/api/static_files.hpp"

namespace samovar::api {

struct ServerOptions {
  Limits limits;
  // Names a browser may use besides IP literals, "localhost", the host name and <host name>.local.
  // Anything else in Host is refused with 421: it may be a DNS rebinding attack.
  std::vector<std::string> names;
  // The last sentence of that refusal: where a name can be added.
  std::string names_help = "Use the IP address, or add the name to the list of names in the configuration.";
  // Strict-Transport-Security; only sensible once browsers trust the certificate.
  bool hsts = false;
};

struct ServerStats {
  std::size_t connections = 0;
  std::size_t event_streams = 0;
  std::size_t requests_running = 0;
};

class Server {
 public:
  // PEM: the leaf first, then its chain. Errc::invalid when they do not fit together.
  struct Certificate {
    std::string_view chain_pem;
    std::string_view key_pem;
  };

  static Result<std::unique_ptr<Server>> create(Loop& loop, ServerOptions options, Router router, Guard guard,
                                                StaticFiles files, Certificate certificate);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds each address ("0.0.0.0", "::", "127.0.0.1", …) and begins to serve; returns the port, which
  // the system chooses for port 0. Errc::conflict when the port is taken, Errc::denied below 1024
  // without the right, Errc::invalid for an address that is none of this box's. A missing IPv6 is
  // logged and skipped as long as one address works.
  Result<std::uint16_t> listen(const std::vector<std::string>& addresses, std::uint16_t port);

  // For connections from now on; running ones keep theirs.
  Result<void> set_certificate(Certificate certificate);
  // Replaces ServerOptions::names and hsts.
  void set_names(std::vector<std::string> names);
  void set_hsts(bool on);

  // Stops accepting, closes idle connections and event streams, lets running requests finish for up
  // to Limits::stop_time_max, then closes the rest and calls `done` on the loop thread.
  void stop(std::function<void()> done);

  ServerStats stats() const;

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::api
