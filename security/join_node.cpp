// The node's side of join.hpp.
#include <sodium.h>

#include "base/assert.hpp"
#include "security/ecdsa.hpp"
#include "security/join.hpp"
#include "security/join_transcript.hpp"
#include "security/join_wire.hpp"
#include "security/memory_lock.hpp"

namespace samovar::security {
namespace {

// Node certificates live from 2020 to 2049 and the node's clock may stand in 1970: a moment in between.
constexpr WallTime kAnyMoment{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

// Exactly an authority's certificate, for a cluster of this id.
Result<void> check_ca(const JoinCluster& cluster) {
  auto info = inspect(cluster.ca);
  if (!info || !info->is_ca || info->subject != "Samovar cluster " + cluster.cluster_id)
    return Error{Errc::denied, "the certificate offered is not that of the cluster's authority"};
  return {};
}

Result<void> check_grant(const JoinGrant& grant, const JoinCluster& cluster, const NodeIdentity& identity) {
  if (grant.cluster_id != cluster.cluster_id || grant.ca.der != cluster.ca.der)
    return Error{Errc::denied, "the grant is of another cluster than the one that asked"};
  auto info = inspect(grant.certificate);
  if (!info || info->public_key != identity.tls_key.public_key())
    return Error{Errc::denied, "the certificate granted is not for this node's key"};
  const std::string name = identity.node_id + std::string(kNodeDomain);
  for (const PeerKind kind : {PeerKind::server, PeerKind::client}) {
    const ChainCheck check{kind, name, kAnyMoment};
    SAMOVAR_CHECK(verify_chain(grant.certificate, grant.ca, check));
  }
  return {};
}

}  // namespace

struct JoinNode::Impl {
  const NodeIdentity* identity = nullptr;
  JoinFacts facts;
  JoinSecrets secrets;
  JoinOffer offer;
  Bytes j1;
  Bytes j2;
  std::optional<JoinTranscript> transcript;
  std::optional<JoinGrant> grant;  // of J4: without the keys

