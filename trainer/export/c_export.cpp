// A model as one C99 file: the arithmetic of c_runtime.{h,c}, the model's tables, its test rows.
#include <algorithm>
#include <cmath>

#include "trainer/export/c_runtime.h"
#include "trainer/export/c_runtime_text.hpp"
#include "trainer/export/exports.hpp"
#include "trainer/export/number_text.hpp"
#include "trainer/features/own_places.hpp"

namespace samovar::trainer {

namespace {

// More than this no compiler takes in reasonable time.
constexpr std::size_t kWeightsStoredMax = std::size_t{1} << 22;

std::string_view between(std::string_view text, std::string_view what) {
  const std::string begin = "/* export: begin " + std::string(what) + " */\n";
  const std::size_t at = text.find(begin) + begin.size();
  return text.substr(at, text.find("/* export: end " + std::string(what) + " */") - at);
}

std::string place(std::uint32_t value) {
  return value == SAMOVAR_NONE ? "SAMOVAR_NONE" : std::to_string(value);
}

class CWriter {
 public:
  CWriter(const ModelParts& parts, const TestVectors& vectors, ExportName name)
      : model_(parts.glm),
        plan_(parts.pipeline->plan()),
        vectors_(vectors),
        columns_(export_columns(plan_)),
        tokens_(plan_.hash_bits, plan_.hash_seed, plan_.hash_first, plan_.own_places),
        id_(identifier(name.model)) {
    stored_ = static_cast<std::size_t>(std::count_if(model_.weights.begin(), model_.weights.end(), stays));
    sparse_ = 2 * stored_ < model_.weights.size();
    if (!sparse_) stored_ = model_.weights.size();
    title_ = comment(name.model) + ", version " + std::to_string(name.version);
  }

  Result<std::string> write() {
    SAMOVAR_CHECK(check());
    head();
    out_ += between(kCRuntimeHeader, "tables");
    out_ += between(kCRuntimeCode, "code");
    out_ += '\n';
    levels();
    tokens();
    inputs();
    pairs();
    weights();
    tables();
    names();
    calls();
    self_test();
    out_ += "#endif /* SAMOVAR_HEADER */\n";
    return std::move(out_);
  }

 private:
  Result<void> check() const {
    if (stored_ > kWeightsStoredMax)
      return Error{Errc::unsupported,
                   "the model has " + std::to_string(stored_) +
                       " weights, more than a C file can hold; export it as JSON, or train "
                       "with fewer hash bits"};
    const auto zero_byte = [](std::string_view text) { return text.find('\0') != std::string_view::npos; };
    for (const InputPlan& input : plan_.inputs) {
      if (zero_byte(input.name) || std::any_of(input.levels.begin(), input.levels.end(), zero_byte) ||
          std::any_of(input.frequent.begin(), input.frequent.end(), zero_byte))
        return Error{Errc::unsupported, "a level of an input holds a zero byte, which ends a text in C"};
    }
    return {};
  }

  // Names come from people: nothing of them may end a comment or a line.
  static std::string comment(std::string_view text) {
    std::string out;
    for (const char c : text.substr(0, 200)) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == ' ' || c == '_' || c == '-' || c == '.';
      out += plain ? c : '_';
    }
    return out;
  }

  void text(std::string_view value) {
    out_ += '"';
    for (const char c : value) {
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                         c == ' ' || c == '_' || c == '-' || c == '.' || c == ':' || c == '/';
      if (plain) {
        out_ += c;
        continue;
      }
      // Three octal digits: what follows is never taken for part of them.
      const auto byte = static_cast<unsigned char>(c);
      out_ += '\\';
      out_ += static_cast<char>('0' + byte / 64);
      out_ += static_cast<char>('0' + byte / 8 % 8);
      out_ += static_cast<char>('0' + byte % 8);
    }
    out_ += '"';
  }
  void number(double value) {
    const std::size_t at = out_.size();
    append_number(out_, value);
    if (out_.find_first_of(".e", at) == std::string::npos) out_ += ".0";
  }
  void number(float value) {
    const std::size_t at = out_.size();
    append_number(out_, value);
    out_ += out_.find_first_of(".e", at) == std::string::npos ? ".0f" : "f";
  }

