#include "daemon/worker/sandbox.hpp"

#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <system_error>

#include "base/bytes.hpp"
#include "daemon/ingest/worker_protocol.hpp"

namespace samovar::worker {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif
#else
constexpr bool kSanitized = false;
#endif

// Reading and writing what is open, memory, threads, time. Nothing that has a name of a file, an address
// of the network or another process in it.
constexpr const char* kAllowed[] = {
    "read",
    "write",
    "readv",
    "writev",
    "pread64",
    "pwrite64",
    "preadv",
    "pwritev",
    "lseek",
    "fsync",
    "fdatasync",
    "ftruncate",
    "fallocate",
    "fadvise64",
    "sync_file_range",
    "fstat",
    "close",
    "dup",
    "fcntl",
    "sendmsg",
    "recvmsg",
    "poll",
    "ppoll",
    // memory
    "munmap",
    "mremap",
    "madvise",
    "brk",
    "memfd_create",  // to hand over what other workers are told: it has no name that anybody could open
    "mlock",
    "mlock2",
    "munlock",
    "membarrier",
    // threads
    "futex",
    "set_robust_list",
    "get_robust_list",
    "rseq",
    "set_tid_address",
    "sched_yield",
    "sched_getaffinity",
    "getcpu",
    "gettid",
    "getpid",
    "exit",
    "exit_group",
    "restart_syscall",
    // signals to itself, which are what abort() needs
    "rt_sigaction",
    "rt_sigprocmask",
    "rt_sigreturn",
    "sigaltstack",
    // time and luck
    "clock_gettime",
    "clock_getres",
    "clock_nanosleep",
    "nanosleep",
    "gettimeofday",
    "getrandom",
    "getrusage",
    "sysinfo",
};

Error failed(const char* doing, int error = errno) {
  return {Errc::unsupported,
          std::string("the sandbox of samovar-worker cannot be closed: ") + doing + ": " +
              std::generic_category().message(error) +
              ". Without it no file is read and nothing is trained; see docs/architecture.md"};
}

Result<void> limit(decltype(RLIMIT_CORE) resource, std::uint64_t value, const char* name) {
  struct rlimit now {};
  if (::getrlimit(resource, &now) == 0 && now.rlim_max != RLIM_INFINITY && now.rlim_max < value)
    value = now.rlim_max;
  const struct rlimit wanted { value, value };
  if (::setrlimit(resource, &wanted) != 0) return failed(name);
  return {};
}

// Memory runs out for this process first, not for the daemon whose low score it inherited.
void volunteer_for_oom() {
  const int fd = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (fd < 0) return;
  if (::write(fd, "500", 3) != 3) errno = 0;  // a wish, not a rule
  ::close(fd);
}

// The library's own macros for these are C, which clang does not take for C++.
scmp_arg_cmp equals(unsigned argument, scmp_datum_t value) { return {argument, SCMP_CMP_EQ, value, 0}; }
scmp_arg_cmp masked_equals(unsigned argument, scmp_datum_t mask, scmp_datum_t value) {
  return {argument, SCMP_CMP_MASKED_EQ, mask, value};
}

class Filter {
 public:
  Filter() : context_(seccomp_init(SCMP_ACT_KILL_PROCESS)) {}

  template <class... Conditions>
  void rule(std::uint32_t action, const char* name, Conditions... conditions) {
    if (!context_ || error_ != 0) return;
    const int number = seccomp_syscall_resolve_name(name);
    if (number < 0) return;  // this architecture does not have it
    error_ = seccomp_rule_add(context_.get(), action, number, sizeof...(conditions), conditions...);
  }
  // Those that are there already.
  void include_threads() {
    if (context_ && error_ == 0) error_ = seccomp_attr_set(context_.get(), SCMP_FLTATR_CTL_TSYNC, 1);
  }
  int load() {
    if (!context_) return -ENOMEM;
    if (error_ == 0) error_ = seccomp_load(context_.get());
    return error_;
  }

