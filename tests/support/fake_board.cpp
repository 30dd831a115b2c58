#include "tests/support/fake_board.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace samovar::test {
namespace fs = std::filesystem;

FakeBoard::FakeBoard() {
  std::string name = (fs::temp_directory_path() / "samovar-board-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder at " << name;
  root_ = name;
}

FakeBoard::~FakeBoard() {
  for (const int fd : writers_) ::close(fd);
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

void FakeBoard::write(std::string_view path, std::string_view content) {
  const fs::path full = root_ + std::string(path);
  fs::create_directories(full.parent_path());
  std::ofstream(full, std::ios::binary | std::ios::trunc) << content;
}

void FakeBoard::remove(std::string_view path) { fs::remove_all(root_ + std::string(path)); }

void FakeBoard::make_gated(std::string_view path) {
  remove(path);
  const fs::path full = root_ + std::string(path);
  fs::create_directories(full.parent_path());
  // An empty pipe with a writer answers a non-blocking read with EAGAIN.
  ASSERT_EQ(::mkfifo(full.c_str(), 0600), 0);
  const int fd = ::open(full.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  writers_.push_back(fd);
}

void FakeBoard::add_ina_iio(const std::string& dir, const std::vector<Rail>& rails) {
  for (std::size_t n = 0; n < rails.size(); ++n) {
    write(fmt::format("{}/rail_name_{}", dir, n), rails[n].name + "\n");
    write(fmt::format("{}/in_power{}_input", dir, n), rails[n].value_mw);
    write(fmt::format("{}/in_voltage{}_input", dir, n), 5000);
    write(fmt::format("{}/in_current{}_input", dir, n), rails[n].value_mw / 5);
    write(fmt::format("{}/crit_current_limit_{}", dir, n), "32760 ma\n");
  }
}

void FakeBoard::add_ina_hwmon(const std::string& dir, const std::vector<Channel>& channels) {
  write(dir + "/name", "ina3221\n");
  for (std::size_t i = 0; i < channels.size(); ++i) {
    const std::size_t n = i + 1;
    write(fmt::format("{}/in{}_label", dir, n), channels[i].label + "\n");
    write(fmt::format("{}/in{}_input", dir, n), channels[i].voltage_mv);
    write(fmt::format("{}/curr{}_input", dir, n), channels[i].current_ma);
    write(fmt::format("{}/in{}_enable", dir, n), 1);
    write(fmt::format("{}/in{}_input", dir, n + 3), 1200);
  }
  write(dir + "/in7_label", "sum of shunt voltages\n");
  write(dir + "/in7_input", 3600);
  write(dir + "/curr4_input", 99999);
}

void FakeBoard::add_thermal_zone(int number, std::string_view type, std::int64_t milli_celsius) {
  const std::string dir = fmt::format("/sys/class/thermal/thermal_zone{}", number);
  write(dir + "/type", std::string(type) + "\n");
  write(dir + "/temp", milli_celsius);
}

void FakeBoard::add_gpu(std::string_view entry, std::string_view of_name, std::int64_t load,
                        std::int64_t clock_hz) {
  const std::string dir = fmt::format("/sys/class/devfreq/{}", entry);
  write(dir + "/device/of_node/name", std::string(of_name) + std::string(1, '\0'));
  write(dir + "/device/load", load);
  write(dir + "/cur_freq", clock_hz);
}

void FakeBoard::add_rapl_zone(std::string_view entry, std::string_view name, std::int64_t energy_uj,
                              std::int64_t range_uj) {
  const std::string dir = fmt::format("/sys/class/powercap/{}", entry);
  write(dir + "/name", std::string(name) + "\n");
  write(dir + "/energy_uj", energy_uj);
  if (range_uj > 0) write(dir + "/max_energy_range_uj", range_uj);
}

void FakeBoard::add_proc() {
  set_cpu(1000, 9000);
  write("/proc/meminfo",
        "MemTotal:        4059712 kB\nMemFree:          100000 kB\nMemAvailable:    3035712 kB\n");
  write("/proc/loadavg", "0.52 0.58 0.59 1/467 12345\n");
  set_net("eth0", 1000, 2000);
  write("/proc/self/stat",
        "77 (samovar d) (x) S 1 77 77 0 -1 4194560 5000 0 0 0 30 20 0 0 20 0 5 0 100 90000000 2500 "
        "18446744073709551615 1 1\n");
}

void FakeBoard::set_cpu(std::uint64_t busy_ticks, std::uint64_t idle_ticks) {
  write("/proc/stat",
        fmt::format("cpu  {} 0 0 {} 0 0 0 0 0 0\ncpu0 1 2 3 4\nintr 12345\n", busy_ticks, idle_ticks));
}

void FakeBoard::set_net(std::string_view interface, std::uint64_t rx_bytes, std::uint64_t tx_bytes) {
  write("/proc/net/dev",
        fmt::format("Inter-|   Receive                                                |  Transmit\n"
                    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n"
                    "    lo: 555555     100    0    0    0     0          0         0   555555     100\n"
                    "{:>6}: {}     10    0    0    0     0          0         0 {}      10 0 0 0 0 0 0\n",
                    interface, rx_bytes, tx_bytes));
  write(fmt::format("/sys/class/net/{}/device/vendor", interface), "0x8086\n");
}

}  // namespace samovar::test
