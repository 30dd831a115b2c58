#include "daemon/cli/data_support.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "daemon/cli/app.hpp"
#include "daemon/cli/digest.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/suggest.hpp"

namespace samovar::cli {

using nlohmann::json;

const std::vector<Column> kDatasets = {{"NAME", "/name"},
                                       {"ROWS", "/rows", Shape::count},
                                       {"COLUMNS", "/columns", Shape::count},
                                       {"SIZE", "/stored_bytes", Shape::bytes},
                                       {"VERSION", "/version", Shape::count},
                                       {"OWNER", "/owner"},
                                       {"CREATED", "/created_at", Shape::time},
                                       {"ID", "/id", Shape::text, true},
                                       {"BAD ROWS", "/bad_rows", Shape::count, true},
                                       {"SOURCE", "/source_bytes", Shape::bytes, true},
                                       {"ROWS FOR YOU", "/may_read_rows", Shape::yes, true},
                                       {"DAMAGED", "/damaged", Shape::yes, true},
                                       {"DESCRIPTION", "/description", Shape::text, true}};

const std::vector<Column> kDatasetRecord = {{"Name", "/name"},
                                            {"Id", "/id"},
                                            {"Description", "/description"},
                                            {"Owner", "/owner"},
                                            {"Created", "/created_at", Shape::time},
                                            {"Version", "/version", Shape::count},
                                            {"Rows", "/rows", Shape::count},
                                            {"Bad rows", "/bad_rows", Shape::count},
                                            {"Columns", "/columns", Shape::count},
                                            {"Stored", "/stored_bytes", Shape::bytes},
                                            {"Shards", "/shards", Shape::count},
                                            {"Damaged", "/damaged", Shape::yes},
                                            {"You may read rows", "/may_read_rows", Shape::yes},
                                            {"File", "/source/file_name"},
                                            {"File's size", "/source/bytes", Shape::bytes},
                                            {"File's SHA-256", "/source/sha256"},
                                            {"File is kept", "/source/kept", Shape::yes},
                                            {"In the bin since", "/binned_at", Shape::time},
                                            {"Destroyed after", "/purge_at", Shape::time},
                                            {"Notes", "/notes", Shape::list}};

const Flag kProgressFlag{
    "progress", 0, "HOW", "How to show progress on stderr", "auto|bar|lines|json|none", Complete::words};

namespace {

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return lower(x) == lower(y);
  });
}

json& change_of(json& changes, const std::string& column) {
  for (json& change : changes) {
    if (change["column"] == column) return change;
  }
  changes.push_back({{"column", column}});
  return changes.back();
}

// "a=b" at the last '=': names may have one, types and new names rarely do.
Result<std::pair<std::string, std::string>> pair_of(App& app, const std::string& flag,
                                                    const std::string& text, std::size_t equals) {
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    return app.usage(fmt::format("--{} is COLUMN=VALUE, not \"{}\"", flag, text));
  return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

}  // namespace

Result<json> find_dataset(App& app, std::string_view word, Where where) {
  Query query;
  if (where == Where::bin) query.emplace_back("bin", "true");
  SAMOVAR_TRY(json all, app.get_list("/datasets", query));
  std::vector<std::string_view> names;
  for (const json& one : all["items"]) {
    if (one.value("id", "") == word || same_word(one.value("name", ""), word)) return one;
    names.push_back(one["name"].get_ref<const std::string&>());
  }
  return Error{Errc::not_found, fmt::format("no data set \"{}\"{}{}; \"samovar data list{}\" shows them",
                                            word, where == Where::bin ? " in the bin" : "",
                                            did_you_mean(word, names), where == Where::bin ? " --bin" : "")};
}

std::string dataset_path(const json& dataset) { return "/datasets/" + url_encode(dataset.value("id", "")); }

std::vector<Flag> hint_flags() {
  return {{"format", 0, "FORMAT", "What kind of file it is, when it is not found",
           "csv|libsvm|arff|jsonl|pairs", Complete::words},
          {"delimiter", 0, "SIGN", "What is between cells: one character, or tab"},
          {"encoding", 0, "ENCODING", "How text is written", "utf8|latin1|utf16le|utf16be", Complete::words},
          {"header", 0, "YES|NO", "Is the first line the names of the columns", "yes|no", Complete::words},
          {"decimal", 0, "SIGN", "The decimal sign, . or ,"},
          {"quoted", 0, "YES|NO", "Do quotation marks enclose cells", "yes|no", Complete::words},
          {"dates", 0, "ORDER", "What 3/4/2024 means", "day_first|month_first", Complete::words},
          {"skip-lines", 0, "N", "Lines before the table begins"},
          {"missing", 0, "TEXT", "A cell with this text has no value; may be repeated"}};
}

