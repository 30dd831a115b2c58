// What would be gone with a node: the files that nobody else has.
//
// Threading: loop only, while a command is applied or before one is proposed.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/cluster/sqlite.hpp"

namespace samovar::cluster {

// Keys of files that are recorded and that this node alone holds, sorted.
std::vector<std::string> only_copies_of(Db& db, std::string_view node_id);

// Refusal::last_copies when there are more of them than whoever asks agreed to lose. Says whose they are.
Result<void> check_losses(Db& db, const std::vector<std::string>& keys, std::uint64_t losses_max);

}  // namespace samovar::cluster
