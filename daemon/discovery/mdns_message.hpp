// Messages of multicast DNS (RFC 6762), as far as one needs them who answers for a few names of its own.
//
// Names are compared without case and written with dots; one with another character than letters, digits, '-'
// and '_' is none of ours and reads as "?". Compressed names may only point backwards.
//
// Threading: pure functions, any thread. Format: docs/formats/mdns.md
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"

namespace samovar::discovery {

inline constexpr const char* kMdnsGroup = "224.0.0.251";
inline constexpr std::uint16_t kMdnsPort = 5353;
inline constexpr std::size_t kMdnsBytesMax = 4096;  // longer ones are not looked at
inline constexpr std::uint32_t kMdnsSeconds = 120;  // how long others may remember an address (RFC 6762 §10)

enum class MdnsType : std::uint16_t { a = 1, aaaa = 28, any = 255 };

struct MdnsQuestion {
  std::string name;
  std::uint16_t type = 0;
  bool unicast = false;  // the answer is wanted for the asker alone
};

struct MdnsRecord {
  std::string name;
  std::uint16_t type = 0;
  bool unique = false;  // its sender says that nobody else has this name
  std::uint32_t seconds = 0;
  Bytes data;  // of A and AAAA; empty for others
};

struct MdnsMessage {
  std::uint16_t id = 0;
  bool response = false;
  std::vector<MdnsQuestion> questions;
  std::vector<MdnsRecord> answers;   // of a question: what the asker knows already
  std::vector<MdnsRecord> proposed;  // names that the asker is about to take for itself
};

// Errc::invalid for what is no message, or has more of something than anybody needs.
Result<MdnsMessage> read_mdns(ByteView datagram);

// An answer. `asked` is repeated in front for those who do not speak multicast DNS themselves.
Bytes encode_mdns(std::uint16_t id, const std::vector<MdnsQuestion>& asked,
                  const std::vector<MdnsRecord>& answers);

}  // namespace samovar::discovery
