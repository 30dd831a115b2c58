// The data service as the handlers see it, in memory: uploads hold their bytes, the rest answers with what a
// test put there.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "daemon/cluster/cluster.hpp"
#include "daemon/jobs/data_service.hpp"

namespace samovar::api::test {

class FakeData : public jobs::DataService {
 public:
  explicit FakeData(Clock& clock) : clock_(clock) {}

  Task<Result<jobs::Upload>> create_upload(cluster::Call call, jobs::NewUpload upload) override;
  Result<jobs::Upload> upload(const cluster::Actor& actor, std::string_view id) const override;
  std::vector<jobs::Upload> uploads(const cluster::Actor& actor) const override;
  Task<Result<jobs::Upload>> append(cluster::Call call, std::string id, std::uint64_t offset,
                                    NextPiece next) override;
  Task<Result<void>> delete_upload(cluster::Call call, std::string id) override;
  Task<Result<ingest::Detection>> inspect(cluster::Call call, std::string upload_id,
                                          ingest::ParseHints hints) override;

  Task<Result<jobs::Operation>> start_ingest(cluster::Call call, std::string upload_id,
                                             jobs::IngestRequest request) override;
  Task<Result<jobs::Operation>> start_version(cluster::Call call, std::string dataset_id,
                                              jobs::IngestRequest request) override;
  Task<Result<jobs::Operation>> start_sample(cluster::Call call) override;
  std::vector<jobs::Operation> operations(const cluster::Actor& actor) const override;
  std::optional<jobs::Operation> operation(const cluster::Actor& actor, std::string_view id) const override;
  Task<Result<void>> cancel(cluster::Call call, std::string operation_id) override;
  void on_operation(std::function<void(const jobs::Operation&)> listener) override;

  bool may_see(const cluster::Actor& actor, const cluster::Dataset& dataset) const override;
  bool may_read_rows(const cluster::Actor& actor, const cluster::Dataset& dataset) const override;
  Task<Result<nlohmann::json>> profile(cluster::Actor actor, std::string dataset_id, std::uint32_t version,
                                       std::string target) override;
  Task<Result<jobs::Preview>> preview(cluster::Call call, std::string dataset_id,
                                      std::uint32_t version) override;
  Task<Result<std::unique_ptr<jobs::ByteStream>>> download(cluster::Call call, std::string dataset_id,
                                                           std::uint32_t version) override;
  Task<Result<std::unique_ptr<jobs::ByteStream>>> bad_rows(cluster::Call call, std::string dataset_id,
                                                           std::uint32_t version) override;
  Task<Result<cluster::Dataset>> bin(cluster::Call call, std::string dataset_id) override;
  Task<Result<cluster::Dataset>> restore(cluster::Call call, std::string dataset_id) override;
  Task<Result<void>> destroy(cluster::Call call, std::string dataset_id) override;
  Task<Result<jobs::Operation>> start_scrub(cluster::Call call) override;

  struct Held {
    jobs::Upload upload;
    std::string bytes;
  };
  std::map<std::string, Held, std::less<>> held;
  std::map<std::string, jobs::Operation, std::less<>> running;
  std::optional<Error> create_error;   // the next creation fails so
  std::optional<Error> append_error;   // the next append fails so, after its first piece
  std::optional<Error> inspect_error;  // the next inspection fails so
  ingest::ParseHints seen_hints;
  jobs::IngestRequest seen_request;
  std::function<void(const jobs::Operation&)> listener;
  cluster::Cluster* state = nullptr;          // what keeping data sets goes through to
  std::vector<std::string> pieces;            // of a download
  std::optional<Error> read_error;            // the next profile, preview or download fails so
  std::optional<std::uint32_t> seen_version;  // of the last reading
  std::string seen_target;

 private:
  jobs::Operation start(const cluster::Call& call, jobs::OperationKind kind, std::string title);

  Clock& clock_;
  unsigned made_ = 0;
};

}  // namespace samovar::api::test
