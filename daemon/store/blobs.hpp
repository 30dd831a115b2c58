// Sealed files of the store by the names that all nodes have for them: what is copied between nodes.
//
//   dst_….1/0, dst_….1/profile   versions/<dst_…>.<v>/<n>   shards and objects of a version
//   dst_…/source                 sources/<dst_…>            the upload a data set was made from
//   mdl_…/model, mdl_…/evaluation                           models/<mdl_…>/<name>
//   job_…/checkpoint-120         jobs/<job_…>/<name>        checkpoints of a training
//
// A file comes whole or not at all: it is written in incoming/, checked, synced, and renamed into its place.
//
// Threading: values; calls of BlobDir block on the disk (io pool), any thread.
// Ownership: borrows Disk.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.hpp"
#include "base/disk.hpp"
#include "base/result.hpp"
#include "daemon/store/data_dir.hpp"
#include "security/hash.hpp"

namespace samovar::store {

struct BlobKey {
  enum class Kind : std::uint8_t { version, source, model, job };
  Kind kind = Kind::version;
  std::string id;             // "dst_…", "mdl_…" or "job_…"
  std::uint32_t version = 0;  // of a version's file
  std::string file;           // "0", "profile", "source", "model"

  // Only what the table above has, in its only spelling: nothing else becomes a path.
  static Result<BlobKey> parse(std::string_view text);
  static std::string of_version(std::string_view dataset, std::uint32_t version, std::string_view file);
  static std::string of_source(std::string_view dataset);
  static std::string of_model(std::string_view store_id, std::string_view file);
  static std::string of_job(std::string_view job, std::string_view file);
  std::string text() const;
};
inline constexpr std::size_t kBlobKeyBytesMax = 64;

class BlobDir {
 public:
  BlobDir(Disk& disk, DataDir dir, std::string root);

  std::string path(const BlobKey& key) const;
  // Nothing there: Errc::not_found.
  Result<std::uint64_t> size(const BlobKey& key) const;
  // A source is read without the one-off key in its head, which is this node's and is dropped from the file
  // once the data set is there: all copies are equal, whenever they were made.
  struct Piece {
    std::uint64_t total = 0;  // bytes of the file
    Bytes bytes;              // fewer than asked for only at the end
  };
  Result<Piece> read(const BlobKey& key, std::uint64_t offset, std::size_t length) const;
  // SHA-256 of what read() gives.
  Result<security::Hash256> hash(const BlobKey& key) const;

  // A file on its way: in incoming/<id>/, which the next start removes if nobody finishes it.
  class Arrival {
   public:
    // What is still written to it goes to nobody once it is destroyed; take() makes it a file of the store.
    Arrival(std::unique_ptr<File> file, std::string id, std::string path);
    Result<void> write(std::uint64_t offset, ByteView bytes);

   private:
    friend class BlobDir;
    std::unique_ptr<File> file_;
    std::string id_;
    std::string path_;
  };
  // Errc::no_space when so many bytes do not fit beside the reserve.
  Result<std::shared_ptr<Arrival>> begin(const std::string& id, std::uint64_t bytes);
  // Compares, syncs, renames over what may be there. Errc::corrupt: other bytes than `hash` says; an empty
  // hash takes what there is. The arrival is over, whatever comes.
  Result<void> take(std::shared_ptr<Arrival> arrival, const BlobKey& key, std::uint64_t bytes, ByteView hash);
  // A file that is found here may have come by a take() that failed at its last step: it is the node's only
  // when its name survives a loss of power.
  Result<void> sync_name(const BlobKey& key);
  Result<void> drop(std::shared_ptr<Arrival> arrival);

  Result<void> remove(const BlobKey& key);
  // Keys of all that is there; what has no key (a file of somebody else) is left out.
  Result<std::vector<std::string>> list() const;
  // Free beyond the reserve, and the whole disk: what placement wants to know.
  Result<DiskSpace> space() const;

 private:
  Result<void> check(Arrival& arrival, std::uint64_t bytes, ByteView hash) const;

  Disk* disk_;
  DataDir dir_;
  std::string root_;
};

}  // namespace samovar::store
