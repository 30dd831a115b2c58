// The member's side of join.hpp; the node's is in join_node.cpp.
#include "security/join.hpp"

#include <sodium.h>

#include "base/assert.hpp"
#include "security/ecdsa.hpp"
#include "security/join_transcript.hpp"
#include "security/join_wire.hpp"
#include "security/memory_lock.hpp"

namespace samovar::security {

JoinSecrets JoinSecrets::random() {
  return {SecretBytes::random(kJoinSecretBytes), SecretBytes::random(kJoinSecretBytes)};
}

struct JoinMember::Impl {
  JoinSecrets secrets;
  Bytes j1;
  JoinCandidate candidate;
  std::optional<JoinTranscript> transcript;

  Bytes j3() const { return encode_fixed(JoinKind::j3, secrets.nonce.view()); }
  const JoinTranscript& after_j2() const {
    SAMOVAR_ASSERT(transcript.has_value());
    return *transcript;
  }
};

JoinMember::JoinMember(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JoinMember::JoinMember(JoinMember&&) noexcept = default;
JoinMember& JoinMember::operator=(JoinMember&&) noexcept = default;
JoinMember::~JoinMember() = default;

Result<JoinMember> JoinMember::begin(JoinCluster cluster, JoinSecrets secrets) {
  ensure_sodium();
  SAMOVAR_TRY(Bytes j1, encode_j1({std::move(cluster), join_public(secrets.ephemeral),
                                   join_commitment(secrets.nonce.view())}));
  auto impl = std::make_unique<Impl>();
  impl->secrets = std::move(secrets);
  impl->j1 = std::move(j1);
  return JoinMember(std::move(impl));
}

const Bytes& JoinMember::j1() const { return impl_->j1; }

Result<JoinCandidate> JoinMember::take_j2(ByteView j2) {
  SAMOVAR_ASSERT(!impl_->transcript);
  SAMOVAR_TRY(DecodedJ2 decoded, decode_j2(j2));
  JoinRequest& request = decoded.request;
  auto public_key = verify_csr(request.csr);
  if (!public_key) return Error{Errc::denied, "the node does not hold the key it asks a certificate for"};
  if (!verify_p256(*public_key, j2_message(impl_->j1, decoded.body), request.signature))
    return Error{Errc::denied, "the node's signature does not fit: what it received is not what was sent"};
  SAMOVAR_TRY(auto transcript,
              JoinTranscript::make(impl_->j1, j2, impl_->j3(), impl_->secrets.ephemeral, request.ephemeral));
  impl_->candidate = {node_id_of(*public_key), *public_key, request.sign_public, request.box_public,
                      std::move(request.facts)};
  impl_->transcript.emplace(std::move(transcript));
  return impl_->candidate;
}

Bytes JoinMember::j3() const {
  SAMOVAR_ASSERT(impl_->transcript);  // the nonce is shown only once the other side's is fixed
  return impl_->j3();
}

bool JoinMember::code_matches(std::string_view typed) const {
  std::string digits;
  for (const char c : typed.substr(0, 64)) {
    if (c >= '0' && c <= '9') {
      digits.push_back(c);
    } else if (c != ' ' && c != '-') {
      return false;
    }
  }
  std::string actual = std::to_string(impl_->after_j2().code());
  actual.insert(0, 6 - actual.size(), '0');
  return typed.size() <= 64 && equal_constant_time(as_bytes(digits), as_bytes(actual));
}

bool JoinMember::words_proof_matches(const SecretBytes& words_key, ByteView proof) const {
  const auto content = decode_fixed(JoinKind::words, proof, sizeof(Hash256));
  return content && equal_constant_time(*content, impl_->after_j2().words_proof(words_key, kNodeSide));
}

Bytes JoinMember::words_proof(const SecretBytes& words_key) const {
  return encode_fixed(JoinKind::words, impl_->after_j2().words_proof(words_key, kMemberSide));
}

Result<Bytes> JoinMember::j4(const JoinGrant& grant) const {
  SAMOVAR_TRY(const Bytes plain, encode_grant(grant));
  return impl_->after_j2().seal_message(JoinKind::j4, plain);
}

Result<void> JoinMember::take_j5(ByteView j5) const {
  SAMOVAR_TRY(const ByteView signature, decode_fixed(JoinKind::j5, j5, crypto_sign_BYTES));
  if (verify_signature(impl_->candidate.sign_public, impl_->after_j2().ok_message(), signature)) return {};
  return Error{Errc::denied, "the node does not hold the signing key it named"};
}

Result<Bytes> JoinMember::j6(const JoinGrant& grant) const {
  JoinKeys keys{grant.key_generation, grant.key_file, grant.keyring,
                Bytes(grant.cmk.size() + crypto_box_SEALBYTES)};
  // To the node's own X25519 key as well: whoever opens it holds that key, too.
  if (crypto_box_seal(keys.sealed_cmk.data(), grant.cmk.view().data(), grant.cmk.size(),
                      impl_->candidate.box_public.data()) != 0)
    return Error{Errc::denied, "the node's key to receive secrets is none"};
  SAMOVAR_TRY(const Bytes plain, encode_keys(keys));
  return impl_->after_j2().seal_message(JoinKind::j6, plain);
}

Result<void> JoinMember::take_j7(ByteView j7) const {
  SAMOVAR_TRY(const ByteView receipt, decode_fixed(JoinKind::j7, j7, sizeof(Hash256)));
  if (equal_constant_time(receipt, impl_->after_j2().receipt())) return {};
  return Error{Errc::denied, "the node's receipt is not of this handshake"};
}

}  // namespace samovar::security
