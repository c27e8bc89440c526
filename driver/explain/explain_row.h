// One row of a table of measurements, looked at closely: what the clock of its
// convention sees, what the program's ops take, and why the longest takes it.
//
//   ASSIGN_OR_RETURN(ExplainedRow e, ExplainRow(row, {}));
//   std::puts(ExplainedRowText(e).c_str());
#ifndef PTXLA_DRIVER_EXPLAIN_EXPLAIN_ROW_H_
#define PTXLA_DRIVER_EXPLAIN_EXPLAIN_ROW_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "driver/measured_rows.h"
#include "driver/validation.h"
#include "record/explanation.pb.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

struct ExplainedRow {
  MeasuredRow row;
  double predicted_us = 0;
  record::ProgramRecord program;  // one execution on the device
  record::Explanation longest;    // of the op that takes longest
};

// InvalidArgument: the row cannot run.
absl::StatusOr<ExplainedRow> ExplainRow(const MeasuredRow& row,
                                        const ValidationOptions& options);

std::string ExplainedRowText(const ExplainedRow& e);

// "device time of the whole program, first instruction to last byte written".
const char* TimingSentence(Timing timing);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EXPLAIN_EXPLAIN_ROW_H_
