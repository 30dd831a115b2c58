// Specs of jobs, as anybody who may train sends them.
#include <cstdint>

#include "base/bytes.hpp"
#include "base/json.hpp"
#include "trainer/spec.hpp"

using namespace samovar;
using namespace samovar::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Schema schema = {{{"y", ColumnType::boolean},
                                 {"c", ColumnType::category},
                                 {"n", ColumnType::integer},
                                 {"x", ColumnType::real},
                                 {"t", ColumnType::time},
                                 {"words", ColumnType::text},
                                 {"pairs", ColumnType::sparse}}};
  const auto json = nlohmann::json::parse(as_text({data, size}), nullptr, false);
  if (json.is_discarded()) return 0;
  for (const Schema* known : {static_cast<const Schema*>(nullptr), &schema}) {
    const ParsedSpec once = parse_spec(json, known);
    for (const SpecFault& fault : once.faults) {
      if (fault.code.empty() || fault.detail.empty()) __builtin_trap();
    }
    if (!once.faults.empty()) continue;
    // What is taken is written so that it is taken again, and says the same.
    const nlohmann::json full = to_json(once.spec);
    const ParsedSpec twice = parse_spec(full, known);
    if (!twice.faults.empty() || to_json(twice.spec) != full) __builtin_trap();
  }
  return 0;
}
