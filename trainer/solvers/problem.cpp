#include "trainer/solvers/problem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/assert.hpp"
#include "trainer/sync/council.hpp"

namespace samovar::trainer {

kernels::Glm Problem::glm() const {
  kernels::Glm glm;
  switch (family) {
    case Family::gaussian:
      glm.family = kernels::Family::gaussian;
      break;
    case Family::binomial:
    case Family::multinomial:
      glm.family = kernels::Family::binomial;
      break;
    case Family::poisson:
      glm.family = kernels::Family::poisson;
      break;
    case Family::gamma:
      glm.family = kernels::Family::gamma;
      break;
    case Family::negative_binomial:
      glm.family = kernels::Family::negative_binomial;
      glm.parameter = theta;
      break;
    case Family::tweedie:
      glm.family = kernels::Family::tweedie;
      glm.parameter = power;
      break;
  }
  switch (link) {
    case Link::identity:
      glm.link = kernels::Link::identity;
      break;
    case Link::logit:
      glm.link = kernels::Link::logit;
      break;
    case Link::log:
      glm.link = kernels::Link::log;
      break;
    case Link::inverse:
      glm.link = kernels::Link::inverse;
      break;
    case Link::probit:
      glm.link = kernels::Link::probit;
      break;
    case Link::cloglog:
      glm.link = kernels::Link::cloglog;
      break;
  }
  return glm;
}

namespace {

void add_columns(const EncodedBatch& batch, Survey& survey) {
  const auto add = [&](std::size_t weight, double row_weight, double value) {
    survey.sums[weight] += row_weight * value;
    survey.squares[weight] += row_weight * value * value;
  };
  for (std::uint32_t row = 0; row < batch.rows; ++row) {
    const double weight = batch.weight.empty() ? 1 : batch.weight[row];
    const float* dense = batch.dense.data() + row * batch.dense_width;
    for (std::size_t i = 0; i < batch.dense_width; ++i) add(i, weight, dense[i]);
    const std::uint32_t* slots = batch.slots.data() + row * batch.slot_width;
    for (std::size_t i = 0; i < batch.slot_width; ++i) {
      if (slots[i] != kNoSlot) add(slots[i], weight, 1);
    }
    if (batch.ragged_ends.empty()) continue;
    const std::uint32_t begin = row == 0 ? 0 : batch.ragged_ends[row - 1];
    for (std::uint32_t i = begin; i < batch.ragged_ends[row]; ++i)
      add(batch.ragged_slots[i], weight, batch.ragged_values[i]);
  }
}

// What one worker's rows say, before it is divided by their weight.
struct SurveyPart {
  Survey survey;
  double spread = 0;
  bool finite = true;

