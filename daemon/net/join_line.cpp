#include "daemon/net/join_line.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <deque>
#include <future>
#include <list>
#include <optional>

#include "base/assert.hpp"
#include "base/log.hpp"
#include "base/mutex.hpp"
#include "daemon/net/address.hpp"
#include "daemon/net/dial.hpp"
#include "daemon/net/join_session.hpp"
#include "daemon/net/mesh.hpp"
#include "daemon/net/net_thread.hpp"

namespace samovar::net {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;

namespace {

constexpr Duration kHandshakeMax = std::chrono::seconds(5);
constexpr Duration kAcceptPause = std::chrono::milliseconds(50);
constexpr std::size_t kHalfOpenMax = 8;
constexpr std::size_t kQueuedBytesMax = 1u << 20;

// The way from a socket's thread to the loop, which may end first: after close() nothing is posted any more.
class LoopGate {
 public:
  explicit LoopGate(Loop& loop) : loop_(&loop) {}
  void post(Loop::Work work) {
    MutexLock lock(mutex_);
    if (loop_ != nullptr) loop_->post(std::move(work));
  }
  void close() {
    MutexLock lock(mutex_);
    loop_ = nullptr;
  }

 private:
  Mutex mutex_;
  Loop* loop_ SAMOVAR_GUARDED_BY(mutex_);
};
using LoopGatePtr = std::shared_ptr<LoopGate>;  // shared by the line and its socket's events

// What has arrived and who waits for it. Loop only; shared because posts from the socket's thread may come
// when the line is gone.
struct Mailbox {
  std::deque<Bytes> messages;
  std::optional<Error> ended;
  std::function<void(Result<Bytes>)> waiting;
  Loop::Id timer = 0;
};
using MailboxPtr = std::shared_ptr<Mailbox>;

void answer(Loop& loop, Mailbox& box, Result<Bytes> result) {
  if (!box.waiting) return;
  loop.cancel(box.timer);
  std::exchange(box.waiting, {})(std::move(result));
}

class Line final : public JoinLine {
 public:
  Line(Loop& loop, LoopGatePtr gate, std::shared_ptr<NetThread> thread, std::shared_ptr<JoinSession> session,
       MailboxPtr box, std::function<void()> released)
      : loop_(loop),
        gate_(std::move(gate)),
        thread_(std::move(thread)),
        session_(std::move(session)),
        box_(std::move(box)),
        released_(std::move(released)) {}
  ~Line() override { close(); }

  std::string remote() const override { return session_->remote(); }

  Result<void> send(Bytes message) override {
    if (message.size() > kJoinMessageBytesMax)
      return Error{Errc::invalid, "the message is too long for a join"};
    if (closed_) return Error{Errc::unavailable, "the line was closed here"};
    if (box_->ended) return *box_->ended;
    queued_ += message.size();
    if (queued_ > kQueuedBytesMax) return Error{Errc::busy, "a join never says as much as this"};
    asio::post(thread_->context(), [session = session_, message = std::move(message)]() mutable {
      session->send(std::move(message));
    });
    return {};
  }

  Task<Result<Bytes>> receive(Duration deadline) override {
    return receive_from(loop_, session_, thread_, box_, deadline);
  }

  void close() override {
    if (std::exchange(closed_, true)) return;
    gate_->close();
    asio::post(thread_->context(), [session = session_, thread = thread_] { session->finish(thread); });
    if (released_) std::exchange(released_, {})();
    if (!box_->ended) box_->ended = Error{Errc::unavailable, "the line was closed here"};
    loop_.post([&loop = loop_, box = box_] { answer(loop, *box, *box->ended); });
  }

 private:
  static Task<Result<Bytes>> receive_from(Loop& loop, std::shared_ptr<JoinSession> session,
                                          std::shared_ptr<NetThread> thread, MailboxPtr box,
                                          Duration deadline) {
    if (!box->messages.empty()) {
      Bytes message = std::move(box->messages.front());
      box->messages.pop_front();
      asio::post(thread->context(), [session] { session->taken(); });
      co_return message;
    }
    if (box->ended) co_return *box->ended;
    SAMOVAR_ASSERT(!box->waiting);
    std::function<void(std::function<void(Result<Bytes>)>)> wait =
        [&](std::function<void(Result<Bytes>)> done) {
          box->waiting = std::move(done);
          box->timer = loop.after(deadline, [&loop, box] {
            answer(loop, *box, Error{Errc::timeout, "the other end said nothing in time"});
          });
        };
    Result<Bytes> result = co_await from_callback<Result<Bytes>>(std::move(wait));
    if (result) asio::post(thread->context(), [session] { session->taken(); });
    co_return result;
  }

