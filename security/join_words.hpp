// Five words instead of a code: for nodes without a console, and for scripts.
//
// A list of our own, 1296 = 6⁴ short words with different first three letters, so 51.7 bit, and three letters
// of a word are enough to type it. They are a one-time secret for ten minutes; Argon2id makes trying them out
// of the air hopeless within that time.
//
// Threading: any thread; words_key blocks for its cost (hash_gate.hpp).
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/rng.hpp"
#include "security/argon2.hpp"
#include "security/certificates.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::security {

inline constexpr std::size_t kJoinWords = 5;
inline constexpr std::size_t kWordListSize = 1296;

// "acid-bench-coral-fern-wagon".
std::string make_join_words(Rng& rng);
// In that form. Forgives case, spaces, dashes and commas between the words, and words cut after three letters
// or more. Errc::invalid names the word that is not in the list, or says how many there are.
Result<std::string> parse_join_words(std::string_view typed);
// Of what parse_join_words made. The salt is fixed: both sides know nothing but the words.
Result<SecretBytes> words_key(std::string_view words, const Argon2Cost& cost = kPassphraseCost);

// "k7q2-m4xp-9dtb": 60 bit of the authority's certificate, typed with the words so that nobody else's
// cluster can take the node.
std::string ca_digest(const Certificate& ca);
// Forgives what people mistype in base32.
bool ca_digest_matches(std::string_view typed, const Certificate& ca);

// The list, for its test.
std::string_view join_word(std::size_t index);

}  // namespace samovar::security
