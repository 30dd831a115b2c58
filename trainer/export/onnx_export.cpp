// A model as an ONNX graph: raw columns in, scores out. Everything is computed in double precision and only
// the answer is made a float, so that a runtime's order of summation does not show.
//
//   numbers    → present? → fill → centre, scale → ┐
//   indicators, products                           ├ Concat → MatMul ┐
//   categories → LabelEncoder → Gather ────────────┘                 ├ Add → link → score
//   times      → hour, weekday → Gather ─────────────────────────────┘
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>

#include "base/json.hpp"
#include "trainer/export/exports.hpp"
#include "trainer/export/onnx_graph.hpp"

namespace samovar::trainer {

namespace {

using Kind = InteractionPlan::Kind;
using onnx::Graph;
using onnx::Value;
using Json = nlohmann::json;

constexpr std::int64_t kIrVersion = 7;
constexpr std::int64_t kOpset = 13;
constexpr std::int64_t kMlOpset = 2;
constexpr std::size_t kBytesMax = std::size_t{1} << 30;  // a protocol buffer ends at 2 GiB

// How a missing category is commonly written; the node knows them in any case and between spaces.
constexpr std::array<std::string_view, 19> kMissingTexts = {
    "",     "NA",   "na",   "N/A",  "n/a",  "#N/A", "#n/a", "NaN", "nan", "NAN",
    "NULL", "null", "Null", "None", "none", "NONE", "?",    "-",   " "};

// Levels of a category, hours, weekdays: which one a row has, counted from 0; `count` for none.
struct Choice {
  Value index;  // [N], int64
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

class OnnxWriter {
 public:
  explicit OnnxWriter(const ModelParts& parts)
      : model_(parts.glm), plan_(parts.pipeline->plan()), columns_(export_columns(plan_)) {}

  // Errc::unsupported names what has no operator.
  Result<void> check() const {
    const auto refuse = [](const std::string& input, const char* why, const char* instead) {
      return Error{Errc::unsupported, "ONNX cannot express this model: \"" + input + "\" " + why +
                                          ". Export it as C or JSON, or train " + instead};
    };
    for (const InputPlan& input : plan_.inputs) {
      switch (input.treatment) {
        case Treatment::number_hash:
          return refuse(input.name, "is hashed, for which ONNX has no operator",
                        "with \"numbers\": \"standardise\" among its features");
        case Treatment::level_hash:
          return refuse(input.name, "is hashed, for which ONNX has no operator",
                        "with \"categories\": \"onehot\" among its features");
        case Treatment::words:
          return refuse(input.name, "is a text of hashed words, for which ONNX has no operators",
                        "with \"texts\": false among its features");
        case Treatment::places:
        case Treatment::place_hash:
          return refuse(input.name, "is a sparse column, which has no fixed width", "without it");
        case Treatment::levels:
          if (input.type != ColumnType::category)
            return refuse(input.name, "has levels that are numbers, for which it has no operator",
                          "without it");
          break;
        default:
          break;
      }
    }
    for (const InteractionPlan& pair : plan_.interactions) {
      if (pair.kind == Kind::cross_hash || pair.kind == Kind::scaled_hash)
        return refuse(plan_.inputs[pair.a].name, "is part of a hashed interaction",
                      "without that interaction");
    }
    return {};
  }

  std::string graph() {
    outputs_ = static_cast<std::int64_t>(model_.outputs());
    add_inputs();
    sum_ = graph_.doubles(model_.intercepts, {1, outputs_});
    add_dense();
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (choices_.contains(i)) add_choice(choices_.at(i));
    }
    add_interactions();
    add_offset();
    sum_ = graph_.op("Identity", {sum_}, "linear_predictor");
    const Value score = link();
    graph_.cast(score, onnx::kFloat, "score");
    graph_.output("score", onnx::kFloat, outputs_);
    graph_.output("linear_predictor", onnx::kDouble, outputs_);
    return graph_.finish("samovar");
  }

