// What the commands of `samovar data` share.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "daemon/cli/args.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

class App;
struct Call;

extern const std::vector<Column> kDatasets;       // of a list
extern const std::vector<Column> kDatasetRecord;  // of one

// The data set with this id or name (without case); the list's resource.
enum class Where { live, bin };
Result<nlohmann::json> find_dataset(App& app, std::string_view word, Where where = Where::live);
std::string dataset_path(const nlohmann::json& dataset);  // "/datasets/dst_…"

// Flags that say how a file is written, and what they make of a body: {"delimiter":";",…}.
std::vector<Flag> hint_flags();
Result<nlohmann::json> read_hints(App& app, const Invocation& invocation);
// --type, --rename, --sensitive, --not-sensitive: [{"column":…,"type":…},…].
std::vector<Flag> column_flags();
Result<nlohmann::json> read_columns(App& app, const Invocation& invocation);

// Streams an answer to --out FILE (by way of FILE.part) or to stdout. Where the box tells the SHA-256, what
// was written has it.
Result<void> save_stream(App& app, Call call, const std::string& file);

// By name or id, for sharing; only an administrator may look up names.
Result<std::string> user_id_of(App& app, const std::string& word);

extern const Flag kProgressFlag;

}  // namespace samovar::cli
