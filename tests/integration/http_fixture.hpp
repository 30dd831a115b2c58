// A real server on a loopback port of the system's choice, with a loop thread and a few routes.
#pragma once
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/asio_loop.hpp"
#include "daemon/api/server.hpp"
#include "tests/integration/http_client.hpp"

namespace samovar::test {

struct Pem {
  std::string chain;
  std::string key;
};
// A self-signed P-256 (or RSA) certificate.
Pem make_certificate(const std::string& name, bool rsa = false);

class HttpFixture : public testing::Test {
 protected:
  // GET  /api/v1/hello          → 200 {"hello":"you"}
  // POST /api/v1/echo           → the JSON body back
  // POST /api/v1/act            → 204, no body expected
  // PUT  /api/v1/upload         → counts the bytes of a stream, waiting at `hold_upload`
  // PUT  /api/v1/ignore         → 200 without reading the stream
  // GET  /api/v1/wait           → answers when release_waiting() is called
  // GET  /api/v1/events         → an event stream; its sinks are in `sinks`
  // GET  /api/v1/big            → 4 MiB
  // GET  /api/v1/stream         → a streamed answer as `stream` says
  // POST /api/v1/denied-upload  → the guard says 401
  void start(api::ServerOptions options = {});
  void TearDown() override;
  // Limits with no bound per address, as every client here is on loopback.
  static api::ServerOptions loose();

  void on_loop(const std::function<void()>& work);  // and waits for it
  void release_waiting();
  // Polls until true, at most 30 s.
  static bool eventually(const std::function<bool()>& condition);
  Client client(ClientOptions options = {}) { return Client(port, std::move(options)); }

  // What /api/v1/stream gives: `bytes` in pieces, of the letters a to z over and over.
  struct Streamed {
    std::uint64_t bytes = 0;
    std::size_t piece = 64 * 1024;                       // at most 1 MiB
    std::optional<std::uint64_t> length;                 // announced
    std::optional<std::uint64_t> fails_at;               // an error once so many were given
    std::function<void(std::function<void(int)>)> wait;  // before each piece
  };

  AsioLoop loop;
  std::thread loop_thread;
  std::unique_ptr<api::Server> server;
  std::uint16_t port = 0;

  // Loop only.
  std::vector<std::shared_ptr<api::EventSink>> sinks;
  std::vector<std::function<void(int)>> waiting;
  std::function<void(int)> held_upload;  // set when hold_upload stopped one
  Streamed stream;

  std::atomic<bool> hold_upload{false};
  std::atomic<std::uint64_t> uploaded{0};
  std::atomic<std::uint64_t> upload_pieces{0};
  std::atomic<int> sinks_closed{0};
  std::atomic<int> handled{0};
  std::atomic<int> off_loop{0};
  std::atomic<int> sources{0};             // of streamed answers, alive
  std::atomic<std::uint64_t> streamed{0};  // bytes taken from them
  std::string upload_error;                // loop only

 private:
  class LetterSource;
  std::vector<api::Route> routes();
  Task<api::Response> upload(api::Request& request);
};

}  // namespace samovar::test
