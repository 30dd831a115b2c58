#include "trainer/sync/codec.hpp"

namespace samovar::trainer {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Codec> (*make)();
};

constexpr Entry kCodecs[] = {
    {"fp32", make_fp32},       {"fp16", make_fp16},   {"int8", make_int8},
    {"one_bit", make_one_bit}, {"top_k", make_top_k}, {"sparse", make_sparse},
};

}  // namespace

std::unique_ptr<Codec> make_codec(std::string_view name) {
  for (const Entry& entry : kCodecs) {
    if (entry.name == name) return entry.make();
  }
  return nullptr;
}

std::vector<std::string_view> codec_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kCodecs) names.push_back(entry.name);
  return names;
}

}  // namespace samovar::trainer
