// power: the budget in watts, its schedule, the thermal limit, the time on UPS; and how it stands.
#include <fmt/format.h>

#include <charconv>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/nouns.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

using nlohmann::json;

namespace {

constexpr const char* kPath = "/settings/power";

const std::vector<Column> kNodes = {{"NODE", "/name"},
                                    {"STATE", "/state", Shape::text, false, true},
                                    {"DRAWS", "/watts", Shape::watts},
                                    {"ESTIMATED", "/estimated", Shape::yes},
                                    {"MAY DRAW", "/cap_watts", Shape::watts},
                                    {"AT REST", "/idle_watts", Shape::watts},
                                    {"WORKING", "/working", Shape::yes},
                                    {"DUTY", "/duty", Shape::percent},
                                    {"HOTTEST", "/temperature", Shape::celsius},
                                    {"CLOCK LEVEL", "/clock_level", Shape::count, true},
                                    {"CLOCK LEVELS", "/clock_levels", Shape::count, true},
                                    {"CLOCKS", "/clocks", Shape::text, true},
                                    {"ON BATTERY", "/on_battery", Shape::yes, true},
                                    {"ID", "/id", Shape::text, true}};

const std::vector<Column> kPeriods = {
    {"DAYS", "/days", Shape::list}, {"FROM", "/from"}, {"TO", "/to"}, {"WATTS", "/watts", Shape::watts}};

// The document and the revision it has: what is not named stays, and two people do not overwrite each other.
struct Document {
  json value;
  std::string etag;
};

Result<Document> read(App& app) {
  Call call;
  call.path = kPath;
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  json value = json::parse(reply.body, nullptr, false);
  if (!value.is_object()) return Error{Errc::internal, "the box sent no settings document"};
  return Document{std::move(value), std::string(reply.header("etag"))};
}

Result<void> write(App& app, const Document& document, std::string_view done) {
  Call call;
  call.method = "PUT";
  call.path = kPath;
  call.body = document.value.dump(-1, ' ', false, json::error_handler_t::replace);
  call.headers.emplace_back("If-Match", document.etag);
  SAMOVAR_TRY(HttpReply reply, app.call(std::move(call)));
  const json saved = json::parse(reply.body, nullptr, false);
  if (app.json_like()) return print_json(app, saved);
  app.note(done);
  return {};
}

// A number, or "none".
Result<json> limit(App& app, std::string_view text, std::string_view unit) {
  if (text == "none") return json(nullptr);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    return app.usage(fmt::format("\"{}\" is no number of {}; write one, or none", text, unit));
  return json(value);
}

std::string budget_line(const json& power) {
  static constexpr std::pair<std::string_view, std::string_view> kWhy[] = {{"budget", "as set"},
                                                                           {"schedule", "by the schedule"},
                                                                           {"ups", "while on UPS"},
                                                                           {"job", "a training's own limit"}};
  if (!power.value("/budget_watts"_json_pointer, json()).is_number()) return "No power budget is set.";
  std::string why;
  for (const auto& [reason, text] : kWhy)
    if (power.value("reason", "") == reason) why = text;
  std::string line =
      fmt::format("Budget {} ({})", cell_text(power, {"", "/budget_watts", Shape::watts}), why);
  if (power.value("/changes_at"_json_pointer, json()).is_string())
    line += ", changes at " + cell_text(power, {"", "/changes_at", Shape::time});
  return line + ".";
}

Result<void> show(App& app, const Invocation&) {
  SAMOVAR_TRY(json power, app.get("/power"));
  if (app.json_like()) return print_json(app, power);
  if (app.output() == Output::csv || app.quiet())
    return show_list(app, json{{"items", power["nodes"]}}, kNodes);
  std::string out = budget_line(power) + "\n";
  out += fmt::format("The nodes draw {}{}; on average over ten seconds {}; at rest {}.\n",
                     cell_text(power, {"", "/watts", Shape::watts}),
                     power.value("estimated", false) ? " (estimated)" : "",
                     cell_text(power, {"", "/mean_watts", Shape::watts}),
                     cell_text(power, {"", "/idle_watts", Shape::watts}));
  for (const char* what : {"trouble", "advice"})
    if (const std::string text = power.value(what, ""); !text.empty()) out += text + "\n";
  app.io().out(out + "\n" + table_text(app, power["nodes"], kNodes));
  return {};
}

Result<void> budget(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json watts, limit(app, invocation.argument(0), "watts"));
  SAMOVAR_TRY(Document document, read(app));
  document.value["budget_watts"] = watts;
  return write(app, document,
               watts.is_null() ? "There is no power budget any more."
                               : fmt::format("All nodes together may draw {:g} W.", watts.get<double>()));
}

