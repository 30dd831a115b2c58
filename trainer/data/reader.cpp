#include "trainer/data/reader.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "base/assert.hpp"
#include "base/bounded_queue.hpp"
#include "base/thread_name.hpp"
#include "trainer/data/batch_fill.hpp"
#include "trainer/data/order.hpp"

namespace samovar::trainer {

namespace {

constexpr std::uint32_t kBatchRowsMax = kBlockRowsMax;
constexpr std::size_t kBlocksAheadMax = 64;

// What tells a seed for the order of blocks from one for rows.
constexpr std::uint64_t kForBlocks = 1;
constexpr std::uint64_t kForRows = 2;

// A block in its buffer. Goes round between the two threads; the vectors keep their room.
struct Loaded {
  std::uint64_t pass = 0;
  std::uint32_t position = 0;
  std::uint32_t number = 0;
  Result<void> outcome;
  Bytes bytes;
  Bytes scratch;
  BlockView view;
  std::vector<std::uint32_t> order;                // of its rows, when they are shuffled
  std::vector<std::vector<std::uint32_t>> levels;  // per category of the plan: the model's codes
};

bool is_number(ColumnType type) {
  return type == ColumnType::real || type == ColumnType::integer || type == ColumnType::boolean ||
         type == ColumnType::time;
}

Result<void> check_plan(const BlockSource& source, const Schema& schema, const ReadPlan& plan) {
  const auto check = [&](std::size_t column, bool fits, const char* what) -> Result<void> {
    if (column >= schema.columns.size())
      return Error{Errc::invalid, "the dataset has no column " + std::to_string(column + 1)};
    if (fits) return {};
    return Error{Errc::invalid, "the column \"" + schema.columns[column].name + "\" " + what};
  };
  const auto type = [&](std::size_t column) {
    return column < schema.columns.size() ? schema.columns[column].type : ColumnType::text;
  };
  for (const std::size_t column : plan.numbers)
    SAMOVAR_CHECK(check(column, is_number(type(column)), "does not hold numbers"));
  for (const std::size_t column : plan.categories)
    SAMOVAR_CHECK(check(column, type(column) == ColumnType::category, "does not hold categories"));
  if (plan.batch_rows == 0 || plan.batch_rows > kBatchRowsMax)
    return Error{Errc::invalid, "a batch has 1 to " + std::to_string(kBatchRowsMax) + " rows"};
  if (plan.blocks_ahead > kBlocksAheadMax)
    return Error{Errc::invalid, "at most " + std::to_string(kBlocksAheadMax) + " blocks are read ahead"};
  for (const std::uint32_t block : plan.blocks) {
    if (block >= source.blocks())
      return Error{Errc::invalid, "the dataset has no block " + std::to_string(block)};
  }
  return {};
}

// So many blocks stay together when their order is drawn. A block seldom ends where a sealed chunk does:
// those that lie side by side share the one between them, and need not open it twice. Rows were dealt at
// random when the data set was made, so that neighbours are as good as strangers. A set whose rows are
// shuffled too is small: there every block goes its own way.
std::size_t run_of(const ReadPlan& plan, std::size_t blocks) {
  if (plan.shuffle_rows) return 1;
  constexpr std::size_t kRunMax = 4;
  constexpr std::size_t kRuns = 16;  // there are at least so many to draw from
  return std::clamp<std::size_t>(blocks / kRuns, 1, kRunMax);
}

void shuffle_runs(std::uint64_t seed, std::size_t run, std::vector<std::uint32_t>& blocks) {
  std::vector<std::uint32_t> order((blocks.size() + run - 1) / run);
  std::iota(order.begin(), order.end(), 0u);
  SeededOrder(seed).shuffle(order);
  std::vector<std::uint32_t> out;
  out.reserve(blocks.size());
  for (const std::uint32_t at : order) {
    const std::size_t end = std::min(blocks.size(), (at + std::size_t{1}) * run);
    for (std::size_t i = at * run; i < end; ++i) out.push_back(blocks[i]);
  }
  blocks = std::move(out);
}

// A number that differs when another order would follow.
std::uint64_t mark_of(const ReadPlan& plan, const std::vector<std::uint32_t>& blocks,
                      const BlockSource& source) {
  std::uint64_t mark = SeededOrder::derive(plan.seed, plan.batch_rows);
  const std::uint64_t run = plan.shuffle_blocks ? run_of(plan, blocks.size()) - 1 : 0;
  mark = SeededOrder::derive(mark, (plan.shuffle_blocks ? 1 : 0) + (plan.shuffle_rows ? 2 : 0) + 4 * run);
  for (const std::uint32_t block : blocks)
    mark = SeededOrder::derive(mark, (std::uint64_t{block} << 32) + source.rows(block));
  return mark;
}

}  // namespace

struct BatchReader::State {
  State(BlockSource& from, const Schema& as, ReadPlan how)
      : source(from),
        schema(as),
        plan(std::move(how)),
        ready(plan.blocks_ahead + 1),
        free(plan.blocks_ahead + 1) {}

