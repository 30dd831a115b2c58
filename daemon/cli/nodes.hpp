// The columns of a node, shared by `nodes list` and `top`.
#pragma once
#include <vector>

#include "daemon/cli/view.hpp"

namespace samovar::cli {

const std::vector<Column>& node_columns();

}  // namespace samovar::cli
