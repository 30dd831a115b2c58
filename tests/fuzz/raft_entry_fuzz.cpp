// Sealed frames of the log. With a fixed key nobody forges one; the first byte chooses a mode in which
// the input is the plain text of a good frame, so that what is inside is reached too.
#include <sodium.h>

#include <cstdint>
#include <cstdlib>

#include "daemon/raft/sealer.hpp"

using namespace samovar;
using namespace samovar::raft;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const bool kReady = sodium_init() >= 0;
  if (!kReady) std::abort();
  static const Sealer kSealer(security::SecretBytes::copy_of(Bytes(32, 7)), "clu_1", 1);
  if (size == 0) return 0;
  const ByteView rest(data + 1, size - 1);
  if (data[0] % 2 == 0) {
    ignore(kSealer.open_entry(rest), "fuzz");
    ignore(kSealer.open_snapshot(rest), "fuzz");
    ignore(kSealer.open_witness(rest), "fuzz");
    return 0;
  }
  const Position position{size, random_entry_id()};
  const Bytes frame = kSealer.seal_entry(position, {}, rest);
  const auto entry = kSealer.open_entry(frame);
  if (!entry || !(entry->position == position) || entry->command != to_bytes(rest)) std::abort();
  if (kSealer.open_snapshot(frame) || kSealer.open_witness(frame)) std::abort();
  Bytes changed = frame;
  changed[data[0] % changed.size()] ^= 1;
  if (kSealer.open_entry(changed)) std::abort();
  return 0;
}
