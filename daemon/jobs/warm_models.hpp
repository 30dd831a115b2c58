// Models that are in use: opened once, kept while there is room, the longest unused one goes first.
//
// Threading: loop only; the scorers themselves may be asked from any thread.
#pragma once
#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "trainer/models/scorer.hpp"

namespace samovar::jobs {

using ScorerPtr = std::shared_ptr<const trainer::Scorer>;  // shared: a prediction may outlive its place here

class WarmModels {
 public:
  explicit WarmModels(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  ScorerPtr find(std::string_view id) {
    for (auto it = models_.begin(); it != models_.end(); ++it) {
      if (it->id != id) continue;
      models_.splice(models_.begin(), models_, it);
      return models_.front().scorer;
    }
    return nullptr;
  }
  // The last one in stays even when it alone is too large: it is about to be used.
  void add(std::string id, ScorerPtr scorer, std::uint64_t bytes) {
    drop(id);
    models_.push_front({std::move(id), std::move(scorer), bytes});
    bytes_ += bytes;
    while (bytes_ > bytes_max_ && models_.size() > 1) {
      bytes_ -= models_.back().bytes;
      models_.pop_back();
    }
  }
  void drop(std::string_view id) {
    for (auto it = models_.begin(); it != models_.end(); ++it) {
      if (it->id != id) continue;
      bytes_ -= it->bytes;
      models_.erase(it);
      return;
    }
  }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::size_t count() const noexcept { return models_.size(); }

 private:
  struct Warm {
    std::string id;
    ScorerPtr scorer;
    std::uint64_t bytes = 0;
  };
  const std::uint64_t bytes_max_;
  std::list<Warm> models_;  // the last used one first
  std::uint64_t bytes_ = 0;
};

}  // namespace samovar::jobs
