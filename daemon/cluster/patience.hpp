// How soon members miss each other. One place, because the two numbers only make sense together.
//
// A member that is cut off without a word is missed by the leader after the next heartbeat and the mesh's
// patience with it: 1.5 + 3.2 s, and a quarter of a second until somebody looks. That is within the 5 s that
// are promised. A follower that heard a heartbeat just before misses its leader after its election timeout,
// 3 to 4.2 s, which is two heartbeats at least.
//
// More often would notice no sooner and cost: most of what idle nodes send are heartbeats and TCP's own
// acknowledgements of them.
#pragma once
#include <chrono>

namespace samovar::cluster {

inline constexpr std::chrono::milliseconds kHeartbeat{1500};    // ConsensusOptions::heartbeat_ms
inline constexpr std::chrono::milliseconds kMeshSilence{3200};  // MeshOptions::silence_max

}  // namespace samovar::cluster