  // What a program has to know beside the graph.
  Json names() const {
    Json out = Json::array();
    for (std::size_t i = 0; i < names_.size(); ++i)
      out.push_back({{"input", names_[i]}, {"column", columns_.names[i]}});
    return out;
  }

 private:
  void add_inputs() {
    std::set<std::string> used = {"score", "linear_predictor"};
    for (std::size_t i = 0; i < columns_.names.size(); ++i) {
      std::string name = identifier(columns_.names[i]);
      for (unsigned more = 2; !used.insert(name).second; ++more)
        name = identifier(columns_.names[i]) + "_" + std::to_string(more);
      names_.push_back(name);
      graph_.input(name, is_category(i) ? onnx::kString : onnx::kDouble, columns_.names[i]);
    }
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) add_input(i);
  }
  bool is_category(std::size_t column) const {
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (columns_.of_input[i] == column) return plan_.inputs[i].type == ColumnType::category;
    }
    return false;
  }

  void add_input(std::size_t i) {
    const InputPlan& input = plan_.inputs[i];
    const Value& raw = names_[columns_.of_input[i]];
    if (input.treatment == Treatment::number) {
      add_number(input, raw);
    } else if (input.treatment == Treatment::levels) {
      choices_[i] = levels(input, raw);
    } else {
      choices_[i] = calendar(input, raw);
    }
  }

  // True where a value is there: neither NaN nor an infinity.
  Value present(const Value& raw, double most = std::numeric_limits<double>::max()) {
    return graph_.op("LessOrEqual", {graph_.op("Abs", {raw}), graph_.constant(most)});
  }
  Value clip(const Value& value, double low, double high) {
    return graph_.op("Min", {graph_.op("Max", {value, graph_.constant(low)}), graph_.constant(high)});
  }

  void add_number(const InputPlan& input, const Value& raw) {
    const Value there = present(raw);
    const Value filled = graph_.op("Where", {there, raw, graph_.constant(input.fill)});
    const Value centred = graph_.op("Sub", {filled, graph_.constant(input.center)});
    const Value scaled = clip(graph_.op("Mul", {centred, graph_.constant(input.scale)}), -1e15, 1e15);
    dense_[input.first] = graph_.cast(scaled, onnx::kFloat);  // the node holds them as floats
    if (input.indicator)
      dense_[input.indicator_weight] = graph_.cast(graph_.op("Not", {there}), onnx::kFloat);
  }

