// What the connections share. Internal: only server.cpp, session*.cpp and event_sink.cpp include it, as
// it brings in Asio.
//
// Threading: grouped below by who may touch what.
// Ownership: the Server holds it; event sinks, body readers and answers under way on the loop hold it
// too and may be the last. Sessions unregister themselves and are all gone before the context is.
#pragma once
#include <atomic>
// Boost 1.74 uses std::exchange in its coroutine support without including it.
#include <utility>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <thread>

#include "base/loop.hpp"
#include "base/mutex.hpp"
#include "daemon/api/connection_table.hpp"
#include "daemon/api/limits.hpp"
#include "daemon/api/rate_limiter.hpp"
#include "daemon/api/request_head.hpp"
#include "daemon/api/router.hpp"
#include "daemon/api/server.hpp"
#include "daemon/api/static_files.hpp"

namespace samovar::api {

class Session;

struct Engine : std::enable_shared_from_this<Engine> {
  Engine(Loop& on, ServerOptions options, Router routes, Guard before, StaticFiles pages);

  // Any thread: runs `work` on the http thread. False once that thread is gone; work taken before is run
  // at the latest by the server's destructor.
  template <class Work>
  bool post(Work work) {
    const MutexLock lock(post_mutex);
    if (ended) return false;
    boost::asio::post(context, std::move(work));
    return true;
  }

  // Constant after construction.
  Loop& loop;
  const Limits limits;
  const Router router;
  const Guard guard;
  const StaticFiles files;
  const std::string names_help;
  const std::string host_name;

  // http thread only.
  HostNames names;
  bool hsts;
  bool stopping = false;
  std::shared_ptr<boost::asio::ssl::context> tls;  // of sessions to come
  ConnectionTable table;
  RateLimiter limiter;
  std::size_t body_memory = 0;
  std::size_t stream_bodies = 0;  // that handlers have begun to read
  std::map<ConnectionTable::Id, Session*> sessions;
  std::function<void()> on_empty;  // called when the last session ends while stopping

  // Any thread.
  std::atomic<std::size_t> connections{0};
  std::atomic<std::size_t> event_streams{0};
  std::atomic<std::size_t> requests_running{0};
  Mutex post_mutex;
  bool ended SAMOVAR_GUARDED_BY(post_mutex) = false;
  boost::asio::io_context context{1};
};

}  // namespace samovar::api
