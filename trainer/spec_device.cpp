#include "trainer/spec_device.hpp"

#include "trainer/models/glm_choice.hpp"
#include "trainer/models/glm_parameters.hpp"
#include "trainer/sync/strategies.hpp"

namespace samovar::trainer {

namespace {

using Json = nlohmann::json;

constexpr std::array<std::pair<Device, std::string_view>, 3> kDevices = {{
    {Device::automatic, "auto"},
    {Device::cpu, "cpu"},
    {Device::gpu, "gpu"},
}};

// Below it a step has fewer rows than a GPU takes at once (train.cpp: 2048 steps in a pass, 256 rows each),
// and the seconds in which its driver begins are a good part of the whole.
constexpr std::uint64_t kRowsMin = 2048 * 256;
// Xavier. The boards before it have no advantage over their own processors for hashed rows
// (docs/kernels.md).
constexpr std::uint32_t kGenerationMin = 72;
// From so many bits on there are more unknowns than L-BFGS is taken for.
constexpr unsigned kHashBitsMin = 18;

// Whether the solver, when nobody named one, is certain to be one that streams.
bool will_stream(const GlmParameters& parameters, const JobSpec& spec) {
  const FeatureOptions& features = spec.features;
  const bool hashes = features.categories == FeatureOptions::Categories::hash ||
                      features.numbers == FeatureOptions::Numbers::hash;
  return hashes && features.hash_bits >= kHashBitsMin && parameters.lambda_path == 0;
}

}  // namespace

std::string_view to_string(Device device) noexcept { return word_of(kDevices, device); }

void parse_device(SpecMembers& members, JobSpec& spec) { members.choice("device", kDevices, spec.device); }

Json device_schema() {
  return {
      {"$schema", "https://json-schema.org/draft/2020-12/schema"},
      {"type", "string"},
      {"title", "Computes on"},
      {"description",
       "auto: on the GPU of nodes that have one when the model is of a kind that gains by it, else on the "
       "CPU. gpu: on the GPU wherever one answers. What a node trained on is in the job's record."},
      {"enum", {"auto", "cpu", "gpu"}},
      {"default", "auto"}};
}

DevicePlan plan_device(const JobSpec& spec, std::uint64_t rows, std::uint32_t generation) {
  if (spec.device == Device::cpu || generation == 0) return {};
  const bool asked = spec.device == Device::gpu;
  std::vector<SpecFault> faults;
  const GlmParameters parameters = parse_glm_parameters(spec.parameters, "/parameters", faults);
  const bool open = parameters.solver == SolverKind::automatic;
  if (strategy_of_gradients(spec.strategy))
    return {false, asked ? "the strategy " + spec.strategy.kind + " computes on the CPU" : ""};
  if (!open && !streams(parameters.solver))
    return {false,
            asked ? "the solver " + std::string(to_string(parameters.solver)) + " computes on the CPU" : ""};
  if (asked) return {true, ""};
  const bool gains =
      generation >= kGenerationMin && rows >= kRowsMin && (!open || will_stream(parameters, spec));
  return {gains, ""};
}

}  // namespace samovar::trainer
