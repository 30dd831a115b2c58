// Tensors of up to two dimensions and the operators on them, by the ONNX operator specification.
//
// Threading: values.
// https://onnx.ai/onnx/operators/
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace samovar::trainer::onnx {

struct Tensor {
  std::vector<std::int64_t> dims;
  std::variant<std::vector<float>, std::vector<double>, std::vector<std::int64_t>, std::vector<std::uint8_t>,
               std::vector<std::string>>
      data;  // bytes are truth values

  // Of one dimension: a row.
  std::size_t rows() const { return dims.size() == 2 ? static_cast<std::size_t>(dims[0]) : 1; }
  std::size_t columns() const { return dims.empty() ? 1 : static_cast<std::size_t>(dims.back()); }
};

struct Attributes {
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
  std::map<std::string, std::vector<std::string>, std::less<>> texts;
};

// Empty when there is no such operator here, or its inputs are not what it takes.
std::optional<Tensor> apply(std::string_view op, const std::vector<const Tensor*>& inputs,
                            const Attributes& attributes);

}  // namespace samovar::trainer::onnx
