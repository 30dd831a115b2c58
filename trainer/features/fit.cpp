#include "trainer/features/fit.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <set>

#include "trainer/features/column_stats.hpp"
#include "trainer/features/fit_target.hpp"
#include "trainer/features/frequent.hpp"
#include "trainer/features/identifiers.hpp"

namespace samovar::trainer {

namespace {

using Categories = FeatureOptions::Categories;
using Numbers = FeatureOptions::Numbers;
using Kind = InteractionPlan::Kind;

constexpr std::uint64_t kCrossPlacesMax = 65'536;  // hashed beyond

bool is_number(ColumnType type) {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}

struct Candidate {
  std::size_t column = 0;
  NumberStats numbers;
  LevelCounts levels{0, false};
  TextStats texts;
  SparseStats pairs;
  FrequentCounts frequent;
};

class Fit {
 public:
  Fit(const Schema& schema, const JobSpec& spec, std::vector<std::string>& notes)
      : schema_(schema), spec_(spec), notes_(notes), named_(!spec.inputs.empty()) {}

  Result<PipelinePlan> run(BlockSource& source, const Splitter& splitter) {
    SAMOVAR_CHECK(choose());
    SAMOVAR_CHECK(read(source, splitter));
    return finish();
  }

  // What these blocks say, for merged().
  Result<Bytes> part(BlockSource& source, const Splitter& splitter) {
    SAMOVAR_CHECK(choose());
    SAMOVAR_CHECK(read(source, splitter));
    StateWriter out;
    out.put(static_cast<std::uint8_t>(whole_));
    target_->put(out);
    for (const Candidate& candidate : candidates_) {
      candidate.numbers.put(out);
      candidate.levels.put(out);
      candidate.texts.put(out);
      candidate.pairs.put(out);
      candidate.frequent.put(out);
    }
    return out.take();
  }

  Result<PipelinePlan> merged(const std::vector<Bytes>& parts) {
    SAMOVAR_CHECK(choose());
    for (const Bytes& part : parts) {
      StateReader in(part);
      whole_ = in.get<std::uint8_t>() != 0 && whole_;
      target_->merge(in);
      for (Candidate& candidate : candidates_) {
        candidate.numbers.merge(in);
        candidate.levels.merge(in);
        candidate.texts.merge(in);
        candidate.pairs.merge(in);
        candidate.frequent.merge(in);
      }
      if (in.failed() || in.left() != 0)
        return Error{Errc::corrupt, "what another worker learned about the columns is damaged"};
    }
    return finish();
  }

 private:
  Result<PipelinePlan> finish() {
    SAMOVAR_TRY(plan_.target, target_->finish(whole_, notes_));
    for (const Candidate& candidate : candidates_) decide(candidate);
    tell_left_out();
    if (plan_.inputs.empty())
      return Error{Errc::invalid, "no column is left to predict from: all of them are constant or missing"};
    interactions();
    give_places();
    plan_.weight = spec_.weight;
    plan_.offset = spec_.offset;
    plan_.exposure = spec_.exposure;
    plan_.hash_bits = spec_.features.hash_bits;
    plan_.hash_seed = spec_.seed;
    if (!lay_out(plan_))
      return Error{Errc::invalid, "the model would have more than 2^30 weights: hash its categories"};
    if (plan_.own_places != 0)
      notes_.push_back("Of the 2^" + std::to_string(plan_.hash_bits) + " hashed places, " +
                       std::to_string(plan_.own_places) + " belong to one frequent value each.");
    std::set<std::string_view> used;
    for (const InputPlan& input : plan_.inputs) used.insert(input.name);
    for (const ColumnSpec& column : schema_.columns) {
      if (!used.contains(column.name)) plan_.unused.push_back(column.name);
    }
    return std::move(plan_);
  }

  Error unknown(const std::string& name) const {
    return {Errc::invalid, "the data set has no column \"" + name + "\""};
  }