  Loop& loop_;
  const LoopGatePtr gate_;
  const std::shared_ptr<NetThread> thread_;
  const std::shared_ptr<JoinSession> session_;
  const MailboxPtr box_;
  std::function<void()> released_;
  bool closed_ = false;
  std::size_t queued_ = 0;
};

// Messages and the end go through the loop into the mailbox.
JoinSession::Events into_mailbox(Loop& loop, const LoopGatePtr& gate, const MailboxPtr& box) {
  JoinSession::Events events;
  events.message = [&loop, gate, box](Bytes message) {
    gate->post([&loop, box, message = std::move(message)]() mutable {
      if (box->waiting) return answer(loop, *box, std::move(message));
      box->messages.push_back(std::move(message));
    });
  };
  events.end = [&loop, gate, box](const Error& why) {
    gate->post([&loop, box, why] {
      if (!box->ended) box->ended = why;
      answer(loop, *box, *box->ended);
    });
  };
  return events;
}

Result<std::shared_ptr<ssl_ctx_st>> shared_context() {
  SAMOVAR_TRY(TlsContext context, make_join_context());
  return std::shared_ptr<ssl_ctx_st>(std::move(context));
}

class Door final : public JoinDoor {
 public:
  Door(Loop& loop, OnLine on_line, std::shared_ptr<ssl_ctx_st> tls)
      : state_(std::make_shared<State>(loop, std::move(on_line), std::move(tls))) {}

  ~Door() override {
    state_->open = false;
    // Closed before we return: the mesh is about to listen at the same place.
    std::promise<void> closed;
    asio::post(state_->thread->context(), [&] {
      error_code ignored;
      for (tcp::acceptor& acceptor : state_->acceptors) acceptor.close(ignored);
      const auto half_open = std::exchange(state_->half_open, {});
      for (const auto& session : half_open) session->abort(Error{Errc::unavailable, "the door is closed"});
      closed.set_value();
    });
    closed.get_future().wait();
  }

  Result<void> listen(const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses) {
      auto acceptor = listen_on(state_->thread->context(), address);
      if (!acceptor) {
        if (acceptor.error().code() != Errc::unsupported || addresses.size() == 1)
          return std::move(acceptor).error();
        SAMOVAR_LOG(warn, net, "not listening", kv("why", acceptor.error().message()));
        ports_.push_back(0);
        continue;
      }
      ports_.push_back(acceptor->local_endpoint().port());
      state_->acceptors.push_back(*std::move(acceptor));
    }
    asio::post(state_->thread->context(), [state = state_] {
      for (tcp::acceptor& acceptor : state->acceptors) State::accept(state, acceptor);
    });
    return {};
  }
  std::vector<std::uint16_t> ports() const override { return ports_; }

 private:
  // Shared: handshakes and posts under way may end after the door.
  struct State {
    State(Loop& on, OnLine tell, std::shared_ptr<ssl_ctx_st> context)
        : loop(on), on_line(std::move(tell)), tls(std::move(context)) {}

    static void accept(const std::shared_ptr<State>& state, tcp::acceptor& acceptor) {
      acceptor.async_accept(
          [weak = std::weak_ptr(state), &acceptor](const error_code& failed, tcp::socket socket) {
            const auto self = weak.lock();
            if (!self || !acceptor.is_open() || failed == asio::error::operation_aborted) return;
            if (!failed) {
              greet(self, std::move(socket));
              return accept(self, acceptor);
            }
            const auto pause = std::make_shared<asio::steady_timer>(self->thread->context(), kAcceptPause);
            pause->async_wait([weak, &acceptor, pause](const error_code& cancelled) {
              const auto still = weak.lock();
              if (!cancelled && still && acceptor.is_open()) accept(still, acceptor);
            });
          });
    }

    // Several may shake hands; the first who has done so gets the line.
    static void greet(const std::shared_ptr<State>& self, tcp::socket socket) {
      if (self->taken || self->half_open.size() >= kHalfOpenMax) return;  // closes it
      const auto session =
          std::make_shared<JoinSession>(self->thread->context(), self->tls, remote_text(socket));
      self->half_open.push_back(session);
      const auto box = std::make_shared<Mailbox>();
      const auto gate = std::make_shared<LoopGate>(self->loop);
      JoinSession::Events events = into_mailbox(self->loop, gate, box);
      const std::weak_ptr<State> weak = self;
      const std::weak_ptr<JoinSession> weak_session = session;
      events.ready = [weak, weak_session, gate, box] {
        const auto state = weak.lock();
        const auto ready = weak_session.lock();
        if (state && ready) hand_over(state, ready, gate, box);
      };
      events.end = [weak, weak_session, end = events.end](const Error& why) {
        if (const auto state = weak.lock())
          state->half_open.remove_if([&](const auto& each) { return each == weak_session.lock(); });
        end(why);
      };
      session->start(std::move(socket), TlsRole::server, kHandshakeMax, std::move(events));
    }

