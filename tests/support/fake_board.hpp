// A fake /sys, /proc and /etc per board in a temporary folder, as each board's kernel lays them out.
//
// Ownership: the folder goes with the object.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace samovar::test {

class FakeBoard {
 public:
  FakeBoard();
  ~FakeBoard();
  FakeBoard(const FakeBoard&) = delete;
  FakeBoard& operator=(const FakeBoard&) = delete;

  const std::string& root() const { return root_; }
  void write(std::string_view path, std::string_view content);
  void write(std::string_view path, std::int64_t number) { write(path, std::to_string(number) + "\n"); }
  void remove(std::string_view path);
  // Reading it fails with EAGAIN, as a power-gated unit's file does.
  void make_gated(std::string_view path);

  // One INA3221 in its iio form; three rails of {name, mW}. dir: the folder with the channels.
  struct Rail {
    std::string name;
    std::int64_t value_mw;
  };
  void add_ina_iio(const std::string& dir, const std::vector<Rail>& rails);
  // In its hwmon form: {label, mV, mA} for channels 1 to 3, and the sums that must be skipped.
  struct Channel {
    std::string label;
    std::int64_t voltage_mv;
    std::int64_t current_ma;
  };
  void add_ina_hwmon(const std::string& dir, const std::vector<Channel>& channels);
  void add_thermal_zone(int number, std::string_view type, std::int64_t milli_celsius);
  void add_gpu(std::string_view entry, std::string_view of_name, std::int64_t load, std::int64_t clock_hz);
  void add_rapl_zone(std::string_view entry, std::string_view name, std::int64_t energy_uj,
                     std::int64_t range_uj);
  // /proc of an idle computer with eth0 and lo, so that rates have something to start from.
  void add_proc();
  void set_cpu(std::uint64_t busy_ticks, std::uint64_t idle_ticks);
  void set_net(std::string_view interface, std::uint64_t rx_bytes, std::uint64_t tx_bytes);

  void make_tx1();      // R32
  void make_tx1_old();  // R28, before the driver made its links
  void make_nano();
  void make_tx2();
  void make_agx_xavier();
  void make_xavier_nx_r35();
  void make_agx_orin();
  void make_orin_nx();
  void make_intel();
  void make_amd();
  void make_vm();

 private:
  void add_jetson(std::string_view model, std::string_view compatible, std::string_view release);

  std::string root_;
  std::vector<int> writers_;  // keep the gated files' other ends open
};

}  // namespace samovar::test
