#include "fake_box.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "daemon/cli/config.hpp"

namespace samovar::cli {

Result<std::string> FakeIo::ask(std::string_view question) {
  questions += question;
  if (answers.empty()) return Error{Errc::unsupported, "there is no terminal to ask on"};
  std::string answer = answers.front();
  answers.pop_front();
  return answer;
}

Result<std::string> FakeIo::read_line() {
  const std::size_t end = input.find('\n');
  std::string line = input.substr(0, end);
  input.erase(0, end == std::string::npos ? end : end + 1);
  return line;
}

Result<std::size_t> FakeIo::read_some(char* out, std::size_t room) {
  const std::size_t count = input.copy(out, room);
  input.erase(0, count);
  return count;
}

void FakeBox::on(const std::string& key, int status, std::string body,
                 std::vector<std::pair<std::string, std::string>> headers) {
  HttpReply reply;
  reply.status = status;
  reply.body = std::move(body);
  reply.headers = std::move(headers);
  replies_[key].push_back(std::move(reply));
}

Result<HttpReply> FakeBox::send(const HttpRequest& request) {
  if (!failure.empty()) return Error{Errc::io, failure};
  HttpReply reply;
  if (request.pin.leaf_sha256 != leaf) {
    reply.untrusted = true;
    reply.leaf_sha256 = leaf;
    return reply;
  }
  requests.push_back(request);
  if (serve) {
    if (auto served = serve(request)) {
      if (*served) (*served)->leaf_sha256 = leaf;
      return *std::move(served);
    }
  }
  const std::size_t path = request.url.find('/', 8);
  auto found = replies_.find(request.method + " " + request.url.substr(path));
  if (found == replies_.end()) {
    reply.status = 404;
    reply.body =
        R"({"type":"urn:samovar:problem:not_found","title":"Not found","status":404,"code":"not_found","detail":"no such thing"})";
  } else {
    reply = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
  }
  reply.leaf_sha256 = leaf;
  if (request.on_data && reply.status == 200) request.on_data(reply.body);
  return reply;
}

HttpRequest FakeBox::last(const std::string& method, const std::string& path) const {
  for (auto request = requests.rbegin(); request != requests.rend(); ++request) {
    if (request->method == method && request->url.ends_with(path)) return *request;
  }
  return {};
}

Bench::Bench() {
  std::string pattern = (std::filesystem::temp_directory_path() / "samovar-cli-XXXXXX").string();
  home = ::mkdtemp(pattern.data());
  env.config_dir = (home / "samovar").string();
  trust_and_log_in();
}

Bench::~Bench() {
  std::error_code ignored;
  std::filesystem::remove_all(home, ignored);
}

void Bench::forget_all() { std::filesystem::remove_all(env.config_dir); }

void Bench::trust_and_log_in() {
  Config config;
  config.current = "127.0.0.1:8443";
  config.contexts[config.current] = Context{"https://127.0.0.1:8443", "admin", Pin{FakeBox::kLeaf, {}}};
  EXPECT_TRUE(save_config(env.config_dir, config));
  EXPECT_TRUE(save_session(env.config_dir, config.current, "session-secret"));
}

Outcome Bench::run(std::vector<std::string> words) {
  io.out_text.clear();
  io.err_text.clear();
  const int code = samovar::cli::run(words, io, box, env);
  return {code, io.out_text, io.err_text};
}

void expect_golden(const std::string& name, const std::string& actual) {
  auto expected = read_file(SAMOVAR_SOURCE_DIR "/tests/unit/daemon/cli/golden/" + name);
  ASSERT_TRUE(expected) << "no file golden/" << name << "; the output is:\n" << actual;
  EXPECT_EQ(*expected, actual) << "golden/" << name;
}

}  // namespace samovar::cli
