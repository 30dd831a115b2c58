// Training in tests: an observer that remembers, and tables whose answers are known.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "tests/support/memory_table.hpp"
#include "trainer/data/order.hpp"
#include "trainer/train.hpp"

namespace samovar::trainer {

inline Result<void> join(const CheckpointPieces& pieces, Bytes& out) {
  out.clear();
  return pieces([&out](ByteView piece) -> Result<void> {
    out.insert(out.end(), piece.begin(), piece.end());
    return {};
  });
}

class Recorder final : public TrainObserver {
 public:
  bool progress(const TrainProgress&) override { return true; }
  bool metric(const TrainMetric&) override { return true; }
  void log(std::string_view, std::string_view) override {}
  Result<void> checkpoint(std::uint64_t step, const CheckpointPieces& pieces) override {
    return join(pieces, checkpoints[step]);
  }
  std::map<std::uint64_t, Bytes> checkpoints;
};

inline JobSpec job(std::string target, nlohmann::json parameters = nlohmann::json::object()) {
  JobSpec spec;
  spec.name = "test";
  spec.dataset_id = "dst_test";
  spec.target = std::move(target);
  spec.parameters = std::move(parameters);
  return spec;
}

inline Result<Trained> train_on(tests::MemoryTable& table, const JobSpec& spec) {
  Recorder recorder;
  return train(table, table.schema(), spec, std::nullopt, {}, recorder);
}

inline nlohmann::json evaluation_of(tests::MemoryTable& table, const JobSpec& spec) {
  auto trained = train_on(table, spec);
  EXPECT_TRUE(trained.has_value()) << (trained ? "" : trained.error().message());
  return trained ? nlohmann::json::parse(trained->evaluation_json) : nlohmann::json::object();
}

// 0 to 1, the same on every machine.
class Luck {
 public:
  explicit Luck(std::uint64_t seed) : order_(seed) {}
  double unit() { return static_cast<double>(order_.next() >> 11) / 9007199254740992.0; }
  double normal() {
    const double u = 1 - unit();
    return std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * unit());
  }

 private:
  SeededOrder order_;
};

// x, z: numbers; city: four levels; yes: follows from them by the logistic law; class: three of them; amount.
inline tests::MemoryTable logistic_table(std::uint32_t rows, std::uint64_t seed,
                                         std::uint32_t block_rows = 500) {
  tests::MemoryTable table({{{"x", ColumnType::real},
                             {"z", ColumnType::real},
                             {"city", ColumnType::category},
                             {"yes", ColumnType::boolean},
                             {"class", ColumnType::category},
                             {"amount", ColumnType::real}}},
                           block_rows);
  Luck luck(seed);
  const char* cities[] = {"Kyiv", "Lviv", "Odesa", "Poltava"};
  for (std::uint32_t row = 0; row < rows; ++row) {
    const double x = luck.normal();
    const double z = 40 + 10 * luck.normal();
    const auto city = static_cast<std::size_t>(luck.unit() * 4);
    const double eta = -0.5 + 1.2 * x + 0.05 * (z - 40) + (city == 2 ? 0.8 : 0);
    const bool yes = luck.unit() < 1 / (1 + std::exp(-eta));
    const double other = luck.unit();
    table.add({x, z, std::string(cities[city]), yes,
               std::string(x + other > 1         ? "high"
                           : z + 10 * other > 45 ? "middle"
                                                 : "low"),
               3 + 2 * x - 0.1 * z + 0.5 * luck.normal()});
  }
  return table;
}

}  // namespace samovar::trainer
