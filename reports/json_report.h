// The JSON form of a run and of an error: one object, schema_version first.
#ifndef PTXLA_REPORTS_JSON_REPORT_H_
#define PTXLA_REPORTS_JSON_REPORT_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "record/run_record.pb.h"

namespace ptxla::reports {

inline constexpr int kJsonSchemaVersion = 1;

// Seconds, dollars and fractions as numbers; what does not apply is null.
// Ends with a newline.
std::string RunJson(const record::RunRecord& run);

// `where` is the stage that failed ("arguments", "parse", "compile", …).
std::string ErrorJson(const absl::Status& status, absl::string_view where);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_JSON_REPORT_H_
