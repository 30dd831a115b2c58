// One file to the box, by tus: in parts, gone on with after whatever broke, and compared at the end.
//
// Ownership: borrows App, which outlives it.
#pragma once
#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "daemon/cli/digest.hpp"
#include "daemon/cli/progress.hpp"
#include "daemon/cli/upload_memory.hpp"

namespace samovar::cli {

class App;

enum class Resume : std::uint8_t { if_known, only, never };

class Uploader {
 public:
  Uploader(App& app, Resume resume);
  ~Uploader();
  Uploader(const Uploader&) = delete;
  Uploader& operator=(const Uploader&) = delete;

  // The upload's resource, complete and with the same SHA-256 as the file here.
  Result<nlohmann::json> send(const std::string& path);
  // What was sent has become something, or is not wanted: the next time begins anew.
  void forget();

 private:
  Result<void> open(const std::string& path);
  Result<void> begin();
  Result<void> create();
  Result<nlohmann::json> ask();  // the upload's resource
  Result<void> send_all(Progress& progress);
  Result<std::uint64_t> send_part(Progress& progress);
  Result<void> find_offset();
  Result<void> wait_after(const Error& error, Progress& progress);
  Result<void> hash_up_to(std::uint64_t offset);
  std::size_t read_some(char* out, std::size_t room);
  bool gone() const;
  bool worth_another_try(const Error& error) const;
  Error interrupted() const;

  App& app_;
  const Resume resume_;
  int fd_ = -1;
  LocalFile file_;
  std::unique_ptr<UploadMemory> memory_;
  std::string id_;
  std::uint64_t offset_ = 0;  // safe in the box
  std::uint64_t read_at_ = 0;
  std::uint64_t read_end_ = 0;
  std::uint64_t hashed_ = 0;  // bytes of the file in hash_, from its beginning
  std::unique_ptr<Sha256> hash_;
  std::string read_failure_;
  unsigned failures_ = 0;  // without progress in between
  bool begun_anew_ = false;
};

}  // namespace samovar::cli
