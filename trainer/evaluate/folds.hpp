// Cross-validation: the figures of each fold, held out in its turn, and what they say together.
//
// Threading: pure.
#pragma once
#include <nlohmann/json_fwd.hpp>

namespace samovar::trainer {

// Of the evaluation of a model that has not seen the fold: {"rows","metrics":{name:value},"baseline":{…}}.
nlohmann::json fold_figures(const nlohmann::json& evaluation);

// The figures of all folds become the test figures of the model that was trained on all rows: their mean, and
// an interval from how far they differ. Adds "folds", each with its own, and a note.
void add_folds(const nlohmann::json& folds, nlohmann::json& evaluation);

}  // namespace samovar::trainer
