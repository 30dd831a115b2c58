#include "security/init.hpp"

#include <sodium.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "security/aead_bulk.hpp"
#include "security/memory_lock.hpp"
#include "security/secret_bytes.hpp"
#include "security/sha256.hpp"

namespace samovar::security {
namespace {

// Room for a few hundred secrets of a page each, beside what libraries lock.
constexpr std::size_t kLockedBytesMin = 4 * 1024 * 1024;

Error lock_error(const std::string& what) {
  return Error{Errc::unavailable, what +
                                      ", so keys could reach the swap: raise LimitMEMLOCK of the service to "
                                      "64M (or \"ulimit -l 65536\"), or set require_locked_memory to false"};
}

Result<void> check_lockable() {
  rlimit limit{};
  if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      limit.rlim_cur < kLockedBytesMin)
    return lock_error("only " + std::to_string(limit.rlim_cur / 1024) + " KiB of memory may be locked");
  std::uint8_t trial[64] = {};
  if (sodium_mlock(trial, sizeof trial) != 0)
    return lock_error(std::string("the kernel refused to lock memory (") + std::strerror(errno) + ")");
  sodium_munlock(trial, sizeof trial);
  return {};
}

Result<void> harden() {
  const rlimit none{0, 0};
  if (setrlimit(RLIMIT_CORE, &none) != 0)
    return Error{Errc::internal, std::string("cannot switch core dumps off: ") + std::strerror(errno)};
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
    return Error{Errc::internal,
                 std::string("cannot close the process to debuggers: ") + std::strerror(errno)};
  return {};
}

// OpenSSL reads its configuration and loads its provider at the first use. That use is here, before a sandbox
// takes the files away.
void ready_openssl() {
  const SecretBytes key(kAeadKeyBytes);
  const Bytes plain(kBulkBytesMin);
  Bytes sealed(plain.size() + kAeadTagBytes);
  seal_bulk(key, {}, plain, {}, sealed);
  Sha256().update(sealed);
}

}  // namespace

Result<void> init(const InitOptions& options) {
  if (sodium_init() < 0)
    return Error{Errc::internal, "libsodium did not start: the system's random generator is missing"};
  ready_openssl();
  if (options.harden_process) SAMOVAR_CHECK(harden());
  if (options.require_locked_memory) {
    SAMOVAR_CHECK(check_lockable());
    require_locked_memory();
  }
  return {};
}

}  // namespace samovar::security
