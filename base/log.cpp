// Threading: any thread; one mutex keeps lines whole. Nothing here throws: a log line is never worth
// a request.
#include "base/log.hpp"

#define SD_JOURNAL_SUPPRESS_LOCATION
#include <sys/stat.h>
#include <sys/uio.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "base/log_format.hpp"
#include "base/mutex.hpp"

namespace samovar::log {
namespace {

constexpr auto kCategories = static_cast<std::size_t>(Category::count_);

using Sink = std::function<void(std::string_view)>;

Mutex mutex;
// Shared: a sink replaced while it runs lives until it returns.
std::shared_ptr<const Sink>& sink_slot() SAMOVAR_REQUIRES(mutex) {
  static std::shared_ptr<const Sink> sink;
  return sink;
}

// Constant-initialised, so that logging works before main; debug is 0 and info is 1.
std::atomic<Level> levels[kCategories] = {Level::info, Level::info, Level::info, Level::info,
                                          Level::info, Level::info, Level::info, Level::info,
                                          Level::info, Level::info, Level::info, Level::info};
static_assert(kCategories == 12, "one Level::info above for each category");
std::atomic<Format> current_format{Format::text};

void write_stderr(std::string_view line) SAMOVAR_REQUIRES(mutex) {
  while (!line.empty()) {
    const ssize_t put = ::write(STDERR_FILENO, line.data(), line.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return;  // a full pipe or a closed terminal: the line is lost, the process is not
    line.remove_prefix(static_cast<std::size_t>(put));
  }
}

void send_journal(const std::vector<std::string>& fields, std::string_view fallback) SAMOVAR_REQUIRES(mutex) {
  std::vector<iovec> parts;
  parts.reserve(fields.size());
  for (const auto& field : fields) parts.push_back({const_cast<char*>(field.data()), field.size()});
  if (::sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0) write_stderr(fallback);
}

void write_record(const Record& record) {
  const Format format = current_format.load(std::memory_order_relaxed);
  std::string line;
  std::vector<std::string> fields;
  if (format == Format::journal) {
    fields = format_journal(record);
  } else {
    line = format == Format::json ? format_json(record) : format_text(record);
  }
  std::shared_ptr<const Sink> sink;
  {
    MutexLock lock(mutex);
    sink = sink_slot();
    if (!sink && format == Format::journal) return send_journal(fields, format_text(record) + '\n');
    if (!sink) return write_stderr(line += '\n');
  }
  for (const auto& field : fields) line += field + '\n';
  (*sink)(line);
}

// The path as the tree has it, whatever the build directory and the compiler cache made of it.
const char* in_tree(const char* file) {
  while (std::string_view(file).starts_with("../")) file += 3;
  return file;
}

}  // namespace

bool enabled(Level level, Category category) noexcept {
  return level >= levels[static_cast<std::size_t>(category)].load(std::memory_order_relaxed);
}

void write(Level level, Category category, std::string_view message, std::span<const Field> fields,
           const char* file, int line) {
  const int saved_errno = errno;
  try {
    write_record({real_clock().wall(), level, category, message, fields, in_tree(file), line});
  } catch (...) {
    // Out of memory while formatting: the bare message still helps.
    std::fprintf(stderr, "samovar: %.*s\n", static_cast<int>(message.size()), message.data());
  }
  errno = saved_errno;
}

void set_format(Format format) { current_format = format; }

Format detect_format() {
  // The protocol of systemd.exec(5): JOURNAL_STREAM names the device and inode of the journal's
  // socket; when they are those of our stderr, journald reads us.
  const char* stream = std::getenv("JOURNAL_STREAM");
  if (stream == nullptr) return Format::text;
  const char* end = stream + std::strlen(stream);
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  const auto colon = std::from_chars(stream, end, device);
  if (colon.ec != std::errc{} || colon.ptr == end || *colon.ptr != ':') return Format::text;
  if (std::from_chars(colon.ptr + 1, end, inode).ec != std::errc{}) return Format::text;
  struct stat info {};
  if (::fstat(STDERR_FILENO, &info) != 0) return Format::text;
  return info.st_dev == device && info.st_ino == inode ? Format::journal : Format::text;
}

void set_level(Level level) {
  for (auto& slot : levels) slot = level;
}
void set_level(Level level, Category category) { levels[static_cast<std::size_t>(category)] = level; }

void set_sink(std::function<void(std::string_view line)> sink) {
  auto replacement = sink ? std::make_shared<const Sink>(std::move(sink)) : nullptr;
  MutexLock lock(mutex);
  sink_slot() = std::move(replacement);
}

std::string_view to_string(Level level) noexcept {
  static constexpr std::string_view kNames[] = {"debug", "info", "warn", "error"};
  return kNames[static_cast<std::size_t>(level)];
}

std::string_view to_string(Category category) noexcept {
  static constexpr std::string_view kNames[] = {"base", "security", "raft", "cluster",   "power", "api",
                                                "jobs", "store",    "net",  "discovery", "cli",   "main"};
  return category < Category::count_ ? kNames[static_cast<std::size_t>(category)] : "unknown";
}

}  // namespace samovar::log
