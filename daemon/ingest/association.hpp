// How strongly a category column goes with another column: the correlation ratio with numbers, Cramér's V
// with categories, both corrected for what chance alone would give. From some rows of the file, side by side.
//
// Threading: values; one thread.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "trainer/data/schema.hpp"

namespace samovar::ingest {

// Column by column: the hash of a level, or the bits of an f64; kMissing where there is none.
struct RowSample {
  static constexpr std::uint64_t kMissing = ~std::uint64_t{0};  // as an f64, a NaN
  std::vector<std::vector<std::uint64_t>> columns;  // of AssociationPlan: categories, then numbers
};

// Which columns are looked at: the first of each kind.
struct AssociationPlan {
  static constexpr std::size_t kColumnsMax = 64;
  static constexpr std::size_t kRowsMax = 4096;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static AssociationPlan make(const trainer::Schema& schema);
  std::vector<std::uint32_t> categories;  // rising
  std::vector<std::uint32_t> numbers;     // rising
  std::vector<std::uint32_t> place;       // by column: in RowSample::columns, or kNone
  std::size_t size() const noexcept { return categories.size() + numbers.size(); }
};

// {"categories": […], "numbers": […], "ratios": [by category, by number], "v": [(0,1) (0,2) … (1,2) …]};
// null where nothing can be said.
nlohmann::json association_json(const AssociationPlan& plan, const RowSample& sample);

}  // namespace samovar::ingest
