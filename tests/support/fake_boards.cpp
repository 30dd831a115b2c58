// The boards: rails, buses and zones as their kernels show them.
#include "tests/support/fake_board.hpp"

namespace samovar::test {
namespace {

const std::string kIio = "/sys/bus/i2c/drivers/ina3221x/";
const std::string kHwmon = "/sys/bus/i2c/drivers/ina3221/";

}  // namespace

void FakeBoard::add_jetson(std::string_view model, std::string_view compatible, std::string_view release) {
  const std::string end(1, '\0');
  write("/proc/device-tree/model", std::string(model) + end);
  write("/proc/device-tree/compatible", "nvidia,some-carrier" + end + std::string(compatible) + end);
  write("/etc/nv_tegra_release", release);
  write("/sys/devices/system/cpu/online", "0-3\n");
  write("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 38.40\nFeatures\t: fp asimd\n");
  add_proc();
}

void FakeBoard::make_tx1() {
  add_jetson("NVIDIA Jetson TX1 Developer Kit", "nvidia,tegra210",
             "# R32 (release), REVISION: 7.1, GCID: 29818004, BOARD: t210ref, EABI: aarch64, DATE: x\n");
  add_ina_iio(kIio + "1-0040/iio:device0", {{"VDD_IN", 4321}, {"VDD_GPU", 500}, {"VDD_CPU", 1200}});
  add_ina_iio(kIio + "1-0042/iio:device1", {{"VDD_MUX", 9000}, {"VDD_5V_IO_SYS", 800}, {"VDD_3V3_SYS", 300}});
  add_ina_iio(kIio + "1-0043/iio:device2", {{"VDD_3V3_IO", 100}, {"VDD_1V8_IO", 50}, {"VDD_M2_IN", 0}});
  add_thermal_zone(0, "AO-therm", 41500);
  add_thermal_zone(1, "CPU-therm", 43000);
  add_thermal_zone(2, "GPU-therm", 39500);
  add_thermal_zone(3, "PLL-therm", 38000);
  add_thermal_zone(4, "PMIC-Die", 100000);
  add_thermal_zone(5, "thermal-fan-est", 44000);
  add_gpu("57000000.gpu", "gpu", 250, 76800000);
}

void FakeBoard::make_tx1_old() {
  add_jetson("jetson_tx1", "nvidia,tegra210",
             "# R28 (release), REVISION: 2.0, GCID: 10136452, BOARD: t210ref\n");
  add_ina_iio("/sys/devices/platform/7000c400.i2c/i2c-1/1-0040/iio_device",
              {{"VDD_IN", 3900}, {"VDD_GPU", 400}, {"VDD_CPU", 900}});
}

void FakeBoard::make_nano() {
  add_jetson("NVIDIA Jetson Nano Developer Kit", "nvidia,tegra210",
             "# R32 (release), REVISION: 6.1, GCID: 1\n");
  add_ina_iio(kIio + "6-0040/iio:device0", {{"POM_5V_IN", 2150}, {"POM_5V_GPU", 40}, {"POM_5V_CPU", 450}});
  // The same chip once more, the way every I²C device is listed.
  add_ina_iio("/sys/bus/i2c/devices/6-0040/iio:device0",
              {{"POM_5V_IN", 2150}, {"POM_5V_GPU", 40}, {"POM_5V_CPU", 450}});
  write("/sys/bus/i2c/devices/6-0040/name", "ina3221x\n");
  add_gpu("57000000.gpu", "gpu", 0, 76800000);
}

void FakeBoard::make_tx2() {
  add_jetson("quill", "nvidia,tegra186", "# R32 (release), REVISION: 4.3, GCID: 1, BOARD: t186ref\n");
  add_ina_iio(kIio + "0-0040/iio:device0",
              {{"VDD_SYS_GPU", 152}, {"VDD_SYS_SOC", 457}, {"VDD_4V0_WIFI", 19}});
  add_ina_iio(kIio + "0-0041/iio:device1", {{"VDD_IN", 3047}, {"VDD_SYS_CPU", 305}, {"VDD_SYS_DDR", 710}});
  add_thermal_zone(0, "BCPU-therm", 40000);
  add_thermal_zone(1, "PMIC-Die", 100000);
  add_gpu("17000000.gp10b", "gp10b", 1000, 1300500000);
}

void FakeBoard::make_agx_xavier() {
  add_jetson("Jetson-AGX", "nvidia,tegra194", "# R32 (release), REVISION: 7.2, GCID: 1, BOARD: t186ref\n");
  add_ina_iio(kIio + "1-0040/iio:device0", {{"GPU", 1000}, {"CPU", 2000}, {"SOC", 3000}});
  add_ina_iio(kIio + "1-0041/iio:device1", {{"CV", 400}, {"VDDRQ", 600}, {"SYS5V", 2500}});
  add_gpu("17000000.gv11b", "gv11b", 333, 318750000);
}

void FakeBoard::make_xavier_nx_r35() {
  add_jetson("NVIDIA Jetson Xavier NX Developer Kit", "nvidia,tegra194",
             "# R35 (release), REVISION: 4.1, GCID: 1\n");
  add_ina_hwmon(kHwmon + "7-0040/hwmon/hwmon6",
                {{"VDD_IN", 4960, 1008}, {"VDD_CPU_GPU_CV", 4960, 200}, {"VDD_SOC", 4960, 248}});
}

void FakeBoard::make_agx_orin() {
  add_jetson("NVIDIA Jetson AGX Orin Developer Kit", "nvidia,tegra234",
             "# R36 (release), REVISION: 4.0, GCID: 1\n");
  add_ina_hwmon(kHwmon + "1-0040/hwmon/hwmon3",
                {{"VDD_GPU_SOC", 20000, 150}, {"VDD_CPU_CV", 20000, 50}, {"VIN_SYS_5V0", 5000, 800}});
  add_ina_hwmon(kHwmon + "1-0041/hwmon/hwmon4",
                {{"NC", 0, 0}, {"VDDQ_VDD2_1V8AO", 5000, 100}, {"NC", 3000, 500}});
  add_thermal_zone(0, "cpu-thermal", 47593);
  add_thermal_zone(1, "gpu-thermal", 44000);
  add_thermal_zone(2, "tj-thermal", 49250);
  add_gpu("17000000.gpu", "gpu", 421, 306000000);
}

void FakeBoard::make_orin_nx() {
  add_jetson("NVIDIA Jetson Orin NX", "nvidia,tegra234", "# R36 (release), REVISION: 3.0, GCID: 1\n");
  add_ina_hwmon("/sys/class/hwmon/hwmon1",
                {{"VDD_IN", 5000, 1200}, {"VDD_CPU_GPU_CV", 5000, 300}, {"VDD_SOC", 5000, 250}});
}

void FakeBoard::make_intel() {
  write("/sys/class/dmi/id/sys_vendor", "LENOVO\n");
  write("/sys/class/dmi/id/product_name", "ThinkCentre M70q\n");
  write("/proc/cpuinfo",
        "processor\t: 0\nmodel name\t: Intel(R) Core(TM) i5-10400T\nflags\t\t: fpu vme sse2\n");
  write("/sys/devices/system/cpu/online", "0-11\n");
  add_proc();
  const std::int64_t range = 262143328850;
  add_rapl_zone("intel-rapl:0", "package-0", 1'000'000'000, range);
  add_rapl_zone("intel-rapl:0:0", "core", 500'000'000, range);
  add_rapl_zone("intel-rapl:0:1", "uncore", 10'000'000, range);
  add_rapl_zone("intel-rapl:0:2", "dram", 100'000'000, range);
  add_rapl_zone("intel-rapl-mmio:0", "package-0", 1'000'000'000, range);
  write("/sys/class/powercap/intel-rapl/enabled", "1\n");
  add_thermal_zone(0, "acpitz", 27800);
  add_thermal_zone(1, "x86_pkg_temp", 51000);
}

void FakeBoard::make_amd() {
  write("/sys/class/dmi/id/sys_vendor", "ASUS\n");
  write("/sys/class/dmi/id/product_name", "PN51\n");
  write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: AMD Ryzen 5 5500U\nflags\t\t: fpu vme sse2\n");
  write("/sys/devices/system/cpu/online", "0-11\n");
  add_proc();
  add_rapl_zone("intel-rapl:0", "package-0", 7'000'000, 65532610987);
  add_rapl_zone("intel-rapl:0:0", "core", 3'000'000, 65532610987);
  write("/sys/class/hwmon/hwmon2/name", "k10temp\n");
  write("/sys/class/hwmon/hwmon2/temp1_label", "Tctl\n");
  write("/sys/class/hwmon/hwmon2/temp1_input", "46125\n");
}

void FakeBoard::make_vm() {
  write("/sys/class/dmi/id/sys_vendor", "QEMU\n");
  write("/sys/class/dmi/id/product_name", "Standard PC (Q35 + ICH9, 2009)\n");
  write("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Some Xeon\nflags\t\t: fpu hypervisor lahf_lm\n");
  write("/sys/devices/system/cpu/online", "0-1\n");
  add_proc();
}

}  // namespace samovar::test
