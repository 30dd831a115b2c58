#include "daemon/console.hpp"

#include <fmt/format.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "base/disk.hpp"
#include "base/encoding.hpp"
#include "security/identity.hpp"
#include "security/keyring.hpp"

namespace samovar::daemon {
namespace {

constexpr std::size_t kIdBytesMax = 256;

// The short form, or the whole id.
bool names(const std::string& typed, const std::string& short_id) {
  std::string plain = base32_normalize(typed);
  while (!plain.empty() && (plain.back() == '\n' || plain.back() == '\r')) plain.pop_back();
  return plain.size() >= 8 && plain.substr(0, 8) == base32_normalize(short_id);
}

// Off while it lives.
class Echo {
 public:
  Echo() {
    if (::tcgetattr(STDIN_FILENO, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    restore_ = ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet) == 0;
  }
  ~Echo() {
    if (restore_) ::tcsetattr(STDIN_FILENO, TCSAFLUSH, &before_);
  }
  Echo(const Echo&) = delete;
  Echo& operator=(const Echo&) = delete;

 private:
  termios before_{};
  bool restore_ = false;
};

}  // namespace

Result<std::string> short_id_of(const StateDir& state) {
  auto bytes = real_disk().read_file(state.identity() + "/node.id", kIdBytesMax);
  if (!bytes)
    return Error{Errc::not_found, fmt::format("{} holds no node: there is nothing to change", state.path())};
  return security::short_node_id(as_text(*bytes));
}

Result<void> confirm_node(const std::string& short_id, std::string typed, const std::string& warning,
                          const std::string& flag) {
  if (typed.empty()) {
    if (isatty(STDIN_FILENO) == 0)
      return Error{
          Errc::invalid,
          fmt::format("this is confirmed at the console; a script says {} with the node's id", flag)};
    std::fputs(fmt::format("\n{}\n\n  Node {}. Type its id to go on: ", warning, short_id).c_str(), stdout);
    std::fflush(stdout);
    std::array<char, 128> line{};
    if (std::fgets(line.data(), static_cast<int>(line.size()), stdin) == nullptr)
      return Error{Errc::invalid, "nothing was typed"};
    typed = line.data();
  }
  if (!names(typed, short_id))
    return Error{Errc::denied,
                 fmt::format("that is not the id of this node ({}): nothing was changed", short_id)};
  return {};
}

Result<security::SecretBytes> ask_passphrase() {
  const Echo echo;
  if (isatty(STDIN_FILENO) != 0) std::fputs("  Passphrase of this box: ", stdout);
  std::fflush(stdout);
  security::SecretBytes line(security::kPassphraseBytesMax);
  std::size_t size = 0;
  // Byte by byte from the descriptor: stdio would keep a copy in a buffer that nobody wipes.
  while (size < line.size()) {
    const ssize_t got = ::read(STDIN_FILENO, line.mutable_view().data() + size, 1);
    if (got != 1 || line.view()[size] == '\n') break;
    ++size;
  }
  if (size == 0) return Error{Errc::invalid, "no passphrase was given"};
  return security::SecretBytes::copy_of(line.view().first(size));
}

}  // namespace samovar::daemon
