#include "daemon/worker/sink.hpp"

#include <algorithm>

#include "daemon/store/staging.hpp"

namespace samovar::worker {
namespace {

using ingest::FileKind;

// Objects are shards whose blocks are pieces of their content, so that one reader serves both.
constexpr std::size_t kPieceBytes = 256 * 1024;

}  // namespace

Result<FileSink::Writer> FileSink::open(FileKind kind, std::uint32_t number) {
  SAMOVAR_CHECK(channel_.send(ingest::MessageType::want_file, encode(ingest::WantFile{kind, number})));
  SAMOVAR_TRY(auto frame, channel_.receive(ingest::MessageType::file));
  SAMOVAR_TRY(const auto answer, ingest::decode_file_answer(frame.body));
  if (!answer.error.empty()) return Error{Errc::no_space, answer.error};
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  security::SealedFileId id;
  id.dataset = job_.dataset_id;
  id.shard = ingest::sealed_number_of(kind, number);
  id.generation = job_.version;
  return store::ShardWriter::create(store::file_from_descriptor(frame.descriptor.release()), job_.data_key,
                                    id);
}

Result<void> FileSink::block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) {
  auto place = shards_.find(shard);
  if (place == shards_.end()) {
    SAMOVAR_TRY(auto writer, open(FileKind::shard, shard));
    place = shards_.emplace(shard, std::move(writer)).first;
  }
  return place->second->append(rows, encoded);
}

Result<void> FileSink::bad_row(std::string_view csv_line) {
  bad_rows_waiting_.insert(bad_rows_waiting_.end(), csv_line.begin(), csv_line.end());
  return bad_rows_waiting_.size() < kPieceBytes ? Result<void>{} : flush_bad_rows();
}

Result<void> FileSink::flush_bad_rows() {
  if (bad_rows_waiting_.empty()) return {};
  if (!bad_rows_) {
    SAMOVAR_TRY(bad_rows_, open(FileKind::bad_rows, 0));
  }
  SAMOVAR_CHECK(write_object(*bad_rows_, bad_rows_waiting_));
  bad_rows_waiting_.clear();
  return {};
}

Result<void> FileSink::write_object(store::ShardWriter& writer, ByteView content) {
  while (!content.empty()) {
    const ByteView piece = content.first(std::min(content.size(), kPieceBytes));
    SAMOVAR_CHECK(writer.append(0, piece));
    content = content.subspan(piece.size());
  }
  return {};
}

Result<ingest::StoredFile> FileSink::close(FileKind kind, std::uint32_t number, store::ShardWriter& writer) {
  SAMOVAR_TRY(const store::ShardSummary summary, writer.finish());
  ingest::StoredFile file;
  file.kind = kind;
  file.number = number;
  file.rows = summary.rows;
  file.blocks = summary.blocks;
  file.plain_bytes = summary.plain_bytes;
  file.stored_bytes = summary.stored_bytes;
  file.hash = summary.hash;
  return file;
}

Result<std::vector<ingest::StoredFile>> FileSink::finish(std::string_view profile_json) {
  std::vector<ingest::StoredFile> files;
  for (auto& [number, writer] : shards_) {
    SAMOVAR_TRY(auto file, close(FileKind::shard, number, *writer));
    files.push_back(file);
    writer.reset();
  }
  SAMOVAR_CHECK(flush_bad_rows());
  if (bad_rows_) {
    SAMOVAR_TRY(auto file, close(FileKind::bad_rows, 0, *bad_rows_));
    files.push_back(file);
  }
  SAMOVAR_TRY(const auto profile, open(FileKind::profile, 0));
  SAMOVAR_CHECK(write_object(*profile, as_bytes(profile_json)));
  SAMOVAR_TRY(auto file, close(FileKind::profile, 0, *profile));
  files.push_back(file);
  return files;
}

}  // namespace samovar::worker
