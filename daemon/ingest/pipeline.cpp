#include "daemon/ingest/pipeline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "daemon/ingest/bad_rows.hpp"
#include "daemon/ingest/block_pool.hpp"
#include "daemon/ingest/profile.hpp"
#include "daemon/ingest/record_cutter.hpp"
#include "daemon/ingest/sampled_source.hpp"
#include "daemon/ingest/utf8.hpp"

namespace samovar::ingest {
namespace {

constexpr std::uint64_t kShardBytes = 64u << 20;
constexpr std::uint32_t kShardsSpread = 8;  // so that a cluster of some nodes has something for each
constexpr std::uint32_t kShardsMax = 512;
constexpr std::size_t kBlockTextMin = 256u << 10;
constexpr std::size_t kBlockTextMax = (2u << 20) - 4096;  // with its margins just below a large page
constexpr std::size_t kRowOverhead = sizeof(std::uint32_t) + sizeof(std::uint64_t);  // of ShardText
constexpr std::uint64_t kProgressBytes = 4u << 20;

bool only_blanks(const char* text, std::size_t bytes) noexcept {
  return std::all_of(text, text + bytes, is_blank);
}

class Ingest {
 public:
  Ingest(Source& raw, const IngestPlan& plan, ShardSink& sink,
         const std::function<bool(const IngestProgress&)>& progress)
      : raw_(raw),
        plan_(plan),
        sink_(sink),
        progress_(progress),
        rules_(plan.options, plan.schema, plan.seed, plan.in_order),
        bad_(plan, sink),
        profile_(plan.schema, rules_.distinct),
        prologue_(plan.options.format) {
    report_.schema = plan.schema;
    deal_ = mix_word(plan.seed);
  }

  Result<IngestReport> run() {
    SAMOVAR_CHECK(prepare());
    SAMOVAR_TRY(pool_,
                BlockPool::create(rules_, threads(), [this](ParsedBlock& block) { return deliver(block); }));
    SAMOVAR_CHECK(read_head());
    RecordBatch batch;
    while (true) {
      SAMOVAR_TRY(const bool more, cutter_->next(batch));
      if (!more) break;
      if (cutter_->quote_open_at_end()) SAMOVAR_CHECK(set_aside_last(batch));
      SAMOVAR_CHECK(deal(batch));
      SAMOVAR_CHECK(tell());
    }
    for (ShardText& text : open_) {
      if (text.rows() > 0) SAMOVAR_CHECK(close(text));
    }
    SAMOVAR_CHECK(pool_->finish());
    SAMOVAR_CHECK(bad_.finish(report_.rows));
    return finish();
  }

 private:
  Result<void> prepare() {
    const std::size_t columns = plan_.schema.columns.size();
    if (columns == 0 || columns > trainer::kColumnsMax) {
      return Error{Errc::invalid,
                   fmt::format("a data set has 1 to {} columns, and this file has {}: is the delimiter "
                               "right?",
                               trainer::kColumnsMax, columns)};
    }
    SAMOVAR_TRY(decoded_, open_decoded(raw_, plan_.options.compression, plan_.options.encoding));
    const bool as_it_is =
        plan_.options.compression == Compression::none && plan_.options.encoding == Encoding::utf8;
    std::uint64_t bytes = plan_.raw_bytes;
    if (!as_it_is || bytes == 0) {
      SAMOVAR_TRY(sampled_, SampledSource::open(*decoded_));
      bytes = sampled_->estimate(plan_.raw_bytes);
    }
    Source& text = sampled_ ? static_cast<Source&>(*sampled_) : *decoded_;
    const bool csv = plan_.options.format == Format::csv;
    cutter_ = std::make_unique<RecordCutter>(
        text, CutRules{csv ? rules_.split.quote : std::nullopt, rules_.split.delimiter});
    text_bytes_ = bytes;
    report_.shards = plan_.in_order ? 1 : shard_count(bytes);
    block_rows_ = trainer::block_rows_max(plan_.schema.columns.size());
    block_text_ =
        std::clamp<std::size_t>(plan_.memory_bytes_max / 2 / report_.shards, kBlockTextMin, kBlockTextMax);
    if (!csv && plan_.options.format != Format::pairs) {
      SAMOVAR_TRY(head_lines_, make_line_parser(plan_.options, plan_.schema));
    }
    open_.resize(report_.shards);
    for (std::uint32_t i = 0; i < report_.shards; ++i) open_[i].shard = i;
    return {};
  }

