#include "daemon/cluster/losses.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "daemon/cluster/command.hpp"
#include "daemon/cluster/copies.hpp"
#include "daemon/cluster/rows_datasets.hpp"
#include "daemon/cluster/rows_models.hpp"

namespace samovar::cluster {
namespace {

constexpr std::size_t kNamedMax = 3;
constexpr std::string_view kJob = "job_";

std::string model_of_key(Db& db, std::string_view key) {
  const std::string evaluation = std::string(key.substr(0, key.find('/'))) + "/evaluation";
  Query row(db,
            "SELECT m.name FROM model_versions v JOIN models m ON m.key = v.model_key WHERE "
            "v.evaluation_name = ? ORDER BY v.version LIMIT 1",
            evaluation);
  return row.next() ? row.text(0) : std::string();
}

// In the words of those who made it.
std::string owner_of_key(Db& db, const std::string& key) {
  if (const std::string id = dataset_of_key(key); !id.empty()) {
    const auto dataset = find_dataset(db, id);
    return fmt::format("the data set \"{}\"", dataset ? dataset->name : id);
  }
  const std::string folder = key.substr(0, key.find('/'));
  if (folder.starts_with(kJob)) {
    const auto job = find_job(db, folder);
    return fmt::format("the training of \"{}\"", job ? job->name : folder);
  }
  const std::string model = model_of_key(db, key);
  return fmt::format("the model \"{}\"", model.empty() ? folder : model);
}

std::string owners_of(Db& db, const std::vector<std::string>& keys) {
  std::vector<std::string> owners;
  std::string last;
  for (const std::string& key : keys) {
    // Keys of one version stand together: each is asked for once.
    std::string folder = key.substr(0, key.find('/'));
    if (folder == last) continue;
    last = std::move(folder);
    std::string owner = owner_of_key(db, key);
    if (std::find(owners.begin(), owners.end(), owner) == owners.end()) owners.push_back(std::move(owner));
  }
  const std::size_t named = std::min(owners.size(), kNamedMax);
  std::string text =
      fmt::format("{}", fmt::join(owners.begin(), owners.begin() + std::ptrdiff_t(named), ", "));
  if (owners.size() > named) text += fmt::format(" and {} more", owners.size() - named);
  return text;
}

}  // namespace

std::vector<std::string> only_copies_of(Db& db, std::string_view node_id) {
  std::vector<std::string> keys;
  for (Query row(db,
                 "SELECT c.key FROM copies c WHERE c.node_id = ?1 AND NOT EXISTS (SELECT 1 FROM copies o "
                 "WHERE o.key = c.key AND o.node_id <> ?1) ORDER BY c.key",
                 node_id);
       row.next();)
    keys.push_back(row.text(0));
  // A row may outlive its file; that is nobody's loss.
  std::erase_if(keys, [&db](const std::string& key) { return !find_file(db, key); });
  return keys;
}

Result<void> check_losses(Db& db, const std::vector<std::string>& keys, std::uint64_t losses_max) {
  if (keys.size() <= losses_max) return {};
  return refuse_losses(
      fmt::format("{} {}, of {}", keys.size(), keys.size() == 1 ? "file" : "files", owners_of(db, keys)));
}

}  // namespace samovar::cluster
