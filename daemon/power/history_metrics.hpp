// The metrics that history keeps: their names in the API and in the file, and where they live in a slot.
#pragma once
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/power/history_ring.hpp"
#include "daemon/power/sample.hpp"

namespace samovar::power {

struct HistoryColumn {
  std::string_view name;
  int decimals;  // what of a 32-bit float is worth showing
};

// In the order of a slot's cells. "<metric>_max" is kept where a mean would hide what matters.
inline constexpr std::array<HistoryColumn, kColumns> kHistoryColumns = {{
    {"cpu", 4},
    {"watts", 3},
    {"temp_max_c", 2},
    {"gpu_load", 4},
    {"load1", 2},
    {"mem_used_bytes", 0},
    {"disk_used_bytes", 0},
    {"net_rx_bps", 0},
    {"net_tx_bps", 0},
    {"process_rss_bytes", 0},
    {"process_cpu", 4},
    {"cpu_max", 4},
    {"watts_max", 3},
    {"temp_max_c_max", 2},
    {"gpu_load_max", 4},
    {"energy_j", 3},
}};
inline constexpr std::size_t kWattsColumn = 1;

// The first kMaxColumns means have a maximum, in the same order behind the means.
constexpr bool is_mean(std::size_t column) noexcept { return column < kMeanColumns; }
constexpr bool is_max(std::size_t column) noexcept {
  return column >= kMeanColumns && column < kEnergyColumn;
}

std::optional<std::size_t> find_history_column(std::string_view name) noexcept;
// "cpu, watts, …" for messages.
std::string history_column_list();

// The sample as the content of one second; joules is what it used.
HistorySlot make_slot(const Sample& sample, std::uint32_t second, double joules);

}  // namespace samovar::power
