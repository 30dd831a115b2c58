#include "trainer/export/onnx_tensor.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "trainer/export/onnx_graph.hpp"

namespace samovar::trainer::onnx {

namespace {

using Inputs = std::vector<const Tensor*>;
using Answer = std::optional<Tensor>;

template <class T>
const std::vector<T>* values(const Tensor& tensor) {
  return std::get_if<std::vector<T>>(&tensor.data);
}

// Of each dimension the two are the same, or one of them is 1 and repeats.
struct Broadcast {
  std::size_t rows = 0, columns = 0, rank = 0;
  bool fits = true;
  explicit Broadcast(const Inputs& inputs) {
    rows = columns = 1;
    for (const Tensor* tensor : inputs) {
      rank = std::max(rank, tensor->dims.size());
      fits = fits && join(rows, tensor->rows()) && join(columns, tensor->columns());
    }
  }
  static bool join(std::size_t& size, std::size_t other) {
    if (size == 1) size = other;
    return other == 1 || other == size;
  }
  std::vector<std::int64_t> dims() const {
    const auto r = static_cast<std::int64_t>(rows), c = static_cast<std::int64_t>(columns);
    return rank == 0 ? std::vector<std::int64_t>{} : rank == 1 ? std::vector{c} : std::vector{r, c};
  }
  static std::size_t at(const Tensor& tensor, std::size_t row, std::size_t column) {
    return (tensor.rows() == 1 ? 0 : row) * tensor.columns() + (tensor.columns() == 1 ? 0 : column);
  }
};

template <class From, class To, class Function>
Answer pairwise(const Inputs& in, Function function) {
  if (in.size() != 2) return std::nullopt;
  const auto* a = values<From>(*in[0]);
  const auto* b = values<From>(*in[1]);
  const Broadcast size(in);
  if (a == nullptr || b == nullptr || !size.fits) return std::nullopt;
  std::vector<To> out;
  out.reserve(size.rows * size.columns);
  for (std::size_t r = 0; r < size.rows; ++r) {
    for (std::size_t c = 0; c < size.columns; ++c)
      out.push_back(
          static_cast<To>(function((*a)[Broadcast::at(*in[0], r, c)], (*b)[Broadcast::at(*in[1], r, c)])));
  }
  return Tensor{size.dims(), std::move(out)};
}

template <class Function>
Answer arithmetic(const Inputs& in, Function function) {
  if (auto answer = pairwise<double, double>(in, function)) return answer;
  if (auto answer = pairwise<float, float>(in, function)) return answer;
  return pairwise<std::int64_t, std::int64_t>(in, function);
}
template <class Function>
Answer comparison(const Inputs& in, Function function) {
  if (auto answer = pairwise<double, std::uint8_t>(in, function)) return answer;
  return pairwise<std::int64_t, std::uint8_t>(in, function);
}

template <class T, class Function>
Answer each(const Inputs& in, Function function) {
  const auto* from = in.size() == 1 ? values<T>(*in[0]) : nullptr;
  if (from == nullptr) return std::nullopt;
  std::vector<T> out(from->size());
  std::transform(from->begin(), from->end(), out.begin(), function);
  return Tensor{in[0]->dims, std::move(out)};
}

template <class T>
Answer where_of(const Inputs& in) {
  const auto* truth = values<std::uint8_t>(*in[0]);
  const auto* a = values<T>(*in[1]);
  const auto* b = values<T>(*in[2]);
  const Broadcast size(in);
  if (truth == nullptr || a == nullptr || b == nullptr || !size.fits) return std::nullopt;
  std::vector<T> out;
  for (std::size_t r = 0; r < size.rows; ++r) {
    for (std::size_t c = 0; c < size.columns; ++c) {
      const bool first = (*truth)[Broadcast::at(*in[0], r, c)] != 0;
      out.push_back(first ? (*a)[Broadcast::at(*in[1], r, c)] : (*b)[Broadcast::at(*in[2], r, c)]);
    }
  }
  return Tensor{size.dims(), std::move(out)};
}
Answer where(const Inputs& in) {
  if (in.size() != 3) return std::nullopt;
  if (auto answer = where_of<double>(in)) return answer;
  return where_of<std::int64_t>(in);
}

template <class To>
Answer cast_to(const Tensor& from) {
  return std::visit(
      [&](const auto& list) -> Answer {
        using From = typename std::decay_t<decltype(list)>::value_type;
        if constexpr (std::is_same_v<From, std::string>) {
          return std::nullopt;
        } else {
          std::vector<To> out;
          out.reserve(list.size());
          for (const From value : list) out.push_back(static_cast<To>(value));
          return Tensor{from.dims, std::move(out)};
        }
      },
      from.data);
}
Answer cast(const Inputs& in, const Attributes& attributes) {
  const auto to = attributes.numbers.find("to");
  if (in.size() != 1 || to == attributes.numbers.end()) return std::nullopt;
  switch (to->second) {
    case kFloat:
      return cast_to<float>(*in[0]);
    case kDouble:
      return cast_to<double>(*in[0]);
    case kInt64:
      return cast_to<std::int64_t>(*in[0]);
    default:
      return std::nullopt;
  }
}

// Columns side by side.
Answer concat(const Inputs& in) {
  std::size_t width = 0;
  if (in.empty()) return std::nullopt;
  const std::size_t rows = in[0]->rows();
  for (const Tensor* tensor : in) {
    if (values<float>(*tensor) == nullptr || tensor->rows() != rows) return std::nullopt;
    width += tensor->columns();
  }
  std::vector<float> out;
  for (std::size_t r = 0; r < rows; ++r) {
    for (const Tensor* tensor : in) {
      const auto& list = *values<float>(*tensor);
      const auto first = list.begin() + static_cast<std::ptrdiff_t>(r * tensor->columns());
      out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(tensor->columns()));
    }
  }
  return Tensor{{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)}, std::move(out)};
}

