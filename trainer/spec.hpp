// What a person asks for when training a model: data, target, inputs, split, parameters. The same JSON is the
// body of POST /api/v1/jobs, the job's record, and part of the model's lineage.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "trainer/data/schema.hpp"

namespace samovar::trainer {

struct SplitSpec {
  enum class Kind : std::uint8_t { random, group, time, folds };
  Kind kind = Kind::random;
  std::string column;  // group, time, folds
  double valid = 0.1;  // shares of the rows
  double test = 0.2;
  unsigned folds = 5;
};

struct FeatureOptions {
  enum class Categories : std::uint8_t { automatic, onehot, hash };
  enum class Numbers : std::uint8_t { standardise, plain, hash };
  Categories categories = Categories::automatic;  // one-hot up to levels_max levels, hashed beyond
  Numbers numbers = Numbers::standardise;
  unsigned hash_bits = 18;  // 10 to 28
  // Frequent values of hashed columns that get a place of their own, at most; empty: as many as there is room
  // for. 0: all values share their places.
  std::optional<std::uint32_t> frequent_levels;
  std::uint32_t levels_max = 1000;
  bool missing_indicators = true;  // for numbers that are missing in training
  bool texts = true;               // as hashed words; else they are left out
  std::vector<std::pair<std::string, std::string>> interactions;
};

// How the workers of several nodes become one model. One node alone trains as if there were none of this.
// Which blocks a worker has in the next pass: the same, others of which its node holds a copy, or any.
enum class Rotate : std::uint8_t { no, copies, all };
std::string_view to_string(Rotate what) noexcept;

struct StrategySpec {
  std::string kind = "easgd";    // trainer/sync/strategies.hpp
  bool sync = false;             // workers wait for each other: the same run gives the same bits
  double beta = 0.9;             // easgd: how far the centre follows the workers in a round
  std::uint32_t tau = 0;         // steps between two exchanges; 0: from what links and steps take
  std::string codec = "fp32";    // what parameters are on the wire
  double momentum = 0;           // bmuf, eamsgd; 0: their own
  bool nesterov = true;          // bmuf: the momentum looks ahead
  double server_rate = 0.1;      // downpour with sgd: of the owners' AdaGrad
  std::uint32_t staleness = 2;   // ssp: rounds a worker may be ahead of the slowest
  double quorum = 0.75;          // quorum: the share of the workers that closes a round
  std::uint32_t warm_steps = 0;  // of the lead alone; the others begin with what it has then
  Rotate rotate = Rotate::no;    // between passes
  friend bool operator==(const StrategySpec&, const StrategySpec&) = default;
};

struct NodesSpec {
  std::uint32_t min = 1;  // with fewer the job waits
  std::uint32_t max = 0;  // 0: all there are
};

// What it may draw, and until when it shall be done. Nothing asked for: the box's power budget alone counts.
struct PowerSpec {
  enum class Mode : std::uint8_t { full, gentle };
  Mode mode = Mode::full;
  std::optional<double> watts;  // of all nodes together, those at rest too, while it trains
  std::string finish_by;        // "06:00" in the box's time zone, or RFC 3339
  friend bool operator==(const PowerSpec&, const PowerSpec&) = default;
};
// "06:00": minutes after midnight.
std::optional<std::uint16_t> minute_of_day(std::string_view text) noexcept;

// Where the steps of a training are computed. automatic: on a node's GPU when there is one and the model is
// of a kind that gains by it (spec_device.hpp).
enum class Device : std::uint8_t { automatic, cpu, gpu };
std::string_view to_string(Device device) noexcept;

enum class OnLostNode : std::uint8_t {
  go_on,    // the others train without its rows
  replace,  // its rows go to other nodes
  pause,    // until it is back
};
std::string_view to_string(OnLostNode what) noexcept;

struct JobSpec {
  std::string kind = "glm";
  std::string name;  // of the model
  std::string dataset_id;
  std::uint32_t dataset_version = 0;  // 0: the latest when it was accepted
  std::string target;
  std::vector<std::string> inputs;  // empty: all that can be used and are not otherwise named
  std::vector<std::string> ignore;
  std::string weight, offset, exposure;  // columns; exposure: its logarithm is an offset
  SplitSpec split;
  FeatureOptions features;
  nlohmann::json parameters = nlohmann::json::object();  // of the kind, checked by it
  StrategySpec strategy;
  NodesSpec nodes;
  OnLostNode on_lost_node = OnLostNode::replace;
  PowerSpec power;
  Device device = Device::automatic;
  std::uint64_t seed = 1;
};

struct SpecFault {
  std::string pointer;  // JSON pointer into the spec
  std::string code;     // required, unknown, type, range, choice, conflict
  std::string detail;   // a sentence
};

// Form and, when a schema is given, whether its columns are there and can serve. All faults at once; unknown
// keys are faults. Defaults are filled in.
struct ParsedSpec {
  JobSpec spec;
  std::vector<SpecFault> faults;
};
ParsedSpec parse_spec(const nlohmann::json& json, const Schema* schema);
// Everything spelled out, defaults too.
nlohmann::json to_json(const JobSpec& spec);

// GET /api/v1/algorithms: [{"id":"glm","name":…,"summary":…,"targets":["boolean",…],"parameters":{JSON Schema
// with title, description, default, x-advanced},"strategy":{the same for the spec's "strategy"},
// "power":{likewise},"device":{likewise}}…]. The form is drawn from it and the server checks with it.
nlohmann::json algorithms();

}  // namespace samovar::trainer
