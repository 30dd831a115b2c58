// What the members of a group find out together, phase by phase: each gives its part, the lead merges them,
// all go on with the same result.
//
// A change of members while a result is being made begins it anew with those who are left. Results are kept:
// whoever is behind (a member that joins, or one whose lead was lost) gets them from the lead.
//
// Between two results members send each other messages of their own (exchange of parameters); they are
// handed to `hear` whenever the council listens.
//
// Threading: one thread.
// Ownership: borrows the group.
#pragma once
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/solvers/state.hpp"
#include "trainer/sync/peer_group.hpp"

namespace samovar::trainer {

class Council {
 public:
  // A message that is not the council's: from whom, in which epoch, and what.
  // The body is the hearer's to use up.
  using Hear = std::function<Result<void>(std::uint32_t from, std::uint64_t epoch, Bytes& body)>;
  using Part = std::function<Result<Bytes>()>;
  // The parts by member, in the order of their numbers.
  using Merge = std::function<Result<Bytes>(const std::vector<Bytes>& parts)>;

  // `joining`: the others are ahead; what they have found is asked for before it is worked out.
  Council(PeerGroup& group, bool joining) : group_(group), joining_(joining), members_(group.membership()) {}

  const Membership& membership() const noexcept { return members_; }
  void set_hear(Hear hear) { hear_ = std::move(hear); }
  // Called now and then while it waits; an error ends the wait.
  void set_waiting(std::function<Result<void>()> waiting) { waiting_ = std::move(waiting); }

  // Before each part is worked out: the blocks may be others.
  void set_before_part(std::function<void()> before) { before_part_ = std::move(before); }
  // What is agreed on from now on is of this part of the job.
  void set_prefix(std::string prefix) { prefix_ = std::move(prefix); }

  // Hands out what has come; waits so long for something when nothing has. True when the members are others
  // now than before.
  Result<bool> listen(std::chrono::milliseconds wait);
  // To one member; its first byte must not be one of the council's (below kFirstKind).
  Result<void> send(std::uint32_t to, ByteView body);
  Result<void> give(std::uint32_t to, Bytes body);
  static constexpr std::uint8_t kFirstKind = 16;

  // The same for all. `part` is called once for every epoch in which this member's blocks differ. An error of
  // one part, or of the merge, is the result of all.
  Result<Bytes> agree(std::string_view about, const Part& part, const Merge& merge);
  // The sum, number by number, in the order of the members: the same bits for all.
  Result<void> sum(std::vector<double>& values);
  // All members found this without the council: one that comes later gets it all the same, by agree().
  void keep(std::string_view about, const Bytes& result);
  // All parts, in the order of the members.
  Result<std::vector<Bytes>> collect(std::string_view about, const Part& part);

  // For others, and until there is room for what is to be sent.
  double seconds_waited() const noexcept { return waited_; }
  std::uint64_t bytes_sent() const noexcept { return bytes_sent_; }
  std::uint64_t bytes_received() const noexcept { return bytes_received_; }

 private:
  struct Given {
    std::uint64_t epoch = 0;
    Bytes bytes;
  };
  Result<void> take(PeerMessage& message);
  void note_blocked(double before);
  Result<void> take_whole(std::uint32_t from, std::uint8_t kind, std::uint64_t epoch,
                          const std::string& about, Bytes bytes);
  Result<void> tell(std::uint32_t to, std::uint8_t kind, std::string_view about, ByteView bytes);
  Result<void> tell_all(std::string_view about);
  bool complete(const std::string& about) const;

  // Constant after construction.
  PeerGroup& group_;
  const bool joining_;
  Hear hear_;
  std::function<Result<void>()> waiting_;
  std::function<void()> before_part_;
  std::string prefix_;
  // The caller's thread.
  Membership members_;
  std::map<std::string, std::map<std::uint32_t, Given>> parts_;
  std::map<std::string, Bytes> kept_;
  std::vector<std::string> order_;  // of what was agreed on
  std::map<std::string, bool> not_yet_;
  std::map<std::pair<std::uint32_t, std::string>, Bytes> pieces_;  // of long messages, by sender
  std::vector<PeerMessage> unheard_;  // came before there was anybody to hear them
  std::uint64_t sums_ = 0;
  double waited_ = 0;
  bool agreeing_ = false;  // all of the time counts
  std::uint64_t bytes_sent_ = 0;
  std::uint64_t bytes_received_ = 0;
};

}  // namespace samovar::trainer
