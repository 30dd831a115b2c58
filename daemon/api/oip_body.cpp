#include "daemon/api/oip_body.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/api/json_body.hpp"
#include "daemon/api/predict_body.hpp"

namespace samovar::api {
namespace {

using nlohmann::json;
using Tensor = nlohmann::ordered_json;
using trainer::RawValue;

constexpr std::array<std::string_view, 4> kOutputs = {"prediction", "label", "probabilities", "reasons"};

enum class Kind : std::uint8_t { boolean, whole, real, bytes };

struct DataType {
  std::string_view name;
  Kind kind;
  std::int64_t min = 0;
  std::uint64_t max = 0;
};

template <class T>
constexpr DataType whole(std::string_view name) {
  return {name, Kind::whole, static_cast<std::int64_t>(std::numeric_limits<T>::min()),
          static_cast<std::uint64_t>(std::numeric_limits<T>::max())};
}

constexpr std::array kDataTypes = {
    DataType{"BOOL", Kind::boolean}, whole<std::uint8_t>("UINT8"),   whole<std::uint16_t>("UINT16"),
    whole<std::uint32_t>("UINT32"),  whole<std::uint64_t>("UINT64"), whole<std::int8_t>("INT8"),
    whole<std::int16_t>("INT16"),    whole<std::int32_t>("INT32"),   whole<std::int64_t>("INT64"),
    DataType{"FP16", Kind::real},    DataType{"FP32", Kind::real},   DataType{"FP64", Kind::real},
    DataType{"BYTES", Kind::bytes},
};

Error wrong(const std::string& message) { return {Errc::invalid, message}; }

// A member must be of the names the protocol has: what is not understood must not be passed over.
Result<void> check_members(const json& object, std::string_view what,
                           std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : object.items())
    if (std::find(known.begin(), known.end(), name) == known.end())
      return wrong(
          fmt::format("{} has the member '{}', which the protocol does not know", what, name.substr(0, 64)));
  return {};
}

Result<void> check_parameters(const json& object, std::string_view what) {
  const auto found = object.find("parameters");
  if (found == object.end()) return {};
  if (!found->is_object()) return wrong(fmt::format("parameters of {} must be an object", what));
  for (const auto& [name, value] : found->items()) {
    if (!value.is_string() && !value.is_number() && !value.is_boolean())
      return wrong(fmt::format("parameter '{}' of {} must be a string, a number or a boolean",
                               name.substr(0, 64), what));
    if (name.starts_with("binary_data"))
      return wrong("binary tensor data is not supported: send the data as JSON");
  }
  return {};
}

Result<std::string> read_name(const json& object, std::string_view what) {
  const auto found = object.find("name");
  if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    return wrong(fmt::format("{} needs a name", what));
  if (found->get_ref<const std::string&>().size() > 1024) return wrong("a name is too long");
  return found->get<std::string>();
}

// [n] or [n,1].
Result<std::uint32_t> read_shape(const json& tensor, const std::string& name) {
  const auto found = tensor.find("shape");
  if (found == tensor.end() || !found->is_array() || found->empty())
    return wrong(fmt::format("input '{}' needs a shape, such as [1] or [1,1]", name));
  for (const json& side : *found)
    if (!side.is_number_unsigned())
      return wrong(fmt::format("the shape of input '{}' must be of whole numbers, 0 or more", name));
  const auto rows = found->front().get<std::uint64_t>();
  const bool column = found->size() == 1 || (found->size() == 2 && (*found)[1].get<std::uint64_t>() == 1);
  if (!column)
    return wrong(
        fmt::format("input '{}' must have the shape [n] or [n,1]: one tensor for each column", name));
  if (rows < 1 || rows > kPredictRowsMax)
    return wrong(fmt::format("input '{}' must have 1 to {} rows", name, kPredictRowsMax));
  return static_cast<std::uint32_t>(rows);
}

Result<const DataType*> read_type(const json& tensor, const std::string& name) {
  const auto found = tensor.find("datatype");
  if (found == tensor.end() || !found->is_string())
    return wrong(fmt::format("input '{}' needs a datatype", name));
  const auto& text = found->get_ref<const std::string&>();
  const auto type = std::find_if(kDataTypes.begin(), kDataTypes.end(),
                                 [&](const DataType& one) { return one.name == text; });
  if (type == kDataTypes.end())
    return wrong(fmt::format("input '{}' has the datatype '{}', which the protocol does not know", name,
                             text.substr(0, 32)));
  return &*type;
}

Result<RawValue> read_element(const json& value, const DataType& type, const std::string& name) {
  if (value.is_null()) return RawValue{};
  const auto mismatch = [&] {
    return wrong(fmt::format("input '{}' has an element that is no {}", name, type.name));
  };
  switch (type.kind) {
    case Kind::boolean:
      if (!value.is_boolean()) return mismatch();
      return RawValue{value.get<bool>()};
    case Kind::bytes:
      if (!value.is_string()) return mismatch();
      return RawValue{value.get<std::string>()};
    case Kind::real:
      if (!value.is_number()) return mismatch();
      return RawValue{value.get<double>()};
    case Kind::whole:
      break;
  }
  if (!value.is_number_integer()) return mismatch();
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > type.max) return mismatch();
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
      return RawValue{static_cast<double>(number)};
    return RawValue{static_cast<std::int64_t>(number)};
  }
  const auto number = value.get<std::int64_t>();
  if (number < type.min) return mismatch();
  return RawValue{number};
}

