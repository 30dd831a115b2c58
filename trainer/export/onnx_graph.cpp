#include "trainer/export/onnx_graph.hpp"

#include <bit>

namespace samovar::trainer::onnx {

static_assert(std::endian::native == std::endian::little, "raw data is little-endian");

namespace {

template <class T>
std::string_view raw_of(const T* values, std::size_t count) {
  return {reinterpret_cast<const char*>(values), count * sizeof(T)};
}

ProtoWriter attribute_of(std::string_view name, std::uint32_t type) {
  ProtoWriter out;
  out.bytes(attribute::kName, name);
  out.number(attribute::kType, type);
  return out;
}

// N × width; a width of 0 is not said.
ProtoWriter value_info_of(const std::string& name, Type type, std::int64_t width, std::string_view doc) {
  ProtoWriter rows, columns, shape, tensor_type, whole_type, out;
  rows.bytes(2, "N");
  columns.number(1, static_cast<std::uint64_t>(width));
  shape.message(1, rows);
  shape.message(1, columns);
  tensor_type.number(1, type);
  tensor_type.message(2, shape);
  whole_type.message(1, tensor_type);
  out.bytes(value_info::kName, name);
  out.message(value_info::kType, whole_type);
  if (!doc.empty()) out.bytes(value_info::kDoc, doc);
  return out;
}

}  // namespace

Value Graph::input(const std::string& name, Type type, std::string_view doc) {
  ends_.message(graph::kInput, value_info_of(name, type, 1, doc));
  return name;
}

void Graph::output(const Value& value, Type type, std::int64_t width) {
  ends_.message(graph::kOutput, value_info_of(value, type, width, {}));
}

Value Graph::initializer(Type type, std::string_view raw, std::initializer_list<std::int64_t> dims) {
  ProtoWriter out;
  for (const std::int64_t dim : dims) out.number(tensor::kDims, static_cast<std::uint64_t>(dim));
  out.number(tensor::kType, type);
  Value name = fresh();
  out.bytes(tensor::kName, name);
  out.bytes(tensor::kRaw, raw);
  initializers_.message(graph::kInitializer, out);
  return name;
}

Value Graph::constant(double value) { return initializer(kDouble, raw_of(&value, 1), {}); }
Value Graph::constant(std::int64_t value) { return initializer(kInt64, raw_of(&value, 1), {}); }
Value Graph::floats(const std::vector<float>& values, std::initializer_list<std::int64_t> dims) {
  return initializer(kFloat, raw_of(values.data(), values.size()), dims);
}
Value Graph::doubles(const std::vector<double>& values, std::initializer_list<std::int64_t> dims) {
  return initializer(kDouble, raw_of(values.data(), values.size()), dims);
}
Value Graph::shape(std::initializer_list<std::int64_t> dims) {
  return initializer(kInt64, raw_of(dims.begin(), dims.size()), {static_cast<std::int64_t>(dims.size())});
}

Value Graph::node(std::string_view type, const std::vector<Value>& inputs,
                  const std::vector<ProtoWriter>& attributes, std::string_view domain, std::string_view as) {
  ProtoWriter out;
  for (const Value& input : inputs) out.bytes(node::kInput, input);
  Value name = as.empty() ? fresh() : std::string(as);
  out.bytes(node::kOutput, name);
  out.bytes(node::kName, "n_" + name);
  out.bytes(node::kOp, type);
  for (const ProtoWriter& attribute : attributes) out.message(node::kAttribute, attribute);
  if (!domain.empty()) out.bytes(node::kDomain, domain);
  nodes_.message(graph::kNode, out);
  return name;
}

Value Graph::op(std::string_view type, std::initializer_list<Value> inputs, std::string_view as) {
  return node(type, inputs, {}, {}, as);
}

Value Graph::op(std::string_view type, const std::vector<Value>& inputs, std::string_view name,
                std::int64_t number, std::string_view as) {
  ProtoWriter attribute = attribute_of(name, attribute::kTypeInt);
  attribute.number(attribute::kInt, static_cast<std::uint64_t>(number));
  return node(type, inputs, {attribute}, {}, as);
}

Value Graph::label_encoder(const Value& value, const std::vector<std::string>& keys,
                           const std::vector<std::int64_t>& numbers, std::int64_t other) {
  ProtoWriter key_list = attribute_of("keys_strings", attribute::kTypeStrings);
  for (const std::string& key : keys) key_list.bytes(attribute::kStrings, key);
  ProtoWriter number_list = attribute_of("values_int64s", attribute::kTypeInts);
  for (const std::int64_t number : numbers)
    number_list.number(attribute::kInts, static_cast<std::uint64_t>(number));
  ProtoWriter rest = attribute_of("default_int64", attribute::kTypeInt);
  rest.number(attribute::kInt, static_cast<std::uint64_t>(other));
  return node("LabelEncoder", {value}, {key_list, number_list, rest}, "ai.onnx.ml", {});
}

std::string Graph::finish(std::string_view name) {
  ProtoWriter head;
  head.bytes(graph::kName, name);
  return nodes_.str() + head.str() + initializers_.str() + ends_.str();
}

}  // namespace samovar::trainer::onnx
