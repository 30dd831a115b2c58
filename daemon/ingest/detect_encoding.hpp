// How the letters of a file are written.
//
// Threading: any thread; pure.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/options.hpp"

namespace samovar::ingest {

// From the unpacked sample. Errc::invalid when it is no text at all. Doubts become notes.
Result<Encoding> detect_encoding(ByteView sample, std::vector<std::string>& notes);

}  // namespace samovar::ingest
