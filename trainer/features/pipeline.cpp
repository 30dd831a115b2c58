#include "trainer/features/pipeline.hpp"

#include <algorithm>
#include <set>

#include "base/assert.hpp"
#include "base/json.hpp"
#include "trainer/features/batch_columns.hpp"
#include "trainer/features/columns.hpp"
#include "trainer/features/fit.hpp"
#include "trainer/features/labels.hpp"
#include "trainer/features/level_codes.hpp"
#include "trainer/features/plan_json.hpp"
#include "trainer/features/plan_names.hpp"
#include "trainer/features/raw_columns.hpp"
#include "trainer/features/signature.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

namespace {

class FittedPipeline final : public FeaturePipeline {
 public:
  // The plan is laid out.
  explicit FittedPipeline(PipelinePlan plan)
      : plan_(std::move(plan)),
        tokens_(plan_.hash_bits, plan_.hash_seed, plan_.hash_first, plan_.own_places),
        codes_(plan_, tokens_) {
    std::set<std::string_view> seen;
    for (const InputPlan& input : plan_.inputs) {
      if (seen.insert(input.name).second)
        inputs_.columns.push_back({input.name, input.type, input.sensitive});
      if (input.slot != kNoSlot) slot_names_.push_back(input.name);
    }
    for (const InteractionPlan& pair : plan_.interactions) {
      if (pair.slot != kNoSlot) slot_names_.push_back(pair_input(plan_, pair));
    }
  }

  std::size_t weights() const override { return plan_.weights; }
  std::size_t dense_width() const override { return plan_.dense_width; }
  std::size_t slot_width() const override { return plan_.slot_width; }
  bool ragged() const override { return plan_.ragged; }
  WeightName weight_name(std::size_t weight) const override { return name_of(plan_, weight); }
  WeightScale weight_scale(std::size_t weight) const override { return scale_of(plan_, weight); }
  std::vector<WeightGroup> groups() const override { return groups_of(plan_); }
  const std::string& slot_input(std::size_t place) const override {
    SAMOVAR_ASSERT(place < slot_names_.size());
    return slot_names_[place];
  }
  const std::vector<std::string>& classes() const override { return plan_.target.classes; }
  const Schema& inputs() const override { return inputs_; }
  const PipelinePlan& plan() const override { return plan_; }

  ReadPlan read_plan(const Schema& schema) const override {
    auto bound = std::make_shared<const BoundColumns>(plan_, codes_, schema);
    ReadPlan plan;
    plan.categories = bound->categories();
    plan.layout = ReadPlan::Layout::rows;
    plan.levels = bound.get();
    plan.keeps = std::move(bound);
    plan.codes_only = true;
    // What is encoded is read again at once: it should still be in the second cache then.
    constexpr std::size_t kBatchBytes = 256 << 10;
    const std::size_t row_bytes = 4 * (plan_.dense_width + plan_.slot_width + 1);
    plan.batch_rows = static_cast<std::uint32_t>(std::clamp<std::size_t>(kBatchBytes / row_bytes, 256, 4096));
    return plan;
  }

  std::vector<InputWarning> check_columns(const Schema& schema) const override {
    return column_warnings(plan_, schema);
  }

  void encode(const Batch& batch, bool with_target, EncodedBatch& out) const override {
    const auto* bound = dynamic_cast<const BoundColumns*>(batch.coder());
    SAMOVAR_ASSERT(bound != nullptr);
    const BatchColumns columns(plan_, codes_, *bound, batch);
    encode_rows(plan_, codes_, columns, columns.rows(), out);
    columns.labels(with_target, out);
  }

  void encode(const Batch& batch, std::span<const std::uint32_t> rows, bool with_target,
              EncodedBatch& out) const override {
    const auto* bound = dynamic_cast<const BoundColumns*>(batch.coder());
    SAMOVAR_ASSERT(bound != nullptr);
    const BatchColumns columns(plan_, codes_, *bound, batch, rows);
    if (rows.size() * 2 < batch.rows()) {
      encode_rows(plan_, codes_, columns, columns.rows(), out);
    } else {
      const BatchColumns all(plan_, codes_, *bound, batch);
      encode_most_rows(plan_, codes_, all, all.rows(), rows, out);
    }
    columns.labels(with_target, out);
  }

