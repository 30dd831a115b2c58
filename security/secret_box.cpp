#include "security/secret_box.hpp"

#include <sodium.h>

#include <algorithm>

#include "base/assert.hpp"
#include "security/aead.hpp"
#include "security/hash.hpp"

namespace samovar::security {
namespace {

// Both public keys are in the key: a box is for one receiver and of one sender's moment.
Result<SecretBytes> box_key(const SecretBytes& own, const BoxPublic& other, const BoxPublic& sender,
                            const BoxPublic& receiver) {
  SecretBytes shared(crypto_scalarmult_BYTES);
  // Fails for points of small order, where the secret would be no secret.
  if (crypto_scalarmult(shared.mutable_view().data(), own.view().data(), other.data()) != 0)
    return Error{Errc::denied, "the key to seal to is none"};
  Bytes label = to_bytes(std::string_view("samovar-v1:secret-box"));
  label.insert(label.end(), sender.begin(), sender.end());
  label.insert(label.end(), receiver.begin(), receiver.end());
  Hash256 hash = keyed_blake2b_256(shared, label);
  SecretBytes key = SecretBytes::copy_of(hash);
  wipe(hash);
  return key;
}

}  // namespace

BoxPair make_box_pair() {
  auto pair = box_pair_of(SecretBytes::random(crypto_scalarmult_SCALARBYTES));
  SAMOVAR_ASSERT(pair);
  return *std::move(pair);
}

Result<BoxPair> box_pair_of(SecretBytes secret) {
  if (secret.size() != crypto_scalarmult_SCALARBYTES) return Error{Errc::corrupt, "the key has a wrong size"};
  BoxPair pair;
  SAMOVAR_ASSERT(crypto_scalarmult_base(pair.open.data(), secret.view().data()) == 0);
  pair.secret = std::move(secret);
  return pair;
}

Result<Bytes> seal_secret_to(const BoxPublic& to, const SecretBytes& secret, ByteView aad) {
  const BoxPair once = make_box_pair();
  SAMOVAR_TRY(const SecretBytes key, box_key(once.secret, to, once.open, to));
  Bytes out(once.open.begin(), once.open.end());
  const Bytes sealed = seal(key, secret.view(), aad);
  out.insert(out.end(), sealed.begin(), sealed.end());
  return out;
}

Result<SecretBytes> open_sealed_secret(const BoxPair& own, ByteView sealed, ByteView aad) {
  const Error wrong{Errc::denied, "the secret was not sealed to this key"};
  BoxPublic sender{};
  if (sealed.size() < sender.size() + kSealOverheadBytes) return wrong;
  std::copy_n(sealed.begin(), sender.size(), sender.begin());
  SAMOVAR_TRY(const SecretBytes key, box_key(own.secret, sender, sender, own.open));
  auto secret = open_secret(key, sealed.subspan(sender.size()), aad);
  if (!secret) return wrong;
  return secret;
}

}  // namespace samovar::security
