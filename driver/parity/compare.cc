#include "driver/parity/compare.h"

#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/device_session.h"
#include "driver/hlo_input.h"
#include "driver/stage.h"
#include "hlo_backend/input/elided_values.h"

namespace ptxla::driver {
namespace {

constexpr char kOurs[] = "ptxla-sim";

absl::Status CheckFile(const std::string& name) {
  for (const char* prefix : {"run:", "slice:"}) {
    if (absl::StartsWith(name, prefix)) {
      return At("arguments", absl::UnimplementedError(absl::StrCat(
                                 "compare takes HLO files, not ", name,
                                 ": runs and slices are compared by their "
                                 "reports (run --json)")));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<HloInput> Read(const std::string& path,
                              const RunRequest& request,
                              const chips::Slice& slice) {
  HloInputOptions read;
  auto elided = hlo::ParseElidedValues(request.elided);
  if (!elided.ok()) return At("arguments", elided.status());
  read.elided = *elided;
  read.module = request.hlo_module;
  read.stage = request.hlo_stage;
  read.sizes = request.sizes;
  ASSIGN_OR_RETURN(HloInput input, ReadHlo(path, read));
  RETURN_IF_ERROR(At("verify", CheckDevices(*input.module, slice)));
  return input;
}

// The first argument or result in which two entries differ.
std::string Difference(const hlo::Module& there, const hlo::Module& here) {
  const auto& theirs = there.entry()->parameters();
  const auto& ours = here.entry()->parameters();
  const auto differ = [](absl::string_view what, const auto& a, const auto& b) {
    return absl::StrCat("not the same program: ", what, " ", a, " there, ", b,
                        " here");
  };
  if (theirs.size() != ours.size()) {
    return differ("arguments are", theirs.size(), ours.size());
  }
  for (size_t n = 0; n < ours.size(); ++n) {
    const hlo::Shape& a = theirs[n]->shape();
    const hlo::Shape& b = ours[n]->shape();
    if (a.SameDimsAndType(b)) continue;
    return differ(absl::StrCat("argument ", n, " is"), a.ToString(),
                  b.ToString());
  }
  const hlo::Shape& a = there.entry()->root()->shape();
  const hlo::Shape& b = here.entry()->root()->shape();
  return a.SameDimsAndType(b)
             ? ""
             : differ("the result is", a.ToString(), b.ToString());
}

// An error says in whose schedule it is.
absl::StatusOr<TimedSchedule> Time(std::unique_ptr<hlo::Module> module,
                                   const chips::Slice& slice,
                                   const RunRequest& request,
                                   const std::string& whose) {
  hlo::CompileOptions options;
  options.estimate_unknown_ops = request.estimate_unknown_ops;
  options.assumed_trip_count = request.assumed_trip_count;
  auto timed = TimeSchedule(std::move(module), slice, options);
  if (timed.ok()) return timed;
  return At(StageOf(timed.status()),
            AddContext(timed.status(), absl::StrCat("schedule of ", whose)));
}

}  // namespace

absl::StatusOr<ComparedCompilers> CompareFiles(const CompareRequest& request) {
  const RunRequest& run = request.run;
  RETURN_IF_ERROR(CheckFile(run.hlo));
  RETURN_IF_ERROR(CheckFile(request.other));
  ASSIGN_OR_RETURN(const chips::Slice slice, FindSlice(run));
  ASSIGN_OR_RETURN(HloInput input, Read(run.hlo, run, slice));
  ComparedCompilers result;
  result.program = input.module->name();
  result.topology = slice.topology.name();
  result.here = kOurs;
  std::unique_ptr<hlo::Module> theirs;
  if (request.other.empty()) {
    ASSIGN_OR_RETURN(const SessionOptions session, MakeSessionOptions(run));
    if (session.libtpu == nullptr) {
      return At("arguments",
                absl::InvalidArgumentError(
                    "compare needs a second file or --compiler=libtpu"));
    }
    result.there = session.libtpu->name();
    auto scheduled = session.libtpu->Compile(*input.module, slice);
    if (!scheduled.ok()) return At("compile", scheduled.status());
    theirs = *std::move(scheduled);
  } else {
    ASSIGN_OR_RETURN(HloInput other, Read(request.other, run, slice));
    result.there = request.other;
    theirs = std::move(other.module);
    result.warning = Difference(*theirs, *input.module);
  }
  ASSIGN_OR_RETURN(const TimedSchedule there,
                   Time(std::move(theirs), slice, run, result.there));
  ASSIGN_OR_RETURN(const TimedSchedule here,
                   Time(std::move(input.module), slice, run, result.here));
  result.kernels = CompareKernels(there, here);
  return result;
}

}  // namespace ptxla::driver