// Flat, or each element in a list of its own when the shape is [n,1].
Result<std::vector<RawValue>> read_data(const json& tensor, const DataType& type, std::uint32_t rows,
                                        const std::string& name) {
  const auto found = tensor.find("data");
  if (found == tensor.end() || !found->is_array())
    return wrong(fmt::format("input '{}' needs data: a list", name));
  if (found->size() != rows)
    return wrong(fmt::format("input '{}' has {} elements, its shape asks for {}", name, found->size(), rows));
  const bool pairs = tensor["shape"].size() == 2;
  std::vector<RawValue> out;
  out.reserve(rows);
  for (const json& element : *found) {
    const bool nested = element.is_array();
    if (nested && (!pairs || element.size() != 1 || element[0].is_array()))
      return wrong(fmt::format("the data of input '{}' is nested in another way than its shape", name));
    SAMOVAR_TRY(RawValue value, read_element(nested ? element[0] : element, type, name));
    out.push_back(std::move(value));
  }
  return out;
}

Result<void> read_input(const json& tensor, OipRequest& out) {
  if (!tensor.is_object()) return wrong("inputs must be a list of tensors");
  SAMOVAR_TRY(const std::string name, read_name(tensor, "an input"));
  SAMOVAR_CHECK(
      check_members(tensor, "input '" + name + "'", {"name", "shape", "datatype", "parameters", "data"}));
  SAMOVAR_CHECK(check_parameters(tensor, "input '" + name + "'"));
  SAMOVAR_TRY(const DataType* type, read_type(tensor, name));
  SAMOVAR_TRY(const std::uint32_t rows, read_shape(tensor, name));
  if (!out.rows.columns.empty() && rows != out.rows.rows)
    return wrong(fmt::format("input '{}' has {} rows, those before have {}", name, rows, out.rows.rows));
  out.rows.rows = rows;
  SAMOVAR_TRY(std::vector<RawValue> values, read_data(tensor, *type, rows, name));
  if (!out.rows.columns.emplace(name, std::move(values)).second)
    return wrong(fmt::format("there are two inputs '{}'", name));
  return {};
}

Result<void> read_outputs(const json& body, OipRequest& out) {
  const auto found = body.find("outputs");
  if (found == body.end()) return {};
  if (!found->is_array()) return wrong("outputs must be a list");
  for (const json& wanted : *found) {
    if (!wanted.is_object()) return wrong("outputs must be a list of objects with a name");
    SAMOVAR_TRY(const std::string name, read_name(wanted, "an output"));
    SAMOVAR_CHECK(check_members(wanted, "output '" + name + "'", {"name", "parameters"}));
    SAMOVAR_CHECK(check_parameters(wanted, "output '" + name + "'"));
    if (std::find(kOutputs.begin(), kOutputs.end(), name) == kOutputs.end())
      return wrong(fmt::format("there is no output '{}': choose of {}", name.substr(0, 64),
                               fmt::join(kOutputs, ", ")));
    if (std::find(out.outputs.begin(), out.outputs.end(), name) == out.outputs.end())
      out.outputs.push_back(name);
    if (name == "reasons") out.explain = true;
  }
  return {};
}

Result<void> read_options(const json& body, OipRequest& out) {
  SAMOVAR_CHECK(check_parameters(body, "the request"));
  if (const auto id = body.find("id"); id != body.end()) {
    if (!id->is_string() || id->get_ref<const std::string&>().size() > 1024)
      return wrong("id must be a string of at most 1024 bytes");
    out.id = id->get<std::string>();
  }
  if (!body.contains("parameters") || !body["parameters"].contains("explain")) return {};
  const json& explain = body["parameters"]["explain"];
  if (!explain.is_boolean()) return wrong("parameters.explain must be true or false");
  out.explain = explain.get<bool>();
  return {};
}

