// The sample data set: made here, then uploaded and read in as any other file.
#include <fmt/format.h>

#include <algorithm>

#include "daemon/ingest/sample_data.hpp"
#include "daemon/jobs/local_data.hpp"

namespace samovar::jobs {
namespace {

constexpr unsigned kSamplesMax = 100;
constexpr std::size_t kPieceBytes = 1 << 20;

Result<Bytes> make_whole_sample() {
  const auto source = ingest::make_sample_data();
  Bytes whole;
  Bytes piece(kPieceBytes);
  for (;;) {
    SAMOVAR_TRY(const std::size_t got, source->read(piece));
    if (got == 0) return whole;
    whole.insert(whole.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(got));
  }
}

}  // namespace

Task<Result<Operation>> LocalData::start_sample(cluster::Call call) {
  IngestRequest request;
  request.name = std::string(ingest::kSampleDataName);
  for (unsigned number = 2; !check_name(request.name); ++number) {
    if (number > kSamplesMax)
      co_return Error{Errc::conflict, "there are many sample data sets already: delete some first"};
    request.name = fmt::format("{} {}", ingest::kSampleDataName, number);
  }
  request.description = "Made by Samovar itself: admissions to a hospital, and who came back within 30 days.";
  auto work = [] { return make_whole_sample(); };
  auto made = co_await run_on(jobs_, loop_, std::move(work));
  if (!made) co_return std::move(made).error();
  auto content = std::make_shared<Bytes>(std::move(*made));
  NewUpload fresh{std::string(ingest::kSampleDataFile), content->size()};
  // The call's request id belongs to the operation.
  cluster::Call quiet = call;
  quiet.request_id.clear();
  auto created = co_await create_upload(quiet, std::move(fresh));
  if (!created) co_return std::move(created).error();
  auto at = std::make_shared<std::size_t>(0);
  NextPiece next = [content, at]() -> Task<Result<Bytes>> {
    const std::size_t size = std::min(kPieceBytes, content->size() - *at);
    const auto begin = content->begin() + static_cast<std::ptrdiff_t>(*at);
    *at += size;
    co_return Bytes(begin, begin + static_cast<std::ptrdiff_t>(size));
  };
  auto filled = co_await append(quiet, created->id, 0, std::move(next));
  if (!filled) co_return std::move(filled).error();
  auto started = co_await start_ingest(std::move(call), created->id, std::move(request));
  if (!started) ignore(co_await delete_upload(quiet, created->id), "it expires by itself");
  co_return started;
}

}  // namespace samovar::jobs
