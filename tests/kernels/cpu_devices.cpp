#include "kernels/cpu/tables.hpp"
#include "tests/kernels/devices.hpp"

namespace samovar::kernels {

std::vector<Device> devices() {
  std::vector<Device> out;
  for (const Table& table : cpu_tables()) {
    Device device;
    device.name = table.name;
    device.table = &table;
    out.push_back(device);
  }
  return out;
}

}  // namespace samovar::kernels
