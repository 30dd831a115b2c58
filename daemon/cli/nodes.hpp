// What commands about nodes share: the columns of `nodes list` and `top`, and which node is meant by a word.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

class App;

const std::vector<Column>& node_columns();

// The node with this name or id, from /nodes. An empty word means the only one.
Result<nlohmann::json> find_node(App& app, std::string_view wanted);
// "/nodes/node-…"
std::string node_path(const nlohmann::json& node);
// What people call it: its name, else its id.
std::string node_name(const nlohmann::json& node);

}  // namespace samovar::cli
