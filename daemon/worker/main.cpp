// samovar-worker: reads what came from outside, in a sandbox, for samovard, which starts it and talks to it
// over the socket at descriptor 3. It has no options, no files and no network; see docs/architecture.md.
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>

#include "base/failpoint.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/worker/device.hpp"
#include "daemon/worker/job.hpp"
#include "daemon/worker/sandbox.hpp"
#include "daemon/worker/score.hpp"
#include "daemon/worker/train.hpp"
#include "security/init.hpp"

namespace samovar::worker {
namespace {

using ingest::MessageType;

constexpr int kExitUsage = 2;
constexpr int kExitFailure = 1;

bool has_socket() {
  struct stat info {};
  return ::fstat(ingest::kWorkerDescriptor, &info) == 0 && S_ISSOCK(info.st_mode);
}

bool parse_memory(std::string_view text, std::uint64_t& mib) {
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), mib);
  return failed == std::errc{} && end == text.data() + text.size() && mib > 0 && mib < (1u << 24);
}

// Only in builds that tests use.
Result<void> attempt_named([[maybe_unused]] const std::string& call) {
#if SAMOVAR_FAILPOINTS
  const auto went_through = attempt(call);
  if (went_through && *went_through) return Error{Errc::conflict, "it went through"};
  return Error{went_through ? Errc::denied : Errc::invalid, "it was refused"};
#else
  return Error{Errc::unsupported, "this build makes no attempts"};
#endif
}

void arm_failpoints([[maybe_unused]] const std::string& specs) {
#if SAMOVAR_FAILPOINTS
  if (!specs.empty()) ignore(failpoint::arm(specs), "those that only samovard has are armed there");
#endif
}

Result<void> train(ingest::WorkerChannel& channel, ingest::Frame& frame, const Device* device) {
  SAMOVAR_TRY(const auto job, jobs::decode_train_job(frame.body));
  security::wipe(MutableBytes(frame.body));
  arm_failpoints(job.failpoints);
  return train_model(channel, job, device != nullptr ? device->table() : nullptr);
}

Result<void> score(ingest::WorkerChannel& channel, ingest::Frame& frame) {
  SAMOVAR_TRY(const auto job, jobs::decode_score_job(frame.body));
  security::wipe(MutableBytes(frame.body));
  arm_failpoints(job.failpoints);
  return score_rows(channel, job);
}

Result<void> read_in(ingest::WorkerChannel& channel, ingest::Frame& frame) {
  SAMOVAR_TRY(const auto job, ingest::decode_job(frame.body));
  security::wipe(MutableBytes(frame.body));
  arm_failpoints(job.failpoints);
  if (job.mode == ingest::WorkerMode::trial) return attempt_named(job.file_name);
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  if (job.mode == ingest::WorkerMode::inspect) return inspect(channel, job, frame.descriptor);
  return ingest_upload(channel, job, frame.descriptor);
}

Result<ingest::Frame> first_message(ingest::WorkerChannel& channel) {
  for (;;) {
    SAMOVAR_TRY(auto frame, channel.receive(std::chrono::hours(1)));
    if (frame) return *std::move(frame);
  }
}

constexpr const char* kTooLarge =
    "reading this file takes more memory than one ingest may use: split it into smaller files, or shorten "
    "its "
    "longest cells";
constexpr const char* kModelTooLarge =
    "this model takes more memory than a job may use on this box: choose fewer hash bits, leave out texts "
    "and "
    "columns with very many levels, or give fewer classes";

// Libraries throw; the largest surprise is memory, which is bounded here.
Result<void> run(ingest::WorkerChannel& channel, const Device* device) {
  SAMOVAR_TRY(auto frame, first_message(channel));
  const MessageType type = frame.type;
  try {
    if (type == MessageType::train) return train(channel, frame, device);
    if (type == MessageType::score) return score(channel, frame);
    if (type == MessageType::job) return read_in(channel, frame);
    return Error{Errc::corrupt, "another message was expected"};
  } catch (const std::bad_alloc&) {
    return Error{Errc::no_space, type == MessageType::job ? kTooLarge : kModelTooLarge};
  } catch (const std::exception& e) {
    return Error{Errc::internal, std::string(type == MessageType::job ? "the file could not be read: "
                                                                      : "the work could not be done: ") +
                                     e.what()};
  }
}

// What is said of it before any key is sent.
ingest::WorkerReady ready_with(const SandboxState& sandbox, Device* device) {
  ingest::WorkerReady ready{sandbox.own_network, "", 0, ""};
  if (device == nullptr) return ready;
  // Behind the door once more, or it would be found out in the middle of a training.
  if (device->prove()) {
    ready.device = std::string(device->table()->name).substr(0, ingest::kDeviceNameBytesMax);
    ready.generation = device->table()->generation;
  }
  ready.trouble = device->trouble().substr(0, ingest::kDeviceTroubleBytesMax);
  return ready;
}

int work(std::uint64_t memory_mib, const char* plugin) {
  if (auto ready = security::init(); !ready) return kExitFailure;
  SandboxLimits limits;
  if (memory_mib > 0) limits.data_bytes_max = memory_mib << 20;
  std::optional<Device> device;
  OpenDevice open_device;
  if (plugin != nullptr) {
    // Cells are on the device then, and a third of that is left for their mean and the rows.
    device.emplace(plugin, limits.data_bytes_max / 3 * 2);
    open_device = [&device] { return device->open(); };
  }
  const auto sandbox = enter_sandbox(limits, open_device);
  ingest::WorkerChannel channel{ingest::Descriptor(ingest::kWorkerDescriptor)};
  auto done = Result<void>{};
  Device* const opened = device ? &*device : nullptr;
  if (!sandbox) {
    done = sandbox.error();
  } else {
    done = channel.send(MessageType::ready, encode(ready_with(*sandbox, opened)));
    if (done) done = run(channel, opened);
  }
  if (done) return 0;
  ingest::WorkerFailed failed{done.error().code(), done.error().message().substr(0, 4000)};
  ignore(channel.send(MessageType::failed, encode(failed)), "samovard may be gone, and then nobody asks");
  return kExitFailure;
}

}  // namespace
}  // namespace samovar::worker

int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "--version") == 0) {
    std::puts("samovar-worker " SAMOVAR_VERSION);
    return 0;
  }
  // How much memory it may have, in MiB, and where a device's plug-in lies, is all it is told; it bounds
  // itself before anything else.
  std::uint64_t memory_mib = 0;
  const bool told = (argc == 2 || argc == 3) && samovar::worker::parse_memory(argv[1], memory_mib);
  if ((argc != 1 && !told) || !samovar::worker::has_socket()) {
    std::fputs("samovar-worker is started by samovard and does nothing by itself\n", stderr);
    return samovar::worker::kExitUsage;
  }
  // Without destructors of static objects: nothing is left to save, and the sandbox allows little.
  ::_exit(samovar::worker::work(memory_mib, argc == 3 ? argv[2] : nullptr));
}