  // Constant after opening.
  BlockSource& source;
  const Schema& schema;
  const ReadPlan plan;
  std::vector<std::uint32_t> blocks;

  // The loading thread's alone (without one, the caller's).
  std::uint64_t load_pass = 0;
  std::uint32_t load_position = 0;
  std::vector<std::uint32_t> order;  // of the blocks in load_pass
  bool order_known = false;

  // Buffers on their way to the caller, and back.
  BoundedQueue<std::unique_ptr<Loaded>> ready;
  BoundedQueue<std::unique_ptr<Loaded>> free;
  std::thread thread;

  // The caller's alone.
  std::unique_ptr<Loaded> at;  // the block being handed out
  DataCursor cursor;
  Batch batch;
  bool failed = false;

  bool load_next(Loaded& into);
  Result<void> load(Loaded& into);
  void code_levels(Loaded& into);
  void run();
};

// False when the last pass is over.
bool BatchReader::State::load_next(Loaded& into) {
  if (blocks.empty()) return false;
  if (load_position == blocks.size()) {
    ++load_pass;
    load_position = 0;
    order_known = false;
  }
  if (plan.passes != 0 && load_pass >= plan.passes) return false;
  if (!order_known) {
    order = blocks;
    if (plan.shuffle_blocks)
      shuffle_runs(SeededOrder::derive(SeededOrder::derive(plan.seed, kForBlocks), load_pass),
                   run_of(plan, order.size()), order);
    order_known = true;
  }
  into.pass = load_pass;
  into.position = load_position;
  into.number = order[load_position++];
  into.outcome = load(into);
  return true;
}

Result<void> BatchReader::State::load(Loaded& into) {
  const auto within = [&](Error error) {
    return std::move(error).within("reading block " + std::to_string(into.number));
  };
  if (auto read = source.read(into.number, into.bytes); !read) return within(std::move(read).error());
  auto view = BlockView::open(into.bytes, schema, &into.scratch);
  if (!view) return within(std::move(view).error());
  into.view = *std::move(view);
  if (into.view.rows() != source.rows(into.number))
    return within(Error{Errc::corrupt, "it has other rows than its index says"});
  into.order.clear();
  if (plan.shuffle_rows) {
    into.order.resize(into.view.rows());
    std::iota(into.order.begin(), into.order.end(), 0u);
    const std::uint64_t seed = SeededOrder::derive(SeededOrder::derive(plan.seed, kForRows), into.pass);
    SeededOrder(SeededOrder::derive(seed, into.number)).shuffle(into.order);
  }
  if (plan.levels != nullptr) code_levels(into);
  return {};
}

void BatchReader::State::code_levels(Loaded& into) {
  into.levels.resize(plan.categories.size());
  for (std::size_t i = 0; i < plan.categories.size(); ++i) {
    const std::size_t column = plan.categories[i];
    std::vector<std::uint32_t>& codes = into.levels[i];
    codes.resize(into.view.levels(column) + std::size_t{1});
    plan.levels->codes(column, into.view, codes);
  }
}

void BatchReader::State::run() {
  set_thread_name("reader");
  while (auto buffer = free.pop()) {
    if (!load_next(**buffer)) break;
    const bool stop = !(*buffer)->outcome.has_value();
    // There are no more buffers than places.
    const bool taken = ready.try_push(std::move(*buffer));
    if (!taken || stop) break;
  }
  ready.close();
}

BatchReader::BatchReader(std::unique_ptr<State> state) : state_(std::move(state)) {}

BatchReader::~BatchReader() {
  state_->free.close();
  state_->ready.close();
  // What is queued as free would still be filled.
  while (state_->free.try_pop()) continue;
  if (state_->thread.joinable()) state_->thread.join();
}

Result<std::unique_ptr<BatchReader>> BatchReader::open(BlockSource& source, const Schema& schema,
                                                       ReadPlan plan, std::optional<DataCursor> from) {
  SAMOVAR_CHECK(check_plan(source, schema, plan));
  auto state = std::make_unique<State>(source, schema, std::move(plan));
  State& s = *state;
  s.blocks = s.plan.blocks;
  if (s.blocks.empty()) {
    s.blocks.resize(source.blocks());
    std::iota(s.blocks.begin(), s.blocks.end(), 0u);
  }
  std::erase_if(s.blocks, [&](std::uint32_t block) { return source.rows(block) == 0; });
  const std::uint64_t mark = mark_of(s.plan, s.blocks, source);
  if (from) {
    if (from->plan_mark != mark || from->position > s.blocks.size() || from->row >= kBlockRowsMax)
      return Error{Errc::conflict, "the saved place belongs to other data or another plan: begin anew"};
    s.cursor = *from;
  } else {
    s.cursor.pass = s.plan.first_pass;
  }
  s.cursor.plan_mark = mark;
  s.load_pass = s.cursor.pass;
  s.load_position = s.cursor.position;
  if (s.plan.blocks_ahead != 0) {
    for (std::size_t i = 0; i <= s.plan.blocks_ahead; ++i)
      SAMOVAR_ASSERT(s.free.try_push(std::make_unique<Loaded>()));
    s.thread = std::thread([&s] { s.run(); });
  }
  return std::unique_ptr<BatchReader>(new BatchReader(std::move(state)));
}

std::span<const float> Batch::numbers(std::size_t place) const noexcept {
  SAMOVAR_ASSERT((place + 1) * rows_ <= numbers_.size());
  return {numbers_.data() + place * rows_, rows_};
}
std::span<const std::uint32_t> Batch::codes(std::size_t place) const noexcept {
  SAMOVAR_ASSERT((place + 1) * rows_ <= codes_.size());
  return {codes_.data() + place * rows_, rows_};
}
std::span<const float> Batch::number_row(std::uint32_t row) const noexcept {
  SAMOVAR_ASSERT(row < rows_);
  const std::size_t columns = numbers_.size() / rows_;
  return {numbers_.data() + row * columns, columns};
}
std::span<const std::uint32_t> Batch::code_row(std::uint32_t row) const noexcept {
  SAMOVAR_ASSERT(row < rows_);
  const std::size_t columns = codes_.size() / rows_;
  return {codes_.data() + row * columns, columns};
}

std::span<const std::uint32_t> Batch::level_codes(std::size_t place) const noexcept {
  SAMOVAR_ASSERT(place < levels_.size());
  return levels_[place];
}

DataCursor BatchReader::cursor() const noexcept { return state_->cursor; }

// False when there is none: the last pass is over.
Result<bool> BatchReader::next_block() {
  State& s = *state_;
  if (s.thread.joinable()) {
    // Its buffer can be filled again; the queue is closed when nothing is to come.
    if (s.at) static_cast<void>(s.free.try_push(std::move(s.at)));
    auto loaded = s.ready.pop();
    if (!loaded) return false;
    s.at = std::move(*loaded);
  } else {
    if (!s.at) s.at = std::make_unique<Loaded>();
    if (!s.load_next(*s.at)) {
      s.at.reset();
      return false;
    }
  }
  if (!s.at->outcome) {
    s.failed = true;
    return s.at->outcome.error();
  }
  SAMOVAR_ASSERT(s.at->pass == s.cursor.pass && s.at->position == s.cursor.position);
  return true;
}

void BatchReader::fill(std::uint32_t first, std::uint32_t rows) {
  State& s = *state_;
  Batch& batch = s.batch;
  batch.block_ = &s.at->view;
  batch.block_number_ = s.at->number;
  batch.first_ = first;
  batch.rows_ = rows;
  batch.order_ = s.at->order;
  batch.levels_ = s.at->levels;
  batch.coder_ = s.plan.levels;
  if (s.plan.codes_only) return;
  batch.numbers_.resize(rows * s.plan.numbers.size());
  batch.codes_.resize(rows * s.plan.categories.size());
  const RowChoice choice{s.at->view, first, rows, s.at->order};
  fill_numbers(choice, s.plan.numbers, s.plan.layout, batch.numbers_);
  fill_codes(choice, s.plan.categories, s.plan.layout, s.at->levels, batch.codes_);
}

Result<const Batch*> BatchReader::next() {
  State& s = *state_;
  if (s.failed) return Error{Errc::conflict, "reading the data has failed before"};
  const Batch* none = nullptr;
  if (s.plan.passes != 0 && s.cursor.pass >= s.plan.passes) return none;
  if (s.cursor.position == s.blocks.size()) {
    ++s.cursor.pass;
    s.cursor.position = 0;
    return none;
  }
  const bool inside = s.at && s.at->pass == s.cursor.pass && s.at->position == s.cursor.position;
  if (!inside) {
    SAMOVAR_TRY(const bool found, next_block());
    if (!found) return none;
  }
  const std::uint32_t in_block = s.at->view.rows();
  if (s.cursor.row >= in_block) {
    s.failed = true;
    return Error{Errc::conflict, "the saved place belongs to other data or another plan: begin anew"};
  }
  const std::uint32_t rows = std::min(s.plan.batch_rows, in_block - s.cursor.row);
  fill(s.cursor.row, rows);
  s.cursor.row += rows;
  if (s.cursor.row == in_block) {
    s.cursor.row = 0;
    ++s.cursor.position;
  }
  return static_cast<const Batch*>(&s.batch);
}

}  // namespace samovar::trainer
