// The loops for this processor against those for every processor, at sizes around the widths of vectors.
#include "trainer/data/pack.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "base/sim/sim_rng.hpp"

namespace samovar::trainer::pack {
namespace {

const Table& ours() { return table(); }
const Table& base() { return baseline_table(); }

constexpr std::size_t kSizes[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 64, 100, 1023, 1024, 1025, 4099};

struct Inputs {
  explicit Inputs(std::size_t n, std::uint64_t seed) {
    SimRng rng(seed);
    for (std::size_t i = 0; i < n; ++i) {
      integers.push_back(static_cast<std::int64_t>(rng.next()) >> (seed * 7 % 60));
      small.push_back(static_cast<std::int32_t>(rng.next()));
      codes.push_back(static_cast<std::uint32_t>(rng.next()) >> (seed % 3 * 12));
      valid.push_back(rng.below(4) == 0 ? 0 : 1);
      reals.push_back(static_cast<double>(integers.back()) / 128);
      decimals.push_back(static_cast<double>(rng.below(1'000'000)) / 1e4);
      hex.push_back("0123456789abcdef"[rng.below(16)]);
    }
    packed.resize(n * 8);
    rng.fill(packed);
  }
  std::vector<std::int64_t> integers;
  std::vector<std::int32_t> small;
  std::vector<std::uint32_t> codes;
  std::vector<std::uint8_t> valid;
  std::vector<double> reals, decimals;
  std::vector<char> hex;
  std::vector<std::uint8_t> packed;
};

// Both write into room of their own, which must be the same to the last byte, the rest untouched.
template <class Out, class Run>
void expect_same(std::size_t n, Run run) {
  std::vector<Out> a(n + 4, Out{7}), b(n + 4, Out{7});
  run(ours(), a.data());
  run(base(), b.data());
  EXPECT_EQ(std::memcmp(a.data(), b.data(), a.size() * sizeof(Out)), 0);
  for (std::size_t i = n; i < a.size(); ++i) EXPECT_EQ(a[i], Out{7}) << i;
}

TEST(Pack, WritesTheSameForEveryProcessor) {
  for (const std::size_t n : kSizes) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      const Inputs in(n, seed);
      for (const std::uint8_t* valid : {static_cast<const std::uint8_t*>(nullptr), in.valid.data()}) {
        const Range a = ours().range64(in.integers.data(), valid, in.integers[0], n);
        const Range b = base().range64(in.integers.data(), valid, in.integers[0], n);
        EXPECT_EQ(a.min, b.min);
        EXPECT_EQ(a.max, b.max);
        for (const unsigned width : {1u, 2u, 4u, 8u}) {
          expect_same<std::uint8_t>(n * width, [&](const Table& t, std::uint8_t* out) {
            t.narrow64(in.integers.data(), valid, b.min, n, width, out);
          });
          if (width == 8) continue;
          expect_same<std::uint8_t>(n * width, [&](const Table& t, std::uint8_t* out) {
            t.narrow_codes(in.codes.data(), valid, 77, n, width, out);
          });
          expect_same<std::uint8_t>(n * width, [&](const Table& t, std::uint8_t* out) {
            t.narrow32(in.small.data(), -9, n, width, out);
          });
        }
        EXPECT_EQ(ours().max_code(in.codes.data(), valid, n), base().max_code(in.codes.data(), valid, n));
        EXPECT_EQ(ours().fits_f32(in.reals.data(), valid, n), base().fits_f32(in.reals.data(), valid, n));
        expect_same<std::uint8_t>(
            n * 4, [&](const Table& t, std::uint8_t* out) { t.to_f32(in.reals.data(), valid, n, out); });
        expect_same<std::uint8_t>(
            n * 8, [&](const Table& t, std::uint8_t* out) { t.copy_f64(in.reals.data(), valid, n, out); });
        expect_same<std::uint8_t>((n + 7) / 8, [&](const Table& t, std::uint8_t* out) {
          t.booleans_to_bits(in.integers.data(), valid, n, out);
        });
        expect_same<std::int32_t>(n, [&](const Table& t, std::int32_t* out) {
          EXPECT_TRUE(t.decimals(in.decimals.data(), valid, 1e4, 3, n, out));
        });
        expect_same<std::int32_t>(n, [&](const Table& t, std::int32_t* out) {
          t.decimals(in.decimals.data(), valid, 1e3, 3, n, out);
        });
      }
      EXPECT_EQ(ours().range32(in.small.data(), n).max, base().range32(in.small.data(), n).max);
      EXPECT_EQ(ours().all_present(in.valid.data(), n), base().all_present(in.valid.data(), n));
      expect_same<std::uint8_t>(
          (n + 7) / 8, [&](const Table& t, std::uint8_t* out) { t.to_bits(in.valid.data(), n, out); });
      EXPECT_TRUE(ours().is_hex(in.hex.data(), n) && base().is_hex(in.hex.data(), n));
      expect_same<std::uint8_t>(
          (n + 1) / 2, [&](const Table& t, std::uint8_t* out) { t.pack_hex(in.hex.data(), n, out); });
    }
  }
}

