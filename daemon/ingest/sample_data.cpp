#include "daemon/ingest/sample_data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>
#include <string>
#include <tuple>

namespace samovar::ingest {
namespace {

// SplitMix64 (Steele, Lea, Flood 2014): the same everywhere, and no more is needed here.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  bool chance(double probability) { return uniform() < probability; }
  double normal(double mean, double sd) {
    const double radius = std::sqrt(-2 * std::log(1 - uniform()));
    return mean + sd * radius * std::cos(2 * std::numbers::pi * uniform());
  }
  unsigned poisson(double mean) {
    const double limit = std::exp(-mean);
    unsigned count = 0;
    for (double product = uniform(); product > limit && count < 60; product *= uniform()) ++count;
    return count;
  }
  // Index by weights that sum to about 1; the last takes the rest.
  template <std::size_t n>
  std::size_t pick(const std::array<double, n>& weights) {
    double left = uniform();
    for (std::size_t i = 0; i + 1 < n; ++i) {
      if (left < weights[i]) return i;
      left -= weights[i];
    }
    return n - 1;
  }

 private:
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }
  std::uint64_t state_;
};

struct Diagnosis {
  std::string_view name;
  std::string_view ward;
  double share;
  double age_mean;
  double stay_mean;
  double effect;  // on the log odds of coming back
};
constexpr std::array<Diagnosis, 10> kDiagnoses{
    {{"heart failure", "cardiology", 0.11, 76, 7.5, 0.65},
     {"coronary disease", "cardiology", 0.10, 69, 4.5, 0.10},
     {"COPD", "pulmonology", 0.09, 70, 6.5, 0.50},
     {"pneumonia", "pulmonology", 0.10, 68, 6.0, 0.20},
     {"stroke", "neurology", 0.08, 73, 8.5, 0.15},
     {"diabetes complications", "internal medicine", 0.08, 63, 5.5, 0.30},
     {"hip or knee replacement", "surgery", 0.14, 70, 6.0, -0.60},
     {"gastrointestinal", "surgery", 0.13, 58, 4.0, 0.0},
     {"cancer", "oncology", 0.09, 65, 6.5, 0.55},
     {"other", "internal medicine", 0.08, 55, 3.5, 0.0}}};
constexpr std::array<std::string_view, 3> kAdmissions{"emergency", "urgent", "elective"};
constexpr std::array<std::string_view, 4> kInsurers{"public", "private", "supplementary", "self-pay"};
constexpr std::array<std::string_view, 3> kSmoking{"never", "former", "current"};
constexpr std::array<std::string_view, 4> kDischarges{"home", "home care", "rehabilitation", "nursing home"};

struct Admission {
  unsigned age = 0;
  bool female = false;
  std::size_t diagnosis = 0;
  std::size_t admission = 0;
  std::size_t insurer = 0;
  std::size_t smoking = 0;
  std::size_t discharge = 0;
  bool lives_alone = false;
  bool intensive_care = false;
  bool follow_up = false;
  unsigned prior = 0;
  unsigned medications = 0;
  unsigned stay_days = 0;
  double bmi = 0, systolic = 0, heart_rate = 0, haemoglobin = 0, creatinine = 0, sodium = 0, hba1c = 0,
         crp = 0;
  bool diabetic = false;
};

double clamp(double value, double low, double high) { return std::min(std::max(value, low), high); }

// docs/explanation/sample-data.md has this table for people: change both.
double log_odds(const Admission& a) {
  const bool emergency = a.admission == 0;
  double sum = -2.35;
  sum += 0.020 * (a.age - 65.0);
  sum += 0.38 * std::min(a.prior, 6u);
  sum += 0.045 * (a.medications - 8.0);
  sum += kDiagnoses[a.diagnosis].effect;
  sum += emergency ? 0.25 : a.admission == 2 ? -0.30 : 0.0;
  sum += 0.70 * std::log(a.creatinine / 0.95);
  sum += a.haemoglobin < 10 ? 0.45 : 0.0;
  sum += a.sodium < 135 ? 0.30 : 0.0;
  sum += a.lives_alone ? 0.25 : 0.0;
  sum += a.follow_up ? -0.50 : 0.0;
  sum += a.discharge == 3 ? 0.30 : 0.0;
  // Sent home too early: a short stay hurts only after an emergency.
  sum += emergency && a.stay_days <= 1 ? 0.60 : 0.0;
  sum += a.stay_days > 10 ? 0.35 : 0.0;
  return sum;
}

