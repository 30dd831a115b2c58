// What every codec of the table holds to, whatever it leaves out.
#include "trainer/sync/codec.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/unit/trainer/training.hpp"

namespace samovar::trainer {
namespace {

constexpr CellKind kPlain{1, false, 1};
constexpr CellKind kPair{2, false, 1};
constexpr CellKind kSquares{2, true, 1};
constexpr CellKind kTriple{3, true, 2};
constexpr CellKind kKinds[] = {kPlain, kPair, kSquares, kTriple};
constexpr std::size_t kSizes[] = {0, 12, 48, 384, 390, 6'000, 32'766};

using Floats = std::vector<float>;

std::uint64_t bits_of(const Floats& floats) {
  std::uint64_t all = 0;
  for (const float value : floats) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    all = SeededOrder::mix(all + bits);
  }
  return all;
}
double distance(const Floats& a, const Floats& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::pow(static_cast<double>(a[i]) - b[i], 2);
  return std::sqrt(sum);
}
double size_of(const Floats& a) { return distance(a, Floats(a.size())); }

// As cells of a hashed model are: most untouched, the others of very unlike sizes.
Floats model(std::size_t floats, CellKind cell, Luck& luck, double touched = 0.3) {
  Floats out(floats);
  for (std::size_t first = 0; first < floats; first += cell.floats) {
    if (luck.unit() > touched) continue;
    const double use = std::exp(2 * luck.normal());
    for (std::size_t i = first; i < std::min(floats, first + cell.floats); ++i) {
      const bool square = cell.squares && i - first == cell.squares_at;
      out[i] = static_cast<float>(square ? use : std::sqrt(use) * luck.normal());
    }
  }
  return out;
}

class Ends {
 public:
  Ends(std::string_view codec, const Floats& begin, CellKind cell)
      : codec_(make_codec(codec)), cell_(cell), sender(begin), receiver(begin) {}
  // One message. Both ends know the same afterwards, to the bit.
  std::size_t tell(const Floats& x) {
    Bytes message = {1, 2, 3};  // what stands before it is left alone
    codec_->encode(x, sender, sender, cell_, luck, message);
    EXPECT_EQ((Bytes{message.begin(), message.begin() + 3}), (Bytes{1, 2, 3}));
    message.erase(message.begin(), message.begin() + 3);
    EXPECT_LE(message.size(), codec_->bytes_most(x.size(), cell_));
    const Result<void> decoded = codec_->decode(message, receiver, receiver, cell_);
    EXPECT_TRUE(decoded.has_value()) << decoded.error().message();
    EXPECT_EQ(bits_of(sender), bits_of(receiver)) << "the ends no longer know the same";
    return message.size();
  }

 private:
  std::unique_ptr<Codec> codec_;
  CellKind cell_;