  Result<void> choose() {
    const auto target = schema_.find(spec_.target);
    if (!target) return unknown(spec_.target);
    const ColumnType type = schema_.columns[*target].type;
    if (!is_number(type) && type != ColumnType::category)
      return Error{Errc::invalid, "the target \"" + spec_.target + "\" is neither a number nor a category"};
    target_.emplace(schema_, spec_, *target);
    for (const std::string* name : {&spec_.weight, &spec_.offset, &spec_.exposure}) {
      if (name->empty()) continue;
      const auto column = schema_.find(*name);
      if (!column) return unknown(*name);
      if (!is_number(schema_.columns[*column].type))
        return Error{Errc::invalid, "the column \"" + *name + "\" does not hold numbers"};
      asides_.emplace(name, Candidate{*column, {}, LevelCounts{0, false}, {}, {}, {}});
    }
    std::set<std::string_view> taken = {spec_.target, spec_.weight, spec_.offset, spec_.exposure};
    if (named_) {
      for (const std::string& name : spec_.inputs) {
        const auto column = schema_.find(name);
        if (!column) return unknown(name);
        if (taken.insert(name).second) add(*column);
      }
    } else {
      taken.insert(spec_.ignore.begin(), spec_.ignore.end());
      if (!spec_.split.column.empty() && taken.insert(spec_.split.column).second)
        notes_.push_back("\"" + spec_.split.column + "\" splits the rows and is no input.");
      for (std::size_t i = 0; i < schema_.columns.size(); ++i) {
        if (!taken.contains(schema_.columns[i].name)) add(i);
      }
    }
    return {};
  }

  void add(std::size_t column) {
    const ColumnType type = schema_.columns[column].type;
    if (type == ColumnType::text && !spec_.features.texts)
      return left_out_["texts are not wanted"].push_back(name(column));
    Candidate candidate;
    candidate.column = column;
    candidate.levels =
        LevelCounts(spec_.features.levels_max, spec_.features.categories == Categories::automatic);
    learns_ = learns_ || !(hashes_number(type) || (type == ColumnType::category && hashes_levels()));
    candidates_.push_back(std::move(candidate));
  }
  bool hashes_levels() const { return spec_.features.categories == Categories::hash; }
  // Times are never tokens: no two rows have the same.
  bool hashes_number(ColumnType type) const {
    return spec_.features.numbers == Numbers::hash && is_number(type) && type != ColumnType::time;
  }
  const std::string& name(std::size_t column) const { return schema_.columns[column].name; }

  // Whether its values may get places of their own.
  bool counted(const Candidate& candidate) const {
    if (spec_.features.frequent_levels == 0) return false;
    const ColumnType type = schema_.columns[candidate.column].type;
    return hashes_number(type) ||
           (type == ColumnType::category && spec_.features.categories != Categories::onehot);
  }

  Result<void> read(BlockSource& source, const Splitter& splitter) {
    const auto columns = static_cast<std::size_t>(std::count_if(
        candidates_.begin(), candidates_.end(), [&](const auto& each) { return counted(each); }));
    sample_.assign(source.blocks(), false);
    if (columns != 0) sample_ = frequent_sample(source);
    limits_ =
        frequent_limits(static_cast<std::size_t>(std::count(sample_.begin(), sample_.end(), true)), columns);
    std::vector<std::uint32_t> sampled, others;
    for (std::uint32_t block = 0; block < source.blocks(); ++block) {
      if (source.rows(block) != 0) (sample_[block] ? sampled : others).push_back(block);
    }
    const bool all = learns_ || !asides_.empty() ||
                     schema_.columns[*schema_.find(spec_.target)].type != ColumnType::boolean;
    if (all) {
      sampled.insert(sampled.end(), others.begin(), others.end());
      std::sort(sampled.begin(), sampled.end());
      return read_blocks(source, splitter, std::move(sampled), false);
    }
    // A hash knows its places beforehand: beside the sample the first rows are enough, once they have both
    // answers.
    SAMOVAR_CHECK(read_blocks(source, splitter, std::move(sampled), false));
    if (!target_->seen_both()) return read_blocks(source, splitter, std::move(others), true);
    whole_ = others.empty();
    return {};
  }

