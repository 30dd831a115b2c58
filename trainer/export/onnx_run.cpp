#include "trainer/export/onnx_run.hpp"

#include <cstring>
#include <limits>
#include <map>

#include "base/json.hpp"
#include "trainer/export/onnx_graph.hpp"
#include "trainer/export/onnx_tensor.hpp"
#include "trainer/export/protobuf.hpp"

namespace samovar::trainer {

namespace {

using onnx::Attributes;
using onnx::Tensor;
using Json = nlohmann::json;
using Tensors = std::map<std::string, Tensor, std::less<>>;

Error broken(std::string_view what) {
  return Error{Errc::internal, "export_mismatch: the ONNX file cannot be run: " + std::string(what)};
}

template <class T>
std::vector<T> raw_values(std::string_view raw) {
  std::vector<T> out(raw.size() / sizeof(T));
  std::memcpy(out.data(), raw.data(), out.size() * sizeof(T));
  return out;
}

Result<void> take_initializer(std::string_view bytes, Tensors& into) {
  Tensor tensor;
  std::uint64_t type = 0;
  std::string name;
  std::string_view raw;
  ProtoReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == onnx::tensor::kDims) tensor.dims.push_back(static_cast<std::int64_t>(field->value));
    if (field->number == onnx::tensor::kType) type = field->value;
    if (field->number == onnx::tensor::kName) name = field->bytes;
    if (field->number == onnx::tensor::kRaw) raw = field->bytes;
  }
  if (type == onnx::kFloat)
    tensor.data = raw_values<float>(raw);
  else if (type == onnx::kDouble)
    tensor.data = raw_values<double>(raw);
  else if (type == onnx::kInt64)
    tensor.data = raw_values<std::int64_t>(raw);
  else
    return broken("a constant has an unknown type");
  const std::size_t held = std::visit([](const auto& list) { return list.size(); }, tensor.data);
  if (!reader.ok() || tensor.dims.size() > 2 || held != tensor.rows() * tensor.columns())
    return broken("a constant has another size than it says");
  into.emplace(std::move(name), std::move(tensor));
  return {};
}

void take_attribute(std::string_view bytes, Attributes& into) {
  std::string name;
  std::optional<std::int64_t> number;
  std::vector<std::int64_t> numbers;
  std::vector<std::string> texts;
  ProtoReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == onnx::attribute::kName) name = field->bytes;
    if (field->number == onnx::attribute::kInt) number = static_cast<std::int64_t>(field->value);
    if (field->number == onnx::attribute::kInts) numbers.push_back(static_cast<std::int64_t>(field->value));
    if (field->number == onnx::attribute::kStrings) texts.emplace_back(field->bytes);
  }
  if (number) into.numbers[name] = *number;
  if (!numbers.empty()) into.lists[name] = std::move(numbers);
  if (!texts.empty()) into.texts[name] = std::move(texts);
}

Result<void> run_node(std::string_view bytes, Tensors& tensors) {
  std::vector<const Tensor*> inputs;
  std::string output, op;
  Attributes attributes;
  ProtoReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == onnx::node::kInput) {
      const auto found = tensors.find(field->bytes);
      if (found == tensors.end()) return broken("a node asks for \"" + std::string(field->bytes) + "\"");
      inputs.push_back(&found->second);
    }
    if (field->number == onnx::node::kOutput) output = field->bytes;
    if (field->number == onnx::node::kOp) op = field->bytes;
    if (field->number == onnx::node::kAttribute) take_attribute(field->bytes, attributes);
  }
  auto answer = onnx::apply(op, inputs, attributes);
  if (!reader.ok() || !answer) return broken("the operator " + op + " has no answer");
  if (!tensors.emplace(output, *std::move(answer)).second) return broken("a name is there twice");
  return {};
}

