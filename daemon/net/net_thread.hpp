// An io_context with a thread of its own, for as long as somebody holds it.
//
// Threading: as a rule released on the loop, which then waits for its end; on its own thread it ends by
// itself.
#pragma once
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <memory>
#include <string>
#include <thread>

namespace samovar::net {

class NetThread {
 public:
  explicit NetThread(const std::string& name);
  ~NetThread();
  NetThread(const NetThread&) = delete;
  NetThread& operator=(const NetThread&) = delete;

  boost::asio::io_context& context() { return *context_; }
  // Asking for a name may hang in the resolver for longer than anybody waits: then the thread is left to end
  // by itself.
  void may_hang() { may_hang_ = true; }

 private:
  // Shared with the thread, which may outlive us.
  std::shared_ptr<boost::asio::io_context> context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> guard_;
  bool may_hang_ = false;
  std::thread thread_;
};

}  // namespace samovar::net
