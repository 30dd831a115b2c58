#include "security/join_wire.hpp"

#include <algorithm>

#include "security/ecdsa.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::size_t kClusterIdBytesMax = 64;
constexpr std::size_t kClusterNameBytesMax = 256;
constexpr std::size_t kNodeIdBytes = 34;
constexpr std::size_t kVersionBytesMax = 64;
constexpr std::size_t kJoinCertificateBytesMax = 4 * 1024;
constexpr std::size_t kCsrBytesMax = 2 * 1024;
constexpr std::size_t kTextBytesMax = 256;
constexpr std::size_t kAddressBytesMax = 64;
constexpr std::size_t kAddressesMax = 16;
constexpr std::size_t kSealedCmkBytesMax = 128;
constexpr std::size_t kBeaconBytesMax = 512;

Error malformed(std::string_view what) {
  return Error{Errc::invalid, "the other side's join message (" + std::string(what) + ") is malformed"};
}

Bytes header(JoinKind kind) {
  Bytes out;
  WireWriter writer(out);
  writer.number(static_cast<std::uint8_t>(kind));
  writer.number(kJoinVersion);
  return out;
}

// The reader stands behind the header.
Result<WireReader> open_message(JoinKind kind, ByteView message) {
  WireReader reader(message);
  if (message.size() > kJoinBytesMax || reader.number<std::uint8_t>() != static_cast<std::uint8_t>(kind))
    return malformed("of another kind than expected");
  const auto version = reader.number<std::uint16_t>();
  if (!reader.ok()) return malformed("too short");
  if (version != kJoinVersion)
    return Error{Errc::unsupported, "the other side joins by protocol " + std::to_string(version) +
                                        ", this one by protocol " + std::to_string(kJoinVersion) +
                                        ": bring both to the same version of Samovar"};
  return reader;
}

std::string text_of(ByteView bytes) { return std::string(as_text(bytes)); }

bool is_printable_ascii(std::string_view text, std::size_t bytes_max) {
  return text.size() <= bytes_max &&
         std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

bool is_node_id(std::string_view text) {
  const auto parsed = parse_node_id(text);
  return text.size() == kNodeIdBytes && parsed && *parsed == text;
}

bool facts_fit(const JoinFacts& facts) {
  const bool texts =
      is_plain_text(facts.hostname, kTextBytesMax) && is_plain_text(facts.model, kTextBytesMax) &&
      is_printable_ascii(facts.arch, kVersionBytesMax) && is_printable_ascii(facts.version, kVersionBytesMax);
  return texts && facts.addresses.size() <= kAddressesMax &&
         std::all_of(facts.addresses.begin(), facts.addresses.end(), [](const std::string& address) {
           return !address.empty() && is_printable_ascii(address, kAddressBytesMax);
         });
}

bool cluster_fits(const JoinCluster& cluster) {
  return !cluster.cluster_id.empty() && is_printable_ascii(cluster.cluster_id, kClusterIdBytesMax) &&
         is_plain_text(cluster.cluster_name, kClusterNameBytesMax) && is_node_id(cluster.member_id) &&
         cluster.ca.der.size() <= kJoinCertificateBytesMax &&
         is_printable_ascii(cluster.version, kVersionBytesMax);
}

void write_facts(WireWriter& writer, const JoinFacts& facts) {
  for (const std::string* text : {&facts.hostname, &facts.model, &facts.arch, &facts.version})
    writer.sized(as_bytes(*text));
  writer.number(facts.memory_bytes);
  writer.number(facts.disk_bytes);
  writer.number(static_cast<std::uint64_t>(facts.clock_us));
  writer.number(static_cast<std::uint8_t>(facts.addresses.size()));
  for (const std::string& address : facts.addresses) writer.sized(as_bytes(address));
}

JoinFacts read_facts(WireReader& reader) {
  JoinFacts facts;
  for (std::string* text : {&facts.hostname, &facts.model, &facts.arch, &facts.version})
    *text = text_of(reader.sized(kTextBytesMax));
  facts.memory_bytes = reader.number<std::uint64_t>();
  facts.disk_bytes = reader.number<std::uint64_t>();
  facts.clock_us = static_cast<std::int64_t>(reader.number<std::uint64_t>());
  const std::size_t count = reader.number<std::uint8_t>();
  for (std::size_t i = 0; i < count && reader.ok() && i <= kAddressesMax; ++i)
    facts.addresses.push_back(text_of(reader.sized(kAddressBytesMax)));
  return facts;
}

}  // namespace

std::optional<JoinKind> join_kind(ByteView message) {
  if (message.empty()) return {};
  const std::uint8_t kind = message[0];
  const bool known = (kind >= 1 && kind <= 8) || (kind >= 16 && kind <= 18);
  return known ? std::optional(static_cast<JoinKind>(kind)) : std::nullopt;
}