TEST(Pack, ReadsTheSameOnEveryProcessor) {
  for (const std::size_t n : kSizes) {
    const Inputs in(n, n);
    const std::uint8_t* packed = in.packed.data();
    for (const unsigned width : {1u, 2u, 4u, 8u}) {
      for (const std::int64_t from : {std::int64_t{0}, std::int64_t{-1000}, std::int64_t{1} << 60}) {
        for (const double divisor : {1.0, 100.0}) {
          expect_same<double>(
              n, [&](const Table& t, double* out) { t.reals64(packed, width, from, divisor, n, out); });
          expect_same<float>(
              n, [&](const Table& t, float* out) { t.reals32(packed, width, from, divisor, n, out); });
        }
        expect_same<std::int64_t>(
            n, [&](const Table& t, std::int64_t* out) { t.widen64(packed, width, from, n, out); });
      }
      if (width == 8) continue;
      expect_same<std::uint32_t>(
          n, [&](const Table& t, std::uint32_t* out) { t.widen_codes(packed, width, 100, 99, n, out); });
      EXPECT_EQ(ours().max_packed(packed, width, n), base().max_packed(packed, width, n));
      EXPECT_EQ(ours().never_falls(packed, width, n), base().never_falls(packed, width, n));
    }
    expect_same<char>(n, [&](const Table& t, char* out) { t.unpack_hex(packed, n, out); });
    const std::size_t eights = n / 8 * 8;
    for (const unsigned width : {1u, 2u, 4u}) {
      for (const double divisor : {1.0, 100.0}) {
        for (const std::uint8_t* valid : {static_cast<const std::uint8_t*>(nullptr), packed}) {
          expect_same<std::uint32_t>(eights, [&](const Table& t, std::uint32_t* out) {
            t.number_tokens(packed, width, -1000.0, divisor, valid, 8188, eights, out);
          });
        }
      }
    }
    expect_same<std::uint32_t>(n, [&](const Table& t, std::uint32_t* out) {
      t.hash_eights(reinterpret_cast<const char*>(packed), 0x1234'5678'9abc'def0, 44, 5, n, out);
    });
    expect_same<float>(eights, [&](const Table& t, float* out) { t.blank_f32(packed, eights, out); });
    expect_same<double>(eights, [&](const Table& t, double* out) { t.blank_f64(packed, eights, out); });
    expect_same<float>(eights, [&](const Table& t, float* out) { t.bits_to_f32(packed, eights, out); });
    expect_same<double>(eights, [&](const Table& t, double* out) { t.bits_to_f64(packed, eights, out); });
    expect_same<std::int64_t>(eights,
                              [&](const Table& t, std::int64_t* out) { t.bits_to_i64(packed, eights, out); });
  }
}

TEST(Pack, SeesOneWrongCharacterAnywhere) {
  for (const std::size_t n : kSizes) {
    Inputs in(n, 1);
    for (std::size_t i = 0; i < n; i += 1 + n / 50) {
      for (const char wrong : {'g', '/', ':', '`', 'A', '\0', '\xff'}) {
        std::vector<char> text = in.hex;
        text[i] = wrong;
        EXPECT_FALSE(ours().is_hex(text.data(), n));
        EXPECT_FALSE(base().is_hex(text.data(), n));
      }
    }
  }
}

TEST(Pack, SeesOneFallAnywhere) {
  std::vector<std::uint32_t> ends(1000);
  for (std::uint32_t i = 0; i < ends.size(); ++i) ends[i] = i * 3;
  const auto falls = [&](const Table& t) {
    return !t.never_falls(reinterpret_cast<const std::uint8_t*>(ends.data()), 4, ends.size());
  };
  EXPECT_FALSE(falls(ours()));
  for (std::size_t i = 1; i < ends.size(); ++i) {
    ends[i] -= 4;
    EXPECT_TRUE(falls(ours()) && falls(base())) << i;
    ends[i] += 4;
  }
}

}  // namespace
}  // namespace samovar::trainer::pack