// A value within JSON: what is not finite is never served.
Tensor tensor(std::string_view name, std::string_view type, Tensor shape, Tensor data) {
  return {{"name", name}, {"shape", std::move(shape)}, {"datatype", type}, {"data", std::move(data)}};
}

std::string reasons_text(const trainer::Prediction& prediction) {
  Tensor list = Tensor::array();
  for (const trainer::Reason& reason : prediction.reasons)
    list.push_back({{"input", reason.input}, {"value", reason.value}, {"contribution", reason.contribution}});
  return list.dump(-1, ' ', false, Tensor::error_handler_t::replace);
}

// Of one output, all rows; nothing when the model has no such output.
std::optional<Tensor> output_of(std::string_view name, const OipRequest& request, const OipAnswer& answer) {
  const std::size_t rows = answer.predictions.size();
  Tensor data = Tensor::array();
  Tensor shape = Tensor::array({rows});
  if (name == "prediction") {
    for (const auto& one : answer.predictions) data.push_back(one.value);
    return tensor(name, "FP64", shape, std::move(data));
  }
  if (name == "reasons") {
    if (!request.explain) return std::nullopt;
    for (const auto& one : answer.predictions) data.push_back(reasons_text(one));
    return tensor(name, "BYTES", shape, std::move(data));
  }
  if (answer.classes.empty()) return std::nullopt;
  if (name == "label") {
    for (const auto& one : answer.predictions) data.push_back(one.label);
    return tensor(name, "BYTES", shape, std::move(data));
  }
  for (const auto& one : answer.predictions)
    for (const double value : one.probabilities) data.push_back(value);
  Tensor out = tensor(name, "FP64", Tensor::array({rows, answer.classes.size()}), std::move(data));
  // Which column is which class; parameters are plain values.
  out["parameters"] = {{"classes", Tensor(answer.classes).dump()}};
  return out;
}

}  // namespace

Result<OipRequest> parse_oip_request(std::string_view text) {
  SAMOVAR_TRY(const json body, parse_json(text));
  if (!body.is_object()) return wrong("the body must be a JSON object");
  SAMOVAR_CHECK(check_members(body, "the request", {"id", "parameters", "inputs", "outputs"}));
  OipRequest out;
  SAMOVAR_CHECK(read_options(body, out));
  const auto inputs = body.find("inputs");
  if (inputs == body.end() || !inputs->is_array() || inputs->empty())
    return wrong("the request needs inputs: a list of tensors");
  if (inputs->size() > kPredictColumnsMax) return wrong("the request has too many inputs");
  for (const json& one : *inputs) SAMOVAR_CHECK(read_input(one, out));
  SAMOVAR_CHECK(read_outputs(body, out));
  return out;
}

Result<Tensor> oip_response(const OipRequest& request, const OipAnswer& answer) {
  Tensor out = {{"model_name", answer.model}, {"model_version", std::to_string(answer.version)}};
  if (request.id) out["id"] = *request.id;
  if (!answer.warnings.empty()) {
    Tensor warnings = Tensor::array();
    for (const auto& one : answer.warnings) {
      Tensor row = one.row ? Tensor(*one.row) : Tensor(nullptr);
      warnings.push_back(
          {{"code", one.code}, {"input", one.input}, {"row", std::move(row)}, {"detail", one.detail}});
    }
    out["parameters"] = {{"warnings", warnings.dump(-1, ' ', false, Tensor::error_handler_t::replace)}};
  }
  Tensor outputs = Tensor::array();
  const bool all = request.outputs.empty();
  for (const std::string_view name : kOutputs) {
    if (!all && std::find(request.outputs.begin(), request.outputs.end(), name) == request.outputs.end())
      continue;
    auto one = output_of(name, request, answer);
    if (one)
      outputs.push_back(*std::move(one));
    else if (!all)
      return wrong(fmt::format("this model has no output '{}'", name));
  }
  out["outputs"] = std::move(outputs);
  return out;
}

std::string_view oip_datatype(std::string_view column_type) {
  if (column_type == "boolean") return "BOOL";
  if (column_type == "integer") return "INT64";
  if (column_type == "real") return "FP64";
  return "BYTES";
}

}  // namespace samovar::api