Result<Bytes> encode_j1(const JoinOffer& offer) {
  const JoinCluster& cluster = offer.cluster;
  if (!cluster_fits(cluster))
    return Error{Errc::invalid, "the cluster's name, id or certificate does not fit into a join message"};
  Bytes out = header(JoinKind::j1);
  WireWriter writer(out);
  writer.number(static_cast<std::uint8_t>(cluster.form));
  writer.sized(as_bytes(cluster.version));
  writer.sized(as_bytes(cluster.cluster_id));
  writer.sized(as_bytes(cluster.cluster_name));
  writer.sized(cluster.ca.der);
  writer.raw(as_bytes(cluster.member_id));
  writer.raw(offer.ephemeral);
  writer.raw(offer.commitment);
  return out;
}

Result<JoinOffer> decode_j1(ByteView j1) {
  SAMOVAR_TRY(WireReader reader, open_message(JoinKind::j1, j1));
  JoinOffer offer;
  JoinCluster& cluster = offer.cluster;
  const auto form = reader.number<std::uint8_t>();
  cluster.form = static_cast<JoinForm>(form);
  cluster.version = text_of(reader.sized(kVersionBytesMax));
  cluster.cluster_id = text_of(reader.sized(kClusterIdBytesMax));
  cluster.cluster_name = text_of(reader.sized(kClusterNameBytesMax));
  cluster.ca.der = to_bytes(reader.sized(kJoinCertificateBytesMax));
  cluster.member_id = text_of(reader.raw(kNodeIdBytes));
  offer.ephemeral = reader.array<JoinKey>();
  offer.commitment = reader.array<JoinKey>();
  if (!reader.at_end() || form > static_cast<std::uint8_t>(JoinForm::words) || !cluster_fits(cluster))
    return malformed("J1");
  return offer;
}

JoinFacts fitting(JoinFacts facts) {
  for (std::string* text : {&facts.hostname, &facts.model})
    if (!is_plain_text(*text, kTextBytesMax)) text->clear();
  for (std::string* text : {&facts.arch, &facts.version})
    if (!is_printable_ascii(*text, kVersionBytesMax)) text->clear();
  std::erase_if(facts.addresses, [](const std::string& address) {
    return address.empty() || !is_printable_ascii(address, kAddressBytesMax);
  });
  if (facts.addresses.size() > kAddressesMax) facts.addresses.resize(kAddressesMax);
  return facts;
}

Result<Bytes> encode_j2_body(const JoinRequest& request) {
  if (!facts_fit(request.facts) || request.csr.size() > kCsrBytesMax)
    return Error{Errc::invalid, "this node's host name, model or addresses do not fit into a join message"};
  Bytes out = header(JoinKind::j2);
  WireWriter writer(out);
  writer.sized(request.csr);
  writer.raw(request.sign_public);
  writer.raw(request.box_public);
  write_facts(writer, request.facts);
  writer.raw(request.ephemeral);
  writer.raw(request.nonce);
  return out;
}

Bytes with_signature(Bytes body, ByteView signature) {
  WireWriter(body).sized(signature);
  return body;
}

Result<DecodedJ2> decode_j2(ByteView j2) {
  SAMOVAR_TRY(WireReader reader, open_message(JoinKind::j2, j2));
  JoinRequest request;
  request.csr = to_bytes(reader.sized(kCsrBytesMax));
  request.sign_public = reader.array<JoinKey>();
  request.box_public = reader.array<JoinKey>();
  request.facts = read_facts(reader);
  request.ephemeral = reader.array<JoinKey>();
  request.nonce = reader.array<JoinKey>();
  const ByteView body = j2.first(j2.size() - reader.rest().size());
  request.signature = to_bytes(reader.sized(kEcdsaBytesMax));
  if (!reader.at_end() || !facts_fit(request.facts)) return malformed("J2");
  return DecodedJ2{std::move(request), body};
}

Bytes encode_fixed(JoinKind kind, ByteView content) {
  Bytes out = header(kind);
  WireWriter(out).raw(content);
  return out;
}

Result<ByteView> decode_fixed(JoinKind kind, ByteView message, std::size_t size) {
  SAMOVAR_TRY(const ByteView rest, decode_rest(kind, message));
  if (rest.size() != size) return malformed("of a wrong length");
  return rest;
}

Result<ByteView> decode_rest(JoinKind kind, ByteView message) {
  SAMOVAR_TRY(const WireReader reader, open_message(kind, message));
  return reader.rest();
}

