// Binds the values of one row in order.
//
//   ASSIGN_OR_RETURN(Inserter insert, Inserter::Into(&db, "pass", 7));
//   RETURN_IF_ERROR(insert.Row(run_id, 0, 1, "dce", true, 100, 90));
#ifndef PTXLA_REPORTS_ROW_H_
#define PTXLA_REPORTS_ROW_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "base/check.h"
#include "base/status.h"
#include "reports/sqlite.h"

namespace ptxla::reports {

class Inserter {
 public:
  // With `ignore`, a row whose key is there already is left as it is.
  static absl::StatusOr<Inserter> Into(sqlite::Connection* db,
                                       absl::string_view table, int columns,
                                       bool ignore = false) {
    std::string sql = absl::StrCat("INSERT ", ignore ? "OR IGNORE " : "",
                                   "INTO ", table, " VALUES (?");
    for (int i = 1; i < columns; ++i) absl::StrAppend(&sql, ",?");
    absl::StrAppend(&sql, ")");
    ASSIGN_OR_RETURN(sqlite::Statement s, db->Prepare(sql));
    return Inserter(std::move(s), columns);
  }

  template <class... T>
  absl::Status Row(const T&... values) {
    CHECK_EQ(static_cast<int>(sizeof...(values)), columns_);
    at_ = 0;
    (Add(values), ...);
    return statement_.Run();
  }

 private:
  Inserter(sqlite::Statement s, int columns)
      : statement_(std::move(s)), columns_(columns) {}

  template <class T>
  void Add(const T& value) {
    if constexpr (std::is_integral_v<T>) {
      statement_.Bind(++at_, static_cast<int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      statement_.Bind(++at_, static_cast<double>(value));
    } else {
      statement_.Bind(++at_, absl::string_view(value));
    }
  }
  template <class T>
  void Add(const std::optional<T>& value) {
    if (value.has_value()) {
      Add(*value);
    } else {
      statement_.BindNull(++at_);
    }
  }

  sqlite::Statement statement_;
  int columns_;
  int at_ = 0;
};

// Reads the columns of a row in order.
class Columns {
 public:
  explicit Columns(const sqlite::Statement* s) : statement_(s) {}
  int64_t Int() { return statement_->Int(at_++); }
  double Real() { return statement_->Real(at_++); }
  std::string Text() { return statement_->Text(at_++); }
  // True and no step if there is a value; false and the column is skipped.
  bool Has() {
    if (!statement_->IsNull(at_)) return true;
    ++at_;
    return false;
  }

 private:
  const sqlite::Statement* statement_;
  int at_ = 0;
};

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_ROW_H_
