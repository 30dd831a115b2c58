// From the first megabytes of a file: what it is, how it is written, what its columns are.
//
// Threading: any thread; pure.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "daemon/ingest/options.hpp"
#include "daemon/ingest/source.hpp"

namespace samovar::ingest {

inline constexpr std::size_t kSampleBytesMax = 4 << 20;

// What the person fixed beforehand; the rest is found.
struct ParseHints {
  std::optional<Format> format;
  std::optional<Encoding> encoding;
  std::optional<char> delimiter;
  std::optional<bool> header;
  std::optional<char> decimal;
  std::optional<bool> quoted;
  std::optional<DateOrder> date_order;
  std::optional<std::uint64_t> skip_lines;
  std::optional<std::vector<std::string>> missing;
};
Result<ParseHints> parse_hints(const nlohmann::json& json);
nlohmann::json to_json(const ParseHints& hints);

// Reads at most kSampleBytesMax of unpacked bytes. `file_name` helps only where the bytes leave a doubt.
// Errc::invalid with a sentence for what is no table at all: an image, an executable, an empty file.
Result<Detection> detect(Source& raw, std::string_view file_name, const ParseHints& hints);

}  // namespace samovar::ingest
