// The bytes of sealed files, shared by their writer and reader.
//
// Format: docs/formats/sealed-file.md
#pragma once
#include "security/aead.hpp"
#include "security/sealed_file.hpp"

namespace samovar::security {

inline constexpr std::size_t kSealedChunkStored = kSealedChunkBytes + kAeadTagBytes;

Result<void> check_sealed_id(const SealedFileId& id);
Bytes encode_sealed_header(const SealedHeader& header);
// XChaCha20-Poly1305 does not bind a ciphertext to one key; this does.
std::array<std::uint8_t, 16> key_commitment_of(const SecretBytes& key);

// Seals and opens the chunks of one file. Borrows the key.
class ChunkSealer {
 public:
  ChunkSealer(const SealedHeader& header, const SecretBytes& key);
  // `out` has plain.size() + kAeadTagBytes.
  void seal(std::uint64_t index, bool last, ByteView plain, MutableBytes out) const;
  [[nodiscard]] bool open(std::uint64_t index, bool last, ByteView sealed, MutableBytes plain) const;

 private:
  AeadNonce nonce(std::uint64_t index) const;
  using Aad = std::array<std::uint8_t, 41>;
  Aad aad(std::uint64_t index, bool last) const;

  const SecretBytes& key_;
  std::array<std::uint8_t, 16> salt_;
  Hash256 header_hash_;
};

}  // namespace samovar::security
