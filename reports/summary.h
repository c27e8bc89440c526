// The terminal report of one run (outputs.md shows it).
#ifndef PTXLA_REPORTS_SUMMARY_H_
#define PTXLA_REPORTS_SUMMARY_H_

#include <string>

#include "record/run_record.pb.h"

namespace ptxla::reports {

struct SummaryOptions {
  std::string saved_to;  // empty: not saved
};

// Lines for what applies, each ending in a newline. A run that does not fit
// prints what it needs and has no time.
std::string RenderSummary(const record::RunRecord& run,
                          const SummaryOptions& options);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_SUMMARY_H_
