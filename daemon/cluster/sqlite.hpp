// SQLite in memory, in as few words as the state machine needs. sqlite3.h stays in the .cpp.
//
// Statements here are ours and the database has no disk, so a failing step is a bug, an out-of-memory or
// a trigger that said no. The first such error is kept in the Db: whoever opened the transaction asks for
// it at the end and rolls back, and the code in between reads as if nothing could fail.
//
// Threading: one thread at a time.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.hpp"
#include "base/clock.hpp"
#include "base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace samovar::cluster {

class Db {
 public:
  static Result<std::unique_ptr<Db>> open_memory();
  ~Db();
  Db(const Db&) = delete;
  Db& operator=(const Db&) = delete;

  // Several statements, without arguments.
  Result<void> exec(const char* sql);
  // The image of the whole database.
  Result<Bytes> serialize();
  // Replaces everything by an image. Errc::corrupt when SQLite's own check finds a fault.
  Result<void> load(ByteView image);
  // The same without the check: an image that this process made.
  Result<void> load_own(ByteView image);
  // Rows the last INSERT, UPDATE or DELETE touched.
  std::int64_t changes() const;

  // The first error since the last take.
  Result<void> take_error();
  void note_error();

  sqlite3* handle() { return handle_; }

 private:
  Result<void> copy_from(ByteView image, bool doubtful);
  friend class Query;
  explicit Db(sqlite3* handle) : handle_(handle) {}
  // Reading SQL costs more than running most of it: statements are used again.
  sqlite3_stmt* take(std::string_view sql);
  void give_back(sqlite3_stmt* statement);

  sqlite3* handle_;
  std::string error_;
  std::map<std::string, sqlite3_stmt*, std::less<>> idle_;
};

// One statement: bound when made, stepped with next().
//   for (Query q(db, "SELECT id FROM users WHERE role = ?", "admin"); q.next();) use(q.text(0));
class Query {
 public:
  template <class... Args>
  Query(Db& db, std::string_view sql, const Args&... args) : Query(Prepared{}, db, sql) {
    (bind(args), ...);
  }
  ~Query();
  Query(const Query&) = delete;
  Query& operator=(const Query&) = delete;

  // True while there is a row. An error counts as the end; see Db::take_error.
  bool next();

  std::string text(int column) const;
  std::int64_t number(int column) const;
  Bytes bytes(int column) const;
  bool is_null(int column) const;
  WallTime time(int column) const;
  std::optional<WallTime> optional_time(int column) const;
  int columns() const;
  // Type and value of a column, unambiguous: for hashing rows.
  void append_canonical(int column, Bytes& out) const;

  void bind(std::string_view text);
  void bind(const char* text) { bind(std::string_view(text)); }
  void bind(const std::string& text) { bind(std::string_view(text)); }
  void bind(std::int64_t number);
  void bind(std::uint64_t number) { bind(static_cast<std::int64_t>(number)); }
  void bind(unsigned number) { bind(static_cast<std::int64_t>(number)); }
  void bind(bool flag) { bind(static_cast<std::int64_t>(flag)); }
  void bind(ByteView bytes);
  void bind(const Bytes& bytes) { bind(ByteView(bytes)); }
  void bind(WallTime time) { bind(time.time_since_epoch().count()); }
  void bind(std::nullopt_t);
  template <class T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : bind(std::nullopt);
  }

 private:
  struct Prepared {};
  Query(Prepared, Db& db, std::string_view sql);

  Db& db_;
  sqlite3_stmt* statement_ = nullptr;
  int bound_ = 0;
};

// For statements without rows.
template <class... Args>
void run(Db& db, std::string_view sql, const Args&... args) {
  Query(db, sql, args...).next();
}

}  // namespace samovar::cluster
