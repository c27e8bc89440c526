// A thin, typed layer over SQLite's C interface: connections and prepared
// statements that free themselves and report errors as absl::Status with the
// path of the database.
//
//   ASSIGN_OR_RETURN(sqlite::Connection db, sqlite::Connection::Open(path));
//   ASSIGN_OR_RETURN(sqlite::Statement s, db.Prepare("SELECT ?1 + 1"));
//   s.Bind(1, int64_t{41});
//   ASSIGN_OR_RETURN(bool row, s.Step());        // true: a row is there
//   int64_t answer = s.Int(0);
#ifndef PTXLA_REPORTS_SQLITE_H_
#define PTXLA_REPORTS_SQLITE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

struct sqlite3;
struct sqlite3_stmt;

namespace ptxla::reports::sqlite {

class Statement {
 public:
  // Parameters count from 1, columns from 0, as in SQLite.
  void Bind(int parameter, int64_t value);
  void Bind(int parameter, double value);
  void Bind(int parameter, absl::string_view value);
  void BindNull(int parameter);

  // True: a row is ready. False: done.
  absl::StatusOr<bool> Step();
  // Runs a statement that gives no rows and makes it ready for new values.
  absl::Status Run();
  void Reset();

  bool IsNull(int column) const;
  int64_t Int(int column) const;
  double Real(int column) const;
  std::string Text(int column) const;

 private:
  friend class Connection;
  struct Finalize {
    void operator()(sqlite3_stmt* s) const;
  };
  Statement(sqlite3* db, std::string path, sqlite3_stmt* s)
      : db_(db), path_(std::move(path)), statement_(s) {}

  sqlite3* db_;
  std::string path_;
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Connection {
 public:
  // Creates the file if it is missing. Waits up to 30 s for other writers.
  static absl::StatusOr<Connection> Open(const std::string& path);

  absl::StatusOr<Statement> Prepare(absl::string_view sql);
  // One or more statements without parameters.
  absl::Status Execute(const std::string& sql);

  const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> db_;
};

// Rolls back unless committed.
class Transaction {
 public:
  // Takes the write lock at once, so that it waits here and nowhere later.
  static absl::StatusOr<Transaction> Begin(Connection* db);
  Transaction(Transaction&& other) : db_(other.db_) { other.db_ = nullptr; }
  ~Transaction();
  absl::Status Commit();

 private:
  explicit Transaction(Connection* db) : db_(db) {}
  Connection* db_;
};

}  // namespace ptxla::reports::sqlite

#endif  // PTXLA_REPORTS_SQLITE_H_