  void put(StateWriter& out) const {
    out.put(survey.rows);
    for (const double number : {survey.weight, survey.target_mean, spread, survey.target_min,
                                survey.target_max, survey.offset_mean})
      out.put(number);
    out.put(static_cast<std::uint8_t>(survey.target_whole));
    out.put(static_cast<std::uint8_t>(finite));
    out.put(survey.shares);
    out.put(survey.sums);
    out.put(survey.squares);
  }
  Result<void> merge(ByteView bytes) {
    StateReader in(bytes);
    const auto rows = in.get<std::uint64_t>();
    const auto weight = in.get<double>();
    const auto mean = in.get<double>();
    const auto their_spread = in.get<double>();
    const auto low = in.get<double>();
    const auto high = in.get<double>();
    survey.offset_mean += in.get<double>();
    survey.target_whole = in.get<std::uint8_t>() != 0 && survey.target_whole;
    finite = in.get<std::uint8_t>() != 0 && finite;
    for (std::vector<double>* sums : {&survey.shares, &survey.sums, &survey.squares}) {
      std::vector<double> theirs;
      in.get(theirs);
      if (theirs.size() != sums->size()) return Error{Errc::corrupt, "another worker surveyed other columns"};
      for (std::size_t i = 0; i < theirs.size(); ++i) (*sums)[i] += theirs[i];
    }
    if (in.failed() || in.left() != 0) return Error{Errc::corrupt, "another worker's survey is damaged"};
    survey.rows += rows;
    survey.target_min = std::min(survey.target_min, low);
    survey.target_max = std::max(survey.target_max, high);
    if (!(weight > 0)) return {};
    const double apart = mean - survey.target_mean;
    spread += their_spread + apart * apart * survey.weight * weight / (survey.weight + weight);
    survey.target_mean += apart * weight / (survey.weight + weight);
    survey.weight += weight;
    return {};
  }
};

}  // namespace

Result<Survey> survey_rows(RowSource& rows, std::size_t width, std::uint32_t classes, bool columns) {
  SurveyPart own;
  const auto begin = [&](SurveyPart& part) {
    part = SurveyPart{};
    part.survey.target_min = std::numeric_limits<double>::infinity();
    part.survey.target_max = -part.survey.target_min;
    part.survey.shares.resize(classes);
    if (columns) {
      part.survey.sums.resize(width);
      part.survey.squares.resize(width);
    }
  };
  const auto read = [&](SurveyPart& part) -> Result<void> {
    begin(part);
    Survey& survey = part.survey;
    double& spread = part.spread;
    bool& finite = part.finite;
    return rows.each(RowRole::train, [&](const EncodedBatch& batch) -> Result<bool> {
      for (std::uint32_t row = 0; row < batch.rows; ++row) {
        const double weight = batch.weight.empty() ? 1 : batch.weight[row];
        const double target = batch.target[row];
        finite = finite && std::isfinite(target) && std::isfinite(weight);
        ++survey.rows;
        survey.weight += weight;
        const double before = target - survey.target_mean;
        survey.target_mean += before * weight / survey.weight;
        spread += weight * before * (target - survey.target_mean);
        survey.target_min = std::min(survey.target_min, target);
        survey.target_max = std::max(survey.target_max, target);
        survey.target_whole = survey.target_whole && target == std::floor(target);
        survey.offset_mean += weight * (batch.offset.empty() ? 1 : std::exp(batch.offset[row]));
        if (classes != 0) survey.shares[static_cast<std::size_t>(target)] += weight;
      }
      if (columns) add_columns(batch, survey);
      return true;
    });
  };
  if (rows.council() == nullptr) {
    SAMOVAR_CHECK(read(own));
  } else {
    SAMOVAR_TRY(
        const std::vector<Bytes> parts,
        rows.council()->collect(rows.weighs_classes() ? "survey weighed" : "survey", [&]() -> Result<Bytes> {
          SurveyPart part;
          SAMOVAR_CHECK(read(part));
          StateWriter out;
          part.put(out);
          return out.take();
        }));
    begin(own);
    for (const Bytes& part : parts) SAMOVAR_CHECK(own.merge(part));
  }
  Survey survey = std::move(own.survey);
  const double spread = own.spread;
  const bool finite = own.finite;
  if (survey.rows == 0 || survey.weight <= 0)
    return Error{
        Errc::invalid,
        "no row is left to train on: the target is missing in all of them, or the split leaves none"};
  if (!finite)
    return Error{Errc::invalid, "the target or the weights hold numbers that are infinite or not numbers"};
  survey.target_variance = spread / survey.weight;
  survey.offset_mean /= survey.weight;
  for (double& share : survey.shares) share /= survey.weight;
  return survey;
}

Result<double> mean_loss(RowSource& rows, RowRole role, const Problem& problem,
                         const std::vector<double>& weights, const std::vector<double>& intercepts) {
  const kernels::Table& table = kernels::cpu();
  std::vector<double> margins;
  double loss = 0;
  double total = 0;
  SAMOVAR_CHECK(rows.each(role, [&](const EncodedBatch& batch) -> Result<bool> {
    const kernels::Rows view = kernel_rows(batch);
    const kernels::Labels labels = kernel_labels(batch);
    const std::size_t outputs = problem.outputs;
    margins.resize(batch.rows * outputs);
    for (std::size_t o = 0; o < outputs; ++o)
      table.margins_f64(nullptr, view, weights.data() + o * problem.width, intercepts[o],
                        outputs == 1 ? labels.offset : nullptr, margins.data() + o, outputs);
    if (outputs == 1) {
      std::vector<double> residuals(batch.rows);
      table.residuals_f64(nullptr, problem.glm(), margins.data(), labels.target, labels.weight, batch.rows,
                          residuals.data(), &loss);
    } else {
      table.softmax_residuals_f64(nullptr, margins.data(), labels.target, labels.weight, batch.rows, outputs,
                                  &loss);
    }
    for (std::uint32_t row = 0; row < batch.rows; ++row)
      total += batch.weight.empty() ? 1 : batch.weight[row];
    return true;
  }));
  std::vector<double> sums = {loss, total};
  SAMOVAR_CHECK(rows.sum(sums));
  return sums[1] > 0 ? sums[0] / sums[1] : std::numeric_limits<double>::quiet_NaN();
}

std::vector<double> starting_intercepts(const Problem& problem, const Survey& survey) {
  if (problem.family == Family::multinomial) {
    std::vector<double> out;
    for (const double share : survey.shares) out.push_back(std::log(std::max(share, 1e-9)));
    return out;
  }
  double mean = survey.target_mean;
  if (problem.link == Link::log) mean = std::max(mean, 1e-9) / std::max(survey.offset_mean, 1e-300);
  if (problem.link == Link::inverse) mean = std::max(mean, 1e-9);
  return {link_value(problem.link, mean)};
}

std::string describe_weight(const FeaturePipeline& pipeline, std::size_t weight) {
  const WeightName name = pipeline.weight_name(weight);
  if (name.missing) return name.input + " is missing";
  return name.level.empty() ? name.input : name.input + " = " + name.level;
}

}  // namespace samovar::trainer