// "mon,tue@22:00-06:00=40"; without days: every day; "none" in place of watts: no limit.
Result<json> period_of(App& app, std::string_view text) {
  const auto wrong = [&] {
    return app.usage(
        fmt::format("\"{}\" is no time of a schedule; write 22:00-06:00=40 or mon,tue@07:00-19:00=60", text));
  };
  json period = json::object();
  std::string_view rest = text;
  if (const auto at = rest.find('@'); at != std::string_view::npos) {
    json days = json::array();
    std::string_view names = rest.substr(0, at);
    while (!names.empty()) {
      const auto comma = std::min(names.find(','), names.size());
      days.push_back(std::string(names.substr(0, comma)));
      names.remove_prefix(std::min(comma + 1, names.size()));
    }
    period["days"] = std::move(days);
    rest.remove_prefix(at + 1);
  }
  const auto dash = rest.find('-');
  const auto equals = rest.find('=');
  if (dash == std::string_view::npos || equals == std::string_view::npos || equals < dash) return wrong();
  period["from"] = std::string(rest.substr(0, dash));
  period["to"] = std::string(rest.substr(dash + 1, equals - dash - 1));
  SAMOVAR_TRY(period["watts"], limit(app, rest.substr(equals + 1), "watts"));
  return period;
}

Result<void> schedule(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(Document document, read(app));
  if (invocation.arguments.empty())
    return show_list(app, json{{"items", document.value["schedule"]}}, kPeriods, "/from");
  json periods = json::array();
  const bool none = invocation.arguments.size() == 1 && invocation.argument(0) == "none";
  for (std::size_t i = 0; !none && i < invocation.arguments.size(); ++i) {
    SAMOVAR_TRY(json period, period_of(app, invocation.argument(i)));
    periods.push_back(std::move(period));
  }
  const std::string done = none ? "There is no schedule any more."
                                : fmt::format("The schedule has {} now.",
                                              periods.size() == 1 ? std::string("one time")
                                                                  : fmt::format("{} times", periods.size()));
  document.value["schedule"] = std::move(periods);
  return write(app, document, done);
}

Result<void> heat(App& app, const Invocation& invocation) {
  SAMOVAR_TRY(json celsius, limit(app, invocation.argument(0), "degrees"));
  SAMOVAR_TRY(Document document, read(app));
  document.value["limit_celsius"] = celsius;
  return write(app, document,
               celsius.is_null() ? "There is no thermal limit any more."
                                 : fmt::format("Nodes are kept below {:g} °C.", celsius.get<double>()));
}

Result<void> ups(App& app, const Invocation& invocation) {
  const std::string_view mode = invocation.argument(0);
  if (mode != "off" && mode != "auto" && mode != "on") return app.usage("say off, auto or on");
  SAMOVAR_TRY(Document document, read(app));
  document.value["ups"] = std::string(mode);
  if (invocation.has("watts")) {
    SAMOVAR_TRY(document.value["ups_watts"], limit(app, invocation.flag("watts"), "watts"));
  }
  return write(app, document, fmt::format("UPS mode is {}.", mode));
}

}  // namespace

void add_power(Table& table) {
  table.nouns.push_back({"power", "The power budget and how it stands"});
  auto& rows = table.commands;
  rows.push_back({"power",
                  "show",
                  "Show the budget that holds, and what each node draws and may draw",
                  "",
                  {},
                  {},
                  {{"samovar power show", ""}, {"samovar power show -o wide", "with clock caps"}},
                  &show});
  rows.push_back({"power",
                  "budget",
                  "Set what all nodes together may draw",
                  "Trainings go slower where watts buy least; what nodes draw at rest cannot be saved.",
                  {{"WATTS", "Watts, or none"}},
                  {},
                  {{"samovar power budget 60", ""}, {"samovar power budget none", "no limit"}},
                  &budget});
  rows.push_back(
      {"power",
       "schedule",
       "Show or set budgets for times of the week",
       "The first time that fits holds in place of the budget; from 22:00 to 06:00 goes past midnight "
       "and belongs to the day it begins on. Times are those of the box's time zone. What is given "
       "replaces the whole schedule.",
       {{"TIME", "22:00-06:00=40, mon,tue@07:00-19:00=60, or none", false, true}},
       {},
       {{"samovar power schedule", "shows it"},
        {"samovar power schedule 22:00-06:00=120 mon,tue,wed,thu,fri@06:00-22:00=60", ""},
        {"samovar power schedule none", ""}},
       &schedule});
  rows.push_back({"power",
                  "heat",
                  "Set how hot a node may become",
                  "Of its hottest sensor; work is slowed down before the board does it by itself.",
                  {{"CELSIUS", "40 to 105, or none"}},
                  {},
                  {{"samovar power heat 80", ""}},
                  &heat});
  rows.push_back({"power",
                  "ups",
                  "Set what holds while the box runs from a battery",
                  "auto: when a node sees that it does; on: as if it did, for a UPS that tells no node.",
                  {{"MODE", "off, auto or on", true, false, Complete::words, "off|auto|on"}},
                  {{"watts", 0, "WATTS", "What all nodes together may draw then, or none"}},
                  {{"samovar power ups auto --watts 30", ""}, {"samovar power ups on", ""}},
                  &ups});
}

}  // namespace samovar::cli