  // Each thread holds a block's text and, at the worst, five times as much in columns.
  unsigned threads() const noexcept {
    const std::uint64_t fit = plan_.memory_bytes_max / 2 / (6 * block_text_);
    return static_cast<unsigned>(std::clamp<std::uint64_t>(fit, 1, std::max(1u, plan_.threads)));
  }

  Result<void> read_head() {
    SAMOVAR_CHECK(cutter_->skip_lines(plan_.options.skip_lines));
    bool wanted = plan_.options.header && plan_.options.format == Format::csv;
    RecordBatch batch;
    while (wanted) {
      SAMOVAR_TRY(const bool more, cutter_->next_one(batch));
      if (!more) return {};
      const RecordBatch::Record& record = batch.records.front();
      header_.assign(batch.text + record.begin, record.end - record.begin);
      wanted = only_blanks(header_.data(), header_.size());
    }
    return {};
  }

  Result<void> deal(const RecordBatch& batch) {
    for (const RecordBatch::Record& record : batch.records) {
      const char* const row = batch.text + record.begin;
      const std::size_t bytes = record.end - record.begin;
      if (bytes == 0 || (is_blank(row[0]) && only_blanks(row, bytes))) continue;
      const std::uint64_t line = batch.first_line + record.line;
      if (bytes == header_.size() && std::equal(row, row + bytes, header_.begin())) {
        SAMOVAR_CHECK(set_aside(line, "it is the header again", {row, bytes}));
        continue;
      }
      if (in_prologue_ && (in_prologue_ = prologue_.takes({row, bytes}))) continue;
      if (profile_.head_rows() < ProfileBuilder::kHeadRows) keep_head({row, bytes});
      const std::uint64_t luck = mix_word(deal_ += 0x9e3779b97f4a7c15);  // a Weyl sequence, mixed: SplitMix
      ShardText& text = open_[static_cast<std::size_t>((luck >> 32) * open_.size() >> 32)];
      SAMOVAR_CHECK(make_room(text, bytes));
      text.append(row, bytes, line);
    }
    return {};
  }

  void keep_head(std::string_view row) {
    if (!utf8_valid(row)) return;
    if (!head_lines_) {
      std::vector<std::string> cells = split_row(row, rules_.split);
      if (cells.size() == plan_.schema.columns.size()) profile_.add_head(std::move(cells));
      return;
    }
    LineCells line;
    if (head_lines_->parse(row, line) != LineKind::row) return;
    std::vector<std::string> cells(line.cells.begin(), line.cells.end());
    for (std::size_t c = 0; c < cells.size(); ++c) {
      if (plan_.schema.columns[c].type == trainer::ColumnType::sparse) cells[c] = sparse_text(line);
    }
    profile_.add_head(std::move(cells));
  }
  static std::string sparse_text(const LineCells& line) {
    std::string out;
    for (std::size_t i = 0; i < line.indices.size() && out.size() < 200; ++i) {
      out += fmt::format("{}{}:{}", i == 0 ? "" : " ", line.indices[i], line.values[i]);
    }
    return out;
  }

  Result<void> make_room(ShardText& text, std::size_t bytes) {
    const std::size_t full = text.size + text.rows() * kRowOverhead;
    if (text.rows() > 0 && (full + bytes + kRowOverhead > block_text_ || text.rows() == block_rows_)) {
      SAMOVAR_CHECK(close(text));
    }
    if (text.size + bytes + 1 > text.text.capacity()) {
      // A small file need not take what a full block would.
      const std::uint64_t share = 2 * text_bytes_ / open_.size() + (64u << 10);
      const std::size_t room =
          text.size == 0 && share < block_text_ ? static_cast<std::size_t>(share) : block_text_;
      text.text.reserve(std::max(room, text.size + bytes + 1));
    }
    return {};
  }

  Result<void> close(ShardText& text) {
    const std::uint32_t shard = text.shard;
    if (closed_ == 0) stats_ = StatsPlan::make(plan_.schema, text_bytes_ / (text.size / text.rows()));
    text.sequence = ++closed_;
    text.sample_share = stats_.sample_share;
    text.moments_share = stats_.moments_share;
    SAMOVAR_CHECK(pool_->submit(text));
    text.shard = shard;
    return {};
  }

