#include "driver/explain/explain_row.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "driver/explain/explain.h"
#include "driver/program_record.h"
#include "driver/timed_program.h"
#include "reports/explanation.h"
#include "reports/format.h"

namespace ptxla::driver {
namespace {

constexpr int kOps = 12;

const char* ResidencyText(Residency residency) {
  switch (residency) {
    case Residency::kHbm:
      return "HBM";
    case Residency::kCmem:
      return "CMEM";
    case Residency::kVmem:
      return "VMEM";
  }
  return "?";
}

}  // namespace

const char* TimingSentence(Timing timing) {
  switch (timing) {
    case Timing::kDeviceEvent:
      return "device time of the whole program, first instruction to last "
             "byte written; no host";
    case Timing::kChainSlope:
      return "marginal time of one iteration of the loop: (T(2C) - T(C)) / C";
    case Timing::kCopyWait:
      return "from the start of the copy to the end of the wait for it";
    case Timing::kHostAsync:
      return "period of calls that nobody waits for, seen by the host";
    case Timing::kHostSync:
      return "one call and the wait for its result, seen by the host";
    case Timing::kNotRunnable:
      return "not run";
  }
  return "?";
}

absl::StatusOr<ExplainedRow> ExplainRow(const MeasuredRow& row,
                                        const ValidationOptions& options) {
  if (!row.runnable()) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.id, " has no program that runs"));
  }
  ASSIGN_OR_RETURN(const chips::Slice slice, SliceOfRow(row, options));
  ASSIGN_OR_RETURN(TimedProgram program, CompileRow(row, slice, options));
  ExplainedRow e;
  e.row = row;
  ASSIGN_OR_RETURN(const Picoseconds time, program.Time(row.timing));
  e.predicted_us = static_cast<double>(time.count()) / 1e6;
  ASSIGN_OR_RETURN(const record::DeviceTrace trace, program.Trace());
  e.program = MakeProgramRecord(trace, slice);
  if (e.program.ops().empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(row.id, ": no op of its program runs"));
  }
  const record::OpRecord* longest = &e.program.ops(0);
  ASSIGN_OR_RETURN(
      e.longest,
      ExplainOp(
          {slice, program.module(), {}, program.program(), trace, e.program},
          longest->name()));
  return e;
}

std::string ExplainedRowText(const ExplainedRow& e) {
  const MeasuredRow& row = e.row;
  std::string out =
      absl::StrFormat("%s  %s on %s, operands in %s\n", row.id,
                      row.program.substr(row.program.rfind('/') + 1),
                      row.target, ResidencyText(row.residency));
  absl::StrAppendFormat(
      &out, "  measured   %10s us\n  predicted  %10s us  %+.1f %%\n",
      reports::Significant(*row.time_us, 4),
      reports::Significant(e.predicted_us, 4),
      100 * (e.predicted_us / *row.time_us - 1));
  absl::StrAppendFormat(&out, "  clock      %s: %s\n", TimingName(row.timing),
                        TimingSentence(row.timing));
  int64_t in_ops = 0;
  for (const record::OpRecord& op : e.program.ops()) in_ops += op.time_ps();
  const auto us = [](int64_t ps) { return static_cast<double>(ps) / 1e6; };
  absl::StrAppendFormat(&out, "\n  %-44s %10s %8s %6s  %s\n",
                        "one execution on the device", "us", "share", "runs",
                        "bound");
  const double whole =
      static_cast<double>(std::max<int64_t>(1, e.program.device_time_ps()));
  for (int k = 0; k < e.program.ops_size(); ++k) {
    const record::OpRecord& op = e.program.ops(k);
    if (k == kOps) {
      int64_t rest = 0;
      for (int j = k; j < e.program.ops_size(); ++j) {
        rest += e.program.ops(j).time_ps();
      }
      absl::StrAppendFormat(
          &out, "  %-44s %10.3f %8s\n",
          absl::StrCat(e.program.ops_size() - k, " ops more"), us(rest),
          reports::Percent(static_cast<double>(rest) / whole));
      break;
    }
    absl::StrAppendFormat(
        &out, "  %-44s %10.3f %8s %6d  %s\n", op.name(), us(op.time_ps()),
        reports::Percent(static_cast<double>(op.time_ps()) / whole), op.count(),
        op.bound());
  }
  const int64_t between = e.program.device_time_ps() - in_ops;
  absl::StrAppendFormat(&out, "  %-44s %10.3f %8s\n", "prologue, between ops",
                        us(between),
                        reports::Percent(static_cast<double>(between) / whole));
  absl::StrAppendFormat(&out, "  %-44s %10.3f\n\n", "total",
                        us(e.program.device_time_ps()));
  return out + reports::ExplanationText(e.longest);
}

}  // namespace ptxla::driver
