// Following a training job: waiting for its end, its log and its metrics as they come.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/result.hpp"
#include "daemon/cli/args.hpp"

namespace samovar::cli {

class App;

std::string job_path(std::string_view id);  // "/jobs/job_…"
bool job_ended(const nlohmann::json& job);
// "training, pass 3, 1,200,000 rows/s, 12 s left"
std::string job_sentence(const nlohmann::json& job);

// Until it ended; the job's last state. Ctrl-C leaves it running and says so. Exit code 8 when it failed or
// was cancelled; with --json the job is printed then.
Result<nlohmann::json> wait_job(App& app, const std::string& id);

// `jobs logs` and `jobs metrics`, with and without --follow.
Result<void> show_logs(App& app, const Invocation& invocation);
Result<void> show_metrics(App& app, const Invocation& invocation);

}  // namespace samovar::cli
