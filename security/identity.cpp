#include "security/identity.hpp"

#include <sodium.h>

#include "base/assert.hpp"
#include "base/failpoint.hpp"
#include "security/hash.hpp"
#include "security/memory_lock.hpp"
#include "security/wire.hpp"

namespace samovar::security {
namespace {

constexpr std::string_view kMagic = "SMVNODE\n";
constexpr std::uint16_t kVersion = 1;
constexpr std::size_t kChecksumBytes = 32;
constexpr std::size_t kTlsKeyBytesMax = 1024;
constexpr std::size_t kFileBytesMax = 4096;

std::string key_path(const std::string& dir) { return dir + "/node.key"; }
std::string id_path(const std::string& dir) { return dir + "/node.id"; }

constexpr std::string_view kRemedy =
    ": restore the folder \"identity\" from a backup of this node; without one, reset the node to its "
    "factory state and add it to the cluster anew";

Error damaged() {
  return Error{Errc::corrupt, "this node's identity (node.key) is damaged" + std::string(kRemedy)};
}

// The public halves and the id follow from the secret ones.
Result<NodeIdentity> complete(PrivateKey tls_key, ByteView sign_seed, ByteView box_secret) {
  NodeIdentity identity{{}, std::move(tls_key), SecretBytes(crypto_sign_SECRETKEYBYTES),
                        {}, SecretBytes{},      {}};
  crypto_sign_seed_keypair(identity.sign_public.data(), identity.sign_key.mutable_view().data(),
                           sign_seed.data());
  identity.box_key = SecretBytes::copy_of(box_secret);
  if (crypto_scalarmult_base(identity.box_public.data(), box_secret.data()) != 0) return damaged();
  identity.node_id = node_id_of(identity.tls_key.public_key());
  return identity;
}

// The id beside the keys: proof that this identity was in use, and a guard against a swapped file.
Result<void> check_recorded_id(Disk& disk, const std::string& dir, const NodeIdentity& identity) {
  SAMOVAR_TRY(const Bytes recorded, disk.read_file(id_path(dir), kFileBytesMax));
  if (as_text(recorded) == identity.node_id + "\n") return {};
  auto other = parse_node_id(as_text(recorded).substr(0, as_text(recorded).find('\n')));
  if (!other) return Error{Errc::corrupt, "this node's id (node.id) is damaged" + std::string(kRemedy)};
  return Error{Errc::corrupt, "node.key is of node " + short_node_id(identity.node_id) +
                                  ", but this is node " + short_node_id(*other) + std::string(kRemedy)};
}

}  // namespace

Result<NodeIdentity> make_identity() {
  ensure_sodium();
  SAMOVAR_TRY(PrivateKey tls_key, PrivateKey::generate());
  const SecretBytes secrets = SecretBytes::random(crypto_sign_SEEDBYTES + crypto_box_SECRETKEYBYTES);
  return complete(std::move(tls_key), secrets.view().first(crypto_sign_SEEDBYTES),
                  secrets.view().subspan(crypto_sign_SEEDBYTES));
}

SecretBytes encode_identity(const NodeIdentity& identity) {
  Bytes out;
  out.reserve(kFileBytesMax);  // no growth: a moved vector would leave keys behind in freed memory
  WireWriter writer(out);
  writer.raw(as_bytes(kMagic));
  writer.number(kVersion);
  writer.sized(identity.tls_key.to_der().view());
  writer.raw(
      identity.sign_key.view().first(crypto_sign_SEEDBYTES));  // libsodium's secret key starts with its seed
  writer.raw(identity.box_key.view());
  writer.raw(blake2b_256(out));
  return SecretBytes::take(out);
}

Result<NodeIdentity> decode_identity(ByteView bytes) {
  if (bytes.size() > kFileBytesMax || bytes.size() < kMagic.size() + kChecksumBytes) return damaged();
  const ByteView body = bytes.first(bytes.size() - kChecksumBytes);
  if (!equal_constant_time(blake2b_256(body), bytes.last(kChecksumBytes))) return damaged();
  WireReader reader(body);
  if (as_text(reader.raw(kMagic.size())) != kMagic) return damaged();
  if (reader.number<std::uint16_t>() != kVersion)
    return Error{Errc::unsupported,
                 "this node's identity was written by a later version of Samovar: install that version"};
  const ByteView tls = reader.sized(kTlsKeyBytesMax);
  const ByteView sign_seed = reader.raw(crypto_sign_SEEDBYTES);
  const ByteView box_secret = reader.raw(crypto_box_SECRETKEYBYTES);
  if (!reader.at_end()) return damaged();
  auto tls_key = PrivateKey::from_der(tls);
  if (!tls_key) return damaged();
  return complete(*std::move(tls_key), sign_seed, box_secret);
}

Result<NodeIdentity> load_identity(Disk& disk, const std::string& dir) {
  if (!disk.exists(key_path(dir))) {
    if (disk.exists(id_path(dir)))
      return Error{Errc::corrupt, "this node's identity (node.key) is gone" + std::string(kRemedy)};
    return Error{Errc::not_found, "this node has no identity yet"};
  }
  auto stored = disk.read_file(key_path(dir), kFileBytesMax);
  if (!stored && stored.error().code() == Errc::corrupt) return damaged();  // too long
  if (!stored) return std::move(stored).error();
  const SecretBytes bytes = SecretBytes::take(*stored);
  SAMOVAR_TRY(NodeIdentity identity, decode_identity(bytes.view()));
  if (disk.exists(id_path(dir))) SAMOVAR_CHECK(check_recorded_id(disk, dir, identity));
  return identity;
}

Result<NodeIdentity> load_or_create_identity(Disk& disk, const std::string& dir) {
  auto found = load_identity(disk, dir);
  if (!found && found.error().code() != Errc::not_found) return found;
  if (!found) {
    // Neither file is there, so whatever an earlier attempt wrote was never renamed into place or used.
    found = make_identity();
    if (!found) return found;
    SAMOVAR_CHECK(disk.make_dir(dir));
    SAMOVAR_CHECK(disk.write_file(key_path(dir), encode_identity(*found).view()));
    SAMOVAR_FAILPOINT_ERROR("security.identity.after_key");
  }
  // After the key, and again when power went between the two.
  if (!disk.exists(id_path(dir)))
    SAMOVAR_CHECK(disk.write_file(id_path(dir), as_bytes(found->node_id + "\n")));
  return found;
}

std::array<std::uint8_t, 64> sign(const NodeIdentity& identity, ByteView message) {
  std::array<std::uint8_t, 64> signature{};
  crypto_sign_detached(signature.data(), nullptr, message.data(), message.size(),
                       identity.sign_key.view().data());
  return signature;
}

bool verify_signature(ByteView sign_public, ByteView message, ByteView signature) {
  return sign_public.size() == crypto_sign_PUBLICKEYBYTES && signature.size() == crypto_sign_BYTES &&
         crypto_sign_verify_detached(signature.data(), message.data(), message.size(), sign_public.data()) ==
             0;
}

}  // namespace samovar::security