// "" and NaN stand for missing.
Result<Tensor> column_of(const RawTable& table, const std::string& column, bool text) {
  const auto found = table.columns.find(column);
  std::vector<double> numbers(table.rows, std::numeric_limits<double>::quiet_NaN());
  std::vector<std::string> texts(table.rows);
  for (std::uint32_t row = 0; row < table.rows && found != table.columns.end(); ++row) {
    const RawValue& value = found->second[row];
    if (const auto* held = std::get_if<bool>(&value)) numbers[row] = *held ? 1 : 0;
    if (const auto* held = std::get_if<std::int64_t>(&value)) numbers[row] = static_cast<double>(*held);
    if (const auto* held = std::get_if<double>(&value)) numbers[row] = *held;
    if (const auto* held = std::get_if<std::string>(&value)) texts[row] = *held;
  }
  Tensor out{{static_cast<std::int64_t>(table.rows), 1}, {}};
  if (text)
    out.data = std::move(texts);
  else
    out.data = std::move(numbers);
  return out;
}

Result<void> take_input(std::string_view bytes, const RawTable& table,
                        const std::map<std::string, std::string>& columns, Tensors& into) {
  std::string name;
  std::uint64_t type = 0;
  ProtoReader reader(bytes);
  while (const auto field = reader.next()) {
    if (field->number == onnx::value_info::kName) name = field->bytes;
    if (field->number != onnx::value_info::kType) continue;
    ProtoReader whole(field->bytes);
    while (const auto tensor = whole.next()) {
      ProtoReader parts(tensor->bytes);
      while (const auto part = parts.next()) {
        if (part->number == 1) type = part->value;
      }
    }
  }
  const auto column = columns.find(name);
  if (!reader.ok() || column == columns.end()) return broken("an input has no column");
  if (type != onnx::kString && type != onnx::kDouble) return broken("an input has an unknown type");
  SAMOVAR_TRY(Tensor tensor, column_of(table, column->second, type == onnx::kString));
  into.emplace(std::move(name), std::move(tensor));
  return {};
}

Result<std::map<std::string, std::string>> column_names(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  std::map<std::string, std::string> out;
  if (!json.is_array()) return broken("its columns are not told");
  for (const Json& one : json) {
    if (!one.is_object() || !one.contains("input") || !one.contains("column") || !one["input"].is_string() ||
        !one["column"].is_string())
      return broken("its columns are not told");
    out.emplace(one["input"].get<std::string>(), one["column"].get<std::string>());
  }
  return out;
}

}  // namespace

Result<OnnxAnswer> run_onnx(ByteView bytes, const RawTable& rows) {
  std::string_view graph, columns_text;
  ProtoReader model(as_text(bytes));
  while (const auto field = model.next()) {
    if (field->number == onnx::model::kGraph) graph = field->bytes;
    if (field->number != onnx::model::kMetadata) continue;
    ProtoReader entry(field->bytes);
    const auto key = entry.next();
    const auto value = entry.next();
    if (key && value && key->bytes == "samovar.columns") columns_text = value->bytes;
  }
  SAMOVAR_TRY(const auto columns, column_names(columns_text));
  Tensors tensors;
  std::vector<std::string_view> nodes;
  ProtoReader parts(graph);
  while (const auto field = parts.next()) {
    if (field->number == onnx::graph::kNode) nodes.push_back(field->bytes);
    if (field->number == onnx::graph::kInitializer) SAMOVAR_CHECK(take_initializer(field->bytes, tensors));
    if (field->number == onnx::graph::kInput) SAMOVAR_CHECK(take_input(field->bytes, rows, columns, tensors));
  }
  if (!model.ok() || !parts.ok()) return broken("it is no protocol buffer");
  // They lie in the order in which they are to be run.
  for (const std::string_view node : nodes) SAMOVAR_CHECK(run_node(node, tensors));
  const auto score = tensors.find("score");
  const auto predictor = tensors.find("linear_predictor");
  if (score == tensors.end() || predictor == tensors.end()) return broken("it gives no score");
  const auto* scores = std::get_if<std::vector<float>>(&score->second.data);
  const auto* predictors = std::get_if<std::vector<double>>(&predictor->second.data);
  if (scores == nullptr || predictors == nullptr) return broken("its score is no number");
  return OnnxAnswer{{scores->begin(), scores->end()}, *predictors};
}

}  // namespace samovar::trainer
