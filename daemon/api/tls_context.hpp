// The TLS settings of the web port: 1.3, and 1.2 only with ECDHE-ECDSA and an AEAD.
//
// Threading: any thread; a context is constant once made.
#pragma once
#include <memory>
#include <string_view>

#include "base/result.hpp"

namespace boost::asio::ssl {
class context;
}

namespace samovar::api {

// Errc::invalid when the PEM does not parse or the key is not the certificate's.
Result<std::shared_ptr<boost::asio::ssl::context>> make_tls_context(std::string_view chain_pem,
                                                                    std::string_view key_pem);

}  // namespace samovar::api
