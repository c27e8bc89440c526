// The run database: one SQLite file that many processes may write.
//
//   ASSIGN_OR_RETURN(Database db, Database::Open("ptxla-sim.sqlite"));
//   RETURN_IF_ERROR(db.Save(record));
//   ASSIGN_OR_RETURN(record::RunRecord again, db.Load(record.run_id()));
//
// schema.sql says what is stored. A run is one transaction: it is there whole
// or not at all.
#ifndef PTXLA_REPORTS_DATABASE_H_
#define PTXLA_REPORTS_DATABASE_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "record/run_record.pb.h"
#include "reports/sqlite.h"

namespace ptxla::reports {

class Database {
 public:
  // Whether Open and Save can succeed, without writing anything: to fail
  // before a simulation and not after it. InvalidArgument with the path and
  // the reason.
  static absl::Status CheckWritable(const std::string& path);

  // Creates the file and its tables if they are missing and migrates an older
  // schema. InvalidArgument if the file is no database, cannot be written, or
  // was written by a newer version.
  static absl::StatusOr<Database> Open(const std::string& path);

  absl::Status Save(const record::RunRecord& run);

  // By id or by a prefix that only one run has. NotFound otherwise.
  // What is outside the tables (wall times of passes) is not restored.
  absl::StatusOr<record::RunRecord> Load(absl::string_view run_id);

  // For reports that ask their own questions of the views.
  sqlite::Connection& connection() { return connection_; }

 private:
  explicit Database(sqlite::Connection c) : connection_(std::move(c)) {}

  sqlite::Connection connection_;
};

// Content hash under which a program's ops are stored once.
std::string ProgramHash(const record::ProgramRecord& program);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_DATABASE_H_
