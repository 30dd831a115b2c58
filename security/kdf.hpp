// Keys from keys: BLAKE2b-256 keyed with the parent over "samovar-v1:" ‖ purpose.
//
// Threading: any thread.
#pragma once
#include <string_view>

#include "security/secret_bytes.hpp"

namespace samovar::security {

// The purposes in use. Each names one key for one job; a new job gets a new name.
namespace purpose {
inline constexpr std::string_view kWrap = "wrap";           // wraps data keys
inline constexpr std::string_view kRaft = "raft";           // seals the consensus log and its snapshots
inline constexpr std::string_view kPepper = "pepper";       // keys password and token hashes
inline constexpr std::string_view kAuditMac = "audit-mac";  // authenticates audit exports
inline constexpr std::string_view kCsrf = "csrf";           // keys the anti-forgery value of a session
inline constexpr std::string_view kHistory = "history";     // seals the metrics history
inline constexpr std::string_view kUpload = "upload";       // wraps the one-off keys of uploads
inline constexpr std::string_view kTls = "tls";             // seals the web root's key
}  // namespace purpose

// 32 bytes. The parent has at least 16 and at most 64.
SecretBytes derive(const SecretBytes& parent, std::string_view purpose);

}  // namespace samovar::security
