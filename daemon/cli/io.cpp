#include "daemon/cli/io.hpp"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>

namespace samovar::cli {
namespace {

constexpr std::size_t kInputBytesMax = 1 << 20;

volatile std::sig_atomic_t interrupted = 0;

void on_interrupt(int) { interrupted = 1; }

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a closed pipe: the reader has seen enough
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

Result<std::string> read_line_from(int fd) {
  std::string line;
  char c = 0;
  for (;;) {
    const ssize_t n = ::read(fd, &c, 1);
    if (n < 0 && errno == EINTR && interrupted == 0) continue;
    if (n < 0) return Error{Errc::io, "interrupted while reading an answer"};
    if (n == 0) {
      if (line.empty()) return Error{Errc::io, "the input ended before an answer came"};
      return line;
    }
    if (c == '\n') {
      if (!line.empty() && line.back() == '\r') line.pop_back();
      return line;
    }
    if (line.size() == kInputBytesMax) return Error{Errc::invalid, "the line is longer than 1 MiB"};
    line.push_back(c);
  }
}

// The controlling terminal, with echo switched off for as long as this lives.
class Terminal {
 public:
  explicit Terminal(bool echo) : fd_(::open("/dev/tty", O_RDWR | O_CLOEXEC)) {
    if (fd_ < 0 || echo || ::tcgetattr(fd_, &before_) != 0) return;
    termios quiet = before_;
    quiet.c_lflag &= ~static_cast<tcflag_t>(ECHO);
    quiet.c_lflag |= ECHONL;
    restore_ = ::tcsetattr(fd_, TCSAFLUSH, &quiet) == 0;
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() {
    if (restore_) ::tcsetattr(fd_, TCSAFLUSH, &before_);
    if (fd_ >= 0) ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
  bool restore_ = false;
  termios before_{};
};

Result<std::string> ask_terminal(std::string_view question, bool echo) {
  Terminal terminal(echo);
  if (terminal.fd() < 0) {
    return Error{Errc::unsupported,
                 "there is no terminal to ask on; see the command's --help for reading from stdin"};
  }
  write_all(terminal.fd(), question);
  return read_line_from(terminal.fd());
}

}  // namespace

ProcessIo::ProcessIo() {
  // A reader that leaves early (head) is no reason to die without cleaning up.
  struct sigaction action {};
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &action, nullptr);
  // Without SA_RESTART, so that reads and waits return and echo is switched on again.
  action.sa_handler = on_interrupt;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

void ProcessIo::out(std::string_view text) { write_all(STDOUT_FILENO, text); }
void ProcessIo::err(std::string_view text) { write_all(STDERR_FILENO, text); }
bool ProcessIo::out_is_terminal() const { return ::isatty(STDOUT_FILENO) == 1; }
bool ProcessIo::in_is_terminal() const { return ::isatty(STDIN_FILENO) == 1; }

int ProcessIo::columns() const {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

Result<std::string> ProcessIo::ask(std::string_view question) { return ask_terminal(question, true); }
Result<std::string> ProcessIo::ask_secret(std::string_view question) { return ask_terminal(question, false); }

Result<std::string> ProcessIo::read_all() {
  std::string text;
  char buffer[4096];
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, buffer, sizeof buffer);
    if (n < 0 && errno == EINTR && interrupted == 0) continue;
    if (n < 0) return Error{Errc::io, "interrupted while reading stdin"};
    if (n == 0) break;
    text.append(buffer, static_cast<std::size_t>(n));
    if (text.size() > kInputBytesMax) return Error{Errc::invalid, "stdin is longer than 1 MiB"};
  }
  ::explicit_bzero(buffer, sizeof buffer);
  return text;
}

Result<std::string> ProcessIo::read_line() { return read_line_from(STDIN_FILENO); }

Result<std::size_t> ProcessIo::read_some(char* out, std::size_t room) {
  for (;;) {
    const ssize_t n = ::read(STDIN_FILENO, out, room);
    if (n >= 0) return static_cast<std::size_t>(n);
    if (errno != EINTR || interrupted != 0) return Error{Errc::io, "interrupted while reading stdin"};
  }
}

bool ProcessIo::pause_ms(long ms) {
  timespec left{ms / 1000, (ms % 1000) * 1000000};
  while (interrupted == 0 && ::nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
  return interrupted == 0;
}

void wipe(std::string& secret) noexcept {
  ::explicit_bzero(secret.data(), secret.size());
  secret.clear();
}

}  // namespace samovar::cli
