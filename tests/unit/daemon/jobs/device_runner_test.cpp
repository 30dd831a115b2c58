// The real samovar-worker in its real sandbox, on a device: the CUDA plug-in with the emulator in it, and
// planted ones that fail in each way a device may.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <fstream>

#include "daemon/jobs/device_probe.hpp"
#include "kernels/devices.hpp"
#include "tests/unit/daemon/jobs/train_worker_fixture.hpp"
#include "trainer/models/model_file.hpp"

namespace samovar::jobs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const nlohmann::json kSteps = {
    {"solver", "adagrad"}, {"passes", 3}, {"early_stop", false}, {"batch_rows", 64}};

class DeviceWorker : public TrainWorker {
 protected:
  // The plug-in reads from its own name how it is to fail.
  std::string planted(const std::string& how) {
    const std::string path = dir_.path() + "/planted-" + how + ".so";
    std::filesystem::copy_file(SAMOVAR_PLANTED_PLUGIN, path, std::filesystem::copy_options::skip_existing);
    return path;
  }

  TrainTask on(const std::string& plugin) {
    TrainTask out = task(kSteps);
    out.job.checkpoint_steps = 10;
    out.memory_mib = 1024;
    out.plugin = plugin;
    return out;
  }

  Bytes model() {
    auto bytes = security::read_sealed_file(real_disk(), dir_.path() + "/model/model", model_key_,
                                            output_place("mdl_1", OutputKind::model, 0), 1 << 20);
    EXPECT_TRUE(bytes);
    return bytes ? *std::move(bytes) : Bytes();
  }

  // Trained, on the CPU, to the CPU's model; what was said is in devices_ and log_.
  void expect_cpu(const std::string& plugin) {
    const auto alone = train(on(""));
    ASSERT_TRUE(alone) << alone.error().message();
    const Bytes expected = model();
    devices_.clear();
    log_.clear();
    const auto trained = train(on(plugin));
    ASSERT_TRUE(trained) << trained.error().message();
    EXPECT_EQ(model(), expected);
    ASSERT_FALSE(devices_.empty());
    EXPECT_EQ(devices_.back(), std::string(kernels::cpu().name) + "|");
  }
};

TEST_F(DeviceWorker, TrainsOnTheDeviceNearlyAsOnTheCpu) {
  ASSERT_TRUE(train(on("")));
  const auto cpu = trainer::decode_model(model());
  EXPECT_THAT(devices_, ElementsAre(std::string(kernels::cpu().name) + "|"));
  devices_.clear();
  const auto trained = train(on(SAMOVAR_EMULATED_PLUGIN));
  ASSERT_TRUE(trained) << trained.error().message();
  EXPECT_THAT(devices_, ElementsAre("cuda emulator|"));
  EXPECT_THAT(log_, HasSubstr("Computes on cuda emulator."));
  const auto device = trainer::decode_model(model());
  ASSERT_TRUE(cpu && device);
  ASSERT_EQ(cpu->glm.weights.size(), device->glm.weights.size());
  for (std::size_t i = 0; i < cpu->glm.weights.size(); ++i) {
    EXPECT_GT(std::abs(cpu->glm.weights[i]), 0.05f) << "nothing was learned";
    EXPECT_NEAR(cpu->glm.weights[i], device->glm.weights[i], 2e-4);
  }
}

// Memory ran out, say: that is nobody's fault, and it goes on where it was.
TEST_F(DeviceWorker, GoesOnThereInTheSameBitsAfterAKill) {
  ASSERT_TRUE(train(on(SAMOVAR_EMULATED_PLUGIN)));
  const Bytes straight = model();
  unsigned kept = 0;
  hooks_.checkpoint = [&](const SavedFile& file, const std::string&) -> Result<void> {
    kept_ = file;
    if (++kept == 2)
      for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
        std::ifstream in(thread.path() / "children");
        for (pid_t pid = 0; in >> pid;) ::kill(pid, SIGKILL);
      }
    return {};
  };
  const auto killed = train(on(SAMOVAR_EMULATED_PLUGIN));
  ASSERT_FALSE(killed);
  EXPECT_EQ(killed.error().code(), Errc::unavailable) << killed.error().message();
  ASSERT_EQ(kept, 2u);
  devices_.clear();
  auto rest = on(SAMOVAR_EMULATED_PLUGIN);
  rest.job.checkpoint_step = kept_->number;
  for (const auto& name : checkpoint_names(kept_->number))
    if (real_disk().exists(rest.job_dir + "/" + name)) rest.checkpoint_path = rest.job_dir + "/" + name;
  const auto trained = train(std::move(rest));
  ASSERT_TRUE(trained) << trained.error().message();
  EXPECT_THAT(devices_, ElementsAre("cuda emulator|"));
  EXPECT_EQ(model(), straight);
}

