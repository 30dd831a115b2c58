// The whole program behind one function, so that tests run it with canned answers.
#pragma once
#include <string>
#include <vector>

#include "daemon/cli/env.hpp"
#include "daemon/cli/http_client.hpp"
#include "daemon/cli/io.hpp"

namespace samovar::cli {

// `words` without the program's name. The exit code.
int run(const std::vector<std::string>& words, Io& io, HttpClient& http, const Env& env);

}  // namespace samovar::cli
