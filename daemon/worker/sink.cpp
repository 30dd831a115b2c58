#include "daemon/worker/sink.hpp"

#include "daemon/store/staging.hpp"

namespace samovar::worker {

using ingest::FileKind;

Result<std::unique_ptr<File>> FileSink::open(FileKind kind, std::uint32_t number) {
  SAMOVAR_CHECK(channel_.send(ingest::MessageType::want_file, encode(ingest::WantFile{kind, number})));
  SAMOVAR_TRY(auto frame, channel_.receive(ingest::MessageType::file));
  SAMOVAR_TRY(const auto answer, ingest::decode_file_answer(frame.body));
  if (!answer.error.empty()) return Error{Errc::no_space, answer.error};
  if (!frame.descriptor) return Error{Errc::corrupt, "samovard sent no descriptor"};
  return store::file_from_descriptor(frame.descriptor.release());
}

Result<void> FileSink::block(std::uint32_t shard, std::uint32_t rows, ByteView encoded) {
  auto place = shards_.find(shard);
  if (place == shards_.end()) {
    SAMOVAR_TRY(auto file, open(FileKind::shard, shard));
    SAMOVAR_TRY(auto writer,
                store::ShardWriter::create(std::move(file), job_.data_key,
                                           store::shard_place(job_.dataset_id, job_.version, shard)));
    place = shards_.emplace(shard, std::move(writer)).first;
  }
  return place->second->append(rows, encoded);
}

Result<FileSink::Object> FileSink::open_object(FileKind kind) {
  SAMOVAR_TRY(auto file, open(kind, 0));
  const auto place = store::object_place(job_.dataset_id, job_.version, ingest::file_name_of(kind, 0));
  return security::SealedStreamWriter::create(std::move(file), job_.data_key, place);
}

Result<ingest::StoredFile> FileSink::close_object(FileKind kind, security::SealedStreamWriter& writer) {
  SAMOVAR_TRY(const security::SealedSummary summary, writer.finish());
  ingest::StoredFile file;
  file.kind = kind;
  file.plain_bytes = summary.plain_bytes;
  file.stored_bytes = summary.stored_bytes;
  file.hash = summary.hash;
  return file;
}

Result<void> FileSink::bad_row(std::string_view csv_line) {
  if (!bad_rows_) {
    SAMOVAR_TRY(bad_rows_, open_object(FileKind::bad_rows));
  }
  return bad_rows_->append(as_bytes(csv_line));
}

Result<std::vector<ingest::StoredFile>> FileSink::finish(std::string_view profile_json) {
  std::vector<ingest::StoredFile> files;
  for (auto& [number, writer] : shards_) {
    SAMOVAR_TRY(const store::ShardSummary summary, writer->finish());
    ingest::StoredFile file;
    file.number = number;
    file.rows = summary.rows;
    file.blocks = summary.blocks;
    file.plain_bytes = summary.plain_bytes;
    file.stored_bytes = summary.stored_bytes;
    file.hash = summary.hash;
    files.push_back(file);
    writer.reset();
  }
  if (bad_rows_) {
    SAMOVAR_TRY(auto file, close_object(FileKind::bad_rows, *bad_rows_));
    files.push_back(file);
  }
  SAMOVAR_TRY(const auto profile, open_object(FileKind::profile));
  SAMOVAR_CHECK(profile->append(as_bytes(profile_json)));
  SAMOVAR_TRY(auto file, close_object(FileKind::profile, *profile));
  files.push_back(file);
  return files;
}

}  // namespace samovar::worker
