// JSON exports that somebody sends back.
#include <cstdint>

#include "base/bytes.hpp"
#include "trainer/models/model_file.hpp"
#include "trainer/models/scorer.hpp"

using namespace samovar;
using namespace samovar::trainer;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto model = import_model(as_text({data, size}));
  if (!model) return 0;
  if (!Scorer::open(*model)) __builtin_trap();  // what was taken can be used
  const auto made = export_model(*model, ExportKind::json, "again", 1);
  if (!made) return 0;
  const auto back = import_model(as_text(made->bytes));
  if (!back || *back != *model) __builtin_trap();
  for (const ExportKind kind : {ExportKind::c, ExportKind::onnx}) {
    const auto other = export_model(*model, kind, "again", 1);
    static_cast<void>(other.has_value());
  }
  return 0;
}
