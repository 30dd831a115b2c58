#include "daemon/api/connection_table.hpp"

namespace samovar::api {

// Linear, but over a thousand entries at most and only when full.
std::optional<ConnectionTable::Id> ConnectionTable::oldest(State state, const std::string* address) const {
  for (const auto& [id, entry] : entries_) {
    if (entry.state == state && (address == nullptr || entry.address == *address)) return id;
  }
  return std::nullopt;
}

std::optional<ConnectionTable::Id> ConnectionTable::take_victim(const std::string* address) {
  auto victim = oldest(State::unproven, address);
  if (!victim) victim = oldest(State::idle, address);
  if (victim) remove(*victim);
  return victim;
}

std::optional<ConnectionTable::Id> ConnectionTable::pick_victim() { return take_victim(nullptr); }

ConnectionTable::Verdict ConnectionTable::admit(std::string_view from) {
  Verdict verdict;
  const std::string address(from);
  const auto count = per_address_.find(address);
  if (count != per_address_.end() && count->second >= per_address_max_) {
    verdict.evict = take_victim(&address);
    if (!verdict.evict) return verdict;
  } else if (entries_.size() >= total_max_) {
    verdict.evict = take_victim(nullptr);
    if (!verdict.evict) return verdict;
  }
  verdict.admitted = next_++;
  ++per_address_[address];
  entries_.emplace(*verdict.admitted, Entry{address});
  return verdict;
}

void ConnectionTable::set_state(Id id, State state) {
  if (const auto found = entries_.find(id); found != entries_.end()) found->second.state = state;
}

void ConnectionTable::remove(Id id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return;
  const auto count = per_address_.find(found->second.address);
  if (--count->second == 0) per_address_.erase(count);
  entries_.erase(found);
}

}  // namespace samovar::api