Answer mat_mul(const Inputs& in) {
  const auto* a = in.size() == 2 ? values<double>(*in[0]) : nullptr;
  const auto* b = in.size() == 2 ? values<double>(*in[1]) : nullptr;
  if (a == nullptr || b == nullptr || in[0]->columns() != in[1]->rows()) return std::nullopt;
  const std::size_t rows = in[0]->rows(), inner = in[0]->columns(), columns = in[1]->columns();
  std::vector<double> out(rows * columns);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t i = 0; i < inner; ++i) {
      for (std::size_t c = 0; c < columns; ++c)
        out[r * columns + c] += (*a)[r * inner + i] * (*b)[i * columns + c];
    }
  }
  return Tensor{{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)}, std::move(out)};
}

// Rows of a table.
Answer gather(const Inputs& in) {
  const auto* table = in.size() == 2 ? values<float>(*in[0]) : nullptr;
  const auto* index = in.size() == 2 ? values<std::int64_t>(*in[1]) : nullptr;
  if (table == nullptr || index == nullptr) return std::nullopt;
  const std::size_t columns = in[0]->columns();
  std::vector<float> out;
  for (const std::int64_t at : *index) {
    if (at < 0 || static_cast<std::size_t>(at) >= in[0]->rows()) return std::nullopt;
    const auto first = table->begin() + at * static_cast<std::int64_t>(columns);
    out.insert(out.end(), first, first + static_cast<std::ptrdiff_t>(columns));
  }
  return Tensor{{static_cast<std::int64_t>(index->size()), static_cast<std::int64_t>(columns)},
                std::move(out)};
}

Answer softmax(const Inputs& in) {
  const auto* from = in.size() == 1 ? values<double>(*in[0]) : nullptr;
  if (from == nullptr) return std::nullopt;
  std::vector<double> out = *from;
  const std::size_t width = in[0]->columns();
  for (std::size_t first = 0; first < out.size(); first += width) {
    const auto begin = out.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(width);
    const double most = *std::max_element(begin, end);
    double sum = 0;
    std::for_each(begin, end, [&](double& value) { sum += value = std::exp(value - most); });
    std::for_each(begin, end, [&](double& value) { value /= sum; });
  }
  return Tensor{in[0]->dims, std::move(out)};
}

