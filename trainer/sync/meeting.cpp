#include "trainer/sync/meeting.hpp"

#include <algorithm>

namespace samovar::trainer {

namespace {
// More than any training has between two rounds.
constexpr std::uint32_t kPassesMax = 10'000;
}  // namespace

void Meeting::put(const Word& word, StateWriter& out) {
  out.put(word.rows);
  out.put(static_cast<std::uint8_t>(word.save));
  out.put(static_cast<std::uint8_t>(word.more));
  out.put(word.mark);
  out.put(static_cast<std::uint32_t>(word.passes.size()));
  for (const Pass& pass : word.passes) {
    out.put(pass.pass);
    out.put(pass.loss);
    out.put(pass.weight);
  }
}

std::optional<Meeting::Word> Meeting::word_of(StateReader& in) {
  Word word;
  word.rows = in.get<std::uint64_t>();
  word.save = in.get<std::uint8_t>() != 0;
  word.more = in.get<std::uint8_t>() != 0;
  word.mark = in.get<std::uint64_t>();
  const auto passes = in.get<std::uint32_t>();
  if (in.failed() || passes > kPassesMax) return std::nullopt;
  for (std::uint32_t i = 0; i < passes && !in.failed(); ++i) {
    Pass& pass = word.passes.emplace_back();
    pass.pass = in.get<std::uint32_t>();
    pass.loss = in.get<double>();
    pass.weight = in.get<double>();
  }
  if (in.failed()) return std::nullopt;
  return word;
}

std::optional<Meeting::Decision> Meeting::decide(const std::vector<std::uint32_t>& members, double worse_by) {
  if (words_.empty()) return std::nullopt;
  for (const std::uint32_t member : members) {
    if (!words_.contains(member)) return std::nullopt;
  }
  Decision decision;
  for (const std::uint32_t member : members) {
    const Word& word = words_[member];
    decision.save = decision.save || word.save;
    decision.more = decision.more || word.more;
    decision.same = decision.same && word.mark == words_[members.front()].mark;
    for (const Pass& pass : word.passes) passes_[pass.pass][member] = {pass.loss, pass.weight};
  }
  words_.clear();
  for (auto at = passes_.begin(); at != passes_.end();) {
    const auto& [pass, told] = *at;
    double sum = 0, weight = 0;
    bool all = true;
    for (const std::uint32_t member : members) {
      const auto found = told.find(member);
      all = all && found != told.end();
      if (found == told.end()) continue;
      sum += found->second.first;
      weight += found->second.second;
    }
    if (!all) {
      ++at;
      continue;
    }
    if (weight > 0) {
      const double mean = sum / weight;
      const bool worse = worse_by > 0 && best_ > 0 && best_ < mean * (1 - worse_by);
      best_ = best_ > 0 ? std::min(best_, mean) : mean;
      decision.finish = decision.finish || (worse && pass >= 2);
    }
    at = passes_.erase(at);
  }
  return decision;
}

void Meeting::save(const std::vector<std::uint32_t>& members, StateWriter& out) const {
  out.put(best_);
  out.put(static_cast<std::uint32_t>(passes_.size()));
  for (const auto& [pass, told] : passes_) {
    out.put(pass);
    for (const std::uint32_t member : members) {
      const auto found = told.find(member);
      out.put(static_cast<std::uint8_t>(found != told.end()));
      out.put(found == told.end() ? 0.0 : found->second.first);
      out.put(found == told.end() ? 0.0 : found->second.second);
    }
  }
}

void Meeting::load(const std::vector<std::uint32_t>& members, StateReader& in) {
  best_ = in.get<double>();
  const auto passes = in.get<std::uint32_t>();
  for (std::uint32_t i = 0; i < passes && !in.failed(); ++i) {
    auto& told = passes_[in.get<std::uint32_t>()];
    for (const std::uint32_t member : members) {
      const bool has = in.get<std::uint8_t>() != 0;
      const auto loss = in.get<double>();
      const auto weight = in.get<double>();
      if (has) told[member] = {loss, weight};
    }
  }
}

}  // namespace samovar::trainer
