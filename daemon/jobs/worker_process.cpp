#include "daemon/jobs/worker_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace samovar::jobs {
namespace {

using ingest::Descriptor;

constexpr int kFinishStepsMax = 100;  // of 20 ms

// posix_spawn's two objects, freed at the end.
struct SpawnSetup {
  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};
  int error = 0;

  SpawnSetup() {
    keep(posix_spawn_file_actions_init(&actions));
    keep(posix_spawnattr_init(&attributes));
  }
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  void keep(int result) {
    if (error == 0) error = result;
  }
};

// posix_spawn, not fork: this process has threads, and their locks would be copied as they stand.
int spawn_worker(const std::string& program, std::uint64_t memory_mib, std::string plugin, int socket,
                 pid_t& pid) {
  SpawnSetup setup;
  for (int fd = 0; fd < 3; ++fd)
    setup.keep(posix_spawn_file_actions_addopen(&setup.actions, fd, "/dev/null", O_RDWR, 0));
  setup.keep(posix_spawn_file_actions_adddup2(&setup.actions, socket, ingest::kWorkerDescriptor));
  setup.keep(posix_spawn_file_actions_addclosefrom_np(&setup.actions, ingest::kWorkerDescriptor + 1));
  // The daemon blocks its signals and reads them from a descriptor; the worker has the usual ones.
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  setup.keep(posix_spawnattr_setsigmask(&setup.attributes, &none));
  setup.keep(posix_spawnattr_setsigdefault(&setup.attributes, &all));
  setup.keep(posix_spawnattr_setflags(&setup.attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
  if (setup.error != 0) return setup.error;
  char name[] = "samovar-worker";
  std::string memory = std::to_string(memory_mib);
  const bool device = memory_mib > 0 && !plugin.empty();
  char* arguments[] = {name, memory_mib > 0 ? memory.data() : nullptr, device ? plugin.data() : nullptr,
                       nullptr};
  // The one library that looks there would make threads before the sandbox is closed. CUDA is to load all its
  // kernels before that, and to look for no cache of them.
  char blas[] = "OPENBLAS_NUM_THREADS=1";
  char eager[] = "CUDA_MODULE_LOADING=EAGER";
  char uncached[] = "CUDA_CACHE_DISABLE=1";
  char* environment[] = {blas, device ? eager : nullptr, device ? uncached : nullptr, nullptr};
  return posix_spawn(&pid, program.c_str(), &setup.actions, &setup.attributes, arguments, environment);
}

}  // namespace

Result<std::unique_ptr<WorkerProcess>> WorkerProcess::start(const std::string& program,
                                                            std::uint64_t memory_mib,
                                                            std::shared_ptr<WorkerDial> dial,
                                                            const std::string& plugin) {
  int ends[2] = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return Error{Errc::io, "no socket for samovar-worker: " + std::generic_category().message(errno)};
  Descriptor ours(ends[0]);
  Descriptor theirs(ends[1]);
  // dup2 onto itself would keep the close-on-exec flag: away from the number the worker expects.
  if (theirs.get() == ingest::kWorkerDescriptor) {
    Descriptor moved(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, ingest::kWorkerDescriptor + 1));
    theirs = std::move(moved);
  }
  pid_t pid = -1;
  if (const int error = spawn_worker(program, memory_mib, plugin, theirs.get(), pid); error != 0)
    return Error{Errc::unsupported, "the program " + program +
                                        ", which reads files and trains, cannot be started (" +
                                        std::generic_category().message(error) +
                                        "): install the package samovar again, or correct worker_path"};
  std::unique_ptr<WorkerProcess> worker(new WorkerProcess(pid, std::move(ours)));
  if (dial) worker->pace_ = std::make_unique<WorkerPace>(pid, std::move(dial));
  return worker;
}

WorkerProcess::~WorkerProcess() {
  pace_.reset();
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

int WorkerProcess::finish() {
  pace_.reset();
  for (int step = 0; pid_ > 0; ++step) {
    const pid_t ended = ::waitpid(pid_, &status_, step < kFinishStepsMax ? WNOHANG : 0);
    if (ended == pid_ || (ended < 0 && errno != EINTR)) pid_ = -1;
    if (ended != 0) continue;
    if (step + 1 == kFinishStepsMax) ::kill(pid_, SIGKILL);
    ::poll(nullptr, 0, 20);
  }
  return status_;
}

Error worker_death(int wait_status) {
  if (WIFSIGNALED(wait_status)) {
    switch (WTERMSIG(wait_status)) {
      case SIGSYS:
        return {
            Errc::invalid,
            "the reader of this file tried something its sandbox forbids and was stopped. The file may be "
            "made to attack it: check where it comes from. Nothing was kept"};
      case SIGKILL:
        return {Errc::unavailable,
                "the reader of this file was killed, most likely because memory ran out. Nothing was kept: "
                "try again when less is running, or split the file"};
      default:
        return {Errc::invalid,
                "the reader crashed on this file. Nothing was kept: save the file as plain CSV in UTF-8 and "
                "upload it again"};
    }
  }
  return {Errc::internal,
          "the reader of this file ended without a word. Nothing was kept: try again, and look into the "
          "journal of samovard if it happens twice"};
}

}  // namespace samovar::jobs
