#include "driver/hlo_run.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/status.h"
#include "driver/assumed.h"
#include "driver/device_session.h"
#include "driver/finish_record.h"
#include "driver/hlo_input.h"
#include "driver/hlo_warnings.h"
#include "driver/stage.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/printer.h"
#include "reports/format.h"
#include "reports/timeline.h"

namespace ptxla::driver {
namespace {

// The device's bounds are the step's: there is no host in it.
void AddBounds(const record::DeviceTrace& trace, record::BoundTimes* b) {
  const record::BoundBreakdown& t = trace.bound();
  b->set_mxu_ps(b->mxu_ps() + t.mxu_ps());
  b->set_vpu_ps(b->vpu_ps() + t.vpu_ps());
  b->set_hbm_ps(b->hbm_ps() + t.hbm_ps());
  b->set_ici_ps(b->ici_ps() + t.ici_ps());
  b->set_dcn_ps(b->dcn_ps() + t.dcn_ps());
  b->set_host_ps(b->host_ps() + t.host_ps());
  b->set_overhead_ps(b->overhead_ps() + t.overhead_ps());
}

void Describe(const RunRequest& request, const chips::Slice& slice,
              const std::vector<HloInput>& inputs,
              const std::vector<std::string>& notes,
              record::RunConfig* config) {
  DescribeSlice(slice, config);
  const bool several = inputs.size() > 1;
  config->set_hlo_source(several || request.hlo == "-" ? request.hlo
                                                       : inputs[0].path);
  std::string hashes;
  for (const HloInput& input : inputs) hashes += input.hash;
  config->set_input_hash(several ? HashToHex(HashBytes(hashes)) : hashes);
  config->set_fidelity(request.fidelity);
  config->set_steps(1);
  config->set_samples_per_step(1);
  config->set_sample_unit("executions");
  config->set_estimate_unknown_ops(request.estimate_unknown_ops);
  config->set_title(
      several ? absl::StrCat(inputs.size(),
                             " HLO modules, one execution of each, host not "
                             "included")
              : absl::StrCat("HLO module ", inputs[0].module->name(),
                             ", one execution, host not included"));
  for (const std::string& note : notes) config->add_assumptions(note);
}

// Hot spots are those of the program that takes longest.
int LongestProgram(const record::RunRecord& record) {
  int longest = 0;
  for (int p = 1; p < record.programs_size(); ++p) {
    if (record.programs(p).device_time_ps() >
        record.programs(longest).device_time_ps()) {
      longest = p;
    }
  }
  return longest;
}

// All modules are compiled before the first of them runs.
void FillFirstSteps(record::RunRecord* record) {
  record::FirstSteps* first = record->mutable_first_steps();
  record::Band* sum = first->mutable_compile();
  *sum = record->compiles(0).predicted();
  for (int c = 1; c < record->compiles_size(); ++c) {
    const record::Band& more = record->compiles(c).predicted();
    sum->set_value_ps(sum->value_ps() + more.value_ps());
    sum->set_low_ps(sum->low_ps() + more.low_ps());
    sum->set_high_ps(sum->high_ps() + more.high_ps());
  }
  first->set_compiles(record->compiles_size());
  first->set_total_ps(sum->value_ps());
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
  read.sizes = request.sizes;
  std::vector<std::string> notes;
  ASSIGN_OR_RETURN(std::vector<HloInput> inputs,
                   ReadHloModules(request.hlo, read, &notes));
  ASSIGN_OR_RETURN(const runtime::HostCosts host,
                   runtime::HostCosts::For(slice.chip));

  Prediction prediction;
  record::RunRecord& record = prediction.record;
  Describe(request, slice, inputs, notes, record.mutable_config());
  record.mutable_status()->set_code("OK");

  ASSIGN_OR_RETURN(const SessionOptions options, MakeSessionOptions(request));
  DeviceSession session(slice, host, options, &dump);
  if (options.libtpu != nullptr) {
    record.mutable_config()->set_compiler(options.libtpu->name());
  }
  const bool several = inputs.size() > 1;
  Picoseconds total;
  bool assumed_loops = false;
  for (HloInput& input : inputs) {
    if (!request.dump_to.empty()) {
      RETURN_IF_ERROR(dump.Write("input.hlo", input.text.empty()
                                                  ? hlo::Print(*input.module)
                                                  : input.text));
    }
    RETURN_IF_ERROR(At("verify", CheckDevices(*input.module, slice)));
    WarnOfInput(input, request.elided, &record);
    const auto index = session.Add(std::move(input.module), input.hash);
    if (!index.ok() && !absl::IsResourceExhausted(index.status())) {
      const auto where = InFile(input.path, index.status());
      return At(
          StageOf(index.status()),
          several
              ? AddContext(where, absl::StrCat(
                                      "one of ", inputs.size(),
                                      " modules (--hlo-module chooses others)"))
              : where);
    }
    const DeviceProgram& program = session.programs().back();
    assumed_loops |= WarnOfAssumedLoops(program.program.schedule, &record);
    const std::string apart = TakenApartText(program);
    if (!apart.empty()) record.add_warnings(apart);
    if (program.memory.peak_bytes() >= record.memory().peak_bytes()) {
      *record.mutable_memory() = program.memory;
    }
    *record.add_compiles() = program.compile;
    if (!index.ok()) {
      record.mutable_status()->set_code("RESOURCE_EXHAUSTED");
      record.mutable_status()->set_message(
          std::string(index.status().message()));
      record.mutable_status()->set_where("compile");
      FinishRecord(slice, &record);
      return prediction;
    }
    *record.add_programs() = program.record;
    prediction.traces.push_back(program.trace);
    if (program.verification) {
      prediction.verifications.push_back(program.verification->Line());
    }
    AddBounds(program.trace, record.mutable_time_by_bound());
    total += Picoseconds(program.trace.total_ps());
    if (several) {
      record.mutable_config()->add_assumptions(absl::StrCat(
          program.record.name(), " takes ",
          reports::Duration(Picoseconds(program.trace.total_ps())), ", once"));
    }
  }
  if (request.assumed_trip_count != 0 && !assumed_loops) {
    record.add_warnings(
        "--trip-count changed nothing: no loop's count depends on data");
  }
  const int longest = LongestProgram(record);
  record.set_steady_program(longest);
  record.set_device_time_ps(total.count());
  record.mutable_step_time()->set_value_ps(total.count());
  FillFirstSteps(&record);
  if (!request.explain.empty()) {
    ASSIGN_OR_RETURN(prediction.explanation,
                     session.Explain(longest, request.explain));
  }
  if (request.assumed_effects && !several) {
    RETURN_IF_ERROR(FillAssumed(slice, session, 0, &record));
  }
  FinishRecord(slice, &record);
  if (request.timeline) {
    prediction.timeline = reports::RenderTimeline(
        record, {}, {{longest, &prediction.traces[longest]}});
  }
  return prediction;
}

}  // namespace ptxla::driver
