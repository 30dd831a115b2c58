// Detection over whatever bytes: its answer survives JSON and fits a schema, or there is a sentence.
#include <algorithm>
#include <cstring>

#include "base/assert.hpp"
#include "base/json.hpp"
#include "daemon/ingest/detect.hpp"
#include "daemon/ingest/line_parser.hpp"

namespace {

using namespace samovar;
using namespace samovar::ingest;

class BytesSource final : public Source {
 public:
  explicit BytesSource(ByteView bytes) : bytes_(bytes) {}
  Result<std::size_t> read(MutableBytes out) override {
    const std::size_t size = std::min(out.size(), bytes_.size() - at_);
    if (size > 0) std::memcpy(out.data(), bytes_.data() + at_, size);
    at_ += size;
    return size;
  }
  std::uint64_t raw_bytes_read() const override { return at_; }

 private:
  const ByteView bytes_;
  std::size_t at_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  BytesSource raw({data, size});
  const auto found = detect(raw, "file.csv", ParseHints{});
  if (!found) {
    SAMOVAR_ASSERT(!found.error().message().empty());
    return 0;
  }
  const auto back = parse_detection(nlohmann::json::parse(to_json(*found).dump()));
  SAMOVAR_ASSERT(back.has_value());
  SAMOVAR_ASSERT(back->options == found->options);
  trainer::Schema schema;
  for (const auto& column : found->columns) schema.columns.push_back(column.spec);
  // Names are unique and short: a schema takes them.
  SAMOVAR_ASSERT(trainer::decode_schema(trainer::encode_schema(schema)).has_value());
  const bool lines = found->options.format != Format::csv && found->options.format != Format::pairs;
  SAMOVAR_ASSERT(make_line_parser(found->options, schema).has_value() == lines);
  return 0;
}
