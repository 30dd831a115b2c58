// The canonical bytes of an audit entry: what decodes encodes to the same bytes, or two entries could
// share one hash.
#include <cstdint>

#include "security/audit_chain.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  auto entry = decode_audit_entry(input);
  if (!entry) return 0;
  if (canonical(*entry) != to_bytes(input)) __builtin_trap();
  ChainVerifier verifier;
  static_cast<void>(verifier.add(*entry, chain_hash(kAuditGenesis, input)));
  static_cast<void>(verifier.finish(entry->seq, kAuditGenesis));
  return 0;
}
