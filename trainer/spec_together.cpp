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

std::string list_of(const std::vector<std::string_view>& words) {
  std::string all;
  for (const std::string_view word : words) all += (all.empty() ? "" : ", ") + std::string(word);
  return all;
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
  // Better refused than done otherwise than asked.
  if (strategy.sync)
    members.fault("sync", "choice",
                  "workers cannot go in step yet: for the same bits every time take one node");
  // A pull of twice the distance swings for ever.
  members.number("beta", 0.01, 1.5, strategy.beta);
  members.whole("tau", 0, kTauMax, strategy.tau);
  members.refuse_others();
}

}  // namespace

std::string_view to_string(OnLostNode what) noexcept { return word_of(kOnLostNode, what); }

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
  return {{"kind", strategy.kind},
          {"sync", strategy.sync},
          {"beta", strategy.beta},
          {"tau", strategy.tau},
          {"codec", strategy.codec}};
}

Json strategy_schema() {
  const StrategySpec usual;
  Json properties;
  properties["kind"] = {{"type", "string"},
                        {"title", "Strategy"},
                        {"description", "How the workers of several nodes become one model."},
                        {"enum", strategy_names()},
                        {"default", usual.kind}};
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
  properties["codec"] = {{"type", "string"},
                         {"title", "On the wire"},
                         {"description", "How parameters are sent: fewer bits for slower networks."},
                         {"enum", codec_names()},
                         {"default", usual.codec},
                         {"x-advanced", true}};
  return {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
          {"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)}};
}

}  // namespace samovar::trainer
