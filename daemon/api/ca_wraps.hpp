// The cluster CA's key, held by administrators and kept in the replicated state: no node can sign a new
// member without a password typed at that moment.
//
// The founder's key is wrapped by the password. An administrator who comes later gets an X25519 key at the
// first log-in, its secret half wrapped by the password; whoever can add nodes seals the CA's key to the
// public half, and needs no meeting for it. Who is administrator no more loses both.
//
// The settings document "cluster_ca" (never shown by the API):
//   {"certificate": PEM, "wraps": [{"user_id", "wrap"}],
//    "keys": [{"user_id", "public", "wraps": […], "of", "box"?}]}
// "of" tells which password the wraps are of; a user's last two wraps are kept, so that a crash between
// re-wrapping and changing the password loses nothing.
//
// Threading: loop only; the wrapping itself runs behind the hash gate.
#pragma once
#include <map>
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

// Adds wraps under the new password, whose hash is `hash`. No error when the user holds none.
Task<Result<void>> rewrap_ca_key(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                 std::string user_id, const security::SecretBytes& old_password,
                                 const security::SecretBytes& new_password, std::string hash);

// ---- handing the right on ----

enum class CaHold : std::uint8_t {
  none,   // an administrator who has not logged in since becoming one
  ready,  // can be given it
  held,   // can add nodes
};
// Of all who hold or could hold it, by user id.
std::map<std::string, CaHold, std::less<>> ca_holds(cluster::Cluster& state);
// Whether nobody else could add nodes.
bool last_ca_holder(cluster::Cluster& state, const std::string& user_id);

// At a good log-in: makes an administrator's own key when there is none of this password yet.
Task<Result<void>> prepare_ca_holder(cluster::Cluster& state, security::HashGate& gate, cluster::Call call,
                                     std::string user_id, const security::SecretBytes& password);
// Errc::not_found: that administrator has no key of their own yet.
Task<Result<void>> give_ca_key(cluster::Cluster& state, cluster::Call call, std::string user_id,
                               const security::SecretBytes& ca_key);
// True when there was something to take. `wholly`: the own key, too.
Task<Result<bool>> take_ca_key(cluster::Cluster& state, cluster::Call call, std::string user_id, bool wholly);

}  // namespace samovar::api
