#include "trainer/spec_together.hpp"

#include <algorithm>

#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::uint32_t kNodesMax = 1000;
constexpr std::uint32_t kTauMax = 1'000'000;

constexpr std::array<std::pair<OnLostNode, std::string_view>, 3> kOnLostNode = {{
    {OnLostNode::go_on, "go_on"},
    {OnLostNode::replace, "replace"},
    {OnLostNode::pause, "pause"},
}};

constexpr std::array<std::pair<Rotate, std::string_view>, 3> kRotate = {{
    {Rotate::no, "no"},
    {Rotate::copies, "copies"},
    {Rotate::all, "all"},
}};

std::string list_of(const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return all;
}

std::vector<std::string_view> names_in_step() {
  std::vector<std::string_view> names;
  for (const Strategy& one : strategies()) {
    if (one.pace != Strategy::Pace::free) names.push_back(one.name);
  }
  return names;
}

void parse_strategy(const Json& json, StrategySpec& strategy, std::vector<SpecFault>& faults) {
  SpecMembers members(json, "/strategy", faults);
  const auto one_of = [&](const char* name, const std::vector<std::string_view>& words, std::string& out) {
    std::string given = out;
    members.text(name, 32, given);
    if (std::find(words.begin(), words.end(), given) == words.end())
      return members.fault(name, "choice", "this must be one of: " + list_of(words));
    out = given;
  };
  one_of("kind", strategy_names(), strategy.kind);
  one_of("codec", codec_names(), strategy.codec);
  members.yes_no("sync", strategy.sync);
  const Strategy* const chosen = find_strategy(strategy.kind);
  // Better refused than done otherwise than asked.
  if (strategy.sync && chosen != nullptr && chosen->pace == Strategy::Pace::free)
    members.fault("sync", "choice",
                  "the workers of " + strategy.kind +
                      " do not go in step: for the same bits every time take " + list_of(names_in_step()));
  // A pull of twice the distance swings for ever.
  members.number("beta", 0.01, 1.5, strategy.beta);
  members.whole("tau", 0, kTauMax, strategy.tau);
  members.number("momentum", 0, 0.999, strategy.momentum);
  members.yes_no("nesterov", strategy.nesterov);
  members.number("server_rate", 1e-6, 100, strategy.server_rate);
  members.whole("staleness", 0, 1000, strategy.staleness);
  members.number("quorum", 0.1, 1, strategy.quorum);
  members.whole("warm_steps", 0, kTauMax, strategy.warm_steps);
  members.choice("rotate", kRotate, strategy.rotate);
  if (strategy.rotate != Rotate::no && strategy_of_gradients(strategy))
    members.fault("rotate", "choice",
                  "with " + strategy.kind + " every step is made of all workers' rows: leave this out");
  members.refuse_others();
}

}  // namespace

std::string_view to_string(OnLostNode what) noexcept { return word_of(kOnLostNode, what); }
std::string_view to_string(Rotate what) noexcept { return word_of(kRotate, what); }

void parse_together(SpecMembers& members, JobSpec& spec, std::vector<SpecFault>& faults) {
  if (const Json* strategy = members.find("strategy")) parse_strategy(*strategy, spec.strategy, faults);
  if (const Json* nodes = members.find("nodes")) {
    SpecMembers inner(*nodes, "/nodes", faults);
    inner.whole("min", 1, kNodesMax, spec.nodes.min);
    inner.whole("max", 0, kNodesMax, spec.nodes.max);
    inner.refuse_others();
    if (spec.nodes.max != 0 && spec.nodes.max < spec.nodes.min)
      inner.fault("max", "range", "the most nodes cannot be fewer than the least");
  }
  members.choice("on_lost_node", kOnLostNode, spec.on_lost_node);
}

Json to_json(const StrategySpec& strategy) {
  Json out = {{"kind", strategy.kind},
              {"sync", strategy.sync},
              {"beta", strategy.beta},
              {"tau", strategy.tau},
              {"codec", strategy.codec}};
  // Nodes of an earlier version refuse what they do not know: written only when it was asked for.
  const StrategySpec usual;
  const auto put = [&out](const char* name, auto value, auto unasked) {
    if (value != unasked) out[name] = value;
  };
  put("momentum", strategy.momentum, usual.momentum);
  put("nesterov", strategy.nesterov, usual.nesterov);
  put("server_rate", strategy.server_rate, usual.server_rate);
  put("staleness", strategy.staleness, usual.staleness);
  put("quorum", strategy.quorum, usual.quorum);
  put("warm_steps", strategy.warm_steps, usual.warm_steps);
  if (strategy.rotate != usual.rotate) out["rotate"] = to_string(strategy.rotate);
  return out;
}

