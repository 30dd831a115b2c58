// Argon2id with bounded cost: a stored file cannot ask for more memory or time than we grant.
//
// Threading: any thread; blocks for the time it costs, so not on the loop (see hash_gate.hpp).
#pragma once
#include <array>
#include <cstdint>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

struct Argon2Cost {
  std::uint32_t memory_kib = 0;
  std::uint32_t passes = 0;
  friend bool operator==(const Argon2Cost&, const Argon2Cost&) = default;
};

inline constexpr Argon2Cost kPasswordCost{64 * 1024, 3};     // one log-in
inline constexpr Argon2Cost kPassphraseCost{256 * 1024, 4};  // unlocking a box, and keys held by admins
inline constexpr Argon2Cost kTestCost{8, 1};                 // the least there is, for tests only

inline constexpr std::uint32_t kArgon2MemoryKibMax = 1024 * 1024;
inline constexpr std::uint32_t kArgon2PassesMax = 16;
inline constexpr std::size_t kArgon2SaltBytes = 16;
using Argon2Salt = std::array<std::uint8_t, kArgon2SaltBytes>;

// Within what argon2id accepts and what we are willing to spend.
bool cost_in_bounds(const Argon2Cost& cost) noexcept;

Argon2Salt random_salt();
// 32 bytes. Errc::invalid for a cost out of bounds, Errc::unavailable when memory is short.
Result<SecretBytes> argon2id(ByteView password, const Argon2Salt& salt, const Argon2Cost& cost);

}  // namespace samovar::security
