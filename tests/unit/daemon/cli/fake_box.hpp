// A box of canned answers and a terminal of canned lines: the whole CLI runs against them in memory.
#pragma once
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/cli/run.hpp"

namespace samovar::cli {

class FakeIo : public Io {
 public:
  std::string out_text, err_text, questions;
  std::deque<std::string> answers;  // to ask and ask_secret
  std::string input;                // stdin
  bool terminal = false;
  int pauses_left = 0;

  void out(std::string_view text) override { out_text += text; }
  void err(std::string_view text) override { err_text += text; }
  bool out_is_terminal() const override { return terminal; }
  bool in_is_terminal() const override { return terminal; }
  int columns() const override { return 80; }
  Result<std::string> ask(std::string_view question) override;
  Result<std::string> ask_secret(std::string_view question) override { return ask(question); }
  Result<std::string> read_all() override { return std::move(input); }
  Result<std::string> read_line() override;
  Result<std::size_t> read_some(char* out, std::size_t room) override;
  bool interrupted = false;  // by Ctrl-C
  bool pause_ms(long ms) override { return !interrupted && (ms == 0 || pauses_left-- > 0); }
};

// Answers by "METHOD path?query"; several answers for one key are given in turn, the last for ever.
class FakeBox : public HttpClient {
 public:
  static constexpr const char* kLeaf =
      "00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF:00:11:22:33:44:55:66:77:88:99:AA:BB:CC:DD:EE:FF";

  std::string leaf = kLeaf;
  std::vector<HttpRequest> requests;
  std::string failure;  // when set, nothing answers
  // When set, asked first; nothing: the canned answers.
  std::function<std::optional<Result<HttpReply>>(const HttpRequest&)> serve;

  void on(const std::string& key, int status, std::string body,
          std::vector<std::pair<std::string, std::string>> headers = {});
  Result<HttpReply> send(const HttpRequest& request) override;
  // The last request of this kind, or one with an empty url.
  HttpRequest last(const std::string& method, const std::string& path) const;

 private:
  std::map<std::string, std::deque<HttpReply>> replies_;
};

struct Outcome {
  int code = 0;
  std::string out, err;
};

// A home in a fresh folder, a box that is trusted already and a session, unless a test removes them.
class Bench {
 public:
  Bench();
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  Outcome run(std::vector<std::string> words);
  void forget_all();
  void trust_and_log_in();

  FakeIo io;
  FakeBox box;
  Env env;
  std::filesystem::path home;
};

// Output that is a promise, byte for byte: golden/NAME holds it. If a change is meant, the test prints the
// new text.
void expect_golden(const std::string& name, const std::string& actual);

}  // namespace samovar::cli