Answer label_encoder(const Inputs& in, const Attributes& attributes) {
  const auto* from = in.size() == 1 ? values<std::string>(*in[0]) : nullptr;
  const auto keys = attributes.texts.find("keys_strings");
  const auto numbers = attributes.lists.find("values_int64s");
  const auto other = attributes.numbers.find("default_int64");
  if (from == nullptr || keys == attributes.texts.end() || numbers == attributes.lists.end() ||
      other == attributes.numbers.end() || keys->second.size() != numbers->second.size())
    return std::nullopt;
  std::unordered_map<std::string_view, std::int64_t> known;
  for (std::size_t i = 0; i < keys->second.size(); ++i) known.emplace(keys->second[i], numbers->second[i]);
  std::vector<std::int64_t> out;
  for (const std::string& value : *from) {
    const auto at = known.find(value);
    out.push_back(at == known.end() ? other->second : at->second);
  }
  return Tensor{in[0]->dims, std::move(out)};
}

// Only to one dimension.
Answer flatten(const Inputs& in) {
  const auto* shape = in.size() == 2 ? values<std::int64_t>(*in[1]) : nullptr;
  if (shape == nullptr || *shape != std::vector<std::int64_t>{-1}) return std::nullopt;
  return Tensor{{static_cast<std::int64_t>(in[0]->rows() * in[0]->columns())}, in[0]->data};
}

Answer unary(std::string_view op, const Inputs& in) {
  if (op == "Identity") return each<double>(in, [](double x) { return x; });
  if (op == "Abs") return each<double>(in, [](double x) { return std::abs(x); });
  if (op == "Neg") return each<double>(in, [](double x) { return -x; });
  if (op == "Exp") return each<double>(in, [](double x) { return std::exp(x); });
  if (op == "Log") return each<double>(in, [](double x) { return std::log(x); });
  if (op == "Floor") return each<double>(in, [](double x) { return std::floor(x); });
  if (op == "Erf") return each<double>(in, [](double x) { return std::erf(x); });
  if (op == "Not") return each<std::uint8_t>(in, [](std::uint8_t x) { return std::uint8_t{x == 0}; });
  return std::nullopt;
}

Answer binary(std::string_view op, const Inputs& in) {
  if (op == "Add") return arithmetic(in, [](auto a, auto b) { return a + b; });
  if (op == "Sub") return arithmetic(in, [](auto a, auto b) { return a - b; });
  if (op == "Mul") return arithmetic(in, [](auto a, auto b) { return a * b; });
  if (op == "Div") return pairwise<double, double>(in, [](double a, double b) { return a / b; });
  if (op == "Min") return arithmetic(in, [](auto a, auto b) { return std::min(a, b); });
  if (op == "Max") return arithmetic(in, [](auto a, auto b) { return std::max(a, b); });
  if (op == "LessOrEqual") return comparison(in, [](auto a, auto b) { return a <= b; });
  if (op == "Greater") return comparison(in, [](auto a, auto b) { return a > b; });
  if (op == "Equal") return comparison(in, [](auto a, auto b) { return a == b; });
  if (op == "And") return pairwise<std::uint8_t, std::uint8_t>(in, [](auto a, auto b) { return a & b; });
  if (op == "Or") return pairwise<std::uint8_t, std::uint8_t>(in, [](auto a, auto b) { return a | b; });
  return std::nullopt;
}

}  // namespace

Answer apply(std::string_view op, const Inputs& inputs, const Attributes& attributes) {
  if (op == "Where") return where(inputs);
  if (op == "Cast") return cast(inputs, attributes);
  if (op == "Concat") return concat(inputs);
  if (op == "MatMul") return mat_mul(inputs);
  if (op == "Gather") return gather(inputs);
  if (op == "Softmax") return softmax(inputs);
  if (op == "Reshape") return flatten(inputs);
  if (op == "LabelEncoder") return label_encoder(inputs, attributes);
  if (auto answer = unary(op, inputs)) return answer;
  return binary(op, inputs);
}

}  // namespace samovar::trainer::onnx