  void labels(const Batch& batch, EncodedBatch& out) const {
    const auto* bound = dynamic_cast<const BoundColumns*>(batch.coder());
    SAMOVAR_ASSERT(bound != nullptr);
    BatchColumns(plan_, codes_, *bound, batch).labels(true, out);
  }

  Result<void> encode(const RawTable& rows, EncodedBatch& out,
                      std::vector<InputWarning>& warnings) const override {
    for (const auto& [name, values] : rows.columns) {
      if (values.size() != rows.rows)
        return Error{Errc::invalid, "the input \"" + name + "\" has another number of rows than is said"};
    }
    const RawColumns columns(plan_, codes_, rows, warnings);
    encode_rows(plan_, codes_, columns, rows.rows, out);
    out.target.clear();
    out.weight.clear();
    columns.offset(rows, out);
    return {};
  }

  nlohmann::json signature() const override { return signature_of(plan_); }
  nlohmann::json to_json() const override { return plan_to_json(plan_); }

 private:
  const PipelinePlan plan_;
  const Tokens tokens_;
  const LevelCodes codes_;
  Schema inputs_;
  std::vector<std::string> slot_names_;
};

// The lead's plan and notes for all.
Result<std::unique_ptr<FeaturePipeline>> fit_together(Council& council, BlockSource& source,
                                                      const Schema& schema, const JobSpec& spec,
                                                      const Splitter& splitter,
                                                      std::vector<std::string>& notes) {
  SAMOVAR_TRY(const Bytes told,
              council.agree(
                  "fit", [&] { return fit_part(source, schema, spec, splitter); },
                  [&](const std::vector<Bytes>& parts) -> Result<Bytes> {
                    std::vector<std::string> found;
                    SAMOVAR_TRY(const PipelinePlan plan, fit_merged(parts, schema, spec, found));
                    return to_bytes(nlohmann::json{{"plan", plan_to_json(plan)}, {"notes", found}}.dump());
                  }));
  const auto json = nlohmann::json::parse(as_text(told), nullptr, false);
  if (!json.is_object() || !json.contains("plan") || !json.contains("notes"))
    return Error{Errc::corrupt, "the plan that the lead sent is damaged"};
  for (const auto& note : json["notes"]) {
    if (note.is_string()) notes.push_back(note.get<std::string>());
  }
  return FeaturePipeline::from_json(json["plan"]);
}

}  // namespace

Result<std::unique_ptr<FeaturePipeline>> FeaturePipeline::fit(BlockSource& source, const Schema& schema,
                                                              const JobSpec& spec, const Splitter& splitter,
                                                              std::vector<std::string>& notes,
                                                              Council* council) {
  if (council != nullptr) return fit_together(*council, source, schema, spec, splitter, notes);
  SAMOVAR_TRY(PipelinePlan plan, fit_plan(source, schema, spec, splitter, notes));
  return std::unique_ptr<FeaturePipeline>(std::make_unique<FittedPipeline>(std::move(plan)));
}

void encode_labels(const FeaturePipeline& pipeline, const Batch& batch, EncodedBatch& out) {
  const auto* fitted = dynamic_cast<const FittedPipeline*>(&pipeline);
  SAMOVAR_ASSERT(fitted != nullptr);  // there is no other
  fitted->labels(batch, out);
}

Result<std::unique_ptr<FeaturePipeline>> FeaturePipeline::from_json(const nlohmann::json& json) {
  SAMOVAR_TRY(PipelinePlan plan, plan_from_json(json));
  return std::unique_ptr<FeaturePipeline>(std::make_unique<FittedPipeline>(std::move(plan)));
}

}  // namespace samovar::trainer
