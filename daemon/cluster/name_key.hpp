// A name without its case: what must be unique, and what a search looks in.
//
// By tables of our own and not by the system's locale: every node must find the same, at every replay. Covers
// ASCII, Latin-1, Latin Extended-A, Greek and Cyrillic; other letters stand for themselves.
#pragma once
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace samovar::cluster {

// `text` is UTF-8.
std::string name_key(std::string_view text);

// What a data set may be called. Errc::invalid, as a sentence about the field "name".
Result<void> check_dataset_name(std::string_view name);

}  // namespace samovar::cluster
