// samovar-worker: reads what came from outside, in a sandbox, for samovard, which starts it and talks to it
// over the socket at descriptor 3. It has no options, no files and no network; see docs/architecture.md.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "base/failpoint.hpp"
#include "daemon/ingest/worker_channel.hpp"
#include "daemon/worker/job.hpp"
#include "daemon/worker/sandbox.hpp"
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

Result<void> run(ingest::WorkerChannel& channel) {
  SAMOVAR_TRY(auto frame, channel.receive(MessageType::job));
  SAMOVAR_TRY(const auto job, ingest::decode_job(frame.body));
  security::wipe(MutableBytes(frame.body));
  arm_failpoints(job.failpoints);
  if (job.mode == ingest::WorkerMode::trial) return attempt_named(job.file_name);
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  if (job.mode == ingest::WorkerMode::inspect) return inspect(channel, job, frame.descriptor);
  return ingest_upload(channel, job, frame.descriptor);
}

// Libraries throw; the largest surprise is memory, which is bounded here.
Result<void> run_caught(ingest::WorkerChannel& channel) {
  try {
    return run(channel);
  } catch (const std::bad_alloc&) {
    return Error{
        Errc::no_space,
        "reading this file takes more memory than one ingest may use: split it into smaller files, or "
        "shorten its longest cells"};
  } catch (const std::exception& e) {
    return Error{Errc::internal, std::string("the file could not be read: ") + e.what()};
  }
}

int work() {
  if (auto ready = security::init(); !ready) return kExitFailure;
  const auto sandbox = enter_sandbox();
  ingest::WorkerChannel channel{ingest::Descriptor(ingest::kWorkerDescriptor)};
  auto done = Result<void>{};
  if (!sandbox) {
    done = sandbox.error();
  } else {
    done = channel.send(MessageType::ready, encode(ingest::WorkerReady{sandbox->own_network}));
    if (done) done = run_caught(channel);
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
  if (argc != 1 || !samovar::worker::has_socket()) {
    std::fputs("samovar-worker is started by samovard and does nothing by itself\n", stderr);
    return samovar::worker::kExitUsage;
  }
  // Without destructors of static objects: nothing is left to save, and the sandbox allows little.
  ::_exit(samovar::worker::work());
}