Admission draw(Dice& dice) {
  Admission a;
  std::array<double, kDiagnoses.size()> shares{};
  for (std::size_t i = 0; i < shares.size(); ++i) shares[i] = kDiagnoses[i].share;
  a.diagnosis = dice.pick(shares);
  const Diagnosis& diagnosis = kDiagnoses[a.diagnosis];
  a.female = dice.chance(0.51);
  a.age = static_cast<unsigned>(clamp(std::round(dice.normal(diagnosis.age_mean, 13)), 18, 99));
  const bool planned = diagnosis.name == "hip or knee replacement";
  a.admission =
      dice.pick(planned ? std::array<double, 3>{0.12, 0.13, 0.75} : std::array<double, 3>{0.58, 0.24, 0.18});
  a.insurer = dice.pick(std::array<double, 4>{0.62, 0.17, 0.16, 0.05});
  a.smoking = dice.pick(std::array<double, 3>{0.48, 0.31, 0.21});
  a.lives_alone = dice.chance(a.age > 75 ? 0.44 : 0.24);
  a.diabetic = diagnosis.name == "diabetes complications" || dice.chance(0.17);
  a.prior = dice.poisson(0.25 + (a.age > 70 ? 0.35 : 0.1) + (diagnosis.effect > 0.4 ? 0.7 : 0.0));
  a.medications = std::min(dice.poisson(2.0 + a.age * 0.065 + 0.9 * a.prior + (a.diabetic ? 1.5 : 0)), 30u);
  a.intensive_care = dice.chance(a.admission == 0 ? 0.13 : 0.05);
  const double stay =
      diagnosis.stay_mean * std::exp(dice.normal(-0.18, 0.6)) * (a.intensive_care ? 1.8 : 1.0);
  a.stay_days = static_cast<unsigned>(clamp(std::round(stay), 0, 75));
  a.bmi = clamp(dice.normal(27.4, 5.0), 14, 58);
  a.systolic = clamp(dice.normal(126 + 0.2 * (a.age - 60.0), 18), 70, 230);
  a.heart_rate = clamp(dice.normal(80, 13), 38, 170);
  a.haemoglobin =
      clamp(dice.normal(a.female ? 12.4 : 13.5, 1.9) - (diagnosis.name == "cancer" ? 1.1 : 0), 5, 19);
  a.creatinine = clamp(0.95 * std::exp(dice.normal(0.006 * (a.age - 65.0), 0.33)), 0.3, 9.9);
  a.sodium = clamp(std::round(dice.normal(138.6, 3.6)), 112, 156);
  a.hba1c = clamp(dice.normal(a.diabetic ? 7.9 : 5.6, a.diabetic ? 1.4 : 0.4), 4, 15);
  a.crp = clamp(std::exp(dice.normal(a.admission == 0 ? 3.0 : 2.0, 1.2)), 0.3, 400);
  const bool frail = a.age > 80 || diagnosis.name == "stroke";
  a.discharge = dice.pick(frail ? std::array<double, 4>{0.45, 0.22, 0.18, 0.15}
                                : std::array<double, 4>{0.76, 0.12, 0.09, 0.03});
  a.follow_up = dice.chance(0.46);
  return a;
}

// Days since 1970-01-01 as a date. The reverse of values_time.cpp's.
std::string date_of(std::int64_t days) {
  days += 719468;
  const std::int64_t era = days / 146097;
  const auto day_of_era = static_cast<unsigned>(days - era * 146097);
  const unsigned year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const unsigned day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const unsigned month_index = (5 * day_of_year + 2) / 153;
  const unsigned day = day_of_year - (153 * month_index + 2) / 5 + 1;
  const unsigned month = month_index < 10 ? month_index + 3 : month_index - 9;
  const std::int64_t year = static_cast<std::int64_t>(year_of_era) + era * 400 + (month <= 2 ? 1 : 0);
  return fmt::format("{:04}-{:02}-{:02}", year, month, day);
}

