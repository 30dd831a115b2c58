// predict: ask a model about one row, or about a file of any length.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/model_support.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/prediction_output.hpp"
#include "daemon/cli/row_reader.hpp"
#include "daemon/cli/suggest.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

// A request holds so many rows or bytes, whichever comes first: the box takes 10,000 and 8 MiB.
constexpr std::size_t kBatchRows = 1000;
constexpr std::size_t kBatchBytes = 2 << 20;
constexpr unsigned kTriesMax = 8;

class InputFile {
 public:
  explicit InputFile(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile() {
    if (fd_ >= 0) ::close(fd_);
  }
  bool open() const { return fd_ >= 0; }
  Result<std::size_t> read(char* out, std::size_t room) {
    for (;;) {
      const ssize_t n = ::read(fd_, out, room);
      if (n >= 0) return static_cast<std::size_t>(n);
      if (errno != EINTR) return Error{Errc::io, fmt::format("reading failed: {}", std::strerror(errno))};
    }
  }

 private:
  int fd_;
};

json request_of(const ModelRef& ref, bool reasons) {
  json body = {{"rows", json::array()}};
  if (ref.version != 0) body["version"] = ref.version;
  if (reasons) body["reasons"] = true;
  return body;
}

// Asks again later when the box is busy or away: a long file is not worth losing for that.
Result<json> ask(App& app, const ModelRef& ref, const json& body) {
  for (unsigned tries = 1;; ++tries) {
    Call call;
    call.method = "POST";
    call.path = model_path(ref) + ":predict";
    call.body = body.dump(-1, ' ', false, json::error_handler_t::replace);
    auto reply = app.call(std::move(call));
    if (reply) {
      json answer = json::parse(reply->body, nullptr, false);
      if (!answer.is_object())
        return Error{Errc::corrupt, "the box's answer is no JSON: is the CLI as new as the box?"};
      return answer;
    }
    const int status = app.problem_status();
    const bool later = status == 429 || status == 503;
    if (!later || tries == kTriesMax || !app.io().pause_ms(250L << tries)) return std::move(reply).error();
  }
}

Result<json> read_row(App& app, const Invocation& invocation, const InputTypes& types) {
  std::vector<std::string> fields = invocation.all("row");
  fields.insert(fields.end(), invocation.arguments.begin() + 1, invocation.arguments.end());
  json row = json::object();
  std::vector<std::string_view> names;
  for (const auto& entry : types) names.push_back(entry.first);
  for (const std::string& field : fields) {
    const std::size_t equals = field.find('=');
    if (equals == std::string::npos || equals == 0)
      return app.usage(fmt::format("--row is COLUMN=VALUE, not \"{}\"", field));
    const std::string name = field.substr(0, equals);
    const auto type = types.find(name);
    if (type == types.end() && !types.empty()) {
      const std::string near = did_you_mean(name, names);
      if (!near.empty()) return app.usage(fmt::format("the model has no input \"{}\"{}", name, near));
    }
    row[name] = cell_value(field.substr(equals + 1), type == types.end() ? std::string() : type->second, '.');
  }
  return row;
}

Result<void> predict_row(App& app, const Invocation& invocation, const ModelRef& ref,
                         const InputTypes& types) {
  SAMOVAR_TRY(json row, read_row(app, invocation, types));
  json body = request_of(ref, invocation.has("reasons"));
  body["rows"].push_back(std::move(row));
  SAMOVAR_TRY(json answer, ask(app, ref, body));
  if (app.output() == Output::json) return print_json(app, answer);
  PredictionWriter writer(app, {}, invocation.has("reasons"));
  if (app.output() == Output::csv || app.output() == Output::jsonl) {
    writer.write({InputRow{}}, answer);
  } else {
    app.io().out(prediction_text(answer));
    writer.count(answer.value("warnings", json::array()));
  }
  writer.finish();
  return {};
}

Result<RowFormat> row_format(App& app, const Invocation& invocation) {
  RowFormat format;
  if (invocation.flag("format") == "csv") format.kind = RowFormat::Kind::csv;
  if (invocation.flag("format") == "jsonl") format.kind = RowFormat::Kind::jsonl;
  const std::string_view delimiter = invocation.flag("delimiter");
  if (delimiter == "tab" || delimiter == "\\t") {
    format.delimiter = '\t';
  } else if (delimiter.size() == 1) {
    format.delimiter = delimiter[0];
  } else if (!delimiter.empty()) {
    return app.usage("--delimiter is one character, or tab");
  }
  const std::string_view decimal = invocation.flag("decimal", ".");
  if (decimal != "." && decimal != ",") return app.usage("--decimal is . or ,");
  format.decimal = decimal[0];
  return format;
}

// Sends what was gathered and writes what comes back.
Result<void> flush(App& app, const ModelRef& ref, json& body, std::vector<InputRow>& rows,
                   PredictionWriter& writer) {
  if (rows.empty()) return {};
  auto answer = ask(app, ref, body);
  if (!answer) {
    if (writer.rows() > 0) app.fails_with(Exit::partly);
    return std::move(answer).error().within(
        fmt::format("rows {} to {}", writer.rows() + 1, writer.rows() + rows.size()));
  }
  writer.write(rows, *answer);
  rows.clear();
  body["rows"] = json::array();
  return {};
}

Result<void> predict_all(App& app, const Invocation& invocation, const ModelRef& ref, RowReader& reader,
                         const std::vector<std::string>& keep) {
  PredictionWriter writer(app, keep, invocation.has("reasons"));
  json body = request_of(ref, invocation.has("reasons"));
  std::vector<InputRow> rows;
  std::size_t bytes = 0;
  for (;;) {
    auto row = reader.next();
    if (!row) {
      // What was read before the fault is answered first.
      SAMOVAR_CHECK(flush(app, ref, body, rows, writer));
      if (writer.rows() > 0) app.fails_with(Exit::partly);
      return std::move(row).error();
    }
    if (!*row) break;
    const std::size_t size = (*row)->values.dump(-1, ' ', false, json::error_handler_t::replace).size() + 1;
    if (rows.size() == kBatchRows || (bytes + size > kBatchBytes && !rows.empty())) {
      SAMOVAR_CHECK(flush(app, ref, body, rows, writer));
      bytes = 0;
    }
    bytes += size;
    body["rows"].push_back(std::move((*row)->values));
    rows.push_back(std::move(**row));
    if (!app.io().pause_ms(0))
      return Error{Errc::io, fmt::format("interrupted after {} rows", writer.rows())};
  }
  SAMOVAR_CHECK(flush(app, ref, body, rows, writer));
  writer.finish();
  if (writer.rows() == 0) app.note("There was no row to predict.");
  return {};
}

Result<void> predict_file(App& app, const Invocation& invocation, const ModelRef& ref,
                          const InputTypes& types) {
  const std::string path(invocation.flag("file"));
  SAMOVAR_TRY(RowFormat format, row_format(app, invocation));
  std::vector<std::string> keep;
  for (const std::string& names : invocation.all("keep")) {
    for (const std::string_view name : split_words(names, ',')) keep.emplace_back(name);
  }
  if (path == "-") {
    RowReader reader([&app](char* out, std::size_t room) { return app.io().read_some(out, room); }, format,
                     types, keep);
    return predict_all(app, invocation, ref, reader, keep);
  }
  InputFile file(path);
  if (!file.open())
    return Error{Errc::not_found, fmt::format("cannot read {}: {}", path, std::strerror(errno))};
  RowReader reader([&file](char* out, std::size_t room) { return file.read(out, room); }, format, types,
                   keep);
  return predict_all(app, invocation, ref, reader, keep);
}

// What the model takes. A token that may only ask for predictions learns it from the inference protocol.
Result<InputTypes> types_of(App& app, const ModelRef& ref) {
  auto version = get_version(app, ref);
  if (version) return input_types(version->value("signature", json()));
  if (app.problem_status() != 403) return std::move(version).error();
  Call call;
  call.path = "//v2" + (ref.version == 0 ? model_path(ref) : version_path(ref));
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json told = json::parse(reply.body, nullptr, false);
  InputTypes types;
  if (!told.is_object()) return types;
  for (const json& input : told.value("inputs", json::array())) {
    const std::string datatype = input.value("datatype", "");
    types[input.value("name", "")] = datatype == "BYTES"  ? "category"
                                     : datatype == "BOOL" ? "boolean"
                                                          : "real";
  }
  return types;
}

Result<void> predict(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(ModelRef ref, model_ref(app, invocation.argument(0)));
  const bool row = invocation.has("row") || invocation.arguments.size() > 1;
  if (row == invocation.has("file"))
    return app.usage("give one row with --row COLUMN=VALUE…, or many with --file FILE (- for stdin)");
  SAMOVAR_TRY(InputTypes types, types_of(app, ref));
  return row ? predict_row(app, invocation, ref, types) : predict_file(app, invocation, ref, types);
}

}  // namespace

