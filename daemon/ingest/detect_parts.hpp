// The steps of detection, one a format. All work on the sample: decoded, at most kSampleBytesMax.
//
// Threading: any thread; pure.
#pragma once
#include <string_view>

#include "base/result.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/sample_table.hpp"

namespace samovar::ingest {

inline constexpr std::size_t kSampleRowsMax = 50'000;

struct SampleText {
  std::string_view text;  // UTF-8 as far as the file is; the last line may be cut
  bool whole = false;     // nothing follows
};

// What the lines look like, when nobody said it. Errc::invalid for JSON that is not one object a line.
Result<Format> detect_format(const SampleText& sample);
bool looks_like_pairs(const SampleText& sample, Detection& out);  // also sets delimiter and skip_lines

// Each fills options (but compression and encoding), columns, sample_rows and notes.
Result<void> detect_csv(const SampleText& sample, const ParseHints& hints, Detection& out);
Result<void> detect_pairs(const SampleText& sample, const ParseHints& hints, Detection& out);
Result<void> detect_libsvm(const SampleText& sample, Detection& out);
Result<void> detect_arff(const SampleText& sample, const ParseHints& hints, Detection& out);
Result<void> detect_jsonl(const SampleText& sample, const ParseHints& hints, Detection& out);

// ---- shared ----
// Types and flags for the columns `names`, from rows of exactly that many cells. Decides the number style,
// the date order and further missing tokens first, unless hints fixed them. `style`: the format leaves it
// open.
struct Table {
  std::vector<std::string> names;
  std::vector<std::vector<std::string_view>> columns;  // all cells
  bool whole = false;
};
void infer_table(const Table& table, const ParseHints& hints, bool style_open, Detection& out);

// Names a schema takes: not empty, not twice, not too long. Changes are noted.
void settle_names(std::vector<std::string>& names, std::vector<std::string>& notes);
Error too_many_columns(std::size_t columns);

}  // namespace samovar::ingest
