// The parts open_decoded is put together from.
//
// Threading: as Source.
#pragma once
#include <memory>

#include "base/result.hpp"
#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

// Borrow `raw`. Every error is a sentence for the user; libraries are seen only in the .cpp.
std::unique_ptr<Source> make_gzip_source(Source& raw);  // all members, one after the other
std::unique_ptr<Source> make_zstd_source(Source& raw);  // all frames
std::unique_ptr<Source> make_xz_source(Source& raw);    // all streams
std::unique_ptr<Source> make_zip_source(Source& raw);   // exactly one file in it

// Drops a byte order mark and turns the rest into UTF-8. UTF-8 itself passes unchecked: whoever cuts rows
// checks them one by one (utf8.hpp), so that a bad byte costs a row and not the file.
std::unique_ptr<Source> make_transcoder(std::unique_ptr<Source> inner, Encoding encoding);

// Two zeros, a type, a number of dimensions: MNIST's files. Decoded as CSV with a header.
bool is_idx(ByteView head) noexcept;
std::unique_ptr<Source> make_idx_source(std::unique_ptr<Source> inner);

// Unpacked, but not transcoded: what detection looks at.
Result<std::unique_ptr<Source>> open_unpacked(Source& raw, Compression compression,
                                              const UnpackLimits& limits = {});

}  // namespace samovar::ingest
