// Judges a log's folder before libraft opens it: every file that counts is whole, the entries chain
// from the snapshot to the end, and nothing that was acknowledged is missing.
//
// Threading: any thread; blocking, read only.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/raft/members.hpp"
#include "daemon/raft/sealer.hpp"

namespace samovar::raft {

struct LogCheck {
  Position head;  // the last entry
  std::uint64_t last_index = 0;
  // Open segments that hold nothing but a torn, unacknowledged first write: libraft would refuse
  // them, so they are to be renamed out of its way.
  std::vector<std::string> torn_segments;
  // Closed segments that count no more, though libraft would stumble over them: what an interrupted cut left
  // beside the longer original, and entries older than a snapshot that another member sent.
  std::vector<std::string> old_segments;
  LogServers servers;  // the members, by the last entry that names them
};

// Errc::corrupt names the file and the remedy. `joining`: a log that nobody has sent anything yet is whole.
Result<LogCheck> check_log(Disk& disk, const std::string& dir, const Sealer& sealer, const Witness& witness,
                           bool joining);

}  // namespace samovar::raft