  void head() {
    const std::string guard = id_ + "_H";
    out_ += "/* Model " + title_ + ", exported by Samovar.\n *\n";
    out_ += " *   cc -std=c99 -O2 -c " + id_ + ".c                      part of a program; link with -lm\n";
    out_ += " *   cc -std=c99 -O2 -DSAMOVAR_SELFTEST " + id_ + ".c -lm   a program that checks itself\n";
    out_ += " *\n * To call it from another file, define SAMOVAR_HEADER there and include this one.\n *\n";
    out_ += " * A row is an array of " + std::to_string(columns_.names.size()) + " values:\n";
    for (std::size_t i = 0; i < columns_.names.size(); ++i)
      out_ += " *   [" + std::to_string(i) + "] " + comment(columns_.names[i]) + column_kind(i) + "\n";
    out_ += " */\n#ifndef " + guard + "\n#define " + guard + "\n";
    out_ += between(kCRuntimeHeader, "types");
    out_ += "\nenum { " + id_ + "_INPUTS = " + std::to_string(columns_.names.size()) + ", " + id_ +
            "_OUTPUTS = " + std::to_string(model_.outputs()) + " };\n\n";
    out_ += "/* " + meaning() + " */\n";
    out_ += "void " + id_ + "_predict(const samovar_value *row, double *out);\n";
    out_ += "/* The place of an input in a row by its name; -1: there is none of that name. */\n";
    out_ += "int " + id_ + "_input(const char *name);\n";
    if (model_.classes != 0)
      out_ += "/* The names of the classes, in the order of the model. */\nextern const char *const " + id_ +
              "_classes[" + std::to_string(model_.classes) + "];\n";
    out_ +=
        "#endif\n\n#ifndef SAMOVAR_HEADER\n#include <math.h>\n#include <stddef.h>\n#include <stdint.h>\n"
        "#include <stdlib.h>\n#include <string.h>\n\n#define SAMOVAR_PRIVATE static\n";
  }
  std::string meaning() const {
    if (model_.classes == 0) return "out[0] is the expected value.";
    if (model_.classes == 2 && model_.outputs() == 1) return "out[0] is the probability of the second class.";
    return "out[k] is the probability of class k.";
  }
  std::string column_kind(std::size_t column) const {
    if (column == columns_.offset) return ": a number, added to the linear predictor";
    if (column == columns_.exposure) return ": a number, the exposure";
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      if (columns_.of_input[i] != column) continue;
      switch (plan_.inputs[i].type) {
        case ColumnType::category:
        case ColumnType::text:
          return ": text";
        case ColumnType::sparse:
          return ": text like 3:1 17:0.5";
        case ColumnType::boolean:
          return ": a number, 0 or 1";
        case ColumnType::time:
          return ": a number, microseconds since 1970";
        default:
          return ": a number";
      }
    }
    return "";
  }

