// What the commands about models share: MODEL and MODEL@VERSION, columns, evaluations.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "daemon/cli/args.hpp"
#include "daemon/cli/view.hpp"

namespace samovar::cli {

class App;

struct ModelRef {
  std::string name;
  std::uint32_t version = 0;  // 0: not given
};

// "readmission@3". A usage error otherwise.
Result<ModelRef> model_ref(App& app, std::string_view word);
// The same, and the version must be there.
Result<ModelRef> version_ref(App& app, std::string_view word);
std::string model_path(const ModelRef& ref);    // "/models/readmission"
std::string version_path(const ModelRef& ref);  // "/models/readmission/versions/3"
std::string text_of(const ModelRef& ref);       // "readmission@3"

// "high" or "7", as the API takes it; what it does not take, it says.
nlohmann::json priority_value(const std::string& text);

// With a suggestion when there is no such model.
Result<nlohmann::json> get_model(App& app, const ModelRef& ref);
// The version meant: the given one, else that in production, else the latest.
Result<nlohmann::json> get_version(App& app, const ModelRef& ref);

// Fetches the evaluation and writes it: the API's JSON, or the text.
Result<void> print_evaluation(App& app, const ModelRef& ref, std::size_t inputs, bool coefficients);

}  // namespace samovar::cli
