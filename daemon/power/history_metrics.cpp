#include "daemon/power/history_metrics.hpp"

#include <cmath>

namespace samovar::power {
namespace {

template <class T>
void put(HistorySlot& slot, std::size_t column, const std::optional<T>& value) {
  if (!value) return;
  const float cell = static_cast<float>(*value);
  if (!std::isfinite(cell)) return;
  slot.cells[column] = cell;
  slot.counts[column] = 1;
  if (column < kMaxColumns) slot.cells[kMeanColumns + column] = cell;
}

}  // namespace

std::optional<std::size_t> find_history_column(std::string_view name) noexcept {
  for (std::size_t i = 0; i < kColumns; ++i)
    if (kHistoryColumns[i].name == name) return i;
  return std::nullopt;
}

std::string history_column_list() {
  std::string all;
  for (const HistoryColumn& column : kHistoryColumns)
    all += (all.empty() ? "" : ", ") + std::string(column.name);
  return all;
}

HistorySlot make_slot(const Sample& sample, std::uint32_t second, double joules) {
  HistorySlot slot;
  slot.number = second;
  slot.samples = 1;
  put(slot, 0, sample.cpu);
  put(slot, kWattsColumn, sample.watts);
  put(slot, 2, sample.temp_max_c);
  put(slot, 3, sample.gpu_load);
  put(slot, 4, sample.load1);
  put(slot, 5, sample.mem_used_bytes);
  put(slot, 6, sample.disk_used_bytes);
  put(slot, 7, sample.net_rx_bps);
  put(slot, 8, sample.net_tx_bps);
  put(slot, 9, sample.process_rss_bytes);
  put(slot, 10, sample.process_cpu);
  if (slot.counts[kWattsColumn] != 0 && std::isfinite(joules))
    slot.cells[kEnergyColumn] = static_cast<float>(joules);
  return slot;
}

}  // namespace samovar::power
