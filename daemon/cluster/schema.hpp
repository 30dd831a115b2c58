// The tables of the replicated state, by topic. Times are microseconds since 1970, cluster time.
#pragma once
#include "base/result.hpp"
#include "daemon/cluster/sqlite.hpp"

namespace samovar::cluster {

inline constexpr std::int64_t kSchemaVersion = 3;

// In an empty database.
Result<void> create_schema(Db& db);
// After a snapshot was loaded: adds what later versions brought. An empty table is all that was ever added,
// so a snapshot of any earlier version will do; one of a later version is refused.
Result<void> upgrade_schema(Db& db);
// Then: ours, word for word.
Result<void> check_schema(Db& db);
// Over all rows of all tables, in the order of their keys.
Bytes hash_state(Db& db);

}  // namespace samovar::cluster
