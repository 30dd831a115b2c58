#include "daemon/net/hub.hpp"

#include <utility>

namespace samovar::net {

void Hub::to_loop(News news) {
  {
    MutexLock lock(mutex_);
    news_.push_back(std::move(news));
    if (std::exchange(loop_woken_, true)) return;
  }
  wake_loop_();
}

std::vector<News> Hub::take_news() {
  MutexLock lock(mutex_);
  loop_woken_ = false;
  return std::exchange(news_, {});
}

void Hub::to_net(Outgoing outgoing) {
  {
    MutexLock lock(mutex_);
    orders_.outgoing.push_back(std::move(outgoing));
    if (std::exchange(net_woken_, true)) return;
  }
  wake_net_();
}

void Hub::to_net(std::vector<Member> members) {
  {
    MutexLock lock(mutex_);
    // Of two changes the later one counts, from where the earlier stood: what was sent between them to one
    // who came with the earlier must find it.
    if (!orders_.members) orders_.members_at = orders_.outgoing.size();
    orders_.members = std::move(members);
    if (std::exchange(net_woken_, true)) return;
  }
  wake_net_();
}

Hub::Orders Hub::take_orders() {
  MutexLock lock(mutex_);
  net_woken_ = false;
  return std::exchange(orders_, {});
}

void Hub::publish(const LinkState& state) {
  MutexLock lock(mutex_);
  links_[state.node_id] = state;
}

void Hub::forget(const std::string& node_id) {
  MutexLock lock(mutex_);
  links_.erase(node_id);
}

std::vector<LinkState> Hub::links() const {
  MutexLock lock(mutex_);
  std::vector<LinkState> all;
  all.reserve(links_.size());
  for (const auto& [id, state] : links_) all.push_back(state);
  return all;
}

bool Hub::up(const std::string& node_id) const {
  MutexLock lock(mutex_);
  const auto found = links_.find(node_id);
  return found != links_.end() && found->second.up;
}

std::string Hub::trouble(const std::string& node_id) const {
  MutexLock lock(mutex_);
  const auto found = links_.find(node_id);
  return found == links_.end() ? std::string() : found->second.trouble;
}

}  // namespace samovar::net
