#include "daemon/store/blobs.hpp"

#include <algorithm>
#include <charconv>

#include "base/failpoint.hpp"
#include "base/ids.hpp"
#include "daemon/store/staging_format.hpp"
#include "security/sha256.hpp"

namespace samovar::store {
namespace {

constexpr std::size_t kHashPieceBytes = 1 << 20;
constexpr std::uint32_t kShardNumberMax = 1u << 20;

Error no_key() { return {Errc::invalid, "this is no name of a stored file"}; }

// Digits only, no leading zero: every number has one spelling.
Result<std::uint32_t> parse_number(std::string_view text, std::uint32_t max) {
  std::uint32_t number = 0;
  if (text.empty() || text.size() > 9 || (text.size() > 1 && text[0] == '0')) return no_key();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number > max) return no_key();
  return number;
}

// "checkpoint-120", or "checkpoint-120-b" when that step was reached before.
bool is_checkpoint(std::string_view name) {
  constexpr std::string_view kBegin = "checkpoint-";
  if (!name.starts_with(kBegin)) return false;
  name.remove_prefix(kBegin.size());
  if (name.ends_with("-b")) name.remove_suffix(2);
  return !name.empty() && name.size() <= 19 && name[0] != '0' &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

// ---- names ----

Result<BlobKey> BlobKey::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (text.size() > kBlobKeyBytesMax || slash == std::string_view::npos) return no_key();
  std::string_view folder = text.substr(0, slash);
  BlobKey key;
  key.file = text.substr(slash + 1);
  if (is_id("mdl", folder)) {
    if (key.file != "model" && key.file != "evaluation") return no_key();
    key.kind = Kind::model;
    key.id = folder;
    return key;
  }
  if (is_id("dst", folder)) {
    if (key.file != "source") return no_key();
    key.kind = Kind::source;
    key.id = folder;
    return key;
  }
  if (is_id("job", folder)) {
    if (!is_checkpoint(key.file)) return no_key();
    key.kind = Kind::job;
    key.id = folder;
    return key;
  }
  const std::size_t dot = folder.find('.');
  if (dot == std::string_view::npos || !is_id("dst", folder.substr(0, dot))) return no_key();
  SAMOVAR_TRY(key.version, parse_number(folder.substr(dot + 1), UINT32_MAX));
  if (key.version == 0) return no_key();
  if (key.file != "profile" && key.file != "bad-rows") SAMOVAR_CHECK(parse_number(key.file, kShardNumberMax));
  key.id = folder.substr(0, dot);
  return key;
}

std::string BlobKey::of_version(std::string_view dataset, std::uint32_t version, std::string_view file) {
  return std::string(dataset) + "." + std::to_string(version) + "/" + std::string(file);
}
std::string BlobKey::of_source(std::string_view dataset) { return std::string(dataset) + "/source"; }
std::string BlobKey::of_model(std::string_view store_id, std::string_view file) {
  return std::string(store_id) + "/" + std::string(file);
}
std::string BlobKey::of_job(std::string_view job, std::string_view file) {
  return std::string(job) + "/" + std::string(file);
}
std::string BlobKey::text() const {
  return kind == Kind::version ? of_version(id, version, file) : id + "/" + file;
}

// ---- files ----

BlobDir::BlobDir(Disk& disk, DataDir dir, std::string root)
    : disk_(&disk), dir_(std::move(dir)), root_(std::move(root)) {}

std::string BlobDir::path(const BlobKey& key) const {
  switch (key.kind) {
    case BlobKey::Kind::version:
      return dir_.version_file(key.id, key.version, key.file);
    case BlobKey::Kind::source:
      return dir_.source(key.id);
    case BlobKey::Kind::model:
      return dir_.work_file(DataDir::Work::models, key.id, key.file);
    case BlobKey::Kind::job:
      return dir_.work_file(DataDir::Work::jobs, key.id, key.file);
  }
  return {};
}

Result<std::uint64_t> BlobDir::size(const BlobKey& key) const {
  SAMOVAR_TRY(const auto file, disk_->open(path(key), OpenMode::read));
  return file->size();
}

Result<BlobDir::Piece> BlobDir::read(const BlobKey& key, std::uint64_t offset, std::size_t length) const {
  SAMOVAR_TRY(const auto file, disk_->open(path(key), OpenMode::read));
  Piece piece;
  SAMOVAR_TRY(piece.total, file->size());
  if (offset > piece.total) return Error{Errc::invalid, "the stored file is shorter than that"};
  piece.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(length, piece.total - offset)));
  SAMOVAR_TRY(const std::size_t got, file->read_at(offset, piece.bytes));
  if (got != piece.bytes.size()) return Error{Errc::io, "a stored file became shorter while it was read"};
  if (key.kind != BlobKey::Kind::source) return piece;
  const std::uint64_t begin = std::max<std::uint64_t>(offset, staging::kWrappedKeyAt);
  const std::uint64_t end =
      std::min<std::uint64_t>(offset + got, staging::kWrappedKeyAt + staging::kWrappedKeyBytes);
  for (std::uint64_t at = begin; at < end; ++at) piece.bytes[static_cast<std::size_t>(at - offset)] = 0;
  return piece;
}

Result<security::Hash256> BlobDir::hash(const BlobKey& key) const {
  security::Sha256 hasher;
  for (std::uint64_t offset = 0;;) {
    SAMOVAR_TRY(const Piece piece, read(key, offset, kHashPieceBytes));
    hasher.update(piece.bytes);
    offset += piece.bytes.size();
    if (piece.bytes.empty() || offset >= piece.total) return hasher.digest();
  }
}

