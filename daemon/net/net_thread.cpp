#include "daemon/net/net_thread.hpp"

#include "base/log.hpp"
#include "base/thread_name.hpp"

namespace samovar::net {

NetThread::NetThread(const std::string& name)
    : context_(std::make_shared<boost::asio::io_context>(1)),
      guard_(boost::asio::make_work_guard(*context_)),
      thread_([context = context_, name] {
        set_thread_name(name);
        for (;;) {
          try {
            context->run();
            return;
          } catch (const std::exception& e) {
            SAMOVAR_LOG(error, net, "work on a net thread threw", kv("thread", name), kv("what", e.what()));
          }
        }
      }) {}

NetThread::~NetThread() {
  context_->stop();
  if (may_hang_ || thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

}  // namespace samovar::net
