#include "trainer/spec_power.hpp"

#include "base/ids.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr double kWattsMin = 1;
constexpr double kWattsMax = 100'000;
constexpr std::size_t kTimeBytesMax = 40;

constexpr std::array<std::pair<PowerSpec::Mode, std::string_view>, 2> kModes = {{
    {PowerSpec::Mode::full, "full"},
    {PowerSpec::Mode::gentle, "gentle"},
}};

}  // namespace

std::optional<std::uint16_t> minute_of_day(std::string_view text) noexcept {
  const auto digit = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '9'; };
  if (text.size() != 5 || text[2] != ':' || !digit(0) || !digit(1) || !digit(3) || !digit(4))
    return std::nullopt;
  const int hour = (text[0] - '0') * 10 + (text[1] - '0');
  const int minute = (text[3] - '0') * 10 + (text[4] - '0');
  if (hour > 23 || minute > 59) return std::nullopt;
  return static_cast<std::uint16_t>(hour * 60 + minute);
}

void parse_power(SpecMembers& members, JobSpec& spec, std::vector<SpecFault>& faults) {
  const Json* power = members.find("power");
  if (power == nullptr) return;
  SpecMembers inner(*power, "/power", faults);
  inner.choice("mode", kModes, spec.power.mode);
  if (inner.find("watts") != nullptr) {
    double watts = 0;
    inner.number("watts", kWattsMin, kWattsMax, watts);
    if (watts > 0) spec.power.watts = watts;
  }
  std::string finish_by;
  inner.text("finish_by", kTimeBytesMax, finish_by);
  if (!finish_by.empty() && !minute_of_day(finish_by) && !parse_time(finish_by))
    inner.fault("finish_by", "range",
                "this must be a time of day such as 06:00, in the box's time zone, or a moment such as "
                "2026-11-18T05:00:00Z");
  else
    spec.power.finish_by = std::move(finish_by);
  inner.refuse_others();
}

Json to_json(const PowerSpec& power) {
  if (power == PowerSpec{}) return nullptr;
  Json out = {{"mode", word_of(kModes, power.mode)}};
  if (power.watts) out["watts"] = *power.watts;
  if (!power.finish_by.empty()) out["finish_by"] = power.finish_by;
  return out;
}

Json power_schema() {
  Json properties;
  properties["mode"] = {
      {"type", "string"},
      {"title", "Speed"},
      {"description", "How much of the power it takes."},
      {"enum", {"full", "gentle"}},
      {"oneOf",
       {{{"const", "full"},
         {"title", "Full speed"},
         {"description", "As fast as the power budget of the box allows."}},
        {{"const", "gentle"},
         {"title", "Gentle"},
         {"description",
          "About half of what the nodes can draw beyond rest: cooler and quieter, and it takes longer."}}}},
      {"default", "full"}};
  properties["watts"] = {
      {"type", "number"},
      {"title", "At most, watts"},
      {"description",
       "All nodes together, with those at rest, draw no more than this while it trains. Empty: as the "
       "power budget says."},
      {"minimum", kWattsMin},
      {"maximum", kWattsMax}};
  properties["finish_by"] = {
      {"type", "string"},
      {"title", "Finish by"},
      {"description",
       "A time of day such as 06:00 or a moment such as 2026-11-18T05:00:00Z: it takes as few watts as "
       "still keep to it, never more than the limit."}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

}  // namespace samovar::trainer
