// Certificates, requests and private keys from outside, as DER and as PEM.
#include <cstdint>

#include "security/certificates.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView input(data, size);
  static const Certificate kRoot = [] {
    auto key = PrivateKey::generate();
    return *make_web_root(*key, "fuzz.local");
  }();
  if (auto cert = certificate_from_der(input)) {
    ignore(inspect(*cert), "fuzz");
    static_cast<void>(cert->fingerprint());
    // A certificate from outside never verifies under a root whose key it cannot know.
    if (verify_chain(*cert, kRoot, {PeerKind::server, {}, WallTime{}})) __builtin_trap();
  }
  if (auto chain = certificates_from_pem(as_text(input)))
    for (const Certificate& cert : *chain) ignore(inspect(cert), "fuzz");
  ignore(verify_csr(input), "fuzz");
  ignore(PrivateKey::from_der(input), "fuzz");
  ignore(PrivateKey::from_pem(input), "fuzz");
  return 0;
}
