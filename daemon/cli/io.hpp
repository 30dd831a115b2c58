// The streams and the terminal behind one interface, so that tests hold them in strings.
// Data goes to out; everything said to a person goes to err.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace samovar::cli {

class Io {
 public:
  virtual ~Io() = default;
  virtual void out(std::string_view text) = 0;
  virtual void err(std::string_view text) = 0;
  virtual bool out_is_terminal() const = 0;
  virtual bool in_is_terminal() const = 0;
  virtual int columns() const = 0;

  // From the controlling terminal, never from a redirected stdin. The secret is not echoed.
  virtual Result<std::string> ask(std::string_view question) = 0;
  virtual Result<std::string> ask_secret(std::string_view question) = 0;

  // All of stdin, at most 1 MiB; one line of it, without its end.
  virtual Result<std::string> read_all() = 0;
  virtual Result<std::string> read_line() = 0;
  // What of stdin is there, at most `room` bytes; 0 at its end.
  virtual Result<std::size_t> read_some(char* out, std::size_t room) = 0;

  // False when the wait was interrupted by Ctrl-C.
  virtual bool pause_ms(long ms) = 0;
};

// The process's own streams.
class ProcessIo : public Io {
 public:
  ProcessIo();
  void out(std::string_view text) override;
  void err(std::string_view text) override;
  bool out_is_terminal() const override;
  bool in_is_terminal() const override;
  int columns() const override;
  Result<std::string> ask(std::string_view question) override;
  Result<std::string> ask_secret(std::string_view question) override;
  Result<std::string> read_all() override;
  Result<std::string> read_line() override;
  Result<std::size_t> read_some(char* out, std::size_t room) override;
  bool pause_ms(long ms) override;
};

// Overwrites a password before its memory is given back.
void wipe(std::string& secret) noexcept;

}  // namespace samovar::cli