  Choice levels(const InputPlan& input, const Value& raw) {
    const auto none = static_cast<std::int64_t>(input.count);
    const auto missing = input.missing ? none - 1 : none;
    std::vector<std::string> keys = input.levels;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = 0; i < keys.size(); ++i) numbers.push_back(static_cast<std::int64_t>(i));
    for (const std::string_view text : kMissingTexts) {
      if (std::find(input.levels.begin(), input.levels.end(), text) != input.levels.end()) continue;
      keys.emplace_back(text);
      numbers.push_back(missing);
    }
    const auto other = input.other ? static_cast<std::int64_t>(input.levels.size()) : none;
    return {flat(graph_.label_encoder(raw, keys, numbers, other)), input.first, input.count};
  }

  Choice calendar(const InputPlan& input, const Value& raw) {
    const auto divided = [&](const Value& value, double by) {
      return graph_.op("Floor", {graph_.op("Div", {value, graph_.constant(by)})});
    };
    const auto rest = [&](const Value& value, double by) {
      return graph_.op("Sub", {value, graph_.op("Mul", {divided(value, by), graph_.constant(by)})});
    };
    const Value there = present(raw, 1e17);
    const Value held = graph_.op("Where", {there, raw, graph_.constant(0.0)});
    const Value hours = divided(held, 3600e6);
    // 1970-01-01 was a Thursday; Monday is the first day.
    const Value part = input.treatment == Treatment::hour
                           ? rest(hours, 24)
                           : rest(graph_.op("Add", {divided(hours, 24), graph_.constant(3.0)}), 7);
    const Value chosen = graph_.op("Where", {there, part, graph_.constant(static_cast<double>(input.count))});
    return {flat(graph_.cast(chosen, onnx::kInt64)), input.first, input.count};
  }

  Value flat(const Value& value) { return graph_.op("Reshape", {value, graph_.shape({-1})}); }

  // The weights of places one after the other, and zeros for "none" at the end: [count + 1, outputs].
  Value table(std::uint32_t first, std::uint32_t count) {
    std::vector<float> weights;
    weights.reserve((std::size_t{count} + 1) * model_.outputs());
    for (std::size_t place = first; place < std::size_t{first} + count; ++place) {
      for (std::size_t k = 0; k < model_.outputs(); ++k)
        weights.push_back(model_.weights[k * model_.width + place]);
    }
    weights.resize(weights.size() + model_.outputs());
    return graph_.floats(weights, {std::int64_t{count} + 1, outputs_});
  }
  Value chosen_weights(const Value& index, std::uint32_t first, std::uint32_t count) {
    return graph_.cast(graph_.op("Gather", std::vector<Value>{table(first, count), index}, "axis", 0),
                       onnx::kDouble);
  }
  void add(const Value& part) { sum_ = graph_.op("Add", {sum_, part}); }
  void add_choice(const Choice& choice) { add(chosen_weights(choice.index, choice.first, choice.count)); }

  void add_dense() {
    for (const InteractionPlan& pair : plan_.interactions) {
      if (pair.kind == Kind::product)
        dense_[pair.first] =
            graph_.op("Mul", {dense_.at(plan_.inputs[pair.a].first), dense_.at(plan_.inputs[pair.b].first)});
    }
    if (dense_.empty()) return;
    std::vector<Value> all;
    std::vector<float> weights;
    for (const auto& [place, value] : dense_) {
      all.push_back(value);
      for (std::size_t k = 0; k < model_.outputs(); ++k)
        weights.push_back(model_.weights[k * model_.width + place]);
    }
    const Value rows = graph_.cast(graph_.op("Concat", all, "axis", 1), onnx::kDouble);
    const Value matrix = graph_.floats(weights, {static_cast<std::int64_t>(dense_.size()), outputs_});
    add(graph_.op("MatMul", {rows, graph_.cast(matrix, onnx::kDouble)}));
  }

  void add_interactions() {
    for (const InteractionPlan& pair : plan_.interactions) {
      if (pair.kind == Kind::product) continue;
      const Choice& a = choices_.at(pair.a);
      if (pair.kind == Kind::scaled) {
        const Value number = graph_.cast(dense_.at(plan_.inputs[pair.b].first), onnx::kDouble);
        add(graph_.op("Mul", {chosen_weights(a.index, pair.first, pair.count), number}));
        continue;
      }
      const Choice& b = choices_.at(pair.b);
      const auto none = [&](const Choice& choice) {
        return graph_.op("Equal", {choice.index, graph_.constant(std::int64_t{choice.count})});
      };
      const Value both =
          graph_.op("Add", {graph_.op("Mul", {a.index, graph_.constant(std::int64_t{b.count})}), b.index});
      const Value index = graph_.op(
          "Where", {graph_.op("Or", {none(a), none(b)}), graph_.constant(std::int64_t{pair.count}), both});
      add(chosen_weights(index, pair.first, pair.count));
    }
  }

  void add_offset() {
    Value sum;
    const auto part = [&](std::uint32_t column, bool exposure) {
      if (column >= names_.size()) return;
      const Value& raw = names_[column];
      Value there = present(raw);
      const double fill = exposure ? 1 : 0;
      if (exposure) there = graph_.op("And", {there, graph_.op("Greater", {raw, graph_.constant(0.0)})});
      Value value = graph_.op("Where", {there, raw, graph_.constant(fill)});
      if (exposure) value = graph_.op("Log", {value});
      value = graph_.cast(clip(value, -700, 700), onnx::kFloat);
      sum = sum.empty() ? value : graph_.op("Add", {sum, value});
    };
    part(columns_.offset, false);
    part(columns_.exposure, true);
    if (!sum.empty()) add(graph_.cast(sum, onnx::kDouble));
  }

  Value link() {
    const auto number = [&](double value) { return graph_.constant(value); };
    const auto probability = [&](const Value& value) { return clip(value, 1e-15, 1 - 1e-15); };
    if (model_.family == Family::multinomial)
      return graph_.op("Softmax", std::vector<Value>{sum_}, "axis", 1);
    switch (model_.link) {
      case Link::identity:
        return sum_;
      case Link::logit: {
        const Value grown = graph_.op("Exp", {graph_.op("Neg", {clip(sum_, -80, 80)})});
        return probability(graph_.op("Div", {number(1), graph_.op("Add", {grown, number(1)})}));
      }
      case Link::log:
        return graph_.op("Exp", {clip(sum_, -80, 80)});
      case Link::inverse:
        return graph_.op("Div", {number(1), graph_.op("Max", {sum_, number(1e-12)})});
      case Link::probit: {
        const Value shared = graph_.op("Erf", {graph_.op("Mul", {sum_, number(0.70710678118654752440)})});
        return probability(graph_.op("Mul", {graph_.op("Add", {shared, number(1)}), number(0.5)}));
      }
      case Link::cloglog: {
        const Value rate = graph_.op("Neg", {graph_.op("Exp", {clip(sum_, -80, 5)})});
        return probability(graph_.op("Sub", {number(1), graph_.op("Exp", {rate})}));
      }
    }
    return sum_;
  }

  const GlmModel& model_;
  const PipelinePlan& plan_;
  const ExportColumns columns_;
  Graph graph_;
  std::int64_t outputs_ = 1;
  std::vector<std::string> names_;         // of the graph's inputs, by column
  std::map<std::uint32_t, Value> dense_;   // by weight: [N, 1], float
  std::map<std::size_t, Choice> choices_;  // by input of the plan
  Value sum_;                              // of the predictor so far
};