 private:
  struct Release {
    void operator()(void* context) const { seccomp_release(context); }
  };
  std::unique_ptr<void, Release> context_;
  int error_ = 0;
};

// What the drivers of the boards' GPUs name their ioctls by (the second byte of the request): nvgpu's
// control, channels and nvhost, address spaces, groups of channels; nvmap; render nodes; shared buffers and
// fences of the kernel. None of these families has anything to do with files, sockets or namespaces;
// terminals, which share one, we have none.
constexpr unsigned char kDeviceFamilies[] = {'G', 'H', 'A', 'T', 'N', 'd', 'b', '>'};

constexpr unsigned kDescriptorBits = 16;  // more than a worker may have open

// What a driver that has begun asks for besides. Its devices are open: nothing here has a name of a file in
// it that would be looked at. Which it needs on a board only a board can say; one that is not here ends the
// process, and the job goes on without a device.
void allow_device(Filter& filter) {
  // Not on standard descriptors and our own socket: on those of which one of these bits is set. The kernel
  // looks at the lower half of what is passed, so that "above 3" would be true of numbers that mean 3.
  static_assert(ingest::kWorkerDescriptor == 3);
  for (const unsigned char family : kDeviceFamilies)
    for (unsigned bit = 2; bit < kDescriptorBits; ++bit)
      filter.rule(SCMP_ACT_ALLOW, "ioctl", masked_equals(0, 1u << bit, 1u << bit),
                  masked_equals(1, 0xff00, scmp_datum_t{family} << 8));
  // Its threads wait for each other and for its devices by these; they have no name.
  for (const char* name : {"eventfd2", "pipe2", "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_wait"})
    filter.rule(SCMP_ACT_ALLOW, name);
  for (const char* name : {"uname", "getuid", "geteuid", "getgid", "getegid", "getppid", "sched_getparam",
                           "sched_getscheduler", "sched_get_priority_min", "sched_get_priority_max"})
    filter.rule(SCMP_ACT_ALLOW, name);
  // It does without: where its threads run, memory near them, files it would like to look at.
  for (const char* name : {"sched_setaffinity", "sched_setscheduler", "sched_setparam", "set_mempolicy",
                           "get_mempolicy", "setpriority", "getpriority"})
    filter.rule(SCMP_ACT_ERRNO(EPERM), name);
  for (const char* name :
       {"open", "openat", "access", "faccessat", "faccessat2", "readlink", "readlinkat", "stat", "lstat"})
    filter.rule(SCMP_ACT_ERRNO(EACCES), name);
  for (const scmp_datum_t flags : {0, AT_SYMLINK_NOFOLLOW})
    filter.rule(SCMP_ACT_ERRNO(EACCES), "newfstatat", equals(3, flags));
}

Result<void> close_system_calls(bool device, bool threads) {
  Filter filter;
  if (threads) filter.include_threads();
  if (device) allow_device(filter);
  for (const char* name : kAllowed) filter.rule(SCMP_ACT_ALLOW, name);
  // No memory that can be executed.
  for (const char* name : {"mmap", "mprotect"})
    filter.rule(SCMP_ACT_ALLOW, name, masked_equals(2, PROT_EXEC, 0));
  // Threads, but no processes. clone3 hides its flags from the filter: glibc falls back to clone.
  filter.rule(SCMP_ACT_ALLOW, "clone", masked_equals(0, CLONE_THREAD, CLONE_THREAD));
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "clone3");
  // OpenBLAS asks for its buffer to be near, and does without.
  filter.rule(SCMP_ACT_ERRNO(ENOSYS), "mbind");
  // glibc asks /proc for the kernel's mood before a thread's heap shrinks, and takes a no for an answer:
  // opening to read is refused, opening to write ends the process.
  if (!device) filter.rule(SCMP_ACT_ERRNO(EACCES), "openat", equals(2, O_RDONLY | O_CLOEXEC));
  // What is open may be measured: newfstatat without a name.
  filter.rule(SCMP_ACT_ALLOW, "newfstatat", equals(3, AT_EMPTY_PATH));
  filter.rule(SCMP_ACT_ALLOW, "prctl", equals(0, PR_SET_NAME));
  filter.rule(SCMP_ACT_ERRNO(EINVAL), "prctl", equals(0, 0x53564d41));  // PR_SET_VMA of malloc
  // Limits may be read, not moved.
  filter.rule(SCMP_ACT_ALLOW, "prlimit64", equals(2, 0));
  filter.rule(SCMP_ACT_ALLOW, "tgkill", equals(0, static_cast<scmp_datum_t>(::getpid())));
  // UBSan's check of objects' types looks through a pipe whether memory is there.
  if (kSanitized && !device) filter.rule(SCMP_ACT_ALLOW, "pipe2");
  if (const int error = filter.load(); error != 0) return failed("seccomp", -error);
  return {};
}

}  // namespace

namespace {

// What a driver has for itself before any row is read: it is not counted against the job.
std::uint64_t data_bytes_now() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmData:", 0) == 0) return std::strtoull(line.c_str() + 7, nullptr, 10) << 10;
  return 0;
}

}  // namespace

Result<SandboxState> enter_sandbox(const SandboxLimits& limits, const OpenDevice& open_device) {
  // Dies with the daemon's thread that started it, never earlier: the daemon waits for it there.
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) return failed("PR_SET_PDEATHSIG");
  // A driver looks at its own process through /proc, which then belongs to root: after it has.
  if (!open_device && ::prctl(PR_SET_DUMPABLE, 0) != 0) return failed("PR_SET_DUMPABLE");
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return failed("PR_SET_NO_NEW_PRIVS");
  volunteer_for_oom();
  SAMOVAR_CHECK(limit(RLIMIT_CORE, 0, "RLIMIT_CORE"));
  SAMOVAR_CHECK(limit(RLIMIT_NOFILE, limits.descriptors_max, "RLIMIT_NOFILE"));
  SAMOVAR_CHECK(limit(RLIMIT_FSIZE, limits.file_bytes_max, "RLIMIT_FSIZE"));
  // A write past the bound is an error, not a death.
  if (::signal(SIGXFSZ, SIG_IGN) == SIG_ERR) return failed("SIGXFSZ");
  SandboxState state;
  // A process with threads could no longer have them.
  state.own_network = ::unshare(CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC) == 0;
  std::uint64_t driver_bytes = 0;
  if (open_device) {
    const std::uint64_t before = data_bytes_now();
    state.device = open_device();
    const std::uint64_t after = data_bytes_now();
    if (state.device && after > before) driver_bytes = after - before;
    if (::prctl(PR_SET_DUMPABLE, 0) != 0) return failed("PR_SET_DUMPABLE");
  }
  // A sanitizer's shadow memory is larger than any bound.
  if (!kSanitized) SAMOVAR_CHECK(limit(RLIMIT_DATA, limits.data_bytes_max + driver_bytes, "RLIMIT_DATA"));
  SAMOVAR_CHECK(close_system_calls(state.device, open_device != nullptr));
  return state;
}

}  // namespace samovar::worker
