// The table of strategies and of codecs: what a job may choose from.
//
// Threading: constant.
#pragma once
#include <string_view>
#include <vector>

namespace samovar::trainer {

std::vector<std::string_view> strategy_names();
std::vector<std::string_view> codec_names();

}  // namespace samovar::trainer
