// Who is connected, and who must go when it gets full. A crowd of idle or slow connections must never
// stop a good client: the newcomer is let in and the oldest connection that shows no finished request
// is closed, then the oldest that is merely kept alive. Running requests are never cut.
//
// Threading: http thread only. Knows no socket; the server closes what is named here.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace samovar::api {

class ConnectionTable {
 public:
  using Id = std::uint64_t;  // rises, so the smallest is the oldest
  enum class State : std::uint8_t {
    unproven,  // no request finished yet: handshake or first header
    idle,      // kept alive between requests
    busy,      // a request or an event stream is running
  };
  struct Verdict {
    std::optional<Id> admitted;  // empty: close the newcomer
    std::optional<Id> evict;     // close this one; it is already out of the table
  };

  ConnectionTable(std::size_t total_max, std::size_t per_address_max)
      : total_max_(total_max), per_address_max_(per_address_max) {}

  Verdict admit(std::string_view address);
  void set_state(Id id, State state);
  void remove(Id id);  // an id that is gone is ignored
  // The connection to close when the system has no more file descriptors.
  std::optional<Id> pick_victim();
  std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string address;
    State state = State::unproven;
  };
  std::optional<Id> oldest(State state, const std::string* address) const;
  std::optional<Id> take_victim(const std::string* address);

  // Constant after construction.
  std::size_t total_max_;
  std::size_t per_address_max_;
  // http thread only.
  std::map<Id, Entry> entries_;
  std::unordered_map<std::string, std::size_t> per_address_;
  Id next_ = 1;
};

}  // namespace samovar::api