  Result<void> set_aside_last(RecordBatch& batch) {
    const RecordBatch::Record last = batch.records.back();
    batch.records.pop_back();
    return set_aside(batch.first_line + last.line, "a quote is opened and never closed",
                     {batch.text + last.begin, last.end - last.begin});
  }

  Result<void> set_aside(std::uint64_t line, const char* reason, std::string_view text) {
    BadRow row;
    row.line = line;
    row.reason = reason;
    row.text = printable(text, BadRow::kTextBytesMax);
    return bad_.add(std::move(row));
  }

  Result<void> deliver(ParsedBlock& block) {
    report_.rows += block.rows;
    for (BadRow& row : block.bad_rows) SAMOVAR_CHECK(bad_.add(std::move(row)));
    SAMOVAR_CHECK(bad_.check(report_.rows));
    for (std::size_t c = 0; c < block.types.size(); ++c) {
      trainer::ColumnType& type = report_.schema.columns[c].type;
      if (trainer::stands_for(type, block.types[c])) type = block.types[c];
    }
    if (block.rows == 0) return {};
    profile_.add(block.rows, std::move(block.stats));
    return sink_.block(block.shard, block.rows, block.encoded);
  }

  Result<void> tell() {
    if (!progress_ || cutter_->bytes_read() < told_ + kProgressBytes) return {};
    told_ = cutter_->bytes_read();
    if (progress_({raw_.raw_bytes_read(), report_.rows, bad_.count()})) return {};
    return Error{Errc::conflict, "the ingest was cancelled"};
  }

  Result<IngestReport> finish() {
    report_.bad_rows = bad_.count();
    for (std::size_t c = 0; c < report_.schema.columns.size(); ++c) {
      if (report_.schema.columns[c].type == plan_.schema.columns[c].type) continue;
      const auto& [name, type, sensitive] = report_.schema.columns[c];
      report_.notes.push_back(
          type == trainer::ColumnType::real
              ? fmt::format("column \"{}\" holds numbers that are not whole: it is real now", name)
              : fmt::format("column \"{}\" holds other numbers than 0 and 1: it is integer now", name));
    }
    if (bad_.count() > bad_.kept()) {
      report_.notes.push_back(
          fmt::format("of {} bad rows the first {} found are kept", bad_.count(), bad_.kept()));
    }
    report_.profile_json = profile_.finish(report_.schema, bad_.count(), rules_.cells);
    return std::move(report_);
  }

  Source& raw_;
  const IngestPlan& plan_;
  ShardSink& sink_;
  const std::function<bool(const IngestProgress&)>& progress_;
  const BlockRules rules_;
  BadRows bad_;
  ProfileBuilder profile_;
  StatsPlan stats_;
  std::uint64_t text_bytes_ = 0;  // of the whole file, as far as one can know beforehand
  LinePrologue prologue_;
  std::unique_ptr<LineParser> head_lines_;
  bool in_prologue_ = true;
  std::unique_ptr<Source> decoded_;
  std::unique_ptr<SampledSource> sampled_;
  std::unique_ptr<RecordCutter> cutter_;
  std::size_t block_text_ = 0;
  std::uint32_t block_rows_ = trainer::kBlockRowsMax;
  std::vector<ShardText> open_;
  std::string header_;
  std::uint64_t deal_ = 0;  // of the rows so far, from the seed on
  std::uint64_t closed_ = 0;
  std::uint64_t told_ = 0;
  IngestReport report_;
  std::unique_ptr<BlockPool> pool_;  // last: its threads end first
};

}  // namespace

std::uint32_t shard_count(std::uint64_t unpacked_bytes) noexcept {
  if (unpacked_bytes <= 1u << 20) return 1;
  const std::uint64_t wanted = (unpacked_bytes + kShardBytes - 1) / kShardBytes;
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, kShardsSpread, kShardsMax));
}

Result<IngestReport> run_ingest(Source& raw, const IngestPlan& plan, ShardSink& sink,
                                const std::function<bool(const IngestProgress&)>& progress) {
  try {
    return Ingest(raw, plan, sink, progress).run();
  } catch (const std::exception& error) {
    return Error{Errc::internal, std::string("the ingest stopped: ") + error.what()};
  }
}

}  // namespace samovar::ingest
