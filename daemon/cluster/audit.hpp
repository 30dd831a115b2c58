// The audit log in the database: written by Context::audit, read and verified here.
#pragma once
#include <cstdint>

#include "daemon/cluster/sqlite.hpp"
#include "daemon/cluster/types.hpp"
#include "security/audit_chain.hpp"

namespace samovar::cluster {

AuditPage query_audit(Db& db, const AuditQuery& query);

// Verifies from `verifier`'s place on, at most `count` entries. False when the end or a bad entry is
// reached; `next_seq` goes on from there.
bool verify_some(Db& db, security::ChainVerifier& verifier, std::uint64_t& next_seq, unsigned count);
AuditVerdict finish_verify(Db& db, security::ChainVerifier& verifier);

}  // namespace samovar::cluster
