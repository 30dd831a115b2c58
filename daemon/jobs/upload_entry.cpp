#include "daemon/jobs/upload_entry.hpp"

#include <chrono>

#include "base/encoding.hpp"
#include "base/ids.hpp"
#include "security/wire.hpp"

namespace samovar::jobs {
namespace {

constexpr std::uint16_t kAboutVersion = 1;
constexpr std::size_t kTextBytesMax = 32 * 1024;

}  // namespace

Bytes encode_about(const Upload& upload) {
  Bytes out;
  security::WireWriter writer(out);
  writer.number(kAboutVersion);
  writer.sized(as_bytes(upload.owner_id));
  writer.sized(as_bytes(upload.file_name));
  writer.number(upload.length);
  writer.number(static_cast<std::uint64_t>(upload.created_at.time_since_epoch().count()));
  return out;
}

Result<Upload> decode_about(ByteView bytes) {
  security::WireReader reader(bytes);
  const auto version = reader.number<std::uint16_t>();
  if (reader.ok() && version != kAboutVersion)
    return Error{Errc::unsupported, "an upload is of a later version of Samovar: install that version"};
  Upload upload;
  upload.owner_id = as_text(reader.sized(kTextBytesMax));
  upload.file_name = as_text(reader.sized(kTextBytesMax));
  upload.length = reader.number<std::uint64_t>();
  upload.created_at =
      WallTime(std::chrono::microseconds(static_cast<std::int64_t>(reader.number<std::uint64_t>())));
  if (!reader.at_end()) return Error{Errc::corrupt, "an upload's head is damaged: send the file again"};
  return upload;
}

Result<std::shared_ptr<UploadEntry>> load_entry(Disk& disk, const std::string& path,
                                                const security::SecretBytes& wrap_key, Duration lifetime) {
  SAMOVAR_TRY(const auto file, store::StagingFile::open(disk, path, wrap_key));
  auto entry = std::make_shared<UploadEntry>();
  SAMOVAR_TRY(entry->view, decode_about(file->head().about));
  Upload& view = entry->view;
  view.id = file->head().upload_id;
  if (!is_id("upl", view.id) || file->size() > view.length || (file->sha256() && file->size() != view.length))
    return Error{Errc::corrupt, "an upload holds more than was announced"};
  view.offset = file->size();
  if (file->sha256()) view.sha256 = hex_encode(*file->sha256());
  view.expires_at = file->last_append().value_or(view.created_at) +
                    std::chrono::duration_cast<std::chrono::microseconds>(lifetime);
  entry->key = file->key().clone();
  entry->path = path;
  return entry;
}

}  // namespace samovar::jobs
