#include "daemon/cluster/sqlite.hpp"

#include <sqlite3.h>

#include <cstring>
#include <utility>

namespace samovar::cluster {
namespace {

constexpr std::size_t kStatementsMax = 256;

Error failed(sqlite3* handle, const char* doing) {
  return Error{Errc::internal, std::string(doing) + ": " + sqlite3_errmsg(handle)};
}

Result<sqlite3*> open_handle() {
  // Nobody asks how much memory it uses; counting takes a lock at every piece. Too late once it runs.
  static const int counting = sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
  static_cast<void>(counting);
  sqlite3* handle = nullptr;
  // NOMUTEX: one thread at a time by contract.
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX;
  if (sqlite3_open_v2(":memory:", &handle, flags, nullptr) != SQLITE_OK) {
    Error error{Errc::internal, "cannot make a database in memory"};
    sqlite3_close(handle);
    return error;
  }
  // Images come from snapshots: their schema gets no trust beyond what a table needs.
  sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(handle, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, nullptr);
  return handle;
}

bool passes_check(Db& db) {
  Query check(db, "PRAGMA quick_check(1)");
  return check.next() && check.text(0) == "ok";
}

}  // namespace

Result<std::unique_ptr<Db>> Db::open_memory() {
  SAMOVAR_TRY(sqlite3* const handle, open_handle());
  std::unique_ptr<Db> db(new Db(handle));
  SAMOVAR_CHECK(
      db->exec("PRAGMA foreign_keys = OFF; PRAGMA secure_delete = ON; PRAGMA cell_size_check = ON; PRAGMA "
               "temp_store = MEMORY;"));
  return db;
}

Db::~Db() {
  for (const auto& [sql, statement] : idle_) sqlite3_finalize(statement);
  sqlite3_close(handle_);
}

sqlite3_stmt* Db::take(std::string_view sql) {
  if (const auto found = idle_.find(sql); found != idle_.end()) {
    sqlite3_stmt* const statement = found->second;
    idle_.erase(found);
    return statement;
  }
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v3(handle_, sql.data(), static_cast<int>(sql.size()), SQLITE_PREPARE_PERSISTENT,
                         &statement, nullptr) != SQLITE_OK)
    note_error();
  return statement;
}

void Db::give_back(sqlite3_stmt* statement) {
  if (statement == nullptr) return;
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
  // One of each, and those built from parts only as long as there is room.
  if (idle_.size() >= kStatementsMax || !idle_.emplace(sqlite3_sql(statement), statement).second)
    sqlite3_finalize(statement);
}

Result<void> Db::exec(const char* sql) {
  if (sqlite3_exec(handle_, sql, nullptr, nullptr, nullptr) != SQLITE_OK)
    return failed(handle_, "cannot run SQL");
  return {};
}

Result<Bytes> Db::serialize() {
  sqlite3_int64 size = 0;
  unsigned char* image = sqlite3_serialize(handle_, "main", &size, 0);
  if (image == nullptr) return Error{Errc::internal, "there is no memory for a snapshot"};
  Bytes bytes(image, image + size);
  sqlite3_free(image);
  return bytes;
}

Result<void> Db::load(ByteView image) { return copy_from(image, true); }
Result<void> Db::load_own(ByteView image) { return copy_from(image, false); }

Result<void> Db::copy_from(ByteView image, bool doubtful) {
  if (image.empty()) return Error{Errc::corrupt, "the image is empty"};
  SAMOVAR_TRY(auto source, open_memory());
  const auto size = static_cast<sqlite3_int64>(image.size());
  // Read only, and `source` is gone before the image is: checked where it lies, then copied into our own
  // pages.
  if (sqlite3_deserialize(source->handle_, "main", const_cast<unsigned char*>(image.data()), size, size,
                          SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
    return Error{Errc::corrupt, "the image is no database"};
  if (doubtful && !passes_check(*source))
    return Error{Errc::corrupt, "the image does not pass SQLite's check"};

  sqlite3_backup* backup = sqlite3_backup_init(handle_, "main", source->handle_, "main");
  if (backup == nullptr) return failed(handle_, "cannot load the image");
  const int stepped = sqlite3_backup_step(backup, -1);
  const int finished = sqlite3_backup_finish(backup);
  if (stepped != SQLITE_DONE || finished != SQLITE_OK)
    return Error{Errc::corrupt, "the image cannot be copied"};
  return {};
}

std::int64_t Db::changes() const { return sqlite3_changes64(handle_); }

void Db::note_error() {
  if (error_.empty()) error_ = sqlite3_errmsg(handle_);
}

Result<void> Db::take_error() {
  if (error_.empty()) return {};
  return Error{Errc::internal, "the state's database: " + std::exchange(error_, {})};
}

Query::Query(Prepared, Db& db, std::string_view sql) : db_(db), statement_(db.take(sql)) {}

Query::~Query() { db_.give_back(statement_); }

bool Query::next() {
  if (statement_ == nullptr) return false;
  const int rc = sqlite3_step(statement_);
  if (rc == SQLITE_ROW) return true;
  if (rc != SQLITE_DONE) db_.note_error();
  return false;
}

std::string Query::text(int column) const {
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  if (text == nullptr) return {};
  return {text, static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::int64_t Query::number(int column) const { return sqlite3_column_int64(statement_, column); }

Bytes Query::bytes(int column) const {
  const auto* data = static_cast<const std::uint8_t*>(sqlite3_column_blob(statement_, column));
  if (data == nullptr) return {};
  return {data, data + sqlite3_column_bytes(statement_, column)};
}

bool Query::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

WallTime Query::time(int column) const { return WallTime(std::chrono::microseconds(number(column))); }

std::optional<WallTime> Query::optional_time(int column) const {
  if (is_null(column)) return std::nullopt;
  return time(column);
}

int Query::columns() const { return sqlite3_column_count(statement_); }

void Query::append_canonical(int column, Bytes& out) const {
  const int type = sqlite3_column_type(statement_, column);
  // Text or blob, length first; numbers as text: one spelling each.
  const Bytes value = type == SQLITE_NULL ? Bytes{} : bytes(column);
  const std::string head = std::to_string(type) + ":" + std::to_string(value.size()) + ":";
  out.insert(out.end(), head.begin(), head.end());
  out.insert(out.end(), value.begin(), value.end());
}

void Query::bind(std::string_view text) {
  // An empty view may have no data at all, which would bind NULL.
  const char* data = text.data() == nullptr ? "" : text.data();
  if (sqlite3_bind_text64(statement_, ++bound_, data, text.size(), SQLITE_TRANSIENT, SQLITE_UTF8) !=
      SQLITE_OK)
    db_.note_error();
}

void Query::bind(std::int64_t number) {
  if (sqlite3_bind_int64(statement_, ++bound_, number) != SQLITE_OK) db_.note_error();
}

void Query::bind(ByteView bytes) {
  const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
  if (sqlite3_bind_blob64(statement_, ++bound_, data, bytes.size(), SQLITE_TRANSIENT) != SQLITE_OK)
    db_.note_error();
}

void Query::bind(std::nullopt_t) {
  if (sqlite3_bind_null(statement_, ++bound_) != SQLITE_OK) db_.note_error();
}

}  // namespace samovar::cluster
