// The tables of the replicated state, by topic. Times are microseconds since 1970, cluster time.
#pragma once
#include "base/result.hpp"
#include "daemon/cluster/sqlite.hpp"

namespace samovar::cluster {

inline constexpr std::int64_t kSchemaVersion = 6;

// In an empty database.
Result<void> create_schema(Db& db);
// After a snapshot was loaded: adds what later versions brought. Tables are all that was ever added, so a
// snapshot of any earlier version will do; one of a later version is refused.
Result<void> upgrade_schema(Db& db);
// The other way, for members of an earlier version: takes out the tables that came after `version`.
Result<void> downgrade_schema(Db& db, std::int64_t version);
// The version that nodes which understand commands up to this level can read.
std::int64_t schema_version_of(unsigned level);
// Then: ours, word for word.
Result<void> check_schema(Db& db);
// Over all rows of the tables up to this version, in the order of their keys.
Bytes hash_state(Db& db, std::int64_t version);

}  // namespace samovar::cluster