  // Sorted by their bytes, as strcmp sees them.
  void levels() {
    out_ += "static const samovar_level samovar_levels[] = {\n";
    for (const InputPlan& input : plan_.inputs) {
      const std::vector<std::string>& levels = levels_of(input);
      std::vector<std::uint32_t> order(levels.size());
      for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
      std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
        return std::string_view(levels[a]) < std::string_view(levels[b]);
      });
      for (const std::uint32_t level : order) {
        out_ += "  {";
        text(levels[level]);
        out_ += ", " + std::to_string(input.first + level) + "},\n";
      }
    }
    out_ += "  {\"\", 0}\n};\n";  // C has no empty arrays
  }

  // Those with a weight each; of a hash, the frequent ones.
  static const std::vector<std::string>& levels_of(const InputPlan& input) {
    return input.treatment == Treatment::level_hash ? input.frequent : input.levels;
  }

  void tokens() {
    out_ += "static const samovar_token samovar_tokens[] = {\n";
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      const OwnPlaces own(plan_.inputs[i], i, tokens_);
      for (const auto& [token, weight] : own.numbers())
        out_ += "  {" + std::to_string(token) + ", " + std::to_string(weight) + "},\n";
    }
    out_ += "  {0, 0}\n};\n";
  }

  // Of a missing value; SAMOVAR_NONE where it has none.
  std::string missing(std::size_t i) const {
    const InputPlan& input = plan_.inputs[i];
    if (input.treatment == Treatment::levels)
      return place(input.missing ? input.first + input.count - 1 : SAMOVAR_NONE);
    return place(OwnPlaces(input, i, tokens_).missing());
  }

  void inputs() {
    out_ += "static const samovar_input samovar_inputs[] = {\n";
    std::uint32_t level_first = 0;
    std::uint32_t token_first = 0;
    for (std::size_t i = 0; i < plan_.inputs.size(); ++i) {
      const InputPlan& input = plan_.inputs[i];
      const bool levels = input.treatment == Treatment::levels;
      const auto count = static_cast<std::uint32_t>(levels_of(input).size());
      const auto tokens = static_cast<std::uint32_t>(input.frequent_numbers.size());
      out_ += "  /* " + comment(input.name) + " */ {" + std::to_string(columns_.of_input[i]) + ", " +
              std::to_string(static_cast<int>(input.treatment)) + ", " +
              (input.type == ColumnType::boolean ? "1, " : "0, ");
      number(input.center);
      out_ += ", ";
      number(input.scale);
      out_ += ", ";
      number(input.fill);
      out_ += ", " + std::to_string(input.first) + ", " + std::to_string(input.count) + ", " +
              place(input.slot) + ", " + place(input.indicator ? input.indicator_weight : SAMOVAR_NONE) +
              ", " + std::to_string(level_first) + ", " + std::to_string(count) + ", " +
              std::to_string(token_first) + ", " + std::to_string(tokens) + ", " +
              place(levels && input.other ? input.first + count : SAMOVAR_NONE) + ", " + missing(i) + "},\n";
      level_first += count;
      token_first += tokens;
    }
    out_ += "  {0, 0, 0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}\n};\n";
  }

  void pairs() {
    out_ += "static const samovar_pair samovar_pairs[] = {\n";
    for (const InteractionPlan& pair : plan_.interactions) {
      out_ += "  {" + std::to_string(static_cast<int>(pair.kind)) + ", " + std::to_string(pair.a) + ", " +
              std::to_string(pair.b) + ", " + std::to_string(pair.first) + ", " + place(pair.slot) + "},\n";
    }
    out_ += "  {0, 0, 0, 0, 0}\n};\n";
  }

  void weights() {
    std::size_t on_line = 0;
    const auto next = [&] { out_ += ++on_line % 10 == 0 ? ",\n  " : ", "; };
    out_ += "static const float samovar_weights[] = {\n  ";
    for (const float weight : model_.weights) {
      if (sparse_ && !stays(weight)) continue;
      number(weight);
      next();
    }
    out_ += "0.0f\n};\n";
    if (sparse_) {
      on_line = 0;
      out_ += "static const uint32_t samovar_places[] = {\n  ";
      for (std::size_t i = 0; i < model_.weights.size(); ++i) {
        if (!stays(model_.weights[i])) continue;
        out_ += std::to_string(i) + "u";
        next();
      }
      out_ += "4294967295u\n};\n";
    }
    out_ += "static const double samovar_intercepts[] = {";
    for (std::size_t k = 0; k < model_.intercepts.size(); ++k) {
      if (k != 0) out_ += ", ";
      number(model_.intercepts[k]);
    }
    out_ += "};\n";
  }

  void tables() {
    const std::uint32_t link = model_.family == Family::multinomial
                                   ? static_cast<std::uint32_t>(SAMOVAR_SOFTMAX)
                                   : static_cast<std::uint32_t>(model_.link);
    out_ += "static const samovar_model samovar_tables = {\n  ";
    for (const std::size_t value :
         {columns_.names.size(), plan_.inputs.size(), plan_.interactions.size(), model_.outputs(),
          std::size_t{link}, model_.width, stored_, plan_.dense_width, plan_.slot_width,
          std::size_t{plan_.hash_first} + plan_.own_places,
          (std::size_t{1} << plan_.hash_bits) - plan_.own_places})
      out_ += std::to_string(value) + ", ";
    out_ += place(columns_.offset) + ", " + place(columns_.exposure) + ", " +
            std::to_string(plan_.hash_seed) +
            "u,\n  samovar_inputs, samovar_pairs, samovar_levels, samovar_tokens, samovar_weights, " +
            (sparse_ ? "samovar_places" : "NULL") + ", samovar_intercepts\n};\n";
  }

  void names() {
    out_ += "static const char *const samovar_columns[] = {\n";
    for (const std::string& name : columns_.names) {
      out_ += "  ";
      text(name);
      out_ += ",\n";
    }
    out_ += "  \"\"\n};\n";
    if (model_.classes == 0) return;
    out_ += "const char *const " + id_ + "_classes[" + std::to_string(model_.classes) + "] = {\n";
    for (const std::string& name : plan_.target.classes) {
      out_ += "  ";
      text(name);
      out_ += ",\n";
    }
    out_ += "};\n";
  }

  void calls() {
    const auto room = [](std::size_t width) { return std::to_string(std::max<std::size_t>(width, 1)); };
    out_ += "\nvoid " + id_ + "_predict(const samovar_value *row, double *out) {\n  float dense[" +
            room(plan_.dense_width) + "];\n  uint32_t slot[" + room(plan_.slot_width) +
            "];\n  samovar_score(&samovar_tables, row, dense, slot, out);\n}\n\nint " + id_ +
            "_input(const char *name) {\n  int i;\n  for (i = 0; i < " +
            std::to_string(columns_.names.size()) +
            "; ++i) {\n    if (strcmp(samovar_columns[i], name) == 0) return i;\n  }\n  return -1;\n}\n\n";
  }

  void cell(const RawValue& value) {
    if (const auto* held = std::get_if<bool>(&value)) {
      out_ += *held ? "{1, 1.0, NULL}" : "{1, 0.0, NULL}";
    } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
      out_ += "{1, ";
      number(static_cast<double>(*whole));
      out_ += ", NULL}";
    } else if (const auto* real = std::get_if<double>(&value)) {
      out_ += "{1, ";
      number(*real);
      out_ += ", NULL}";
    } else if (const auto* held_text = std::get_if<std::string>(&value)) {
      out_ += "{2, 0.0, ";
      text(*held_text);
      out_ += "}";
    } else {
      out_ += "{0, 0.0, NULL}";
    }
  }

  // Rows that were scored by the node: missing values, levels never seen, extremes, ordinary ones.
  void self_test() {
    out_ +=
        "#ifdef SAMOVAR_SELFTEST\n#include <stdio.h>\nstatic const samovar_value samovar_test_rows[] = {\n";
    for (std::uint32_t row = 0; row < vectors_.rows.rows; ++row) {
      for (const std::string& name : columns_.names) {
        out_ += "  ";
        const auto column = vectors_.rows.columns.find(name);
        cell(column == vectors_.rows.columns.end() ? RawValue{} : column->second[row]);
        out_ += ",\n";
      }
    }
    // The last comma is allowed; the table has as many elements as rows and columns make.
    out_ += "};\nstatic const double samovar_test_scores[] = {\n";
    for (const double score : vectors_.scores) {
      out_ += "  ";
      number(score);
      out_ += ",\n";
    }
    const std::string rows = std::to_string(vectors_.rows.rows);
    out_ += "};\nint main(void) {\n  int row, k, same = 0;\n  for (row = 0; row < " + rows +
            "; ++row) {\n    double out[" + id_ + "_OUTPUTS];\n    int differs = 0;\n    " + id_ +
            "_predict(samovar_test_rows + row * " + id_ + "_INPUTS, out);\n    for (k = 0; k < " + id_ +
            "_OUTPUTS; ++k) {\n      const double want = samovar_test_scores[row * " + id_ +
            "_OUTPUTS + k];\n      if (!(fabs(out[k] - want) <= 1e-6 * fabs(want) + 1e-12)) {\n"
            "        printf(\"test row %d: %.17g instead of %.17g\\n\", row + 1, out[k], want);\n"
            "        differs = 1;\n      }\n    }\n    same += !differs;\n  }\n"
            "  printf(\"%d of " +
            rows + " test rows agree\\n\", same);\n  return same == " + rows + " ? 0 : 1;\n}\n#endif\n";
  }

  const GlmModel& model_;
  const PipelinePlan& plan_;
  const TestVectors& vectors_;
  const ExportColumns columns_;
  const Tokens tokens_;
  const std::string id_;
  std::string title_;
  std::size_t stored_ = 0;
  bool sparse_ = false;
  std::string out_;
};

}  // namespace

static_assert(static_cast<int>(Treatment::hour) == SAMOVAR_HOUR);
static_assert(static_cast<int>(Treatment::words) == SAMOVAR_WORDS);
static_assert(static_cast<int>(InteractionPlan::Kind::scaled_hash) == SAMOVAR_SCALED_HASH);
static_assert(static_cast<int>(Link::cloglog) == SAMOVAR_CLOGLOG);

Result<std::string> write_c_export(const ModelParts& parts, const TestVectors& vectors, ExportName name) {
  return CWriter(parts, vectors, name).write();
}

}  // namespace samovar::trainer