  Result<void> read_blocks(BlockSource& source, const Splitter& splitter, std::vector<std::uint32_t> blocks,
                           bool until_seen) {
    if (blocks.empty()) return {};
    ReadPlan plan;
    plan.blocks = std::move(blocks);
    plan.batch_rows = kBlockRowsMax;
    plan.shuffle_blocks = false;
    plan.codes_only = true;
    SAMOVAR_TRY(const auto reader, BatchReader::open(source, schema_, std::move(plan)));
    std::vector<RowRole> roles;
    std::vector<std::uint8_t> use;
    for (;;) {
      SAMOVAR_TRY(const Batch* const batch, reader->next());
      if (batch == nullptr) break;
      const BlockView& block = batch->block();
      splitter.roles(*batch, roles);
      target_->present(block, use);
      SAMOVAR_CHECK(check_asides(block));
      for (std::uint32_t row = 0; row < block.rows(); ++row) {
        if (roles[row] != RowRole::train) use[row] = 0;
      }
      target_->add(block, use);
      for (Candidate& candidate : candidates_)
        learn(candidate, block, use, sample_[batch->block_number()] && counted(candidate));
      if (until_seen && target_->seen_both()) {
        whole_ = false;
        break;
      }
    }
    return {};
  }

  // Weights, offsets and exposures hold for all rows, not for those that train alone.
  Result<void> check_asides(const BlockView& block) {
    const std::vector<std::uint8_t> every(block.rows(), 1);
    for (auto& [name, aside] : asides_) {
      numbers_.resize(block.rows());
      block.reals(aside.column, 0, numbers_);
      aside.numbers.add(numbers_, every, false, false);
      if (name == &spec_.weight && aside.numbers.present != 0 && aside.numbers.min < 0)
        return Error{Errc::invalid, "the weights in \"" + *name + "\" must not be negative"};
      if (name == &spec_.exposure && aside.numbers.present != 0 && aside.numbers.min <= 0)
        return Error{Errc::invalid, "the exposures in \"" + *name + "\" must be above 0"};
    }
    return {};
  }

  void learn(Candidate& candidate, const BlockView& block, std::span<const std::uint8_t> use, bool count) {
    const ColumnType type = schema_.columns[candidate.column].type;
    if (is_number(type)) {
      numbers_.resize(block.rows());
      block.reals(candidate.column, 0, numbers_);
      if (count) candidate.frequent.add_numbers(numbers_, use);
      // Of tokens the range is for forms only: that of the first rows will do.
      if (!learns_ && hashes_number(type) && candidate.numbers.present != 0) return;
      // A measurement may well be another in every row: it takes the name to tell an identifier.
      const bool identity = !named_ && !hashes_number(type) &&
                            (type == ColumnType::integer || sounds_like_identifier(name(candidate.column)));
      candidate.numbers.add(numbers_, use, type == ColumnType::time, identity);
    } else if (type == ColumnType::category) {
      if (!hashes_levels()) candidate.levels.add(block, candidate.column, use);
      if (count) candidate.frequent.add_levels(block, candidate.column, use, limits_);
    } else if (type == ColumnType::text) {
      candidate.texts.add(block, candidate.column, use);
    } else {
      candidate.pairs.add(block, candidate.column, use);
    }
  }

  void decide(const Candidate& candidate) {
    const ColumnSpec& column = schema_.columns[candidate.column];
    InputPlan input;
    input.name = column.name;
    input.type = column.type;
    input.sensitive = column.sensitive;
    if (is_number(column.type)) {
      decide_number(candidate.numbers, std::move(input));
    } else if (column.type == ColumnType::category) {
      decide_levels(candidate.levels, std::move(input));
    } else if (column.type == ColumnType::text) {
      const TextStats& texts = candidate.texts;
      if (learns_ && texts.present == 0) return leave_out("have no value", input.name);
      const double looked = static_cast<double>(texts.looked_at);
      const bool single = static_cast<double>(texts.words) < 2 * looked;
      if (!named_ && looked >= 100 && single && texts.distinct.estimate() > 0.9 * looked)
        return leave_out("look like identifiers", input.name);
      input.treatment = Treatment::words;
      plan_.inputs.push_back(std::move(input));
    } else {
      if (candidate.pairs.pairs == 0) return leave_out("have no value", input.name);
      const bool hashed = candidate.pairs.index_max >= kSparsePlacesMax;
      input.treatment = hashed ? Treatment::place_hash : Treatment::places;
      input.count = hashed ? 0 : candidate.pairs.index_max + 1;
      plan_.inputs.push_back(std::move(input));
    }
  }

