// Where a step goes, as two tables side by side: its time by bound on the left,
// the hot spots of its program on the right.
//
//   where the step goes   ms    share     hot spots (layer)          ms  of
//   peak MXU                 59.0   47.5 %     encoder.*.ffn matmul x144  40.8
//   62 % F
#ifndef PTXLA_REPORTS_BREAKDOWN_H_
#define PTXLA_REPORTS_BREAKDOWN_H_

#include <string>

#include "record/run_record.pb.h"

namespace ptxla::reports {

// `run` has a step time. Lines end in newlines.
std::string RenderBreakdown(const record::RunRecord& run);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_BREAKDOWN_H_