 public:
  Floats sender, receiver;
  SeededOrder luck{7};
};

class CodecTable : public testing::TestWithParam<std::string_view> {
 protected:
  std::unique_ptr<Codec> codec_ = make_codec(GetParam());
};

TEST_P(CodecTable, KnowsItsName) { EXPECT_EQ(codec_->name(), GetParam()); }

TEST_P(CodecTable, KeepsToTheBytesItPromisesAndBothEndsAgree) {
  Luck luck(1);
  for (const CellKind cell : kKinds) {
    for (const std::size_t floats : kSizes) {
      Ends ends(GetParam(), model(floats, cell, luck), cell);
      for (int message = 0; message < 3; ++message) ends.tell(model(floats, cell, luck));
    }
  }
}

TEST_P(CodecTable, ExactOnesAreExactToTheBit) {
  if (!codec_->exact()) GTEST_SKIP() << "it rounds";
  Luck luck(2);
  for (const CellKind cell : kKinds) {
    for (const std::size_t floats : kSizes) {
      for (const double changes : {0.0, 0.001, 0.04, 0.3, 1.0}) {
        const Floats before = model(floats, cell, luck);
        Floats x = before;
        const Floats other = model(floats, cell, luck, 1);
        for (std::size_t i = 0; i < floats; ++i) x[i] = luck.unit() < changes ? other[i] : x[i];
        if (floats > 9) x[9] = -0.0f;
        Ends ends(GetParam(), before, cell);
        ends.tell(x);
        EXPECT_EQ(bits_of(ends.receiver), bits_of(x));
      }
    }
  }
}

// What a message leaves out is told by later ones.
TEST_P(CodecTable, LosesNothingOverManyMessages) {
  Luck luck(3);
  for (const CellKind cell : kKinds) {
    const Floats x = model(3'000, cell, luck);
    Ends ends(GetParam(), Floats(x.size()), cell);
    double before = size_of(x);
    for (int tens = 0; tens < 20; ++tens) {
      for (int message = 0; message < 10; ++message) ends.tell(x);
      const double now = distance(x, ends.receiver);
      EXPECT_LE(now, before * 1.0001);
      before = now;
    }
    EXPECT_LE(before, 2e-2 * size_of(x));
  }
}

// The sender moves on all the time: what has not been told does not pile up.
TEST_P(CodecTable, FollowsAVectorThatMoves) {
  Luck luck(4);
  Floats x = model(6'000, kSquares, luck);
  Ends ends(GetParam(), x, kSquares);
  double worst = 0;
  for (int message = 0; message < 300; ++message) {
    // A tenth of the cells is used in each round.
    for (std::size_t i = 0; i < x.size(); i += 2) {
      if (luck.unit() > 0.1) continue;
      const auto g = static_cast<float>(0.1 * luck.normal());
      x[i] += g;
      x[i + 1] += g * g;
    }
    ends.tell(x);
    if (message >= 150) worst = std::max(worst, distance(x, ends.receiver));
  }
  EXPECT_LE(worst, 0.08 * size_of(x));
}

TEST_P(CodecTable, RepeatsItselfWithTheSameLuck) {
  Luck luck(5);
  const Floats x = model(6'000, kSquares, luck);
  Ends one(GetParam(), Floats(x.size()), kSquares);
  Ends two(GetParam(), Floats(x.size()), kSquares);
  for (int message = 0; message < 3; ++message) {
    one.tell(x);
    two.tell(x);
    EXPECT_EQ(bits_of(one.receiver), bits_of(two.receiver));
  }
}

TEST_P(CodecTable, DamagedMessagesAreRefusedOrHarmless) {
  Luck luck(6);
  for (const CellKind cell : kKinds) {
    for (const std::size_t floats : {std::size_t{0}, std::size_t{48}, std::size_t{390}}) {
      const Floats x = model(floats, cell, luck);
      const Floats like = model(floats, cell, luck);
      Floats known = like;
      Bytes message;
      SeededOrder order{3};
      codec_->encode(x, known, like, cell, order, message);
      // Cut anywhere, or with something behind it. Memory of just that size: reading beyond it would be seen.
      for (std::size_t size = 0; size < message.size(); ++size) {
        const Bytes cut(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(size));
        Floats into = like;
        const Result<void> decoded = codec_->decode(cut, into, like, cell);
        if (decoded) {
          EXPECT_TRUE(GetParam() == "top_k" || GetParam() == "sparse") << size;
        } else {
          EXPECT_EQ(decoded.error().code(), Errc::corrupt);
        }
      }
      // Any bits at all.
      for (int trial = 0; trial < 200; ++trial) {
        Bytes other = message;
        if (other.empty()) break;
        for (int flips = 0; flips < 4; ++flips)
          other[static_cast<std::size_t>(luck.unit() * static_cast<double>(other.size()))] ^=
              static_cast<std::uint8_t>(1u << (trial % 8));
        Floats into = like;
        if (!codec_->decode(other, into, like, cell) || codec_->exact()) continue;
        for (const float value : into) EXPECT_TRUE(std::isfinite(value));
      }
      Bytes longer = message;
      longer.resize(codec_->bytes_most(floats, cell) + 1, 0xff);
      Floats into = like;
      EXPECT_FALSE(codec_->decode(longer, into, like, cell).has_value());
    }
  }
}

TEST_P(CodecTable, WhatIsNotFiniteIsCarriedExactlyOrNotAtAll) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kEndless = std::numeric_limits<float>::infinity();
  constexpr float kLarge = std::numeric_limits<float>::max();
  constexpr float kTiny = std::numeric_limits<float>::denorm_min();
  for (const CellKind cell : kKinds) {
    Floats x(96, 1.0f);
    x[0] = kNan;
    x[13] = kEndless;
    x[26] = -kEndless;
    Ends ends(GetParam(), Floats(96, 0.5f), cell);
    for (int message = 0; message < 200; ++message) ends.tell(x);
    if (codec_->exact()) {
      EXPECT_EQ(bits_of(ends.receiver), bits_of(x));
      continue;
    }
    for (const std::size_t i : {std::size_t{0}, std::size_t{13}, std::size_t{26}}) {
      EXPECT_TRUE(std::isfinite(ends.receiver[i]));
      // One bit cannot say "no difference": it goes along with its class.
      if (GetParam() != "one_bit") {
        EXPECT_EQ(ends.receiver[i], 0.5f) << "what it was before";
      }
    }
    EXPECT_NEAR(ends.receiver[1], 1, 0.01);

    // The largest, the smallest, and from end to end.
    Floats ends_of(96);
    for (std::size_t i = 0; i < 96; ++i) ends_of[i] = i % 3 == 0 ? kLarge : i % 3 == 1 ? -kLarge : kTiny;
    Ends far(GetParam(), Floats(96, -kLarge), cell);
    for (int message = 0; message < 100; ++message) far.tell(ends_of);
    for (const float value : far.receiver) EXPECT_TRUE(std::isfinite(value));
    Floats small(96);
    for (std::size_t i = 0; i < 96; ++i) small[i] = static_cast<float>(i) * kTiny;
    Ends near(GetParam(), Floats(96), cell);
    for (int message = 0; message < 100; ++message) near.tell(small);
    for (const float value : near.receiver) EXPECT_LE(std::abs(value), std::numeric_limits<float>::min());

    // One that is known and not finite counts as 0: the way back is open.
    Ends back(GetParam(), Floats(96, kNan), cell);
    const Floats one(96, 1.0f);
    for (int message = 0; message < 100; ++message) back.tell(one);
    for (const float value : back.receiver) EXPECT_NEAR(value, 1, 0.02);
  }
}

INSTANTIATE_TEST_SUITE_P(All, CodecTable, testing::ValuesIn(codec_names()),
                         [](const auto& one) { return std::string(one.param); });

TEST(CodecInt8, TheMeanOfWhatArrivesIsWhatWasSent) {
  const auto codec = make_int8();
  Luck luck(8);
  for (const CellKind cell : {kPlain, kSquares}) {
    const Floats x = model(390, cell, luck, 0.9);
    std::vector<double> sum(x.size());
    SeededOrder order{11};
    constexpr int kTrials = 20'000;
    for (int trial = 0; trial < kTrials; ++trial) {
      Floats known(x.size());
      Bytes message;
      codec->encode(x, known, known, cell, order, message);
      for (std::size_t i = 0; i < x.size(); ++i) sum[i] += static_cast<double>(known[i]);
    }
    float most = 0;
    for (const float value : x) most = std::max(most, std::abs(value));
    // A rounding is off by a unit at most; its mean over all trials by five standard errors.
    const double error = 5 * 0.5 * static_cast<double>(most) / 127 / std::sqrt(kTrials);
    for (std::size_t i = 0; i < x.size(); ++i)
      EXPECT_NEAR(sum[i] / kTrials, static_cast<double>(x[i]), error + 1e-5) << i;
  }
}

TEST(CodecFp16, IsOffByOnePartIn2048AtMost) {
  const auto codec = make_fp16();
  Luck luck(9);
  const Floats x = model(6'000, kSquares, luck);
  Floats known(x.size());
  Bytes message;
  SeededOrder order{1};
  codec->encode(x, known, known, kSquares, order, message);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(known[i], x[i], std::abs(x[i]) / 2048 + 1e-9);
}

TEST(CodecOneBit, TheMeanOfAClassArrivesAndUntouchedCellsStay) {
  const auto codec = make_one_bit();
  Luck luck(10);
  Floats like = model(16'384, kSquares, luck);
  Floats x = like;
  double told = 0, wanted = 0;
  for (std::size_t i = 0; i < x.size(); i += 2) {
    if (like[i + 1] == 0 || luck.unit() > 0.5) continue;
    x[i] += 0.25f;
    x[i + 1] += 0.0625f;
    wanted += 0.25;
  }
  Floats known = like;
  Bytes message;
  SeededOrder order{1};
  codec->encode(x, known, like, kSquares, order, message);
  for (std::size_t i = 0; i < x.size(); i += 2) {
    told += static_cast<double>(known[i]) - like[i];
    if (like[i + 1] == 0) {
      EXPECT_EQ(known[i], 0) << i;
    }
  }
  EXPECT_NEAR(told, wanted, 0.01 * wanted);
  EXPECT_LE(message.size(), 16'384 / 8 + 200u);
}

}  // namespace
}  // namespace samovar::trainer
