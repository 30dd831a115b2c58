#include "daemon/store/data_dir.hpp"

#include <algorithm>
#include <array>

#include "base/assert.hpp"
#include "base/failpoint.hpp"

namespace samovar::store {
namespace {

std::string joined(const std::string& folder, std::string_view name) {
  return folder + "/" + std::string(name);
}

// Ids and our own words only; nothing that could lead elsewhere.
bool is_name(std::string_view name) {
  const auto fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '.';
  };
  return !name.empty() && name.size() <= 128 && name[0] != '.' && std::all_of(name.begin(), name.end(), fine);
}

constexpr std::array kFolders = {"uploads", "incoming", "versions", "sources", "jobs", "models", "scorings"};

const char* folder_of(DataDir::Work kind) {
  switch (kind) {
    case DataDir::Work::jobs:
      return "jobs";
    case DataDir::Work::models:
      return "models";
    case DataDir::Work::scorings:
      return "scorings";
  }
  return "jobs";
}

std::string version_name(std::string_view dataset, std::uint32_t version) {
  return std::string(dataset) + "." + std::to_string(version);
}

}  // namespace

DataDir::DataDir(Disk& disk, std::string root, SpaceRules rules)
    : disk_(&disk), root_(std::move(root)), rules_(rules) {}

Result<DataDir> DataDir::open(Disk& disk, std::string root, SpaceRules rules) {
  DataDir dir(disk, std::move(root), rules);
  for (const char* folder : kFolders) SAMOVAR_CHECK(disk.make_dir(joined(dir.root_, folder)));
  return dir;
}

std::string DataDir::upload(std::string_view id) const {
  SAMOVAR_ASSERT(is_name(id));
  return root_ + "/uploads/" + std::string(id);
}
std::string DataDir::incoming(std::string_view operation) const {
  SAMOVAR_ASSERT(is_name(operation));
  return root_ + "/incoming/" + std::string(operation);
}
std::string DataDir::incoming_file(std::string_view operation, std::string_view name) const {
  SAMOVAR_ASSERT(is_name(name));
  return joined(incoming(operation), name);
}
std::string DataDir::version(std::string_view dataset, std::uint32_t version) const {
  SAMOVAR_ASSERT(is_name(dataset));
  return root_ + "/versions/" + version_name(dataset, version);
}
std::string DataDir::version_file(std::string_view dataset, std::uint32_t number,
                                  std::string_view name) const {
  SAMOVAR_ASSERT(is_name(name));
  return joined(version(dataset, number), name);
}
std::string DataDir::source(std::string_view dataset) const {
  SAMOVAR_ASSERT(is_name(dataset));
  return root_ + "/sources/" + std::string(dataset);
}

std::string DataDir::work(Work kind, std::string_view id) const {
  SAMOVAR_ASSERT(is_name(id));
  return joined(joined(root_, folder_of(kind)), id);
}
std::string DataDir::work_file(Work kind, std::string_view id, std::string_view name) const {
  SAMOVAR_ASSERT(is_name(name));
  return joined(work(kind, id), name);
}

Result<void> DataDir::make_work(Work kind, std::string_view id, bool empty) {
  if (empty) SAMOVAR_CHECK(remove_tree(work(kind, id)));
  return disk_->make_dir(work(kind, id));
}

Result<void> DataDir::sync_work(Work kind, std::string_view id) {
  SAMOVAR_CHECK(disk_->sync_dir(work(kind, id)));
  return disk_->sync_dir(joined(root_, folder_of(kind)));
}

Result<void> DataDir::remove_work(Work kind, std::string_view id) {
  SAMOVAR_FAILPOINT_ERROR("store.remove.before");
  SAMOVAR_CHECK(remove_tree(work(kind, id)));
  SAMOVAR_CHECK(disk_->sync_dir(joined(root_, folder_of(kind))));
  SAMOVAR_FAILPOINT_ERROR("store.remove.after_sync");
  return {};
}

Result<void> DataDir::remove_tree(const std::string& folder) {
  auto names = disk_->list(folder);
  if (!names && names.error().code() == Errc::not_found) return {};
  if (!names) return std::move(names).error();
  for (const std::string& name : *names) {
    const std::string path = joined(folder, name);
    auto removed = disk_->remove(path);
    // A folder in a folder is nothing of ours, but must not be in the way either.
    if (!removed && disk_->list(path)) removed = remove_tree(path);
    if (!removed) return removed;
  }
  // A file whose removal is not durable could come back, and its folder with it.
  if (!names->empty()) SAMOVAR_CHECK(disk_->sync_dir(folder));
  return disk_->remove(folder);
}

Result<void> DataDir::make_incoming(std::string_view operation) {
  SAMOVAR_CHECK(remove_tree(incoming(operation)));
  return disk_->make_dir(incoming(operation));
}

Result<void> DataDir::publish(std::string_view operation, std::string_view dataset, std::uint32_t number) {
  const std::string from = incoming(operation);
  const std::string to = version(dataset, number);
  // Of an attempt that was cut before its manifest, or this very one, whose last step may have failed.
  const bool there = disk_->exists(to);
  if (there && !disk_->exists(from)) return sync_published();
  if (there) SAMOVAR_CHECK(remove_tree(to));
  SAMOVAR_TRY(const std::vector<std::string> names, disk_->list(from));
  for (const std::string& name : names) {
    // The worker synced what it wrote; its word is not what durability rests on.
    SAMOVAR_TRY(const auto file, disk_->open(joined(from, name), OpenMode::write));
    SAMOVAR_CHECK(file->sync());
  }
  SAMOVAR_FAILPOINT_ERROR("store.publish.before_sync");
  SAMOVAR_CHECK(disk_->sync_dir(from));
  SAMOVAR_FAILPOINT_ERROR("store.publish.before_rename");
  SAMOVAR_CHECK(disk_->rename(from, to));
  SAMOVAR_FAILPOINT_ERROR("store.publish.after_rename");
  SAMOVAR_CHECK(sync_published());
  SAMOVAR_FAILPOINT_ERROR("store.publish.after_sync");
  return {};
}

