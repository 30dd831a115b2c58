#include "trainer/export/c_tables.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <type_traits>

#include "trainer/export/c_runtime.h"

namespace samovar::trainer {

namespace {

Error broken(std::string_view what) {
  return Error{Errc::internal,
               "export_mismatch: the C text's table " + std::string(what) + " cannot be read"};
}

// Reads one table; the cursor stands behind its opening brace.
class TableReader {
 public:
  TableReader(std::string_view text, std::string_view name) : left_(text), name_(name) {}

  Result<CTable> read() {
    CTable table;
    std::size_t in_element = 0;
    bool struct_open = false;
    for (;;) {
      skip();
      if (left_.empty()) return broken(name_);
      const char c = left_.front();
      if (c == '{') {
        if (struct_open) return broken(name_);
        struct_open = true;
        in_element = 0;
        left_.remove_prefix(1);
      } else if (c == '}') {
        left_.remove_prefix(1);
        if (!struct_open) return table;
        struct_open = false;
        if (table.width != 0 && table.width != in_element) return broken(name_);
        table.width = in_element;
      } else if (c == ',') {
        left_.remove_prefix(1);
      } else {
        std::string value;
        if (!(c == '"' ? string(value) : word(value))) return broken(name_);
        table.values.push_back(std::move(value));
        ++in_element;
        if (!struct_open) table.width = 1;
      }
    }
  }

 private:
  void skip() {
    for (;;) {
      while (!left_.empty() && (left_.front() == ' ' || left_.front() == '\n')) left_.remove_prefix(1);
      if (!left_.starts_with("/*")) return;
      const std::size_t end = left_.find("*/", 2);
      left_.remove_prefix(end == std::string_view::npos ? left_.size() : end + 2);
    }
  }
  bool word(std::string& out) {
    const std::size_t end = left_.find_first_of(",} \n");
    if (end == std::string_view::npos || end == 0) return false;
    out = left_.substr(0, end);
    left_.remove_prefix(end);
    return true;
  }
  // Escapes are those that the writer makes: three octal digits, or the character itself.
  bool string(std::string& out) {
    for (std::size_t at = 1; at < left_.size(); ++at) {
      const char c = left_[at];
      if (c == '"') {
        left_.remove_prefix(at + 1);
        return true;
      }
      if (c != '\\') {
        out += c;
        continue;
      }
      if (++at >= left_.size()) return false;
      if (left_[at] < '0' || left_[at] > '7') {
        out += left_[at];
        continue;
      }
      if (at + 2 >= left_.size()) return false;
      out += static_cast<char>((left_[at] - '0') * 64 + (left_[at + 1] - '0') * 8 + (left_[at + 2] - '0'));
      at += 2;
    }
    return false;
  }

  std::string_view left_;
  std::string_view name_;
};

template <class T>
bool number(std::string_view text, T& out) {
  while (!text.empty() && (text.back() == 'u' || text.back() == 'f')) text.remove_suffix(1);
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), out);
  return problem == std::errc() && end == text.data() + text.size();
}

// The values of an element, one after the other.
class Fields {
 public:
  explicit Fields(const CTable& table) : table_(table) {}
  template <class... T>
  bool operator()(T&... fields) {
    return (one(fields) && ...);
  }
  bool one(const char*& field) {
    if (at_ >= table_.values.size()) return false;
    const std::string& value = table_.values[at_++];
    field = value.c_str();
    return true;
  }
  template <class T>
  bool one(T& field) {
    static_assert(std::is_arithmetic_v<T>);
    if (at_ >= table_.values.size()) return false;
    const std::string& value = table_.values[at_++];
    if (value == "SAMOVAR_NONE") {
      field = static_cast<T>(SAMOVAR_NONE);
      return true;
    }
    return number(value, field);
  }
  void skip(std::size_t count) { at_ += count; }

 private:
  const CTable& table_;
  std::size_t at_ = 0;
};

// The text behind the opening brace of `name[] = {` or, for a single struct, of `name = {`.
std::optional<std::string_view> inside(std::string_view text, std::string_view name) {
  for (const std::string& head : {" " + std::string(name) + "[] = {", " " + std::string(name) + " = {"}) {
    const std::size_t at = text.find(head);
    if (at != std::string_view::npos) return text.substr(at + head.size());
  }
  return std::nullopt;
}

// A table of plain numbers, which may be millions.
template <class T>
Result<std::vector<T>> numbers(std::string_view text, std::string_view name) {
  const auto body = inside(text, name);
  if (!body) return broken(name);
  std::vector<T> out;
  std::string_view left = body->substr(0, body->find('}'));
  for (;;) {
    left.remove_prefix(std::min(left.find_first_not_of(", \n"), left.size()));
    if (left.empty()) return out;
    const std::size_t end = std::min(left.find_first_of(", \n"), left.size());
    T value{};
    if (!number(left.substr(0, end), value)) return broken(name);
    out.push_back(value);
    left.remove_prefix(end);
  }
}

struct Tables {
  CTable level_texts, row_texts;  // hold the characters that the others point to
  std::vector<samovar_level> levels;
  std::vector<samovar_token> tokens;
  std::vector<samovar_input> inputs;
  std::vector<samovar_pair> pairs;
  std::vector<float> weights;
  std::vector<std::uint32_t> places;
  std::vector<double> intercepts;
  std::vector<samovar_value> rows;
  samovar_model model{};
};

