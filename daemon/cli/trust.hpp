// The pin check inside the TLS handshake, so that not one byte of a request reaches a stranger.
//
// Accepted: the pinned leaf itself (even expired: it is the same key), or a leaf that chains to the
// pinned web root (the box renewed its certificate). Everything else ends the handshake.
#pragma once
#include <string>

#include "base/result.hpp"
#include "daemon/cli/http_client.hpp"

typedef struct ssl_ctx_st SSL_CTX;  // OpenSSL's own forward declaration

namespace samovar::cli {

struct PinCheck {
  Pin pin;
  std::string leaf_sha256;  // out: what the server showed
  bool refused = false;     // out: by us, not by a broken handshake
};

// `check` must outlive the handshakes of `context`.
void install_pin_check(SSL_CTX* context, PinCheck& check);

// "AB:CD:…" of the first certificate in a PEM text; Errc::corrupt when there is none.
Result<std::string> pem_fingerprint(const std::string& pem);

// Hex in any common form ("ab cd", "AB:CD", "sha256:abcd") → "AB:CD:…" of 32 bytes. Errc::invalid otherwise.
Result<std::string> normalize_fingerprint(std::string_view text);

}  // namespace samovar::cli