Result<void> DataDir::sync_published() {
  SAMOVAR_CHECK(disk_->sync_dir(root_ + "/versions"));
  return disk_->sync_dir(root_ + "/incoming");
}

Result<void> DataDir::move_synced(const std::string& from, const std::string& to) {
  if (disk_->exists(from)) {
    SAMOVAR_FAILPOINT_ERROR("store.source.before_rename");
    SAMOVAR_CHECK(disk_->rename(from, to));
    SAMOVAR_FAILPOINT_ERROR("store.source.after_rename");
  } else if (!disk_->exists(to)) {
    return Error{Errc::not_found, "the uploaded file is gone: send it again"};
  }
  SAMOVAR_CHECK(disk_->sync_dir(root_ + "/sources"));
  SAMOVAR_CHECK(disk_->sync_dir(root_ + "/uploads"));
  SAMOVAR_FAILPOINT_ERROR("store.source.after_sync");
  return {};
}

Result<void> DataDir::keep_source(std::string_view upload_id, std::string_view dataset) {
  return move_synced(upload(upload_id), source(dataset));
}

Result<void> DataDir::return_source(std::string_view dataset, std::string_view upload_id) {
  return move_synced(source(dataset), upload(upload_id));
}

Result<void> DataDir::remove_file(const std::string& path, const char* folder) {
  SAMOVAR_FAILPOINT_ERROR("store.remove.before");
  auto removed = disk_->remove(path);
  if (!removed && removed.error().code() != Errc::not_found) return removed;
  SAMOVAR_CHECK(disk_->sync_dir(joined(root_, folder)));
  SAMOVAR_FAILPOINT_ERROR("store.remove.after_sync");
  return {};
}

Result<void> DataDir::remove_upload(std::string_view upload_id) {
  return remove_file(upload(upload_id), "uploads");
}

Result<void> DataDir::remove_source(std::string_view dataset) {
  return remove_file(source(dataset), "sources");
}

Result<void> DataDir::remove_version(std::string_view dataset, std::uint32_t number) {
  SAMOVAR_FAILPOINT_ERROR("store.remove.before");
  SAMOVAR_CHECK(remove_tree(version(dataset, number)));
  SAMOVAR_CHECK(disk_->sync_dir(root_ + "/versions"));
  SAMOVAR_FAILPOINT_ERROR("store.remove.after_sync");
  return {};
}

Result<void> DataDir::remove_incoming(std::string_view operation) {
  SAMOVAR_CHECK(remove_tree(incoming(operation)));
  return disk_->sync_dir(root_ + "/incoming");
}

Result<std::vector<std::string>> DataDir::upload_ids() { return disk_->list(root_ + "/uploads"); }

Result<std::uint64_t> DataDir::bytes_of(const std::string& path) {
  if (auto names = disk_->list(path)) {
    std::uint64_t total = 0;
    for (const std::string& name : *names) {
      SAMOVAR_TRY(const std::uint64_t bytes, bytes_of(joined(path, name)));
      total += bytes;
    }
    return total;
  }
  auto file = disk_->open(path, OpenMode::read);
  if (!file && file.error().code() == Errc::not_found) return std::uint64_t{0};
  if (!file) return std::move(file).error();
  return (*file)->size();
}

Result<std::uint64_t> DataDir::used_bytes() {
  std::uint64_t total = 0;
  for (const char* folder : kFolders) {
    SAMOVAR_TRY(const std::uint64_t bytes, bytes_of(joined(root_, folder)));
    total += bytes;
  }
  return total;
}

Result<void> DataDir::sweep(const char* folder, const std::set<std::string>& keep, Collected& collected) {
  const std::string path = joined(root_, folder);
  SAMOVAR_TRY(const std::vector<std::string> names, disk_->list(path));
  bool removed_any = false;
  for (const std::string& name : names) {
    if (keep.contains(name)) continue;
    const std::string garbage = joined(path, name);
    SAMOVAR_TRY(const std::uint64_t bytes, bytes_of(garbage));
    SAMOVAR_FAILPOINT_ERROR("store.collect.before_remove");
    if (disk_->list(garbage)) {
      SAMOVAR_CHECK(remove_tree(garbage));
    } else {
      SAMOVAR_CHECK(disk_->remove(garbage));
    }
    removed_any = true;
    ++collected.files;
    collected.bytes += bytes;
  }
  if (removed_any) SAMOVAR_CHECK(disk_->sync_dir(path));
  return {};
}

Result<DataDir::Collected> DataDir::collect(const Known& known) {
  Collected collected;
  SAMOVAR_CHECK(sweep("uploads", known.uploads, collected));
  SAMOVAR_CHECK(sweep("incoming", known.operations, collected));
  SAMOVAR_CHECK(sweep("versions", known.versions, collected));
  SAMOVAR_CHECK(sweep("sources", known.sources, collected));
  return collected;
}

Result<DataDir::Collected> DataDir::collect_incoming() {
  Collected collected;
  SAMOVAR_CHECK(sweep("incoming", {}, collected));
  return collected;
}

Result<DataDir::Collected> DataDir::collect_work(Work kind, const std::set<std::string>& known) {
  Collected collected;
  SAMOVAR_CHECK(sweep(folder_of(kind), known, collected));
  return collected;
}

}  // namespace samovar::store
