#include "reports/database.h"

#include <sys/stat.h>

#include <chrono>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/status.h"
#include "embed/reports_schema.h"

namespace ptxla::reports {
namespace {

using sqlite::Connection;
using sqlite::Statement;
using sqlite::Transaction;

// kFiles[n] takes a database from version n to version n + 1.
constexpr int kVersion = sizeof(kMigrations) / sizeof(kMigrations[0]);

absl::StatusOr<int64_t> UserVersion(Connection* db) {
  ASSIGN_OR_RETURN(Statement s, db->Prepare("PRAGMA user_version"));
  RETURN_IF_ERROR(s.Step().status());
  return s.Int(0);
}

// Switching to WAL needs the file alone for a moment, and SQLite does not
// wait for that by itself.
absl::Status UseWal(Connection* db) {
  absl::Status status;
  for (int attempt = 0; attempt < 300; ++attempt) {
    status = db->Execute("PRAGMA journal_mode=WAL");
    if (!absl::IsUnavailable(status)) return status;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return status;
}

absl::Status Migrate(Connection* db) {
  ASSIGN_OR_RETURN(int64_t version, UserVersion(db));
  if (version == kVersion) return absl::OkStatus();
  ASSIGN_OR_RETURN(Transaction transaction, Transaction::Begin(db));
  // Another process may have migrated while this one waited for the lock.
  ASSIGN_OR_RETURN(version, UserVersion(db));
  if (version > kVersion) {
    return absl::InvalidArgumentError(
        absl::StrCat("database ", db->path(), " has schema version ", version,
                     "; this ptxla-sim knows ", kVersion,
                     ": use a newer ptxla-sim or another --db"));
  }
  for (int64_t v = version; v < kVersion; ++v) {
    RETURN_IF_ERROR(db->Execute(kMigrations[v].text));
    RETURN_IF_ERROR(db->Execute(
        absl::StrCat("INSERT INTO schema_version VALUES (", v + 1,
                     ", CAST(strftime('%s','now') AS INTEGER) * 1000);",
                     "PRAGMA user_version = ", v + 1)));
  }
  return transaction.Commit();
}

// One that is written is a database of ours.
absl::Status CheckOurs(const std::string& path) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0 || info.st_size == 0) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Connection db, Connection::Open(path));
  RETURN_IF_ERROR(UserVersion(&db).status());
  ASSIGN_OR_RETURN(
      Statement tables,
      db.Prepare(
          "SELECT (SELECT count(*) FROM sqlite_master), (SELECT count(*) FROM "
          "sqlite_master WHERE name = 'schema_version')"));
  RETURN_IF_ERROR(tables.Step().status());
  if (tables.Int(0) > 0 && tables.Int(1) == 0) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": it is a database of another program"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Database::CheckWritable(const std::string& path) {
  absl::Status status = ptxla::CheckWritable(path);
  if (status.ok()) status = CheckOurs(path);
  if (status.ok()) return status;
  return absl::InvalidArgumentError(absl::StrCat(
      status.message(), " (choose another database with --db PATH, or none)"));
}

absl::StatusOr<Database> Database::Open(const std::string& path) {
  RETURN_IF_ERROR(CheckWritable(path));
  ASSIGN_OR_RETURN(Connection connection, Connection::Open(path));
  RETURN_IF_ERROR(UseWal(&connection));
  RETURN_IF_ERROR(
      connection.Execute("PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON"));
  RETURN_IF_ERROR(Migrate(&connection));
  return Database(std::move(connection));
}

std::string ProgramHash(const record::ProgramRecord& program) {
  // Messages without maps serialise the same way every time in one build;
  // the version of protobuf is part of the tool.
  return HashToHex(HashBytes(program.SerializeAsString()));
}

}  // namespace ptxla::reports