Result<json> read_hints(App& app, const Invocation& invocation) {
  json hints = json::object();
  for (const char* name : {"format", "encoding", "decimal"}) {
    if (invocation.has(name)) hints[name] = std::string(invocation.flag(name));
  }
  if (invocation.has("dates")) hints["date_order"] = std::string(invocation.flag("dates"));
  for (const char* name : {"header", "quoted"}) {
    if (invocation.has(name)) hints[name] = invocation.flag(name) == "yes";
  }
  if (invocation.has("delimiter")) {
    const std::string_view sign = invocation.flag("delimiter");
    hints["delimiter"] = sign == "tab" || sign == "\\t" ? "\t" : std::string(sign);
  }
  if (invocation.has("skip-lines")) {
    auto lines = number_flag(invocation, "skip-lines", 0, 0, 1'000'000'000);
    if (!lines) return app.usage(lines.error().message());
    hints["skip_lines"] = *lines;
  }
  if (invocation.has("missing")) hints["missing"] = invocation.all("missing");
  return hints;
}

std::vector<Flag> column_flags() {
  return {{"type", 0, "COLUMN=TYPE",
           "Read a column as integer, real, boolean, category, text or time; may be repeated"},
          {"rename", 0, "COLUMN=NAME", "Give a column another name; may be repeated"},
          {"sensitive", 0, "COLUMN", "Mask this column in previews; may be repeated"},
          {"not-sensitive", 0, "COLUMN", "Show this column in previews; may be repeated"}};
}

Result<json> read_columns(App& app, const Invocation& invocation) {
  json changes = json::array();
  for (const char* flag : {"type", "set"}) {
    for (const std::string& text : invocation.all(flag)) {
      SAMOVAR_TRY(auto pair, pair_of(app, flag, text, text.rfind('=')));
      change_of(changes, pair.first)["type"] = pair.second;
    }
  }
  for (const std::string& text : invocation.all("rename")) {
    SAMOVAR_TRY(auto pair, pair_of(app, "rename", text, text.find('=')));
    change_of(changes, pair.first)["rename"] = pair.second;
  }
  for (const std::string& column : invocation.all("sensitive"))
    change_of(changes, column)["sensitive"] = true;
  for (const std::string& column : invocation.all("not-sensitive"))
    change_of(changes, column)["sensitive"] = false;
  return changes;
}

namespace {

// Into a file that is no file yet under its name, so that a broken transfer leaves none.
class PartFile {
 public:
  explicit PartFile(std::string name) : name_(std::move(name)), part_(name_ + ".part") {
    fd_ = ::open(part_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd_ < 0) errno_ = errno;
  }
  PartFile(const PartFile&) = delete;
  PartFile& operator=(const PartFile&) = delete;
  ~PartFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(part_.c_str());
  }

  bool write(std::string_view chunk) {
    while (good() && !chunk.empty()) {
      const ssize_t n = ::write(fd_, chunk.data(), chunk.size());
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) errno_ = errno;
      if (n > 0) chunk.remove_prefix(static_cast<std::size_t>(n));
    }
    return good();
  }
  bool good() const { return errno_ == 0; }
  Result<void> keep() {
    if (good() && ::fsync(fd_) != 0) errno_ = errno;
    if (good() && ::rename(part_.c_str(), name_.c_str()) != 0) errno_ = errno;
    return good() ? Result<void>() : Result<void>(error());
  }
  Error error() const {
    return Error{errno_ == ENOSPC ? Errc::no_space : Errc::io,
                 fmt::format("cannot write {}: {}", name_, std::strerror(errno_))};
  }

 private:
  const std::string name_, part_;
  int fd_ = -1;
  int errno_ = 0;
};

}  // namespace

Result<void> save_stream(App& app, Call call, const std::string& file) {
  call.go_on = [&app] { return app.io().pause_ms(0); };
  if (file.empty() || file == "-") {
    call.on_data = [&app](std::string_view chunk) {
      app.io().out(chunk);
      return true;
    };
    auto reply = app.call(std::move(call));
    if (!reply) return std::move(reply).error();
    return {};
  }
  PartFile part(file);
  if (!part.good()) return part.error();
  Sha256 digest;
  std::uint64_t received = 0;
  Result<HttpReply> reply = Error{Errc::io, ""};
  {
    Progress progress(app, "receiving", file);
    call.on_data = [&](std::string_view chunk) {
      received += chunk.size();
      digest.update(chunk);
      progress.update(received, 0);
      return part.write(chunk);
    };
    reply = app.call(std::move(call));
  }
  if (!part.good()) return part.error();
  if (!reply) return std::move(reply).error();
  const std::string_view told = reply->header("samovar-sha256");
  if (!told.empty() && told != digest.finish())
    return Error{Errc::corrupt,
                 fmt::format("what arrived differs from what the box sent; {} was not written: "
                             "try again",
                             file)};
  SAMOVAR_CHECK(part.keep());
  app.note(fmt::format("Wrote {} to {}.", human_bytes(static_cast<double>(received)), file));
  return {};
}

Result<std::string> user_id_of(App& app, const std::string& word) {
  if (word.starts_with("usr_")) return word;
  auto users = app.get_list("/users");
  if (!users && app.problem_status() == 403)
    return Error{Errc::denied,
                 fmt::format("you may not look users up by name: give the id of {} (usr_…)", word)};
  if (!users) return std::move(users).error();
  for (const json& user : (*users)["items"]) {
    if (user.value("username", "") == word) return user.value("id", "");
  }
  return Error{Errc::not_found, fmt::format("no user \"{}\"", word)};
}

}  // namespace samovar::cli
