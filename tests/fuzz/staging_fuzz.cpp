// Staging files whose wrapping key is known. Whatever is done to one, what can be read of it is what was
// written: the seeds hold a pattern, and nothing else may ever come out.
#include <cstdint>
#include <cstdlib>

#include "base/sim/sim_disk.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/store/staging_format.hpp"

using namespace samovar;
using namespace samovar::store;

namespace {

const security::SecretBytes& wrap_key() {
  static const security::SecretBytes kKey = [] {
    security::SecretBytes key(32);
    for (std::size_t i = 0; i < key.size(); ++i) key.mutable_view()[i] = static_cast<std::uint8_t>(i);
    return key;
  }();
  return kKey;
}

std::uint8_t pattern(std::uint64_t at) { return static_cast<std::uint8_t>(at * 7 + at / 997); }

void read_all(Disk& disk, const security::SecretBytes& key, std::uint64_t size_max) {
  auto file = disk.open("/d/f", OpenMode::read);
  if (!file) std::abort();
  auto reader = StagingReader::open(*std::move(file), key);
  if (!reader) return;
  if ((*reader)->size() > size_max) __builtin_trap();
  Bytes part(997);
  while (true) {
    const std::uint64_t at = (*reader)->position();
    auto got = (*reader)->read(part);
    if (!got || *got == 0) break;
    for (std::size_t i = 0; i < *got; ++i) {
      if (part[i] != pattern(at + i)) __builtin_trap();
    }
  }
  ignore((*reader)->refresh(), "fuzz");
}

void decode(ByteView input) {
  const ByteView fixed = input.first(std::min(input.size(), staging::kHeadFixedBytes));
  if (auto head = staging::decode_head(fixed); head && staging::encode_head(*head) != to_bytes(fixed))
    __builtin_trap();
  if (auto header = staging::decode_record_header(input)) {
    Bytes again(staging::kRecordHeaderBytes);
    staging::encode_record_header(*header, again);
    if (again != to_bytes(input.first(staging::kRecordHeaderBytes))) __builtin_trap();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 20) return 0;
  const ByteView input(data, size);
  decode(input);
  SimDisk disk(1);
  if (!disk.make_dir("/d") || !disk.write_file("/d/f", input)) std::abort();
  auto file = StagingFile::open(disk, "/d/f", wrap_key());
  if (!file) return 0;
  if ((*file)->size() > size) __builtin_trap();
  read_all(disk, (*file)->key(), size);
  if ((*file)->sha256()) return 0;
  // It goes on: what is appended is read back behind what was there.
  Bytes more(300);
  for (std::size_t i = 0; i < more.size(); ++i) more[i] = pattern((*file)->size() + i);
  if (!(*file)->append(more) || !(*file)->sync()) __builtin_trap();
  read_all(disk, (*file)->key(), size + more.size());
  return 0;
}