void add_predict(Table& table) {
  table.commands.push_back(
      {"",
       "predict",
       "Ask a model about one row or a whole file",
       "A file is CSV with a header, or JSON lines; it is sent in pieces, so it may be of any length, and "
       "the answers come "
       "in its order: as CSV, or as JSON lines with -o jsonl. Columns that are no inputs of the model are "
       "not sent. Inputs "
       "that are missing, unknown or unreadable have defined answers; each kind is told once on stderr. "
       "Without a version "
       "the one that serves answers, else the latest.",
       {{"MODEL", "Name, or NAME@VERSION", true, false, Complete::models},
        {"COLUMN=VALUE", "More of the row", false, true}},
       {{"row", 'r', "COLUMN=VALUE", "One input of a single row; may be repeated"},
        {"file", 'F', "FILE", "Rows from this file; - for stdin", {}, Complete::file},
        {"reasons", 0, {}, "Also what each answer comes from: inputs and their effect"},
        {"keep", 0, "COLUMN", "Also write this column of the file; repeated or with commas"},
        {"format", 0, "FORMAT", "What the file is, when it is not found", "csv|jsonl", Complete::words},
        {"delimiter", 0, "SIGN", "What is between cells: one character, or tab"},
        {"decimal", 0, "SIGN", "The decimal sign, . or ,"}},
       {{"samovar predict readmission --row age=71 prior_admissions_12m=2 --reasons", ""},
        {"samovar predict readmission --file today.csv --keep admission_id > answers.csv", ""},
        {"zcat rows.jsonl.gz | samovar predict readmission@2 --file - -o jsonl", ""}},
       &predict});
}

}  // namespace samovar::cli