  void decide_number(const NumberStats& stats, InputPlan input) {
    if (stats.infinite != 0)
      notes_.push_back("\"" + input.name + "\" has " + std::to_string(stats.infinite) +
                       " infinite values in training: they count as missing.");
    const bool hashed = hashes_number(input.type);
    input.seen_range = stats.present != 0;
    input.fill = stats.present != 0 ? stats.mean : 0;
    input.min = stats.present != 0 ? stats.min : 0;
    input.max = stats.present != 0 ? stats.max : 0;
    if (hashed) {
      input.treatment = Treatment::number_hash;
      plan_.inputs.push_back(std::move(input));
      return;
    }
    if (stats.present == 0) return leave_out("have no value", input.name);
    input.indicator = spec_.features.missing_indicators && stats.missing != 0;
    if (stats.min == stats.max && !input.indicator)
      return leave_out("have the same value in every row", input.name);
    const double count = static_cast<double>(stats.present);
    const bool named_so = sounds_like_identifier(input.name);
    const bool counted = input.type == ColumnType::integer && stats.rising;
    if (!named_ && count >= 100 && (named_so || counted) && stats.distinct.estimate() > 0.9 * count)
      return leave_out("look like identifiers", input.name);
    input.treatment = Treatment::number;
    const double deviation = stats.deviation();
    const bool one_value = !(deviation > 0) || !std::isfinite(1 / deviation) || !std::isfinite(deviation);
    if (one_value || input.type == ColumnType::time ||
        (spec_.features.numbers == Numbers::standardise && input.type != ColumnType::boolean)) {
      input.center = stats.mean;
      input.scale = one_value ? 1 : 1 / deviation;
    }
    InputPlan calendar;
    calendar.name = input.name;
    calendar.type = input.type;
    calendar.sensitive = input.sensitive;
    plan_.inputs.push_back(std::move(input));
    if (calendar.type != ColumnType::time) return;
    constexpr double kYears = 20 * 365.25 * 86'400e6;  // dates of birth have weekdays that say nothing
    if (std::popcount(stats.weekdays) > 1 && stats.max - stats.min < kYears) {
      calendar.treatment = Treatment::weekday;
      plan_.inputs.push_back(calendar);
    }
    if (std::popcount(stats.hours) > 1) {
      calendar.treatment = Treatment::hour;
      plan_.inputs.push_back(calendar);
    }
  }

  void decide_levels(const LevelCounts& stats, InputPlan input) {
    input.treatment = Treatment::level_hash;
    if (hashes_levels()) {
      plan_.inputs.push_back(std::move(input));
      return;
    }
    if (stats.present() == 0) return leave_out("have no value", input.name);
    const double present = static_cast<double>(stats.present());
    if (!named_ && present >= 100 && stats.distinct() > 0.9 * present)
      return leave_out("look like identifiers", input.name);
    if (stats.too_many()) {
      notes_.push_back("\"" + input.name + "\" has more than " + std::to_string(spec_.features.levels_max) +
                       " levels: they are hashed to 2^" + std::to_string(spec_.features.hash_bits) +
                       " places.");
    } else {
      input.treatment = Treatment::levels;
      input.levels = stats.levels(input.other);
      input.missing = stats.missing() != 0;
      if (input.levels.size() == 1 && !input.other && !input.missing)
        return leave_out("have the same value in every row", input.name);
      if (input.other)
        notes_.push_back("\"" + input.name + "\" keeps its " + std::to_string(input.levels.size()) +
                         " most frequent levels; the others share one weight.");
    }
    plan_.inputs.push_back(std::move(input));
  }

