// The feature pipeline: from typed columns to places among a model's weights. Fitted on the training rows
// only, saved with the model, the same for training, evaluation and prediction.
//
// Threading: a fitted pipeline may be read from many threads.
// Format:    docs/formats/model.md
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.hpp"
#include "trainer/data/block.hpp"
#include "trainer/data/reader.hpp"
#include "trainer/data/schema.hpp"
#include "trainer/features/encoded_batch.hpp"
#include "trainer/features/plan.hpp"
#include "trainer/spec.hpp"

namespace samovar::trainer {

// What one weight stands for.
struct WeightName {
  std::string input;     // the column, or "a × b"
  std::string level;     // of a category, a word; empty for numbers; "#1234" for a hash
  bool missing = false;  // the indicator of a missing value
};

// How a number became what its weight is multiplied with: (value - center) × scale. Weights that count once
// have 0 and 1, products too: what they multiply is scaled already.
struct WeightScale {
  double center = 0;
  double scale = 1;
};

// Weights of which at most one counts in a row: the levels of a category. Together with the intercept they
// are one too many where nothing shrinks them.
struct WeightGroup {
  std::size_t first = 0;
  std::size_t count = 0;
};

// A value as a program or a form gives it.
using RawValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

// Columns of raw values by name, all of the same length.
struct RawTable {
  std::uint32_t rows = 0;
  std::map<std::string, std::vector<RawValue>, std::less<>> columns;
};

// What was odd about an input and what was done about it. `row` is empty when it holds for all of them.
struct InputWarning {
  std::string code;  // missing_column, extra_column, other_type, unseen_level, not_a_number, out_of_range
  std::string input;
  std::optional<std::uint32_t> row;
  std::string detail;  // a sentence
};

class FeaturePipeline {
 public:
  // Reads the rows for which `splitter` says train, once; needs no pass at all when nothing is to be learned
  // (hashing alone). Errc::invalid names the column: all missing, target with one class, …
  // With a council: from the rows of all its members, the same pipeline for all.
  static Result<std::unique_ptr<FeaturePipeline>> fit(BlockSource& source, const Schema& schema,
                                                      const JobSpec& spec, const class Splitter& splitter,
                                                      std::vector<std::string>& notes,
                                                      class Council* council = nullptr);
  virtual ~FeaturePipeline() = default;

  virtual std::size_t weights() const = 0;  // without intercept
  virtual std::size_t dense_width() const = 0;
  virtual std::size_t slot_width() const = 0;
  virtual bool ragged() const = 0;
  virtual WeightName weight_name(std::size_t weight) const = 0;
  virtual WeightScale weight_scale(std::size_t weight) const = 0;
  virtual std::vector<WeightGroup> groups() const = 0;
  // The input (as WeightName has it) of the values at one place of a row's slots: a hashed weight belongs to
  // many inputs, a place in the row to one.
  virtual const std::string& slot_input(std::size_t place) const = 0;
  virtual const std::vector<std::string>& classes() const = 0;  // of the target; empty for numbers
  virtual const Schema& inputs() const = 0;                     // the columns it reads, in order
  virtual const PipelinePlan& plan() const = 0;

  // For a data set, whose columns are found by name; order, seed and passes are the caller's to set. The plan
  // lays out no values: encode() takes them straight from the block. It may outlive the pipeline's users, not
  // the pipeline.
  virtual ReadPlan read_plan(const Schema& schema) const = 0;
  // What of a data set does not fit and is made do with: a column that is not there or has another type.
  virtual std::vector<InputWarning> check_columns(const Schema& schema) const = 0;
  // A batch read by that plan, row for row; with_target also fills target and weight. A row whose target is
  // missing, or of a class that training never saw, has target 0 and weight 0: it counts nowhere. The offset
  // (of the offset and the exposure column) is filled whenever the data has the column.
  virtual void encode(const Batch& batch, bool with_target, EncodedBatch& out) const = 0;
  // Only these rows of the batch, in this order: those with a role are encoded without the others.
  virtual void encode(const Batch& batch, std::span<const std::uint32_t> rows, bool with_target,
                      EncodedBatch& out) const = 0;
  // Raw rows. Never fails on content: what cannot be read counts as missing and is warned of. The same values
  // give the same bits as by the way above.
  virtual Result<void> encode(const RawTable& rows, EncodedBatch& out,
                              std::vector<InputWarning>& warnings) const = 0;

  // What the columns held in training: {"inputs":[{"name","type","levels":[…]|null,"min","max","example"}…]}
  virtual nlohmann::json signature() const = 0;
  virtual nlohmann::json to_json() const = 0;
  static Result<std::unique_ptr<FeaturePipeline>> from_json(const nlohmann::json& json);
};

enum class RowRole : std::uint8_t { train, valid, test };

// Which rows train, validate and test. A pure function of the spec, the row and, for time, of cut points
// found by one read.
class Splitter {
 public:
  // `fold`: the one held out as test when the split is by folds; without it no row is a test row then.
  // With a council: for the rows of all its members.
  static Result<std::unique_ptr<Splitter>> make(BlockSource& source, const Schema& schema,
                                                const JobSpec& spec,
                                                std::optional<unsigned> fold = std::nullopt,
                                                class Council* council = nullptr);
  virtual ~Splitter() = default;
  // Columns a batch must have for it, beside the model's.
  virtual void add_columns(const Schema& schema, ReadPlan& plan) const = 0;
  virtual void roles(const Batch& batch, std::vector<RowRole>& out) const = 0;
  // How many there are to hold out one after the other; 0 when the split is not by folds.
  virtual unsigned folds() const = 0;
};

}  // namespace samovar::trainer
