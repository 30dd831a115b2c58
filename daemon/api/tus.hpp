// The header fields of tus 1.0.0 (https://tus.io/protocols/resumable-upload): what clients send in them and
// what we answer. The IETF's successor is still a draft, so this stays apart from the rest.
//
// Threading: pure functions, any thread.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "daemon/api/http.hpp"

namespace samovar::api {

inline constexpr std::string_view kTusVersion = "1.0.0";
inline constexpr std::string_view kTusExtensions = "creation,termination,expiration";
inline constexpr std::string_view kTusContentType = "application/offset+octet-stream";
inline constexpr std::size_t kFileNameBytesMax = 255;
inline constexpr std::uint64_t kUploadBytesMax = 1ULL << 40;

// Upload-Offset, Upload-Length: digits only, up to 2^53 so that every client counts the same.
std::optional<std::uint64_t> parse_tus_number(std::string_view text) noexcept;

// Upload-Metadata: "filename d29ybGQudHh0,is_confidential". Errc::invalid says what is wrong: a key twice,
// text that is not base64 as RFC 4648 §4 has it.
using TusMetadata = std::vector<std::pair<std::string, std::string>>;
Result<TusMetadata> parse_tus_metadata(std::string_view text);
std::string format_tus_metadata(const TusMetadata& metadata);

// A file's name is data: any UTF-8 of 1 to 255 bytes without NUL. Nothing is ever opened by it.
bool is_file_name(std::string_view name) noexcept;

// "application/offset+octet-stream", with or without parameters.
bool is_tus_content(std::string_view content_type) noexcept;

}  // namespace samovar::api
