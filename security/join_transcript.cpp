#include "security/join_transcript.hpp"

#include <sodium.h>

#include "base/assert.hpp"
#include "security/aead.hpp"
#include "security/memory_lock.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kSasKey = "samovar-sas-v1";
constexpr std::uint64_t kCodes = 1'000'000;

Bytes joined(std::initializer_list<ByteView> parts) {
  Bytes out;
  for (const ByteView part : parts) out.insert(out.end(), part.begin(), part.end());
  return out;
}

std::string_view label_of(JoinKind kind) {
  SAMOVAR_ASSERT(kind == JoinKind::j4 || kind == JoinKind::j6);
  return kind == JoinKind::j4 ? "samovar-j4" : "samovar-j6";
}

}  // namespace

JoinKey join_public(const SecretBytes& ephemeral) {
  SAMOVAR_ASSERT(ephemeral.size() == crypto_scalarmult_SCALARBYTES);
  JoinKey out{};
  SAMOVAR_ASSERT(crypto_scalarmult_base(out.data(), ephemeral.view().data()) == 0);
  return out;
}

JoinKey join_commitment(ByteView nonce) { return blake2b_256(joined({as_bytes("samovar-c1"), nonce})); }

Bytes j2_message(ByteView j1, ByteView body) {
  return joined({as_bytes("samovar-j2"), blake2b(64, joined({j1, body}))});
}

Result<JoinTranscript> JoinTranscript::make(ByteView j1, ByteView j2, ByteView j3,
                                            const SecretBytes& own_ephemeral,
                                            const JoinKey& other_ephemeral) {
  SecretBytes shared(crypto_scalarmult_BYTES);
  // Fails for points of small order, where the secret would be no secret.
  if (crypto_scalarmult(shared.mutable_view().data(), own_ephemeral.view().data(), other_ephemeral.data()) !=
      0)
    return Error{Errc::denied, "the other side's key is none: this is no honest node"};
  JoinTranscript out;
  out.hash_ = blake2b(64, joined({j1, j2, j3}));
  Hash256 key = keyed_blake2b_256(shared, out.with_transcript("samovar-v1:join"));
  out.key_ = SecretBytes::copy_of(key);
  wipe(key);
  return out;
}

Bytes JoinTranscript::with_transcript(std::string_view label) const {
  return joined({as_bytes(label), hash_});
}

std::uint32_t JoinTranscript::code() const {
  // The key has 14 bytes, fewer than hash.hpp takes: it is a label here, no secret.
  Hash256 out{};
  crypto_generichash(out.data(), out.size(), hash_.data(), hash_.size(), as_bytes(kSasKey).data(),
                     kSasKey.size());
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i) number |= std::uint64_t{out[i]} << (8 * i);
  return static_cast<std::uint32_t>(number % kCodes);
}

Bytes JoinTranscript::seal_message(JoinKind kind, ByteView plain) const {
  return encode_fixed(kind, seal(key_, plain, with_transcript(label_of(kind))));
}

Result<SecretBytes> JoinTranscript::open_message(JoinKind kind, ByteView message) const {
  SAMOVAR_TRY(const ByteView sealed, decode_rest(kind, message));
  auto plain = open_secret(key_, sealed, with_transcript(label_of(kind)));
  if (!plain) return Error{Errc::denied, "a join message does not open: it is not of this handshake"};
  return plain;
}

Bytes JoinTranscript::ok_message() const { return joined({hash_, as_bytes("ok")}); }

Hash256 JoinTranscript::receipt() const { return keyed_blake2b_256(key_, with_transcript("samovar-j7")); }

Hash256 JoinTranscript::words_proof(const SecretBytes& words_key, std::string_view side) const {
  return keyed_blake2b_256(words_key, with_transcript(side));
}

}  // namespace samovar::security