// ---- files on their way ----

BlobDir::Arrival::Arrival(std::unique_ptr<File> file, std::string id, std::string path)
    : file_(std::move(file)), id_(std::move(id)), path_(std::move(path)) {}

Result<void> BlobDir::Arrival::write(std::uint64_t offset, ByteView bytes) {
  SAMOVAR_FAILPOINT_ERROR("blob.fetch.write");
  return file_->write_at(offset, bytes);
}

Result<std::shared_ptr<BlobDir::Arrival>> BlobDir::begin(const std::string& id, std::uint64_t bytes) {
  SAMOVAR_CHECK(dir_.check_room(bytes));
  SAMOVAR_CHECK(dir_.make_incoming(id));
  std::string path = dir_.incoming_file(id, "file");
  SAMOVAR_TRY(auto file, disk_->open(path, OpenMode::create_new));
  return std::make_shared<Arrival>(std::move(file), id, std::move(path));
}

Result<void> BlobDir::check(Arrival& arrival, std::uint64_t bytes, ByteView hash) const {
  SAMOVAR_TRY(const std::uint64_t size, arrival.file_->size());
  if (size != bytes) return Error{Errc::corrupt, "a copy has another length than the file it was made of"};
  if (hash.empty()) return {};
  security::Sha256 hasher;
  Bytes piece(static_cast<std::size_t>(std::min<std::uint64_t>(size, kHashPieceBytes)));
  for (std::uint64_t offset = 0; offset < size;) {
    SAMOVAR_TRY(const std::size_t got, arrival.file_->read_at(offset, piece));
    if (got == 0) return Error{Errc::io, "a copy became shorter while it was read"};
    hasher.update(ByteView(piece).first(got));
    offset += got;
  }
  const security::Hash256 found = hasher.digest();
  if (!std::equal(found.begin(), found.end(), hash.begin(), hash.end()))
    return Error{Errc::corrupt, "a copy has other bytes than the file it was made of"};
  return {};
}

Result<void> BlobDir::take(std::shared_ptr<Arrival> arrival, const BlobKey& key, std::uint64_t bytes,
                           ByteView hash) {
  auto taken = [&]() -> Result<void> {
    SAMOVAR_CHECK(check(*arrival, bytes, hash));
    SAMOVAR_FAILPOINT_ERROR("blob.fetch.before_sync");
    SAMOVAR_CHECK(arrival->file_->sync());
    const std::string to = path(key);
    const std::string folder = to.substr(0, to.rfind('/'));
    SAMOVAR_CHECK(disk_->make_dir(folder));
    SAMOVAR_FAILPOINT_ERROR("blob.fetch.before_rename");
    auto renamed = disk_->rename(arrival->path_, to);
    if (!renamed && !disk_->exists(folder)) {  // it was empty just now, and a removal took it away
      SAMOVAR_CHECK(disk_->make_dir(folder));
      renamed = disk_->rename(arrival->path_, to);
    }
    if (!renamed) return renamed;
    SAMOVAR_FAILPOINT_ERROR("blob.fetch.after_rename");
    SAMOVAR_CHECK(sync_name(key));
    SAMOVAR_FAILPOINT_ERROR("blob.fetch.after_sync");
    return {};
  }();
  ignore(drop(std::move(arrival)), "the next start removes it");
  return taken;
}

Result<void> BlobDir::sync_name(const BlobKey& key) {
  const std::string file = path(key);
  const std::string folder = file.substr(0, file.rfind('/'));
  SAMOVAR_CHECK(disk_->sync_dir(folder));
  if (key.kind == BlobKey::Kind::source) return {};
  return disk_->sync_dir(folder.substr(0, folder.rfind('/')));
}

Result<void> BlobDir::drop(std::shared_ptr<Arrival> arrival) {
  arrival->file_.reset();
  return dir_.remove_incoming(arrival->id_);
}

Result<void> BlobDir::remove(const BlobKey& key) {
  SAMOVAR_FAILPOINT_ERROR("store.remove.before");
  const std::string file = path(key);
  const std::string folder = file.substr(0, file.rfind('/'));
  auto removed = disk_->remove(file);
  if (!removed && removed.error().code() != Errc::not_found) return removed;
  if (!disk_->exists(folder)) return {};
  SAMOVAR_CHECK(disk_->sync_dir(folder));
  if (key.kind == BlobKey::Kind::source) return {};
  // An empty folder goes with its last file.
  SAMOVAR_TRY(const auto names, disk_->list(folder));
  if (!names.empty() || !disk_->remove(folder)) return {};  // a file came meanwhile
  return disk_->sync_dir(folder.substr(0, folder.rfind('/')));
}

Result<std::vector<std::string>> BlobDir::list() const {
  std::vector<std::string> keys;
  const auto add = [&keys](const std::string& text) {
    if (BlobKey::parse(text)) keys.push_back(text);
  };
  for (const char* folder : {"/versions", "/models", "/jobs"}) {
    SAMOVAR_TRY(const auto folders, disk_->list(root_ + folder));
    for (const std::string& name : folders) {
      const auto files = disk_->list(root_ + folder + "/" + name);
      if (!files) continue;  // removed meanwhile, or no folder
      for (const std::string& file : *files) add(name + "/" + file);
    }
  }
  SAMOVAR_TRY(const auto sources, disk_->list(root_ + "/sources"));
  for (const std::string& name : sources) add(name + "/source");
  return keys;
}

Result<DiskSpace> BlobDir::space() const { return dir_.room(); }

}  // namespace samovar::store
