// Sealed files under a known key. No input but the seeds of that very key may open, and none may crash.
#include <cstdint>
#include <cstdlib>

#include "base/sim/sim_disk.hpp"
#include "security/sealed_file.hpp"

using namespace samovar;
using namespace samovar::security;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const SecretBytes kKey = [] {
    SecretBytes key(32);
    for (std::size_t i = 0; i < key.size(); ++i) key.mutable_view()[i] = static_cast<std::uint8_t>(i);
    return key;
  }();
  if (size > 2 * kSealedChunkBytes) return 0;
  const ByteView input(data, size);
  auto header = decode_sealed_header(input.first(std::min(size, kSealedHeaderBytes)));
  SimDisk disk(1);
  if (!disk.make_dir("/d") || !disk.write_file("/d/f", input)) std::abort();
  // In its own place if it names one, so that the checks behind are reached.
  const SealedFileId id = header ? header->id : SealedFileId{"dst_01J", 9, 3};
  auto reader = SealedReader::open(disk, "/d/f", kKey, id);
  if (!reader) return 0;
  Bytes out(1000);
  ignore((*reader)->read_at(0, out), "fuzz");
  ignore((*reader)->read_at((*reader)->size() / 2, out), "fuzz");
  if ((*reader)->size() > size) __builtin_trap();
  return 0;
}