Result<void> read_lists(std::string_view text, Tables& out) {
  SAMOVAR_TRY(out.level_texts, read_c_table(text, "samovar_levels"));
  out.levels.resize(out.level_texts.values.size() / 2);
  Fields level_fields(out.level_texts);
  for (samovar_level& level : out.levels) {
    if (!level_fields(level.text, level.weight)) return broken("samovar_levels");
  }
  SAMOVAR_TRY(const CTable tokens, read_c_table(text, "samovar_tokens"));
  out.tokens.resize(tokens.values.size() / 2);
  Fields token_fields(tokens);
  for (samovar_token& token : out.tokens) {
    if (!token_fields(token.token, token.weight)) return broken("samovar_tokens");
  }
  SAMOVAR_TRY(const CTable inputs, read_c_table(text, "samovar_inputs"));
  out.inputs.resize(inputs.values.size() / 16);
  Fields input_fields(inputs);
  for (samovar_input& in : out.inputs) {
    if (!input_fields(in.column, in.treatment, in.boolean, in.center, in.scale, in.fill, in.first, in.count,
                      in.slot, in.indicator, in.level_first, in.levels, in.token_first, in.tokens, in.other,
                      in.missing))
      return broken("samovar_inputs");
  }
  SAMOVAR_TRY(const CTable pairs, read_c_table(text, "samovar_pairs"));
  out.pairs.resize(pairs.values.size() / 5);
  Fields pair_fields(pairs);
  for (samovar_pair& pair : out.pairs) {
    if (!pair_fields(pair.kind, pair.a, pair.b, pair.first, pair.slot)) return broken("samovar_pairs");
  }
  SAMOVAR_TRY(out.row_texts, read_c_table(text, "samovar_test_rows"));
  out.rows.resize(out.row_texts.values.size() / 3);
  Fields row_fields(out.row_texts);
  for (samovar_value& value : out.rows) {
    if (!row_fields(value.kind, value.number, value.text)) return broken("samovar_test_rows");
    if (value.kind != SAMOVAR_TEXT) value.text = nullptr;
  }
  return {};
}

Result<void> read_model(std::string_view text, Tables& out) {
  SAMOVAR_TRY(const CTable table, read_c_table(text, "samovar_tables"));
  Fields fields(table);
  samovar_model& m = out.model;
  if (!fields(m.columns, m.inputs, m.pairs, m.outputs, m.link, m.width, m.stored, m.dense_width, m.slot_width,
              m.hash_first, m.hash_places, m.offset_column, m.exposure_column, m.hash_seed))
    return broken("samovar_tables");
  if (table.values.size() != 21) return broken("samovar_tables");
  const bool sparse = table.values[19] == "samovar_places";
  SAMOVAR_TRY(out.weights, numbers<float>(text, "samovar_weights"));
  if (sparse) {
    SAMOVAR_TRY(out.places, numbers<std::uint32_t>(text, "samovar_places"));
  }
  SAMOVAR_TRY(out.intercepts, numbers<double>(text, "samovar_intercepts"));
  if (m.inputs > out.inputs.size() || m.pairs > out.pairs.size() || m.outputs != out.intercepts.size() ||
      m.stored > out.weights.size() || m.columns == 0 || out.rows.size() % m.columns != 0 ||
      (sparse ? out.places.size() != out.weights.size() : m.stored != m.width * m.outputs))
    return broken("samovar_tables");
  m.input = out.inputs.data();
  m.pair = out.pairs.data();
  m.level = out.levels.data();
  m.token = out.tokens.data();
  m.weight = out.weights.data();
  m.weight_place = sparse ? out.places.data() : nullptr;
  m.intercept = out.intercepts.data();
  return {};
}

}  // namespace

Result<CTable> read_c_table(std::string_view text, std::string_view name) {
  const auto body = inside(text, name);
  if (!body) return broken(name);
  return TableReader(*body, name).read();
}

Result<CSelfTest> run_c_export(std::string_view text) {
  Tables tables;
  SAMOVAR_CHECK(read_lists(text, tables));
  SAMOVAR_CHECK(read_model(text, tables));
  CSelfTest out;
  SAMOVAR_TRY(out.expected, numbers<double>(text, "samovar_test_scores"));
  const samovar_model& model = tables.model;
  samovar_model plain = model;
  plain.link = SAMOVAR_IDENTITY;
  std::vector<float> dense(model.dense_width + 1);
  std::vector<std::uint32_t> slots(model.slot_width + 1);
  std::vector<double> scores(model.outputs);
  for (std::size_t row = 0; row < tables.rows.size(); row += model.columns) {
    samovar_score(&model, tables.rows.data() + row, dense.data(), slots.data(), scores.data());
    out.scores.insert(out.scores.end(), scores.begin(), scores.end());
    samovar_score(&plain, tables.rows.data() + row, dense.data(), slots.data(), scores.data());
    out.predictors.insert(out.predictors.end(), scores.begin(), scores.end());
  }
  return out;
}

}  // namespace samovar::trainer
