// The cluster CA's key, wrapped by administrators' passwords and kept in the replicated state: no node
// can sign a new member without a password typed at that moment.
//
// The settings document "cluster_ca" (never shown by the API):
//   {"certificate": PEM, "wraps": [{"user_id", "wrap"}]}; a user's last two wraps are kept, so that a
//   crash between re-wrapping and changing the password loses nothing.
//
// Threading: loop only; the wrapping itself runs behind the hash gate.
#pragma once
#include <string>

#include "base/result.hpp"
#include "base/task.hpp"
#include "daemon/cluster/cluster.hpp"
#include "security/hash_gate.hpp"
#include "security/secret_bytes.hpp"

namespace samovar::api {

inline constexpr std::string_view kCaSetting = "cluster_ca";

// Bound to the user: a wrap moved to another row does not open.
Bytes ca_wrap_aad(std::string_view cluster_id, std::string_view user_id);
// The document with one wrap.
std::string make_ca_document(const std::string& certificate_pem, const std::string& user_id, ByteView wrap);

// The CA's key (PKCS #8), opened with a password. Errc::denied: the wraps are of another password;
// Errc::not_found: this user holds none, and the message says who does.
Task<Result<security::SecretBytes>> unwrap_ca_key(cluster::Cluster& state, security::HashGate& gate,
                                                  std::string user_id, const security::SecretBytes& password);
// The CA's certificate, PEM; empty before there is one.
std::string ca_certificate_pem(cluster::Cluster& state);

// Adds a wrap under the new password. No error when the user holds none.
Task<Result<void>> rewrap_ca_key(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                 std::string user_id, const security::SecretBytes& old_password,
                                 const security::SecretBytes& new_password);

}  // namespace samovar::api
