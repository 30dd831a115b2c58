// The data below the state directory: names, moves, space.
//
//   data/uploads/<upl_…>              staging files
//   data/incoming/<op_…>/<n>          what an ingest writes before its manifest is agreed on
//   data/versions/<dst_…>.<v>/<n>     shards 0, 1, … and the objects "profile", "bad-rows"
//   data/sources/<dst_…>              the upload a dataset was made from, for a change of types
//   data/jobs/<job_…>/<name>          checkpoints of a training and its history
//   data/models/<mdl_…>/<name>        a version's "model" and "evaluation"
//   data/scorings/<scr_…>/<name>      a batch's "result" and "summary"
//   data/ballast                      given up when the disk is full, so that deleting stays possible
//
// Names are ids: nothing of what a user typed is in a path. What no manifest names is garbage.
//
// Threading: any thread; calls block on the disk (io pool). Ownership: borrows Disk.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.hpp"
#include "base/result.hpp"
#include "security/hash.hpp"

namespace samovar::store {

struct SpaceRules {
  std::uint64_t reserve_bytes = 64u << 20;  // never given to data: the log's
  double full_share = 0.95;                 // data is refused above this share of the disk
  std::uint64_t ballast_bytes = 64u << 20;
};

class DataDir {
 public:
  static Result<DataDir> open(Disk& disk, std::string root, SpaceRules rules);

  std::string upload(std::string_view id) const;
  std::string incoming(std::string_view operation) const;
  std::string incoming_file(std::string_view operation, std::string_view name) const;
  std::string version(std::string_view dataset, std::uint32_t version) const;
  std::string version_file(std::string_view dataset, std::uint32_t version, std::string_view name) const;
  std::string source(std::string_view dataset) const;
  // Folders of training and prediction.
  enum class Work : std::uint8_t { jobs, models, scorings };
  std::string work(Work kind, std::string_view id) const;
  std::string work_file(Work kind, std::string_view id, std::string_view name) const;

  // An empty folder for an ingest; what an earlier attempt left in it is removed.
  Result<void> make_incoming(std::string_view operation);
  // incoming/<operation> → versions/<dataset>.<v>, all of it, durable. Before the manifest is proposed:
  // a cut in between leaves a folder that collect() removes.
  Result<void> publish(std::string_view operation, std::string_view dataset, std::uint32_t version);
  // uploads/<id> → sources/<dataset>; nothing to do when that was done before a cut.
  Result<void> keep_source(std::string_view upload_id, std::string_view dataset);
  // The way back, for an ingest that was cut before its manifest.
  Result<void> return_source(std::string_view dataset, std::string_view upload_id);
  Result<void> remove_upload(std::string_view upload_id);
  Result<void> remove_version(std::string_view dataset, std::uint32_t version);
  Result<void> remove_source(std::string_view dataset);
  Result<void> remove_incoming(std::string_view operation);

  // Makes it when it is not there; `empty`: without what was in it.
  Result<void> make_work(Work kind, std::string_view id, bool empty);
  // Its names are durable: before a command refers to them.
  Result<void> sync_work(Work kind, std::string_view id);
  Result<void> remove_work(Work kind, std::string_view id);

  struct Known {
    std::set<std::string> uploads;     // ids
    std::set<std::string> operations;  // running
    std::set<std::string> versions;    // "<dst_…>.<v>"
    std::set<std::string> sources;     // dataset ids
  };
  struct Collected {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;
  };
  // Removes what is not known. Nothing may be writing what is not in `known`.
  Result<Collected> collect(const Known& known);
  // Of the folder of what is on its way: at the start, when nothing is.
  Result<Collected> collect_incoming();
  // The same for one kind of work: all but these ids.
  Result<Collected> collect_work(Work kind, const std::set<std::string>& known);

  Result<std::vector<std::string>> upload_ids();
  // How much of the disk the store's files take up; walks them all.
  Result<std::uint64_t> used_bytes();

  // The whole disk, and what of it may still be used for data.
  Result<DiskSpace> room() const;
  // Errc::no_space with a sentence when `more` bytes do not fit.
  Result<void> check_room(std::uint64_t more) const;
  // Makes the ballast when there is room; gives it up below the reserve.
  Result<void> tend_ballast();
  // For when a write just failed with Errc::no_space.
  Result<void> drop_ballast();

 private:
  Result<void> sync_published();
  DataDir(Disk& disk, std::string root, SpaceRules rules);
  Result<void> remove_tree(const std::string& folder);
  Result<void> sweep(const char* folder, const std::set<std::string>& keep, Collected& collected);
  Result<void> remove_file(const std::string& path, const char* folder);
  Result<void> move_synced(const std::string& from, const std::string& to);
  Result<std::uint64_t> bytes_of(const std::string& path);

  Disk* disk_;
  std::string root_;
  SpaceRules rules_;
};

}  // namespace samovar::store
