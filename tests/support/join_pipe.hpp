// Two ends of a join line in memory, on a simulated loop. It can be cut after any number of messages.
//
// Threading: one thread.
#pragma once
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "base/loop.hpp"
#include "daemon/net/join_line.hpp"

namespace samovar::net {

// What both ends share. `cut_after` messages are carried, in either direction, then the line is dead.
struct JoinPipe {
  static constexpr unsigned kNever = 1'000'000;
  unsigned carried = 0;
  unsigned cut_after = kNever;
  // May change a message on its way; `from_member` is its direction.
  std::function<void(bool from_member, Bytes& message)> bend;
};

class PipeEnd final : public JoinLine {
 public:
  static std::pair<std::unique_ptr<PipeEnd>, std::unique_ptr<PipeEnd>> make(Loop& loop,
                                                                            std::shared_ptr<JoinPipe> pipe) {
    auto one = std::make_shared<State>(loop, true);
    auto other = std::make_shared<State>(loop, false);
    one->peer = other;
    other->peer = one;
    return {std::unique_ptr<PipeEnd>(new PipeEnd(one, pipe)),
            std::unique_ptr<PipeEnd>(new PipeEnd(other, pipe))};
  }
  ~PipeEnd() override { end_both(); }

  std::string remote() const override { return state_->member ? "10.0.0.7:7443" : "10.0.0.1:41234"; }

  Result<void> send(Bytes message) override {
    const auto peer = state_->peer.lock();
    if (state_->over || !peer) return Error{Errc::unavailable, "the line is gone"};
    if (message.size() > kJoinMessageBytesMax) return Error{Errc::invalid, "too long"};
    if (pipe_->bend) pipe_->bend(state_->member, message);
    if (pipe_->carried >= pipe_->cut_after) {
      end_both();
      return {};  // like a socket: it notices later
    }
    ++pipe_->carried;
    state_->loop.post([peer, message = std::move(message)]() mutable {
      peer->inbox.push_back(std::move(message));
      peer->wake();
    });
    return {};
  }

  Task<Result<Bytes>> receive(Duration deadline) override {
    const auto state = state_;
    if (state->inbox.empty() && !state->over) {
      auto start = [state, deadline](std::function<void(bool)> done) {
        state->waiter = std::move(done);
        state->timer = state->loop.after(deadline, [state] { state->wake(); });
      };
      co_await from_callback<bool>(std::move(start));
      state->loop.cancel(state->timer);
    }
    if (!state->inbox.empty()) {
      Bytes message = std::move(state->inbox.front());
      state->inbox.pop_front();
      co_return message;
    }
    if (state->over) co_return Error{Errc::unavailable, "the line is gone"};
    co_return Error{Errc::timeout, "no message in time"};
  }

  void close() override { end_both(); }

 private:
  struct State {
    State(Loop& the_loop, bool is_member) : loop(the_loop), member(is_member) {}
    Loop& loop;
    const bool member;
    std::weak_ptr<State> peer;
    std::deque<Bytes> inbox;
    bool over = false;
    Loop::Id timer = 0;
    std::function<void(bool)> waiter;
    void wake() {
      if (waiter) std::exchange(waiter, nullptr)(true);
    }
  };
  PipeEnd(std::shared_ptr<State> state, std::shared_ptr<JoinPipe> pipe)
      : state_(std::move(state)), pipe_(std::move(pipe)) {}

  // After what was sent: posted behind it.
  void end_both() {
    for (const auto& state : {state_, state_->peer.lock()}) {
      if (!state) continue;
      state_->loop.post([state] {
        state->over = true;
        state->wake();
      });
    }
  }

  std::shared_ptr<State> state_;
  std::shared_ptr<JoinPipe> pipe_;
};

}  // namespace samovar::net