Result<Bytes> encode_grant(const JoinGrant& grant) {
  if (grant.certificate.der.size() > kJoinCertificateBytesMax ||
      grant.ca.der.size() > kJoinCertificateBytesMax || grant.members.size() > kJoinMembersBytesMax ||
      grant.cluster_id.size() > kClusterIdBytesMax)
    return Error{Errc::invalid, "the list of members is too long for a join message"};
  Bytes out;
  WireWriter writer(out);
  writer.sized(as_bytes(grant.cluster_id));
  writer.sized(grant.certificate.der);
  writer.sized(grant.ca.der);
  writer.sized(grant.members);
  return out;
}

Result<JoinGrant> decode_grant(ByteView plain) {
  WireReader reader(plain);
  JoinGrant grant;
  grant.cluster_id = text_of(reader.sized(kClusterIdBytesMax));
  grant.certificate.der = to_bytes(reader.sized(kJoinCertificateBytesMax));
  grant.ca.der = to_bytes(reader.sized(kJoinCertificateBytesMax));
  grant.members = to_bytes(reader.sized(kJoinMembersBytesMax));
  if (!reader.at_end()) return malformed("J4");
  return grant;
}

Result<Bytes> encode_keys(const JoinKeys& keys) {
  if (keys.keyring.size() > kJoinKeyringBytesMax || keys.sealed_cmk.size() > kSealedCmkBytesMax)
    return Error{Errc::invalid, "the keyring is too long for a join message"};
  Bytes out;
  WireWriter writer(out);
  writer.number(keys.generation);
  writer.number(static_cast<std::uint8_t>(keys.key_file ? 1 : 0));
  writer.sized(keys.keyring);
  writer.sized(keys.sealed_cmk);
  return out;
}

Result<JoinKeys> decode_keys(ByteView plain) {
  WireReader reader(plain);
  JoinKeys keys;
  keys.generation = reader.number<std::uint32_t>();
  const auto key_file = reader.number<std::uint8_t>();
  keys.key_file = key_file == 1;
  keys.keyring = to_bytes(reader.sized(kJoinKeyringBytesMax));
  keys.sealed_cmk = to_bytes(reader.sized(kSealedCmkBytesMax));
  if (!reader.at_end() || key_file > 1) return malformed("J6");
  return keys;
}

Bytes encode_refusal(const RefusalMessage& refusal) {
  Bytes out = header(JoinKind::refusal);
  WireWriter writer(out);
  writer.number(static_cast<std::uint8_t>(refusal.reason));
  writer.number(refusal.retry_seconds);
  return out;
}

Result<RefusalMessage> decode_refusal(ByteView message) {
  SAMOVAR_TRY(WireReader reader, open_message(JoinKind::refusal, message));
  const auto reason = reader.number<std::uint8_t>();
  const auto retry = reader.number<std::uint16_t>();
  if (!reader.at_end() || reason == 0 || reason > static_cast<std::uint8_t>(JoinRefusal::unknown))
    return malformed("refusal");
  return RefusalMessage{static_cast<JoinRefusal>(reason), retry};
}

std::string describe(const RefusalMessage& refusal) {
  const unsigned minutes = (refusal.retry_seconds + 59U) / 60U;
  const std::string later =
      minutes == 0 ? ""
                   : "; try again in " + std::to_string(minutes) + (minutes == 1 ? " minute" : " minutes");
  switch (refusal.reason) {
    case JoinRefusal::busy:
      return "the node is talking to another member just now" + later;
    case JoinRefusal::code_shown:
      return "the node shows the code of an earlier attempt on its console: type that one, or wait until it "
             "is gone" +
             later;
    case JoinRefusal::too_many:
      return "there were too many attempts to add this node in a short time; if they were not yours, "
             "somebody on this network is trying codes" +
             later;
    case JoinRefusal::claimed:
      return "the node belongs to a cluster already, or was set up as its own: reset it to its factory "
             "state first";
    case JoinRefusal::version:
      return "the node runs a version of Samovar that joins in another way: bring both to the same version";
    case JoinRefusal::wrong_words:
      return "the words typed at the node are not those of this invitation";
    case JoinRefusal::failed:
      return "a check failed on the other side: somebody may sit between the two";
    case JoinRefusal::cancelled:
      return "the other side ended it";
    case JoinRefusal::not_admitted:
      return "the cluster did not take the node";
    case JoinRefusal::unknown:
      return "the node was restarted meanwhile: add it again";
  }
  return "refused";
}

Bytes encode_who() { return header(JoinKind::who); }

Result<void> decode_who(ByteView message) {
  SAMOVAR_TRY(const ByteView rest, decode_fixed(JoinKind::who, message, 0));
  return rest.empty() ? Result<void>{} : malformed("who");
}

Bytes encode_here(ByteView beacon) { return encode_fixed(JoinKind::here, beacon); }

Result<ByteView> decode_here(ByteView message) {
  SAMOVAR_TRY(const ByteView beacon, decode_rest(JoinKind::here, message));
  if (beacon.size() > kBeaconBytesMax) return malformed("here");
  return beacon;
}

}  // namespace samovar::security
