// How floats go over the wire: whole, rounded, or only those that changed.
//
// Both ends keep what the receiver knows of a piece; a message brings that nearer to what the sender has.
// What a lossy codec leaves out is the difference between the two, and is sent later: nothing is lost for
// good, and there is no other residual to be kept. Of what does not build on the message before (gradients)
// the sender keeps it (sliced.cpp).
//
// Threading: constant; a Luck belongs to one thread.
// Format:    docs/formats/parameter-exchange.md
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "trainer/data/order.hpp"
#include "trainer/sync/flat_vector.hpp"

namespace samovar::trainer {

class Codec {
 public:
  virtual ~Codec() = default;
  virtual std::string_view name() const = 0;
  // The receiver gets what the sender has, to the bit.
  virtual bool exact() const { return false; }
  // Every message says everything: nothing needs to be kept.
  virtual bool whole() const { return false; }
  // Bytes of a piece of so many floats, at most. What it promises.
  virtual std::size_t bytes_most(std::size_t floats, CellKind cell) const = 0;
  // Appends to `out` what brings `known` nearer to x; `known` becomes what the receiver then has. `like`: a
  // vector of the same cells that both ends have, before this message; by it a codec tells cells that change
  // much from those that do not. It may be `known` itself.
  virtual void encode(std::span<const float> x, std::span<float> known, std::span<const float> like,
                      CellKind cell, SeededOrder& luck, Bytes& out) const = 0;
  virtual Result<void> decode(ByteView in, std::span<float> known, std::span<const float> like,
                              CellKind cell) const = 0;
};

// The table of codecs. Null when there is none of that name.
std::unique_ptr<Codec> make_codec(std::string_view name);
std::vector<std::string_view> codec_names();

std::unique_ptr<Codec> make_fp32();
std::unique_ptr<Codec> make_fp16();
std::unique_ptr<Codec> make_int8();
std::unique_ptr<Codec> make_one_bit();
std::unique_ptr<Codec> make_top_k();
std::unique_ptr<Codec> make_sparse();

}  // namespace samovar::trainer
