// What tests ask of the emulated plug-in after they have loaded it.
#include "kernels/emulator/emulator.hpp"

extern "C" __attribute__((visibility("default"))) void samovar_emulator_order(int order, unsigned seed) {
  samovar::emulator::set_order(static_cast<samovar::emulator::Order>(order), seed);
}