ProtoWriter opset(std::string_view domain, std::int64_t version) {
  ProtoWriter out;
  out.bytes(1, domain);
  out.number(2, static_cast<std::uint64_t>(version));
  return out;
}

ProtoWriter entry(std::string_view key, std::string_view value) {
  ProtoWriter out;
  out.bytes(1, key);
  out.bytes(2, value);
  return out;
}

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Result<Bytes> write_onnx_export(const ModelParts& parts, const TestVectors& vectors, ExportName name) {
  OnnxWriter writer(parts);
  SAMOVAR_CHECK(writer.check());
  ProtoWriter out;
  out.number(onnx::model::kIrVersion, kIrVersion);
  out.bytes(onnx::model::kProducer, "samovar");
  out.bytes(onnx::model::kProducerVersion, SAMOVAR_VERSION);
  out.number(onnx::model::kModelVersion, name.version);
  out.bytes(onnx::model::kDoc,
            "Columns as [N,1]: numbers as double with NaN for missing, times as microseconds "
            "since 1970, categories as text with \"\" for missing. The score is [N,outputs].");
  out.bytes(onnx::model::kGraph, writer.graph());
  out.message(onnx::model::kOpset, opset("", kOpset));
  out.message(onnx::model::kOpset, opset("ai.onnx.ml", kMlOpset));
  out.message(onnx::model::kMetadata, entry("samovar.model", name.model));
  out.message(onnx::model::kMetadata, entry("samovar.columns", text_of(writer.names())));
  out.message(onnx::model::kMetadata, entry("samovar.classes", text_of(parts.pipeline->classes())));
  out.message(onnx::model::kMetadata, entry("samovar.threshold", text_of(parts.glm.threshold)));
  out.message(onnx::model::kMetadata, entry("samovar.test_vectors", text_of(to_json(vectors))));
  if (out.str().size() > kBytesMax)
    return Error{Errc::unsupported, "the model is too large for an ONNX file; export it as JSON"};
  return to_bytes(out.str());
}

}  // namespace samovar::trainer
