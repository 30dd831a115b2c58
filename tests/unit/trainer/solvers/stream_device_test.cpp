// Streaming solvers on the CUDA plug-in: loaded as a worker loads it, its kernels run by the emulator.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstring>

#include "kernels/devices.hpp"
#include "tests/unit/trainer/training.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/sync/local_group.hpp"

namespace samovar::trainer {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const kernels::Table& device() {
  std::string why;
  const kernels::Table& table = kernels::best(kernels::DeviceChoice::cuda, why, SAMOVAR_EMULATED_PLUGIN);
  EXPECT_THAT(why, HasSubstr("computes on the GPU (cuda emulator)"));
  return table;
}

// 0 forward, 1 reverse, 2 random.
void set_order(int order, unsigned seed = 1) {
  static_cast<void>(device());
  void* const plugin = dlopen(SAMOVAR_EMULATED_PLUGIN, RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(plugin, nullptr);
  void* const symbol = dlsym(plugin, "samovar_emulator_order");
  ASSERT_NE(symbol, nullptr);
  void (*set)(int, unsigned) = nullptr;
  std::memcpy(&set, &symbol, sizeof set);
  set(order, seed);
  dlclose(plugin);
}

struct Way {
  const char* name;
  const char* target;
  json parameters;
  bool hashed = false;
};

JobSpec spec_of(const Way& way) {
  JobSpec spec = job(way.target, way.parameters);
  spec.inputs = {"x", "z", "city"};
  if (way.hashed) {
    spec.features.categories = FeatureOptions::Categories::hash;
    spec.features.numbers = FeatureOptions::Numbers::hash;
    spec.features.hash_bits = 12;
  }
  return spec;
}

Trained trained_on(tests::MemoryTable& table, const JobSpec& spec, const kernels::Table* device,
                   PeerGroup* group = nullptr) {
  Recorder recorder;
  TrainOptions options;
  options.table = device;
  options.group = group;
  auto trained = train(table, table.schema(), spec, std::nullopt, options, recorder);
  EXPECT_TRUE(trained.has_value()) << (trained ? "" : trained.error().message());
  return trained ? *std::move(trained) : Trained{};
}

GlmModel model_of(const Trained& trained) {
  auto decoded = decode_model(trained.model);
  EXPECT_TRUE(decoded.has_value()) << (decoded ? "" : decoded.error().message());
  return decoded ? std::move(decoded->glm) : GlmModel{};
}

// The two add up a row in another order: weights agree to what a streaming solver makes of last bits.
void expect_near(const GlmModel& one, const GlmModel& two) {
  ASSERT_EQ(one.weights.size(), two.weights.size());
  ASSERT_EQ(one.intercepts.size(), two.intercepts.size());
  float largest = 0;
  for (std::size_t i = 0; i < one.weights.size(); ++i) {
    largest = std::max(largest, std::abs(one.weights[i]));
    ASSERT_NEAR(one.weights[i], two.weights[i], 2e-4) << i;
  }
  EXPECT_GT(largest, 0.05f) << "nothing was learned";
  for (std::size_t i = 0; i < one.intercepts.size(); ++i)
    ASSERT_NEAR(one.intercepts[i], two.intercepts[i], 2e-4);
}

class OnDevice : public testing::TestWithParam<Way> {};

TEST_P(OnDevice, EndsWithNearlyTheModelOfTheCpu) {
  tests::MemoryTable table = logistic_table(2000, 3, 400);
  const JobSpec spec = spec_of(GetParam());
  set_order(2, 5);
  const Trained cpu = trained_on(table, spec, nullptr);
  const Trained gpu = trained_on(table, spec, &device());
  expect_near(model_of(cpu), model_of(gpu));
  const json one = json::parse(cpu.evaluation_json)["metrics"]["test"];
  const json two = json::parse(gpu.evaluation_json)["metrics"]["test"];
  for (const char* name : {"log_loss", "rmse"}) {
    if (!one.contains(name)) continue;
    EXPECT_NEAR(one[name]["value"].get<double>(), two[name]["value"].get<double>(), 1e-4) << name;
  }
}

// Whatever the order of its threads, before and after.
TEST_P(OnDevice, ResumeEndsInTheSameBits) {
  tests::MemoryTable table = logistic_table(1200, 3, 400);
  const JobSpec spec = spec_of(GetParam());
  TrainOptions options;
  options.table = &device();
  set_order(0);
  const Trained uninterrupted = trained_on(table, spec, options.table);
  options.checkpoint_steps = 7;
  Recorder whole;
  const auto trained = train(table, table.schema(), spec, std::nullopt, options, whole);
  ASSERT_TRUE(trained.has_value()) << trained.error().message();
  EXPECT_EQ(trained->model, uninterrupted.model) << "a checkpoint changes nothing";
  ASSERT_GE(whole.checkpoints.size(), 2u);
  int order = 0;
  for (const auto& [step, checkpoint] : whole.checkpoints) {
    set_order(++order % 3, static_cast<unsigned>(step));
    Recorder again;
    const auto resumed = train(table, table.schema(), spec, ByteView(checkpoint), options, again);
    ASSERT_TRUE(resumed.has_value()) << step << ": " << resumed.error().message();
    ASSERT_EQ(resumed->model, trained->model) << "from step " << step;
    ASSERT_EQ(resumed->evaluation_json, trained->evaluation_json) << "from step " << step;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Stream, OnDevice,
    testing::Values(
        Way{"adagrad", "yes", {{"solver", "adagrad"}, {"passes", 2}, {"early_stop", false}}},
        Way{"ftrl_hashed",
            "yes",
            {{"solver", "ftrl"}, {"passes", 2}, {"l1", 0.1}, {"early_stop", false}},
            true},
        Way{"adam_classes", "class", {{"solver", "adam"}, {"passes", 2}, {"early_stop", false}}},
        Way{"sgd_amount", "amount", {{"solver", "sgd"}, {"passes", 2}, {"early_stop", false}}},
        Way{"bounded", "yes", {{"solver", "adagrad"}, {"passes", 2}, {"bounds", {{"x", {0.0, 0.4}}}}}}),
    [](const auto& one) { return std::string(one.param.name); });

// A group of one exchanges with nobody, but goes all the ways of several.
TEST(StreamDevice, TrainsAsAMemberOfAGroup) {
  tests::MemoryTable table = logistic_table(1200, 3, 400);
  JobSpec spec = job("yes", {{"solver", "ftrl"}, {"passes", 2}});
  spec.inputs = {"x", "z", "city"};
  set_order(1);
  LocalGroup one({{0, 1, 2}});
  const Trained cpu = trained_on(table, spec, nullptr, &one.member(0));
  LocalGroup two({{0, 1, 2}});
  const Trained gpu = trained_on(table, spec, &device(), &two.member(0));
  expect_near(model_of(cpu), model_of(gpu));
}

TEST(StreamDevice, WithoutRoomTheCpuTrains) {
  tests::MemoryTable table = logistic_table(600, 3, 400);
  JobSpec spec = job("yes", {{"solver", "adagrad"}, {"passes", 1}});
  spec.inputs = {"x", "z", "city"};
  kernels::Table full = device();
  full.name = "full";
  full.allocate = [](std::size_t bytes) -> void* {
    return bytes > sizeof(double) ? nullptr : device().allocate(bytes);
  };
  const Trained trained = trained_on(table, spec, &full);
  EXPECT_EQ(trained.model, trained_on(table, spec, nullptr).model);
  EXPECT_THAT(trained.summary_json, HasSubstr("Trained on the CPU: the GPU has no room for this model."));
  full.open_stream = []() -> kernels::Stream* { return nullptr; };
  EXPECT_THAT(trained_on(table, spec, &full).summary_json, HasSubstr("the GPU would not begin"));
}

// Keeps what comes whole.
class Keeper final : public TrainObserver {
 public:
  bool progress(const TrainProgress&) override { return true; }
  bool metric(const TrainMetric&) override { return true; }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t, const CheckpointPieces& pieces) override {
    ++asked;
    Bytes bytes;
    SAMOVAR_CHECK(join(pieces, bytes));
    ++kept;
    return {};
  }
  void computes_on(std::string_view name, std::string_view trouble) override {
    told.push_back(std::string(name) + "|" + std::string(trouble));
  }
  int asked = 0;
  int kept = 0;
  std::vector<std::string> told;
};

// A sentence, and no checkpoint of what a broken device left.
TEST(StreamDevice, ADeviceThatFailsEndsTheJobAndKeepsNothing) {
  tests::MemoryTable table = logistic_table(1200, 3, 400);
  JobSpec spec = job("yes", {{"solver", "adagrad"}, {"passes", 2}});
  spec.inputs = {"x", "z", "city"};
  spec.split.valid = 0;  // so that only a checkpoint waits for the device
  kernels::Table broken = device();
  static int waits;
  waits = 0;
  broken.wait = [](kernels::Stream* stream, const char** text) {
    const int error = device().wait(stream, text);
    if (++waits < 5) return error;
    if (text != nullptr) *text = "unspecified launch failure";
    return 719;
  };
  TrainOptions options;
  options.table = &broken;
  options.checkpoint_steps = 5;
  Keeper keeper;
  const auto trained = train(table, table.schema(), spec, std::nullopt, options, keeper);
  ASSERT_FALSE(trained.has_value());
  EXPECT_EQ(trained.error().code(), Errc::unavailable);
  EXPECT_THAT(trained.error().message(), HasSubstr("the GPU failed (unspecified launch failure)"));
  EXPECT_EQ(keeper.asked, 1);
  EXPECT_EQ(keeper.kept, 0);
  EXPECT_THAT(keeper.told,
              testing::ElementsAre("cuda emulator|", "|the GPU failed (unspecified launch failure)"));
}

// Without room for the rows of a batch it cannot go on either: nothing of it is kept, and it says so.
TEST(StreamDevice, ADeviceThatRunsOutOfMemorySaysSo) {
  tests::MemoryTable table = logistic_table(1200, 3, 400);
  JobSpec spec = job("yes", {{"solver", "adagrad"}, {"passes", 2}});
  spec.inputs = {"x", "z", "city"};
  kernels::Table full = device();
  static int asked;
  asked = 0;
  full.allocate = [](std::size_t bytes) -> void* { return ++asked > 3 ? nullptr : device().allocate(bytes); };
  TrainOptions options;
  options.table = &full;
  Keeper keeper;
  const auto trained = train(table, table.schema(), spec, std::nullopt, options, keeper);
  ASSERT_FALSE(trained.has_value());
  EXPECT_EQ(trained.error().code(), Errc::unavailable);
  EXPECT_THAT(keeper.told,
              testing::ElementsAre("cuda emulator|", "|the GPU has no room for a batch of rows"));
}

// What a device began the CPU can go on with, and the other way round; a solver that does without it says so.
TEST(StreamDevice, CheckpointsGoFromOneToTheOther) {
  tests::MemoryTable table = logistic_table(1200, 3, 400);
  JobSpec spec = job("yes", {{"solver", "adagrad"}, {"passes", 2}, {"early_stop", false}});
  spec.inputs = {"x", "z", "city"};
  spec.device = Device::gpu;
  TrainOptions on_device;
  on_device.table = &device();
  on_device.checkpoint_steps = 7;
  Recorder whole;
  const auto trained = train(table, table.schema(), spec, std::nullopt, on_device, whole);
  ASSERT_TRUE(trained.has_value()) << trained.error().message();
  ASSERT_FALSE(whole.checkpoints.empty());
  const auto& [step, checkpoint] = *whole.checkpoints.begin();
  Recorder again;
  spec.device = Device::cpu;
  const auto resumed = train(table, table.schema(), spec, ByteView(checkpoint), TrainOptions{}, again);
  ASSERT_TRUE(resumed.has_value()) << resumed.error().message();
  expect_near(model_of(*trained), model_of(*resumed));
  spec.parameters = {{"solver", "lbfgs"}};
  Keeper keeper;
  TrainOptions options;
  options.table = &device();
  ASSERT_TRUE(train(table, table.schema(), spec, std::nullopt, options, keeper).has_value());
  EXPECT_THAT(keeper.told, testing::ElementsAre(std::string(kernels::cpu().name) +
                                                "|the solver lbfgs computes on the CPU"));
}

}  // namespace
}  // namespace samovar::trainer
