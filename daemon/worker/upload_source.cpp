#include "daemon/worker/upload_source.hpp"

#include <unistd.h>

namespace samovar::worker {

Result<std::unique_ptr<UploadSource>> UploadSource::open(const ingest::Descriptor& upload,
                                                         const security::SecretBytes& key) {
  ingest::Descriptor copy(::dup(upload.get()));
  if (!copy) return Error{Errc::io, "the upload's descriptor cannot be copied"};
  SAMOVAR_TRY(auto reader, store::StagingReader::open(store::file_from_descriptor(copy.release()), key));
  return std::unique_ptr<UploadSource>(new UploadSource(std::move(reader)));
}

}  // namespace samovar::worker
