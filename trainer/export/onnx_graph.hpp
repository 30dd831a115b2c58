// An ONNX graph while it is built: nodes, constants, inputs and outputs, in the wire format.
//
// Threading: belongs to one thread.
// https://onnx.ai/onnx/repo-docs/IR.html, fields by onnx/onnx.proto
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "trainer/export/protobuf.hpp"

namespace samovar::trainer::onnx {

enum Type : std::uint32_t { kFloat = 1, kInt64 = 7, kString = 8, kBool = 9, kDouble = 11 };

// Field numbers.
namespace model {
inline constexpr std::uint32_t kIrVersion = 1, kProducer = 2, kProducerVersion = 3, kModelVersion = 5,
                               kDoc = 6, kGraph = 7, kOpset = 8, kMetadata = 14;
}
namespace graph {
inline constexpr std::uint32_t kNode = 1, kName = 2, kInitializer = 5, kInput = 11, kOutput = 12;
}
namespace node {
inline constexpr std::uint32_t kInput = 1, kOutput = 2, kName = 3, kOp = 4, kAttribute = 5, kDomain = 7;
}
namespace attribute {
inline constexpr std::uint32_t kName = 1, kInt = 3, kInts = 8, kStrings = 9, kType = 20;
inline constexpr std::uint32_t kTypeInt = 2, kTypeInts = 7, kTypeStrings = 8;
}  // namespace attribute
namespace tensor {
inline constexpr std::uint32_t kDims = 1, kType = 2, kName = 8, kRaw = 9;
}
namespace value_info {
inline constexpr std::uint32_t kName = 1, kType = 2, kDoc = 3;
}

using Value = std::string;  // the name of a tensor

class Graph {
 public:
  Value input(const std::string& name, Type type, std::string_view doc);
  void output(const Value& value, Type type, std::int64_t width);

  // Constants. Those of one element have no dimensions.
  Value constant(double value);
  Value constant(std::int64_t value);
  Value floats(const std::vector<float>& values, std::initializer_list<std::int64_t> dims);
  Value doubles(const std::vector<double>& values, std::initializer_list<std::int64_t> dims);
  Value shape(std::initializer_list<std::int64_t> dims);

  // A node of the default domain; its output has the name `as`, or one that is made for it.
  Value op(std::string_view type, std::initializer_list<Value> inputs, std::string_view as = {});
  Value op(std::string_view type, const std::vector<Value>& inputs, std::string_view attribute,
           std::int64_t number, std::string_view as = {});
  Value cast(const Value& value, Type type, std::string_view as = {}) {
    return op("Cast", std::vector<Value>{value}, "to", type, as);
  }
  // ai.onnx.ml: each key's number, or the default.
  Value label_encoder(const Value& value, const std::vector<std::string>& keys,
                      const std::vector<std::int64_t>& numbers, std::int64_t other);

  std::string finish(std::string_view name);

 private:
  Value fresh() { return "_s" + std::to_string(next_++); }
  Value initializer(Type type, std::string_view raw, std::initializer_list<std::int64_t> dims);
  Value node(std::string_view type, const std::vector<Value>& inputs,
             const std::vector<ProtoWriter>& attributes, std::string_view domain, std::string_view as);

  ProtoWriter nodes_, initializers_, ends_;
  std::uint64_t next_ = 0;
};

}  // namespace samovar::trainer::onnx