constexpr std::string_view kHeader =
    "admission_id,mrn,birth_date,age,sex,admission_date,admission_type,ward,diagnosis_group,insurer,lives_"
    "alone,smoking,"
    "bmi,systolic_bp,heart_rate,haemoglobin,creatinine,sodium,hba1c,crp,prior_admissions_12m,medication_"
    "count,"
    "length_of_stay,intensive_care,discharge_to,follow_up_booked,readmitted_30d\n";

class SampleData final : public Source {
 public:
  SampleData(std::uint64_t rows, std::uint64_t seed) : dice_(seed), rows_(rows), piece_(kHeader) {}

  Result<std::size_t> read(MutableBytes out) override {
    if (at_ == piece_.size()) {
      piece_.clear();
      at_ = 0;
      for (; row_ < rows_ && piece_.size() < kPieceBytes; ++row_) add_row();
    }
    const std::size_t size = std::min(out.size(), piece_.size() - at_);
    std::memcpy(out.data(), piece_.data() + at_, size);
    at_ += size;
    given_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return given_; }

 private:
  static constexpr std::size_t kPieceBytes = 64 << 10;

  std::string measured(double value, int decimals, double missing) {
    if (dice_.chance(missing)) return {};
    return fmt::format("{:.{}f}", value, decimals);
  }

  void add_row() {
    constexpr std::int64_t kFirstDay = 18993;  // 2022-01-01
    const Admission a = draw(dice_);
    const auto day = kFirstDay + static_cast<std::int64_t>(row_ * 730 / std::max<std::uint64_t>(rows_, 1));
    const auto born =
        day - static_cast<std::int64_t>(a.age * 365.25) - static_cast<std::int64_t>(dice_.uniform() * 364);
    const bool back = dice_.chance(1 / (1 + std::exp(-log_odds(a))));
    const Diagnosis& diagnosis = kDiagnoses[a.diagnosis];
    const auto mrn = static_cast<unsigned>(dice_.uniform() * 9'000'000) + 1'000'000;
    fmt::format_to(std::back_inserter(piece_), "A{:06},M{},{},{},{},{},{},{},{},{},{},{},", row_ + 1, mrn,
                   date_of(born), a.age, a.female ? "female" : "male", date_of(day), kAdmissions[a.admission],
                   diagnosis.ward, diagnosis.name, kInsurers[a.insurer], a.lives_alone ? "yes" : "no",
                   kSmoking[a.smoking]);
    // HbA1c is measured where diabetes is known or suspected: what is missing tells something, too.
    for (const auto& [value, decimals, missing] :
         {std::tuple(a.bmi, 1, 0.08), std::tuple(a.systolic, 0, 0.03), std::tuple(a.heart_rate, 0, 0.03),
          std::tuple(a.haemoglobin, 1, 0.10), std::tuple(a.creatinine, 2, 0.09),
          std::tuple(a.sodium, 0, 0.09), std::tuple(a.hba1c, 1, a.diabetic ? 0.12 : 0.72),
          std::tuple(a.crp, 1, 0.28)})
      piece_ += measured(value, decimals, missing) + ",";
    fmt::format_to(std::back_inserter(piece_), "{},{},{},{},{},{},{}\n", a.prior, a.medications, a.stay_days,
                   a.intensive_care ? "yes" : "no", kDischarges[a.discharge], a.follow_up ? "yes" : "no",
                   back ? 1 : 0);
  }

  Dice dice_;
  const std::uint64_t rows_;
  std::uint64_t row_ = 0;
  std::string piece_;
  std::size_t at_ = 0;
  std::uint64_t given_ = 0;
};

}  // namespace

std::unique_ptr<Source> make_sample_data(std::uint64_t rows, std::uint64_t seed) {
  return std::make_unique<SampleData>(rows, seed);
}

}  // namespace samovar::ingest
