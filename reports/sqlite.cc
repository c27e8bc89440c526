#include "reports/sqlite.h"

#include <sqlite3.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::reports::sqlite {
namespace {

constexpr int kWaitMilliseconds = 30000;

absl::Status Error(sqlite3* db, const std::string& path) {
  const int code = db ? sqlite3_errcode(db) : SQLITE_NOMEM;
  const std::string text = absl::StrCat(
      "database ", path, ": ", db ? sqlite3_errmsg(db) : "out of memory");
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return absl::UnavailableError(text);
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_NOTADB:
    case SQLITE_FULL:
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
      return absl::InvalidArgumentError(text);
    default:
      return absl::InternalError(text);
  }
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* s) const {
  sqlite3_finalize(s);
}

void Statement::Bind(int parameter, int64_t value) {
  sqlite3_bind_int64(statement_.get(), parameter, value);
}
void Statement::Bind(int parameter, double value) {
  sqlite3_bind_double(statement_.get(), parameter, value);
}
void Statement::Bind(int parameter, absl::string_view value) {
  // A null pointer would bind NULL, not the empty string.
  sqlite3_bind_text(statement_.get(), parameter,
                    value.empty() ? "" : value.data(),
                    static_cast<int>(value.size()), SQLITE_TRANSIENT);
}
void Statement::BindNull(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter);
}

absl::StatusOr<bool> Statement::Step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  absl::Status error = Error(db_, path_);
  sqlite3_reset(statement_.get());
  return error;
}

absl::Status Statement::Run() {
  RETURN_IF_ERROR(Step().status());
  Reset();
  return absl::OkStatus();
}

void Statement::Reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

bool Statement::IsNull(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}
int64_t Statement::Int(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}
double Statement::Real(int column) const {
  return sqlite3_column_double(statement_.get(), column);
}
std::string Statement::Text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  return text ? std::string(reinterpret_cast<const char*>(text),
                            sqlite3_column_bytes(statement_.get(), column))
              : std::string();
}

void Connection::Close::operator()(sqlite3* db) const { sqlite3_close_v2(db); }

absl::StatusOr<Connection> Connection::Open(const std::string& path) {
  sqlite3* db = nullptr;
  const int code = sqlite3_open_v2(
      path.c_str(), &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr);
  Connection connection;
  connection.path_ = path;
  connection.db_.reset(db);
  if (code != SQLITE_OK) return Error(db, path);
  sqlite3_busy_timeout(db, kWaitMilliseconds);
  return connection;
}

absl::StatusOr<Statement> Connection::Prepare(absl::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  if (sqlite3_prepare_v2(db_.get(), sql.data(), static_cast<int>(sql.size()),
                         &statement, nullptr) != SQLITE_OK) {
    return Error(db_.get(), path_);
  }
  return Statement(db_.get(), path_, statement);
}

absl::Status Connection::Execute(const std::string& sql) {
  if (sqlite3_exec(db_.get(), sql.c_str(), nullptr, nullptr, nullptr) !=
      SQLITE_OK) {
    return Error(db_.get(), path_);
  }
  return absl::OkStatus();
}

absl::StatusOr<Transaction> Transaction::Begin(Connection* db) {
  RETURN_IF_ERROR(db->Execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Transaction::~Transaction() {
  // A failed rollback leaves the transaction to be undone at the next open.
  if (db_ != nullptr) db_->Execute("ROLLBACK").IgnoreError();
}

absl::Status Transaction::Commit() {
  RETURN_IF_ERROR(db_->Execute("COMMIT"));
  db_ = nullptr;
  return absl::OkStatus();
}

}  // namespace ptxla::reports::sqlite
