#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

std::vector<std::string_view> strategy_names() { return {"easgd"}; }
std::vector<std::string_view> codec_names() { return {"fp32"}; }

}  // namespace samovar::trainer