    static void hand_over(const std::shared_ptr<State>& self, const std::shared_ptr<JoinSession>& session,
                          const LoopGatePtr& gate, const MailboxPtr& box) {
      self->half_open.remove(session);
      if (self->taken.exchange(true)) return session->abort(Error{Errc::busy, "somebody else was first"});
      const auto others = std::exchange(self->half_open, {});
      for (const auto& other : others) other->abort(Error{Errc::busy, "somebody else was first"});
      gate->post([self, session, gate, box] {
        auto line = std::make_unique<Line>(self->loop, gate, self->thread, session, box,
                                           [self] { self->taken = false; });
        if (self->open) self->on_line(std::move(line));  // else it is closed here
      });
    }

    // Constant after construction.
    Loop& loop;
    const OnLine on_line;
    const std::shared_ptr<ssl_ctx_st> tls;
    const std::shared_ptr<NetThread> thread = std::make_shared<NetThread>("join");
    std::atomic<bool> taken{false};
    bool open = true;  // loop only
    // The thread's.
    std::list<tcp::acceptor> acceptors;
    std::list<std::shared_ptr<JoinSession>> half_open;
  };

  const std::shared_ptr<State> state_;
  std::vector<std::uint16_t> ports_;
};

// One attempt, on its own thread, which the line then keeps.
struct Attempt {
  std::shared_ptr<NetThread> thread = std::make_shared<NetThread>("join");
  MailboxPtr box = std::make_shared<Mailbox>();
  std::shared_ptr<JoinSession> session;  // made on the thread, read on the loop after the result
};

// However the wait for it ends, nothing of it reaches the loop afterwards; unless a line took it over.
struct AttemptEnd {
  explicit AttemptEnd(LoopGatePtr with) : gate(std::move(with)) {}
  ~AttemptEnd() {
    if (gate) gate->close();
  }
  AttemptEnd(const AttemptEnd&) = delete;
  AttemptEnd& operator=(const AttemptEnd&) = delete;
  LoopGatePtr gate;
};

using LineResult = Result<std::unique_ptr<JoinLine>>;

}  // namespace

Result<std::unique_ptr<JoinDoor>> JoinDoor::open(Loop& loop, std::vector<std::string> listen,
                                                 OnLine on_line) {
  SAMOVAR_TRY(auto tls, shared_context());
  auto door = std::make_unique<Door>(loop, std::move(on_line), std::move(tls));
  SAMOVAR_CHECK(door->listen(listen));
  return std::unique_ptr<JoinDoor>(std::move(door));
}

Task<Result<std::unique_ptr<JoinLine>>> dial_join(Loop& loop, std::string address, Duration deadline) {
  SAMOVAR_CO_TRY(const HostPort where, parse_host_port(address, kMeshPort));
  SAMOVAR_CO_TRY(auto tls, shared_context());
  const std::string text = format_host_port(where);
  const auto attempt = std::make_shared<Attempt>();
  const auto gate = std::make_shared<LoopGate>(loop);
  AttemptEnd end(gate);
  error_code not_numeric;
  asio::ip::make_address(where.host, not_numeric);
  if (not_numeric) attempt->thread->may_hang();
  std::function<void(std::function<void(Result<void>)>)> start = [&](std::function<void(Result<void>)> done) {
    // The first result counts; all come through the loop.
    const auto once = std::make_shared<std::function<void(Result<void>)>>(std::move(done));
    const auto tell = [gate, once](Result<void> result) {
      gate->post([once, result = std::move(result)] {
        if (*once) std::exchange(*once, {})(result);
      });
    };
    asio::post(attempt->thread->context(), [&loop, gate, attempt, tls, text, deadline, tell] {
      const auto timer = std::make_shared<asio::steady_timer>(attempt->thread->context(), deadline);
      const auto dial = std::make_shared<std::shared_ptr<Dial>>();
      timer->async_wait([timer, dial, text, tell](const error_code& cancelled) {
        if (cancelled) return;
        if (*dial) (*dial)->cancel();
        tell(timed_out(text));
      });
      *dial = Dial::start(attempt->thread->context(), text, {}, [=, &loop](Result<Dial::Socket> socket) {
        timer->cancel();
        dial->reset();
        if (!socket) return tell(std::move(socket).error());
        attempt->session =
            std::make_shared<JoinSession>(attempt->thread->context(), tls, remote_text(*socket));
        JoinSession::Events events = into_mailbox(loop, gate, attempt->box);
        events.ready = [tell] { tell({}); };
        events.end = [tell, ended = events.end](const Error& why) {
          tell(why);
          ended(why);
        };
        attempt->session->start(*std::move(socket), TlsRole::client, deadline, std::move(events));
      });
    });
  };
  Result<void> result = co_await from_callback<Result<void>>(std::move(start));
  if (!result) co_return std::move(result).error();
  std::unique_ptr<JoinLine> line =
      std::make_unique<Line>(loop, std::exchange(end.gate, {}), attempt->thread, attempt->session,
                             attempt->box, std::function<void()>{});
  co_return LineResult(std::move(line));
}

}  // namespace samovar::net
