#include "daemon/worker/train.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/failpoint.hpp"
#include "base/json.hpp"
#include "daemon/store/staging.hpp"
#include "daemon/worker/exchange.hpp"
#include "daemon/worker/peer_link.hpp"
#include "daemon/worker/shard_source.hpp"
#include "trainer/spec.hpp"
#include "trainer/train.hpp"

namespace samovar::worker {
namespace {

using ingest::MessageType;
using jobs::InputKind;
using jobs::OutputKind;

constexpr std::chrono::milliseconds kProgressEvery{500};
constexpr std::size_t kWordBytesMax = 32;

std::string cut(std::string_view text, std::size_t bytes_max) {
  // Not in the middle of a character.
  while (bytes_max < text.size() && bytes_max > 0 &&
         (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80)
    --bytes_max;
  return std::string(text.substr(0, bytes_max));
}

class Observer final : public trainer::TrainObserver {
 public:
  Observer(Exchange& exchange, const jobs::TrainJob& job) : exchange_(exchange), job_(job) {}

  // At most twice a second, and whenever the step changes.
  bool progress(const trainer::TrainProgress& progress) override {
    const MonoTime now = real_clock().mono();
    if (now - told_ >= kProgressEvery || progress.step != step_) {
      told_ = now;
      step_ = progress.step;
      const jobs::StepMessage message{cut(progress.step, kWordBytesMax), std::clamp(progress.share, 0.0, 1.0),
                                      progress.rows, progress.pass};
      if (!exchange_.say(MessageType::step, message)) return false;
    }
    return goes_on();
  }

  bool metric(const trainer::TrainMetric& metric) override {
    begun_ = true;
    jobs::MetricMessage message{metric.step, metric.rows, std::max(0.0, metric.seconds), {}};
    if (source_ != nullptr)
      message.values = {{"read_seconds", source_->read_seconds()},
                        {"decrypt_seconds", source_->decrypt_seconds()}};
    for (const auto& [name, value] : metric.values) {
      if (message.values.size() == jobs::kMetricValuesMax) break;
      message.values.emplace_back(cut(name, kWordBytesMax), value);
    }
    if (!exchange_.say(MessageType::metric, message)) return false;
    return goes_on();
  }

  void log(std::string_view level, std::string_view text) override {
    const char* known = level == "error" ? "error" : level.starts_with("warn") ? "warn" : "info";
    const jobs::LogMessage message{known, cut(text, jobs::kLogTextBytesMax)};
    ignore(exchange_.say(MessageType::log, message), "a closed socket is noticed by the next progress");
  }

  void computes_on(std::string_view name, std::string_view trouble) override {
    const jobs::DeviceMessage message{cut(name, ingest::kDeviceNameBytesMax),
                                      cut(trouble, ingest::kDeviceTroubleBytesMax)};
    ignore(exchange_.say(MessageType::device, message), "a closed socket is noticed by the next progress");
  }

  Result<void> checkpoint(std::uint64_t step, const trainer::CheckpointPieces& pieces) override {
    begun_ = true;
    SAMOVAR_TRY(const auto file, exchange_.seal(job_.job_key, job_.job_id, OutputKind::checkpoint,
                                                std::max<std::uint64_t>(step, 1), pieces));
    return exchange_.keep(file);
  }

  // How long reading took is told with the rest.
  void watch(const ShardSource& source) { source_ = &source; }
  bool begun() const noexcept { return begun_; }
  bool stopped() const noexcept { return stopped_; }

 private:
  bool goes_on() {
    stopped_ = stopped_ || exchange_.stop_asked();
    return !stopped_;
  }

  Exchange& exchange_;
  const jobs::TrainJob& job_;
  const ShardSource* source_ = nullptr;
  MonoTime told_{};
  std::string step_;
  bool stopped_ = false;
  bool begun_ = false;  // what a checkpoint could have said was understood
};

Result<Bytes> read_whole(const ingest::Descriptor& file, const security::SecretBytes& key,
                         const security::SealedFileId& place) {
  SAMOVAR_TRY(const auto reader, security::SealedReader::open(store::file_from_descriptor(::dup(file.get())),
                                                              "the checkpoint", key, place));
  Bytes out(static_cast<std::size_t>(reader->size()));
  SAMOVAR_TRY(const std::size_t got, reader->read_at(0, out));
  if (got != out.size()) return Error{Errc::corrupt, "the checkpoint ends early"};
  return out;
}

trainer::TrainOptions options_of(const jobs::TrainJob& job) {
  trainer::TrainOptions options;
  options.threads = job.threads;
  options.checkpoint_seconds = job.checkpoint_ms / 1000.0;
  options.checkpoint_steps = job.checkpoint_steps;
  if (job.memory_bytes != 0) options.memory_bytes = job.memory_bytes;
  return options;
}

// It was made by another version, or for another job: training then begins anew.
bool is_foreign(Errc code) {
  return code == Errc::unsupported || code == Errc::corrupt || code == Errc::conflict;
}

class Training {
 public:
  Training(Exchange& exchange, const jobs::TrainJob& job, const kernels::Table* table)
      : exchange_(exchange), job_(job), table_(table), observer_(exchange, job) {}

  Result<trainer::Trained> run() {
    auto trained = train();
    // The others wait for the last of what was said: the model, or what went wrong.
    if (link_) ignore(link_->drain(), "training is over");
    return trained;
  }

 private:
  Result<trainer::Trained> train() {
    SAMOVAR_TRY(const trainer::Schema schema, trainer::decode_schema(job_.schema_json));
    const auto json = nlohmann::json::parse(job_.spec_json, nullptr, false);
    auto parsed = trainer::parse_spec(json, &schema);
    if (!parsed.faults.empty()) return Error{Errc::invalid, parsed.faults.front().detail};
    trainer::TrainOptions options = options_of(job_);
    options.table = table_;
    // With a device the solver says where it computes; without one there is but one place.
    if (table_ == nullptr) observer_.computes_on(kernels::cpu().name, "");
    if (job_.member == 0) {
      SAMOVAR_TRY(source_, ShardSource::open(exchange_, job_.dataset_id, job_.dataset_version, job_.shards,
                                             job_.data_key));
    } else {
      SAMOVAR_TRY(source_, ShardSource::open_part(exchange_, job_, schema));
      link_.emplace(
          exchange_, job_,
          [this](const std::vector<std::uint32_t>& blocks) { return source_->add(exchange_, blocks); },
          [this](const std::vector<std::uint32_t>& shards) {
            return source_->add_shards(exchange_, shards);
          });
      options.group = &*link_;
      options.joining = job_.joining;
    }
    observer_.watch(*source_);
    if (job_.checkpoint_step > 0) {
      auto checkpoint = read_checkpoint();
      if (checkpoint) {
        auto trained =
            trainer::train(*source_, schema, parsed.spec, ByteView(*checkpoint), options, observer_);
        if (trained || observer_.begun() || observer_.stopped() || !is_foreign(trained.error().code()))
          return trained;
        checkpoint = std::move(trained).error();
      }
      observer_.log("warn",
                    fmt::format("The checkpoint at step {} cannot be used ({}): training begins anew.",
                                job_.checkpoint_step, checkpoint.error().message()));
    }
    return trainer::train(*source_, schema, parsed.spec, std::nullopt, options, observer_);
  }

  Result<Bytes> read_checkpoint() {
    SAMOVAR_TRY(const auto file, exchange_.input(InputKind::checkpoint, 0));
    return read_whole(file, job_.job_key,
                      jobs::output_place(job_.job_id, OutputKind::checkpoint, job_.checkpoint_step));
  }

  Exchange& exchange_;
  const jobs::TrainJob& job_;
  const kernels::Table* const table_;  // of a device; null: none
  Observer observer_;
  std::unique_ptr<ShardSource> source_;
  std::optional<PeerLink> link_;
};

}  // namespace

Result<void> train_model(ingest::WorkerChannel& channel, const jobs::TrainJob& job,
                         const kernels::Table* table) {
  Exchange exchange(channel);
  SAMOVAR_TRY(const trainer::Trained trained, Training(exchange, job, table).run());
  // Another worker of the job delivers.
  if (trained.model.empty() && job.member > 0) return channel.send(MessageType::finished, {});
  const jobs::StepMessage saving{"saving", 1, 0, 0};
  SAMOVAR_CHECK(exchange.say(MessageType::step, saving));
  jobs::TrainedMessage message;
  SAMOVAR_TRY(message.model, exchange.seal(job.model_key, job.store_id, OutputKind::model, 0, trained.model));
  SAMOVAR_TRY(message.evaluation, exchange.seal(job.model_key, job.store_id, OutputKind::evaluation, 0,
                                                as_bytes(trained.evaluation_json)));
  message.headline_json = trained.headline_json;
  message.signature_json = trained.signature_json;
  message.summary_json = trained.summary_json;
  return exchange.say(MessageType::trained, message);
}

}  // namespace samovar::worker