  void give_places() {
    if (spec_.features.frequent_levels == 0) return;
    std::vector<FrequentInput> hashed;
    for (InputPlan& input : plan_.inputs) {
      if (input.treatment != Treatment::level_hash && input.treatment != Treatment::number_hash) continue;
      for (const Candidate& candidate : candidates_) {
        if (name(candidate.column) == input.name) hashed.push_back({&input, &candidate.frequent});
      }
    }
    const std::uint32_t room = own_places_max(spec_.features.hash_bits);
    choose_frequent(hashed, std::min(spec_.features.frequent_levels.value_or(room), room));
  }

  void leave_out(const char* why, const std::string& name) { left_out_[why].push_back(name); }

  void tell_left_out() {
    for (const auto& [why, names] : left_out_) {
      constexpr std::size_t kNamed = 20;
      std::string list;
      for (std::size_t i = 0; i < std::min(names.size(), kNamed); ++i)
        list += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
      if (names.size() > kNamed) list += " and " + std::to_string(names.size() - kNamed) + " more";
      notes_.push_back("Left out, since they " + why + ": " + list + ".");
    }
  }

  void interactions() {
    std::map<std::string_view, std::uint32_t> places;
    for (std::uint32_t i = 0; i < plan_.inputs.size(); ++i) places.emplace(plan_.inputs[i].name, i);
    for (const auto& [a, b] : spec_.features.interactions) {
      const auto at_a = places.find(a);
      const auto at_b = places.find(b);
      if (at_a == places.end() || at_b == places.end()) {
        notes_.push_back("The interaction of \"" + a + "\" and \"" + b +
                         "\" is left out, as one of them is.");
        continue;
      }
      InteractionPlan pair;
      pair.a = at_a->second;
      pair.b = at_b->second;
      if (is_dense(pair.a)) std::swap(pair.a, pair.b);  // a category comes first
      if (is_dense(pair.a)) {
        pair.kind = Kind::product;
      } else if (is_dense(pair.b)) {
        pair.kind = has_levels(pair.a) ? Kind::scaled : Kind::scaled_hash;
      } else {
        const auto size = [&](std::uint32_t i) { return std::uint64_t{plan_.inputs[i].levels.size()} + 2; };
        const bool few =
            has_levels(pair.a) && has_levels(pair.b) && size(pair.a) * size(pair.b) <= kCrossPlacesMax;
        pair.kind = few ? Kind::cross : Kind::cross_hash;
      }
      plan_.interactions.push_back(pair);
    }
  }
  bool is_dense(std::uint32_t i) const { return plan_.inputs[i].treatment == Treatment::number; }
  bool has_levels(std::uint32_t i) const { return plan_.inputs[i].treatment == Treatment::levels; }

  const Schema& schema_;
  const JobSpec& spec_;
  std::vector<std::string>& notes_;
  const bool named_;  // inputs are the person's choice
  bool learns_ = false;
  bool whole_ = true;  // all rows were read
  std::optional<TargetFit> target_;
  std::vector<Candidate> candidates_;
  std::map<const std::string*, Candidate> asides_;  // weight, offset, exposure
  std::map<std::string, std::vector<std::string>> left_out_;
  std::vector<bool> sample_;  // blocks in which frequent values are counted
  FrequentLimits limits_;
  std::vector<double> numbers_;
  PipelinePlan plan_;
};

}  // namespace

Result<PipelinePlan> fit_plan(BlockSource& source, const Schema& schema, const JobSpec& spec,
                              const Splitter& splitter, std::vector<std::string>& notes) {
  return Fit(schema, spec, notes).run(source, splitter);
}

Result<Bytes> fit_part(BlockSource& source, const Schema& schema, const JobSpec& spec,
                       const Splitter& splitter) {
  std::vector<std::string> notes;  // told by the merged plan
  return Fit(schema, spec, notes).part(source, splitter);
}

Result<PipelinePlan> fit_merged(const std::vector<Bytes>& parts, const Schema& schema, const JobSpec& spec,
                                std::vector<std::string>& notes) {
  return Fit(schema, spec, notes).merged(parts);
}

}  // namespace samovar::trainer