TEST_F(DeviceWorker, WithoutAPluginOrADeviceTheCpuTrains) {
  expect_cpu("/nowhere/libsamovar-cuda.so");
  EXPECT_EQ(devices_.front(), "|no CUDA plug-in is installed");
  EXPECT_THAT(log_, HasSubstr("No CUDA plug-in is installed: this node trains on the CPU."));
  expect_cpu(planted("none"));
  EXPECT_EQ(devices_.front(), "|no GPU to use: planted: no device answers");
}

TEST_F(DeviceWorker, OneThatOthersCouldHavePutThereIsNotLoaded) {
  const std::string path = planted("launch");
  std::filesystem::permissions(path, std::filesystem::perms(0666));
  expect_cpu(path);
  EXPECT_THAT(devices_.front(), HasSubstr("nobody else may write there"));
}

TEST_F(DeviceWorker, OneThatComputesWronglyIsFoundOutBeforeItTrains) {
  expect_cpu(planted("wrong"));
  EXPECT_THAT(devices_.front(), HasSubstr("the GPU computes wrongly"));
}

// Found by the trial behind the door, before the worker has a key.
TEST_F(DeviceWorker, ADriverThatTheSandboxEndsIsDoneWithout) {
  expect_cpu(planted("call"));
  EXPECT_THAT(devices_.front(), HasSubstr("the sandbox refuses"));
  EXPECT_THAT(log_, HasSubstr("this node trains on the CPU."));
}

TEST_F(DeviceWorker, OneThatIsLostIsGoneOnWithoutFromTheLastCheckpoint) {
  for (const auto& [how, why] : {std::pair("launch", "the GPU failed (planted: the device is lost)"),
                                 std::pair("crash", "the GPU's driver crashed")}) {
    expect_cpu(planted(how));
    EXPECT_THAT(devices_,
                ElementsAre("cuda planted|", std::string("|") + why, std::string(kernels::cpu().name) + "|"));
    EXPECT_THAT(log_, HasSubstr("Computes on cuda planted."));
    EXPECT_THAT(log_, testing::ContainsRegex("goes on from the checkpoint at step [1-9]0 on the CPU"));
    EXPECT_THAT(log_, testing::Not(HasSubstr("anew")));
  }
}

TEST_F(DeviceWorker, OneWithoutMemoryForTheRowsIsDoneWithoutFromTheBeginning) {
  expect_cpu(planted("memory"));
  EXPECT_EQ(devices_[1], "|the GPU has no room for a batch of rows");
  EXPECT_THAT(log_, HasSubstr("begins anew on the CPU."));
}

TEST_F(DeviceWorker, WhyThereIsNoneIsSaid) {
  auto asked = on("");
  asked.no_device = "the solver lbfgs computes on the CPU";
  ASSERT_TRUE(train(std::move(asked)));
  EXPECT_EQ(devices_.front(), "|the solver lbfgs computes on the CPU");
  EXPECT_THAT(log_, HasSubstr("The solver lbfgs computes on the CPU: this node trains on the CPU."));
}

TEST_F(DeviceWorker, TheNodeLooksOnceAndSaysWhatItFound) {
  const DeviceFound none = look_for_plugin("/nowhere/libsamovar-cuda.so");
  EXPECT_FALSE(none.pending);
  EXPECT_THAT(device_note(none), HasSubstr("computes on the CPU"));
  EXPECT_THAT(device_note(none), HasSubstr("no CUDA plug-in is installed"));
  EXPECT_TRUE(look_for_plugin(SAMOVAR_EMULATED_PLUGIN).pending);
  const DeviceFound found = find_device(SAMOVAR_WORKER, SAMOVAR_EMULATED_PLUGIN);
  EXPECT_EQ(found.name, "cuda emulator") << found.trouble;
  EXPECT_EQ(found.generation, 87u);
  EXPECT_FALSE(found.pending);
  EXPECT_THAT(device_note(found), HasSubstr("computes on the GPU (cuda emulator)"));
  EXPECT_THAT(find_device(SAMOVAR_WORKER, planted("none")).trouble, HasSubstr("no device answers"));
  EXPECT_THAT(find_device(SAMOVAR_WORKER, planted("call")).trouble,
              HasSubstr("the worker's sandbox refuses"));
}

}  // namespace
}  // namespace samovar::jobs
