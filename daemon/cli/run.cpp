#include "daemon/cli/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "base/json.hpp"
#include "daemon/cli/app.hpp"
#include "daemon/cli/text_table.hpp"
#include "daemon/cli/texts.hpp"

namespace samovar::cli {
namespace {

int usage_error(const std::vector<std::string>& words, Io& io, const std::string& message) {
  // The flags could not be parsed, but whoever wrote --json wants to read JSON all the same.
  const bool wants_json = std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--json" || word.starts_with("--json=") || word == "--output=json" ||
           word == "--output=jsonl";
  });
  if (wants_json) {
    const nlohmann::json document = {
        {"type", "urn:samovar:problem:usage"}, {"title", "usage"}, {"code", "usage"}, {"detail", message}};
    io.err(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    io.err(fmt::format("samovar: {}\n", printable(message, true)));
  }
  return static_cast<int>(Exit::usage);
}

int run_parsed(const std::vector<std::string>& words, Io& io, HttpClient& http, const Env& env) {
  auto invocation = parse(table(), words);
  if (!invocation) return usage_error(words, io, invocation.error().message());
  if (invocation->help) {
    auto text = help_text(table(), invocation->help_topic);
    if (!text) return usage_error(words, io, text.error().message());
    // Help that was asked for is data; help shown because nothing was asked is not.
    const bool asked = invocation->has("help");
    asked ? io.out(*text) : io.err(*text);
    return static_cast<int>(asked ? Exit::ok : Exit::usage);
  }
  App app(*invocation, io, http, env);
  Result<void> done = app.start();
  if (done) done = invocation->command->handler(app, *invocation);
  if (done) return static_cast<int>(Exit::ok);
  app.report(done.error());
  // After Ctrl-C whatever failed failed because of it.
  if (!io.pause_ms(0)) return static_cast<int>(Exit::interrupted);
  return static_cast<int>(app.exit_code(done.error()));
}

}  // namespace

int run(const std::vector<std::string>& words, Io& io, HttpClient& http, const Env& env) {
  // Libraries throw where an answer has another type than promised; that is the box's fault, not a crash.
  try {
    return run_parsed(words, io, http, env);
  } catch (const std::exception& problem) {
    io.err(fmt::format(
        "samovar: the box answered in a way this version does not understand ({}); is it newer?\n",
        printable(problem.what())));
    return static_cast<int>(Exit::failure);
  }
}

}  // namespace samovar::cli
