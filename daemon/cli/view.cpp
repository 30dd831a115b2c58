#include "daemon/cli/view.hpp"

#include <fmt/format.h>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/suggest.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr const char* kNothing = "–";

const json* at(const json& resource, std::string_view pointer) {
  const json* value = &resource;
  for (const std::string_view key : split_words(pointer.substr(1), '/')) {
    if (!value->is_object()) return nullptr;
    const auto found = value->find(std::string(key));
    if (found == value->end()) return nullptr;
    value = &*found;
  }
  return value->is_null() ? nullptr : value;
}

std::string plain_text(const json& value) {
  if (value.is_string()) return printable(value.get_ref<const std::string&>());
  return printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string list_text(const json& value) {
  if (!value.is_array()) return plain_text(value);
  std::string out;
  for (const json& item : value) out += (out.empty() ? "" : ", ") + plain_text(item);
  return out.empty() ? kNothing : out;
}

// 2026-11-16T05:53:50.123456Z → 2026-11-16 05:53:50
std::string time_text(const json& value) {
  std::string text = plain_text(value);
  if (text.size() >= 19 && text[10] == 'T') return text.substr(0, 10) + " " + text.substr(11, 8);
  return text;
}

std::string raw_text(const json* value) {
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  return value->dump(-1, ' ', false, json::error_handler_t::replace);
}

json keep_fields(const json& value, const std::vector<std::string_view>& fields) {
  json kept = json::object();
  for (const std::string_view field : fields) {
    const std::string key(field);
    kept[key] = value.is_object() && value.contains(key) ? value[key] : json();
  }
  return kept;
}

void print_csv(App& app, const json& items, const std::vector<Column>& columns) {
  std::string out;
  for (const Column& column : columns) {
    std::string name(column.pointer.substr(1));
    for (char& c : name) c = c == '/' ? '.' : c;
    out += (out.empty() ? "" : ",") + csv_cell(name);
  }
  out += "\r\n";
  for (const json& item : items) {
    bool first = true;
    for (const Column& column : columns) {
      out += (first ? "" : ",") + csv_cell(raw_text(at(item, column.pointer)));
      first = false;
    }
    out += "\r\n";
  }
  app.io().out(out);
}

std::string dump(const json& value, int indent) {
  return value.dump(indent, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string_view state_color(std::string_view word) noexcept {
  for (const std::string_view good : {"up", "ok", "ready", "full", "done", "production"}) {
    if (word == good) return "\x1b[32m";
  }
  for (const std::string_view middling :
       {"warning", "warn", "starting", "locked", "new", "partial", "queued", "running", "paused", "joining",
        "draining", "waiting", "code_needed"}) {
    if (word == middling) return "\x1b[33m";
  }
  for (const std::string_view bad : {"critical", "down", "error", "denied", "fail", "failed", "cancelled",
                                     "damaged", "unreachable", "removed", "blocked", "duplicate_id"}) {
    if (word == bad) return "\x1b[31m";
  }
  return {};
}

std::string cell_text(const json& resource, const Column& column) {
  const json* value = at(resource, column.pointer);
  if (value == nullptr) return kNothing;
  if (column.shape == Shape::list) return list_text(*value);
  if (column.shape == Shape::time) return time_text(*value);
  if (column.shape == Shape::yes && value->is_boolean()) return value->get<bool>() ? "yes" : "no";
  if (!value->is_number()) return plain_text(*value);
  const double number = value->get<double>();
  switch (column.shape) {
    case Shape::bytes:
      return human_bytes(number);
    case Shape::percent:
      return fmt::format("{:.0f} %", number * 100);
    case Shape::watts:
      return fmt::format("{:.1f} W", number);
    case Shape::celsius:
      return fmt::format("{:.0f} °C", number);
    case Shape::duration:
      return human_duration(number);
    case Shape::count:
      return human_count(number);
    case Shape::watt_hours:
      return fmt::format("{:.{}f} Wh", number, number < 10 ? 2 : 0);
    case Shape::ms:
      return fmt::format("{:.1f} ms", number);
    case Shape::rate:
      return human_bytes(number) + "/s";
    default:
      return plain_text(*value);
  }
}

std::string table_text(App& app, const json& items, const std::vector<Column>& columns) {
  std::vector<TableColumn> heads;
  std::vector<std::vector<std::string>> rows;
  std::vector<std::vector<std::string_view>> colors;
  std::vector<const Column*> shown;
  for (const Column& column : columns) {
    if (column.wide && app.output() != Output::wide) continue;
    const bool number = column.shape != Shape::text && column.shape != Shape::list &&
                        column.shape != Shape::time && column.shape != Shape::yes;
    shown.push_back(&column);
    heads.push_back({std::string(column.title), number ? Align::right : Align::left});
  }
  for (const json& item : items) {
    auto& row = rows.emplace_back();
    auto& paint = colors.emplace_back();
    for (const Column* column : shown) {
      row.push_back(cell_text(item, *column));
      paint.push_back(app.color() && column->state ? state_color(row.back()) : std::string_view());
    }
  }
  return format_table(heads, rows, colors);
}

Result<void> print_json(App& app, const json& value) {
  const std::vector<std::string_view> fields = split_words(app.invocation().flag("json"), ',');
  const bool list = value.is_object() && value.contains("items") && value["items"].is_array();
  if (app.output() == Output::jsonl) {
    std::string out;
    if (list) {
      for (const json& item : value["items"])
        out += dump(fields.empty() ? item : keep_fields(item, fields), -1);
    } else {
      out = dump(fields.empty() ? value : keep_fields(value, fields), -1);
    }
    app.io().out(out);
    return {};
  }
  if (fields.empty()) {
    app.io().out(dump(value, 2));
    return {};
  }
  if (!list) {
    app.io().out(dump(keep_fields(value, fields), 2));
    return {};
  }
  json kept = value;
  for (json& item : kept["items"]) item = keep_fields(item, fields);
  app.io().out(dump(kept, 2));
  return {};
}

Result<void> show_list(App& app, const json& list, const std::vector<Column>& columns,
                       std::string_view id_pointer) {
  if (app.json_like()) return print_json(app, list);
  const json& items = list["items"];
  if (app.output() == Output::csv) {
    print_csv(app, items, columns);
  } else if (app.quiet()) {
    std::string out;
    for (const json& item : items) out += printable(raw_text(at(item, id_pointer))) + "\n";
    app.io().out(out);
  } else if (items.empty()) {
    app.note("Nothing to show.");
  } else {
    app.io().out(table_text(app, items, columns));
  }
  if (list.contains("next_cursor") && list["next_cursor"].is_string())
    app.note("There is more: raise --limit, or use --limit 0 for all.");
  return {};
}

Result<void> show_record(App& app, const json& resource, const std::vector<Column>& columns) {
  if (app.json_like()) return print_json(app, resource);
  if (app.output() == Output::csv) {
    print_csv(app, json::array({resource}), columns);
    return {};
  }
  std::size_t width = 0;
  for (const Column& column : columns) width = std::max(width, display_width(column.title));
  std::string out;
  for (const Column& column : columns) {
    const std::string text = cell_text(resource, column);
    const std::string_view paint = app.color() && column.state ? state_color(text) : std::string_view();
    out +=
        fmt::format("{}:{}{}{}{}\n", column.title, std::string(width - display_width(column.title) + 1, ' '),
                    paint, text, paint.empty() ? "" : "\x1b[0m");
  }
  app.io().out(out);
  return {};
}

}  // namespace samovar::cli
