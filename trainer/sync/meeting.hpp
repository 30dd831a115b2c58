// What workers that go in step settle at the end of each round: how many rows all of them have done, whether
// it is time to save, and whether to end because the validation loss rises.
//
// Each tells the lead its word; when all have, the lead tells them what follows. Nothing of it depends on
// when a message comes, so the same run decides the same.
//
// Threading: values.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trainer/solvers/state.hpp"

namespace samovar::trainer {

class Meeting {
 public:
  struct Pass {
    std::uint32_t pass = 0;
    double loss = 0;
    double weight = 0;
  };
  struct Word {
    std::uint64_t rows = 0;  // of this member, since it began
    bool save = false;       // a checkpoint is due
    bool more = false;       // the solver's own question: what one says holds for all
    std::uint64_t mark = 0;  // what all should be at
    std::vector<Pass> passes;
  };
  struct Decision {
    std::uint64_t rows = 0;  // of all
    bool save = false;
    bool finish = false;
    bool more = false;
    bool same = true;  // all have the same mark
  };

  static void put(const Word& word, StateWriter& out);
  static std::optional<Word> word_of(StateReader& in);

  // The members are others: what was said is void.
  void begin() { words_.clear(); }
  void say(std::uint32_t member, Word word) { words_[member] = std::move(word); }
  // Once all have spoken. `worse_by`: the share by which a pass may be worse than the best; 0: any.
  std::optional<Decision> decide(const std::vector<std::uint32_t>& members, double worse_by);

  // By place among the members, whose numbers are others after a checkpoint.
  void save(const std::vector<std::uint32_t>& members, StateWriter& out) const;
  void load(const std::vector<std::uint32_t>& members, StateReader& in);

 private:
  std::map<std::uint32_t, Word> words_;
  // By pass: loss and weight of the members that have ended it.
  std::map<std::uint32_t, std::map<std::uint32_t, std::pair<double, double>>> passes_;
  double best_ = 0;
};

}  // namespace samovar::trainer
