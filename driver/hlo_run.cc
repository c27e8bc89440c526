#include "driver/hlo_run.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/assumed.h"
#include "driver/device_session.h"
#include "driver/finish_record.h"
#include "driver/hlo_input.h"
#include "driver/stage.h"
#include "hlo_backend/ir/printer.h"
#include "reports/timeline.h"

namespace ptxla::driver {
namespace {

absl::Status CheckDevices(const hlo::Module& module,
                          const chips::Slice& slice) {
  const int64_t wanted = module.DeviceCount();
  const int have = slice.topology.num_devices();
  if (wanted <= have) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "module ", module.name(), " is for ", wanted, " devices; ",
      slice.topology.name(), " has ", have, ": choose a larger --topology"));
}

// The device's bounds are the step's: there is no host in it.
record::BoundTimes AllBounds(const record::DeviceTrace& trace) {
  record::BoundTimes b;
  b.set_mxu_ps(trace.bound().mxu_ps());
  b.set_vpu_ps(trace.bound().vpu_ps());
  b.set_hbm_ps(trace.bound().hbm_ps());
  b.set_ici_ps(trace.bound().ici_ps());
  b.set_dcn_ps(trace.bound().dcn_ps());
  b.set_host_ps(trace.bound().host_ps());
  b.set_overhead_ps(trace.bound().overhead_ps());
  return b;
}

absl::Status FillAssumed(const chips::Slice& slice,
                         const DeviceSession& session, int program,
                         record::RunRecord* record) {
  AssumedInputs in;
  in.chip = &slice.chip;
  in.bounds = record->time_by_bound();
  in.step = Picoseconds(record->step_time().value_ps());
  in.step_time = [&](const chips::ChipSpec& chip, const runtime::HostCosts*) {
    return session.Resimulate(program, chip);
  };
  ASSIGN_OR_RETURN(auto list, AssumedNumbers(in));
  for (record::AssumedRecord& a : list) *record->add_assumed() = std::move(a);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Prediction> RunHlo(const RunRequest& request,
                                  const chips::Slice& slice) {
  DumpWriter dump;
  if (!request.dump_to.empty()) {
    ASSIGN_OR_RETURN(dump, DumpWriter::Create(request.dump_to));
  }
  HloInputOptions read;
  ASSIGN_OR_RETURN(read.elided, hlo::ParseElidedValues(request.elided));
  read.module = request.hlo_module;
  read.stage = request.hlo_stage;
  ASSIGN_OR_RETURN(HloInput input, ReadHlo(request.hlo, read));
  if (!request.dump_to.empty()) {
    RETURN_IF_ERROR(dump.Write("input.hlo", input.text.empty()
                                                ? hlo::Print(*input.module)
                                                : input.text));
  }
  RETURN_IF_ERROR(At("verify", CheckDevices(*input.module, slice)));
  ASSIGN_OR_RETURN(const runtime::HostCosts host,
                   runtime::HostCosts::For(slice.chip));

  Prediction prediction;
  record::RunRecord& record = prediction.record;
  record::RunConfig& config = *record.mutable_config();
  DescribeSlice(slice, &config);
  config.set_hlo_source(request.hlo == "-" ? request.hlo : input.path);
  config.set_input_hash(input.hash);
  config.set_fidelity(request.fidelity);
  config.set_steps(1);
  config.set_estimate_unknown_ops(request.estimate_unknown_ops);
  config.set_title(absl::StrCat("HLO module ", input.module->name(),
                                ", one execution, host not included"));

  SessionOptions options;
  ASSIGN_OR_RETURN(options.fidelity, sim::ParseFidelity(request.fidelity));
  options.estimate_unknown_ops = request.estimate_unknown_ops;
  options.verify = request.verify;
  options.prove = request.prove;
  options.transfers = request.timeline;
  options.keep_modules = !request.explain.empty();
  DeviceSession session(slice, host, options, &dump);
  const std::string source = input.path;
  const auto index = session.Add(std::move(input.module), input.hash);
  if (!index.ok() && !absl::IsResourceExhausted(index.status())) {
    return At(StageOf(index.status()), AddContext(index.status(), source));
  }
  const DeviceProgram& program = session.programs().back();
  *record.mutable_memory() = program.memory;
  *record.add_compiles() = program.compile;
  record.mutable_status()->set_code("OK");
  if (!index.ok()) {
    record.mutable_status()->set_code("RESOURCE_EXHAUSTED");
    record.mutable_status()->set_message(std::string(index.status().message()));
    record.mutable_status()->set_where("compile");
    FinishRecord(slice, &record);
    return prediction;
  }
  *record.add_programs() = program.record;
  record.set_steady_program(0);
  record.set_device_time_ps(program.trace.total_ps());
  record.mutable_step_time()->set_value_ps(program.trace.total_ps());
  *record.mutable_time_by_bound() = AllBounds(program.trace);
  record::FirstSteps* first = record.mutable_first_steps();
  *first->mutable_compile() = program.compile.predicted();
  first->set_compiles(1);
  first->set_total_ps(program.compile.predicted().value_ps());
  if (!request.explain.empty()) {
    ASSIGN_OR_RETURN(prediction.explanation,
                     session.Explain(*index, request.explain));
  }
  if (request.assumed_effects) {
    RETURN_IF_ERROR(FillAssumed(slice, session, *index, &record));
  }
  FinishRecord(slice, &record);
  if (request.timeline) {
    prediction.timeline =
        reports::RenderTimeline(record, {}, {{0, &program.trace}});
  }
  prediction.traces.push_back(program.trace);
  if (program.verification) {
    prediction.verifications.push_back(program.verification->Line());
  }
  return prediction;
}

}  // namespace ptxla::driver