Json strategy_schema() {
  const StrategySpec usual;
  Json properties;
  // Each name with what it is called and when to take it; "enum" for those who read only that.
  Json kinds = Json::array();
  for (const Strategy& one : strategies()) {
    kinds.push_back({{"const", one.name}, {"title", one.title}, {"description", one.summary}});
  }
  properties["kind"] = {{"type", "string"},
                        {"title", "Strategy"},
                        {"description", "How the workers of several nodes become one model."},
                        {"enum", strategy_names()},
                        {"oneOf", std::move(kinds)},
                        {"default", usual.kind}};
  properties["sync"] = {
      {"type", "boolean"},
      {"title", "In step"},
      {"description",
       "The workers wait for each other at every exchange: slower, and the same run gives the "
       "same bits."},
      {"default", usual.sync}};
  properties["beta"] = {{"type", "number"},
                        {"title", "Pull"},
                        {"description", "How far the common model follows the workers at each exchange."},
                        {"minimum", 0.01},
                        {"maximum", 1.5},
                        {"default", usual.beta},
                        {"x-advanced", true}};
  properties["tau"] = {{"type", "integer"},
                       {"title", "Steps between exchanges"},
                       {"description", "0: chosen from what the network and a step take."},
                       {"minimum", 0},
                       {"maximum", kTauMax},
                       {"default", usual.tau},
                       {"x-advanced", true}};
  properties["codec"] = {
      {"type", "string"},
      {"title", "On the wire"},
      {"description", "How parameters are sent: fewer bits for slower networks. fp32 and sparse are exact."},
      {"enum", codec_names()},
      {"default", usual.codec},
      {"x-advanced", true}};
  const auto number = [&](const char* name, const char* title, const char* what, double least, double most,
                          double usually) {
    properties[name] = {{"type", "number"}, {"title", title},     {"description", what}, {"minimum", least},
                        {"maximum", most},  {"default", usually}, {"x-advanced", true}};
  };
  const auto whole = [&](const char* name, const char* title, const char* what, std::uint32_t most,
                         std::uint32_t usually) {
    properties[name] = {{"type", "integer"}, {"title", title},     {"description", what}, {"minimum", 0},
                        {"maximum", most},   {"default", usually}, {"x-advanced", true}};
  };
  number("momentum", "Momentum",
         "Of bmuf, between rounds (0: 1 - 1/workers), and of eamsgd, between steps (0: 0.9).", 0, 0.999,
         usual.momentum);
  properties["nesterov"] = {{"type", "boolean"},
                            {"title", "Look ahead"},
                            {"description", "Of bmuf: rounds start where the momentum leads (Nesterov)."},
                            {"default", usual.nesterov},
                            {"x-advanced", true}};
  number("server_rate", "Owner's rate", "Of downpour with the solver sgd: the rate of the owners' AdaGrad.",
         1e-6, 100, usual.server_rate);
  whole("staleness", "Staleness", "Of ssp: rounds a worker may be ahead of the slowest.", 1000,
        usual.staleness);
  number("quorum", "Quorum", "Of quorum: the share of the workers that closes a round.", 0.1, 1,
         usual.quorum);
  whole("warm_steps", "First steps alone",
        "Steps that one worker makes before the others begin with what it has.", kTauMax, usual.warm_steps);
  properties["rotate"] = {
      {"type", "string"},
      {"title", "Other rows in each pass"},
      {"description",
       "Blocks go round among the workers from pass to pass: no, among the nodes that hold a copy (copies), "
       "or among all, which brings each node what it lacks while it trains."},
      {"enum", {to_string(Rotate::no), to_string(Rotate::copies), to_string(Rotate::all)}},
      {"default", to_string(usual.rotate)},
      {"x-advanced", true}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

}  // namespace samovar::trainer
