// Answers multicast DNS for the names of this box, so that people can type one: https://samovar.local:8443.
//
// On the same cards as the beacons. It only answers, it asks and announces nothing; a responder of the
// operating system (avahi, systemd-resolved) beside it keeps its own names. A hint for people: nodes never
// look for each other by it.
//
// Threading: loop only. Ownership: borrows the Loop. Format: docs/formats/mdns.md
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "base/loop.hpp"
#include "base/result.hpp"
#include "daemon/discovery/interfaces.hpp"
#include "daemon/discovery/mdns_names.hpp"

namespace samovar::discovery {

struct MdnsOptions {
  InterfaceRules rules;
  std::uint16_t port = kMdnsPort;  // another one for tests: the real one belongs to the whole computer
};

class MdnsResponder {
 public:
  // Errc::unavailable with the reason: the port is taken by something that does not share it.
  static Result<std::unique_ptr<MdnsResponder>> open(Loop& loop, MdnsOptions options);
  ~MdnsResponder();
  MdnsResponder(const MdnsResponder&) = delete;
  MdnsResponder& operator=(const MdnsResponder&) = delete;

  void answer_for(std::vector<MdnsName> names);  // replaces; none: silent
  std::string claimed_by(const std::string& name) const;

 private:
  struct Impl;
  explicit MdnsResponder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace samovar::discovery