  const JoinTranscript& after_j3() const {
    SAMOVAR_ASSERT(transcript.has_value());
    return *transcript;
  }
  Result<Bytes> make_j2() const;
};

JoinNode::JoinNode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JoinNode::JoinNode(JoinNode&&) noexcept = default;
JoinNode& JoinNode::operator=(JoinNode&&) noexcept = default;
JoinNode::~JoinNode() = default;

Result<JoinNode> JoinNode::begin(const NodeIdentity& identity, JoinFacts facts, JoinSecrets secrets) {
  ensure_sodium();
  auto impl = std::make_unique<Impl>();
  impl->identity = &identity;
  impl->facts = fitting(std::move(facts));
  impl->secrets = std::move(secrets);
  return JoinNode(std::move(impl));
}

Result<Bytes> JoinNode::Impl::make_j2() const {
  JoinRequest request;
  SAMOVAR_TRY(request.csr, make_csr(identity->tls_key, identity->node_id));
  request.sign_public = identity->sign_public;
  request.box_public = identity->box_public;
  request.facts = facts;
  request.ephemeral = join_public(secrets.ephemeral);
  const ByteView nonce = secrets.nonce.view();
  SAMOVAR_ASSERT(nonce.size() == request.nonce.size());
  std::copy(nonce.begin(), nonce.end(), request.nonce.begin());
  SAMOVAR_TRY(Bytes body, encode_j2_body(request));
  SAMOVAR_TRY(const Bytes signature, sign_p256(identity->tls_key, j2_message(j1, body)));
  return with_signature(std::move(body), signature);
}

Result<JoinCluster> JoinNode::take_j1(ByteView j1) {
  SAMOVAR_ASSERT(impl_->j1.empty());
  SAMOVAR_TRY(JoinOffer offer, decode_j1(j1));
  SAMOVAR_CHECK(check_ca(offer.cluster));
  impl_->j1 = to_bytes(j1);
  SAMOVAR_TRY(impl_->j2, impl_->make_j2());
  impl_->offer = std::move(offer);
  return impl_->offer.cluster;
}

const Bytes& JoinNode::j2() const {
  SAMOVAR_ASSERT(!impl_->j2.empty());
  return impl_->j2;
}

Result<void> JoinNode::take_j3(ByteView j3) {
  SAMOVAR_ASSERT(!impl_->j2.empty() && !impl_->transcript);
  SAMOVAR_TRY(const ByteView nonce, decode_fixed(JoinKind::j3, j3, kJoinSecretBytes));
  if (!equal_constant_time(join_commitment(nonce), impl_->offer.commitment))
    return Error{Errc::denied, "the member did not keep to the number it had committed to"};
  SAMOVAR_TRY(auto transcript, JoinTranscript::make(impl_->j1, impl_->j2, j3, impl_->secrets.ephemeral,
                                                    impl_->offer.ephemeral));
  impl_->transcript.emplace(std::move(transcript));
  return {};
}

std::string JoinNode::code() const {
  std::string text = std::to_string(impl_->after_j3().code());
  text.insert(0, 6 - text.size(), '0');
  return text.insert(3, 1, ' ');
}

Bytes JoinNode::words_proof(const SecretBytes& words_key) const {
  return encode_fixed(JoinKind::words, impl_->after_j3().words_proof(words_key, kNodeSide));
}

bool JoinNode::words_proof_matches(const SecretBytes& words_key, ByteView proof) const {
  const auto content = decode_fixed(JoinKind::words, proof, sizeof(Hash256));
  return content && equal_constant_time(*content, impl_->after_j3().words_proof(words_key, kMemberSide));
}

Result<void> JoinNode::take_j4(ByteView j4) {
  SAMOVAR_ASSERT(!impl_->grant);
  SAMOVAR_TRY(const SecretBytes plain, impl_->after_j3().open_message(JoinKind::j4, j4));
  SAMOVAR_TRY(JoinGrant grant, decode_grant(plain.view()));
  SAMOVAR_CHECK(check_grant(grant, impl_->offer.cluster, *impl_->identity));
  impl_->grant.emplace(std::move(grant));
  return {};
}

Bytes JoinNode::j5() const {
  SAMOVAR_ASSERT(impl_->grant);
  return encode_fixed(JoinKind::j5, sign(*impl_->identity, impl_->after_j3().ok_message()));
}

Result<JoinGrant> JoinNode::take_j6(ByteView j6) const {
  SAMOVAR_ASSERT(impl_->grant);
  SAMOVAR_TRY(const SecretBytes plain, impl_->after_j3().open_message(JoinKind::j6, j6));
  SAMOVAR_TRY(JoinKeys keys, decode_keys(plain.view()));
  if (keys.sealed_cmk.size() < crypto_box_SEALBYTES)
    return Error{Errc::invalid, "the other side's join message (J6) is malformed"};
  SecretBytes cmk(keys.sealed_cmk.size() - crypto_box_SEALBYTES);
  if (crypto_box_seal_open(cmk.mutable_view().data(), keys.sealed_cmk.data(), keys.sealed_cmk.size(),
                           impl_->identity->box_public.data(), impl_->identity->box_key.view().data()) != 0)
    return Error{Errc::denied, "the master key was not sealed to this node"};
  JoinGrant grant;
  grant.certificate = impl_->grant->certificate;
  grant.ca = impl_->grant->ca;
  grant.cluster_id = impl_->grant->cluster_id;
  grant.members = impl_->grant->members;
  grant.key_generation = keys.generation;
  grant.keyring = std::move(keys.keyring);
  grant.cmk = std::move(cmk);
  grant.key_file = keys.key_file;
  return grant;
}

Bytes JoinNode::j7() const { return encode_fixed(JoinKind::j7, impl_->after_j3().receipt()); }

}  // namespace samovar::security
