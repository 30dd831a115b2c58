// Which questions of multicast DNS are answered, with what, and how often.
//
// A shared name is one that several nodes answer for, each with its own address: who asks gets all of them
// and may take any. A name that another computer claims for itself alone, by an answer or by announcing that
// it will, is left to it for two minutes: a box that happens to be called so must not be pushed from its
// name.
//
// Bounds: an answer to all goes out once a second for each name, type and card, answers to one asker ten
// times a second in all. Nothing is remembered of who asks.
//
// Threading: values; one thread.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "daemon/discovery/mdns_message.hpp"

namespace samovar::discovery {

struct MdnsName {
  std::string name;  // "samovar.local"
  bool shared = true;
  friend bool operator==(const MdnsName&, const MdnsName&) = default;
};

class MdnsNames {
 public:
  struct Source {
    std::string address;
    std::uint16_t port = 0;
    unsigned card = 0;
  };
  struct Reply {
    Bytes bytes;
    bool to_all = false;  // else to the asker
  };

  // Who sends from another port than this one does not speak multicast DNS itself (RFC 6762 §6.7).
  explicit MdnsNames(std::uint16_t port = kMdnsPort) : port_(port) {}

  void set(std::vector<MdnsName> names);
  // Addresses of the card a question came from, and of this computer as a whole.
  std::optional<Reply> hear(MonoTime now, ByteView datagram, const Source& source,
                            const std::vector<std::string>& card_addresses,
                            const std::vector<std::string>& own_addresses);
  // Who claims this name; empty: nobody.
  std::string claimed_by(MonoTime now, const std::string& name) const;

 private:
  struct Claim {
    std::string by;
    MonoTime until{};
  };

  const MdnsName* find(const std::string& name) const;
  void note_claims(MonoTime now, const std::vector<MdnsRecord>& records, const Source& source,
                   const std::vector<Bytes>& own, bool proposed);
  bool may_answer_one(MonoTime now);
  bool may_answer_all(MonoTime now, unsigned card, const MdnsQuestion& question);

  const std::uint16_t port_;
  std::vector<MdnsName> names_;
  std::map<std::string, Claim> claims_;  // of our names only
  // Of our cards, names and their types.
  std::map<std::tuple<unsigned, std::string, std::uint16_t>, MonoTime> told_to_all_;
  double tokens_ = 0;
  MonoTime filled_{};
  bool filled_once_ = false;
};

}  // namespace samovar::discovery
