// Floats as they are.
#include "trainer/sync/codec.hpp"

namespace samovar::trainer {

namespace {

class Fp32 final : public Codec {
 public:
  std::string_view name() const override { return "fp32"; }
  bool exact() const override { return true; }
  bool whole() const override { return true; }
  std::size_t bytes_most(std::size_t floats, CellKind) const override { return floats * sizeof(float); }
  void encode(std::span<const float> x, std::span<float> known, std::span<const float>, CellKind,
              SeededOrder&, Bytes& out) const override {
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(x.data());
    out.insert(out.end(), bytes, bytes + x.size_bytes());
    if (!known.empty() && known.data() != x.data()) std::memcpy(known.data(), x.data(), x.size_bytes());
  }
  Result<void> decode(ByteView in, std::span<float> known, std::span<const float>, CellKind) const override {
    if (in.size() != known.size_bytes())
      return Error{Errc::corrupt, "parameters that another worker sent are damaged"};
    if (!known.empty()) std::memcpy(known.data(), in.data(), in.size());
    return {};
  }
};

}  // namespace

std::unique_ptr<Codec> make_fp32() { return std::make_unique<Fp32>(); }

}  // namespace samovar::trainer
