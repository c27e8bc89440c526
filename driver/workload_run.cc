#include "driver/workload_run.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/hash.h"
#include "base/parallel.h"
#include "base/status.h"
#include "driver/assumed.h"
#include "driver/device_session.h"
#include "driver/finish_record.h"
#include "driver/look_ahead.h"
#include "driver/stage.h"
#include "driver/workload_config.h"
#include "hlo_backend/ir/printer.h"
#include "lazy/graph_text.h"
#include "reports/timeline.h"
#include "runtime/tpu_executor.h"
#include "workloads/catalog.h"

namespace ptxla::driver {
namespace {

using runtime::Executable;
using runtime::HostCosts;
using runtime::HostEvent;
using runtime::StepLog;
using runtime::StepTrace;
using runtime::TpuExecutor;

// `ahead` may be null.
runtime::CompileFunction CompileOn(DeviceSession* session, DumpWriter* dump,
                                   LookAhead* ahead) {
  return [session, dump, ahead](
             std::unique_ptr<hlo::Module> module,
             const runtime::GraphInfo& info) -> absl::StatusOr<Executable> {
    Executable executable;
    executable.name = module->name();
    if (dump->enabled()) {
      RETURN_IF_ERROR(dump->Write(
          absl::StrCat(module->name(), ".traced.lazy"),
          lazy::PrintGraph(info.traced->graph, info.traced->donors)));
      RETURN_IF_ERROR(dump->Write(absl::StrCat(module->name(), ".traced.hlo"),
                                  hlo::Print(*module)));
    }
    const bool is_first = session->programs().empty();
    CompiledAhead known;
    if (ahead != nullptr && !is_first) known = ahead->Take(info.hash);
    ASSIGN_OR_RETURN(executable.program,
                     session->Add(std::move(module), HashToHex(info.hash),
                                  std::move(known), [&] {
                                    if (ahead != nullptr && is_first)
                                      ahead->GoOn();
                                  }));
    const DeviceProgram& p = session->programs()[executable.program];
    executable.device_time = Picoseconds(p.trace.total_ps());
    executable.compile_time = Picoseconds(p.compile.predicted().value_ps());
    return executable;
  };
}

// Whoever wants to see the passes, or what they were given, has them run here.
bool MayLookAhead(const RunRequest& request, const SessionOptions& options,
                  const DumpWriter& dump) {
  return request.steps > 1 && ParallelWorkers(2) > 1 && !dump.enabled() &&
         !options.verify && !options.prove && !options.keep_modules &&
         options.libtpu == nullptr;
}

// The step as it is once nothing compiles.
StepLog SteadyLog(const StepTrace& step) {
  StepLog log;
  for (const HostEvent& e : step.log) {
    const bool lowering =
        e.kind == HostEvent::kWork && e.work == runtime::HostWork::kLowerNode;
    if (e.kind != HostEvent::kCompile && !lowering) log.push_back(e);
  }
  return log;
}

// Device bounds of every program that the step launches, and what the device
// waited for between them.
record::BoundTimes Bounds(const StepLog& log, const runtime::SteadyStep& steady,
                          const DeviceSession& session) {
  record::BoundTimes b;
  for (const HostEvent& e : log) {
    if (e.kind != HostEvent::kLaunch) continue;
    const record::BoundBreakdown& d = session.programs()[e.count].trace.bound();
    b.set_mxu_ps(b.mxu_ps() + d.mxu_ps());
    b.set_vpu_ps(b.vpu_ps() + d.vpu_ps());
    b.set_hbm_ps(b.hbm_ps() + d.hbm_ps());
    b.set_ici_ps(b.ici_ps() + d.ici_ps());
    b.set_dcn_ps(b.dcn_ps() + d.dcn_ps());
    b.set_host_ps(b.host_ps() + d.host_ps());
    b.set_overhead_ps(b.overhead_ps() + d.overhead_ps());
  }
  b.set_host_ps(b.host_ps() + steady.host.count());
  b.set_input_ps(steady.input.count());
  return b;
}

void FillFirstSteps(const TpuExecutor& executor, const DeviceSession& session,
                    record::RunRecord* record) {
  record::FirstSteps* first = record->mutable_first_steps();
  record::Band* compile = first->mutable_compile();
  for (const DeviceProgram& p : session.programs()) {
    const record::Band& b = p.compile.predicted();
    compile->set_value_ps(compile->value_ps() + b.value_ps());
    compile->set_low_ps(compile->low_ps() + b.low_ps());
    compile->set_high_ps(compile->high_ps() + b.high_ps());
    compile->set_basis(b.basis());
  }
  first->set_compiles(static_cast<int>(session.programs().size()));
  for (const StepTrace& step : executor.steps()) {
    if (step.record.cached()) break;
    first->set_trace_ps(first->trace_ps() + step.record.trace_ps() +
                        step.record.sync_ps());
    first->set_upload_ps(first->upload_ps() + step.record.transfer_ps());
    first->set_total_ps(step.record.end_ps());
  }
}

void FillSteps(const TpuExecutor& executor, const DeviceSession& session,
               record::RunRecord* record) {
  for (const StepTrace& step : executor.steps()) {
    *record->add_steps() = step.record;
  }
  for (const DeviceProgram& p : session.programs()) {
    *record->add_compiles() = p.compile;
    *record->add_programs() = p.record;
    const std::string apart = TakenApartText(p);
    if (!apart.empty()) record->add_warnings(apart);
  }
  record->set_metrics_report(executor.metrics().Report());
}

absl::Status FillSteady(const TpuExecutor& executor,
                        const DeviceSession& session, const HostCosts& host,
                        bool assumed_effects, record::RunRecord* record) {
  const StepTrace& last = executor.steps().back();
  const StepLog log = SteadyLog(last);
  const runtime::SteadyStep steady = runtime::SteadyState(log, host);
  record->mutable_step_time()->set_value_ps(steady.period.count());
  record->set_device_time_ps(steady.device.count());
  record->set_trace_time_ps(last.record.trace_ps() + last.record.sync_ps());
  *record->mutable_time_by_bound() = Bounds(log, steady, session);
  record->set_steady_program(last.program);
  if (!last.record.cached()) {
    record->add_warnings(
        "the last traced step was compiled: its program may not be that of "
        "the steady state (trace more with --steps)");
  }
  if (!assumed_effects) return absl::OkStatus();
  AssumedInputs in;
  in.chip = &session.slice().chip;
  in.host = &host;
  in.bounds = record->time_by_bound();
  in.step = steady.period;
  in.step_time = [&](const chips::ChipSpec& chip,
                     const HostCosts* costs) -> absl::StatusOr<Picoseconds> {
    StepLog moved = log;
    if (chip.fingerprint() != in.chip->fingerprint()) {
      for (HostEvent& e : moved) {
        if (e.kind != HostEvent::kLaunch) continue;
        ASSIGN_OR_RETURN(e.time,
                         session.Resimulate(static_cast<int>(e.count), chip));
      }
    }
    return runtime::SteadyState(moved, *costs).period;
  };
  ASSIGN_OR_RETURN(auto list, AssumedNumbers(in));
  for (record::AssumedRecord& a : list) *record->add_assumed() = std::move(a);
  return absl::OkStatus();
}

// What would make it fit, to first order: temporaries shrink with the batch,
// arguments do not.
void SuggestBatch(record::RunRecord* record) {
  const record::MemoryRecord& m = record->memory();
  const int64_t fixed = m.argument_bytes() + m.code_bytes();
  const int64_t batch = record->config().batch_per_chip();
  if (m.usable_bytes() <= fixed || m.peak_bytes() <= fixed) return;
  const auto fits =
      static_cast<int64_t>(static_cast<double>(batch) *
                           static_cast<double>(m.usable_bytes() - fixed) /
                           static_cast<double>(m.peak_bytes() - fixed));
  if (fits < 1) return;
  record->add_warnings(
      absl::StrCat("about --batch-per-chip ", fits, " would fit"));
}

std::string Timeline(const record::RunRecord& record,
                     const TpuExecutor& executor,
                     const DeviceSession& session) {
  std::vector<reports::HostSpan> host;
  for (const runtime::Span& s : executor.spans()) {
    host.push_back({static_cast<reports::HostSpan::Track>(s.track), s.name,
                    s.begin.count(), s.end.count()});
  }
  std::vector<reports::DeviceSpan> device;
  for (const runtime::ExecutionTrace& e : executor.executions()) {
    device.push_back(
        {e.times.begin.count(), &session.programs()[e.program].trace});
  }
  return reports::RenderTimeline(record, host, device);
}

}  // namespace

absl::StatusOr<Prediction> RunWorkload(const RunRequest& request,
                                       const chips::Slice& slice) {
  auto spec = ResolveWorkload(request);
  if (!spec.ok()) return At("arguments", spec.status());
  DumpWriter dump;
  if (!request.dump_to.empty()) {
    ASSIGN_OR_RETURN(dump, DumpWriter::Create(request.dump_to));
  }
  ASSIGN_OR_RETURN(const HostCosts host, HostCosts::For(slice.chip));
  ASSIGN_OR_RETURN(const SessionOptions options, MakeSessionOptions(request));
  DeviceSession session(slice, host, options, &dump);
  const int replicas = slice.topology.num_devices();
  std::optional<LookAhead> ahead;
  if (MayLookAhead(request, options, dump)) {
    ahead.emplace(*spec, slice, session.NextOptions());
  }
  TpuExecutor executor(host,
                       CompileOn(&session, &dump, ahead ? &*ahead : nullptr),
                       {replicas, request.timeline});
  lazy::Device device(&executor);
  auto workload = workloads::MakeWorkload(*spec, &device, {replicas});
  if (!workload.ok()) return At("arguments", workload.status());

  Prediction prediction;
  record::RunRecord& record = prediction.record;
  DescribeSlice(slice, record.mutable_config());
  const workloads::WorkloadFacts& facts = (*workload)->facts();
  DescribeWorkload(*spec, facts, slice, record.mutable_config());
  if (options.libtpu != nullptr) {
    record.mutable_config()->set_compiler(options.libtpu->name());
  }
  record.mutable_config()->set_mode(request.mode);
  record.mutable_config()->set_fidelity(request.fidelity);
  record.mutable_config()->set_steps(request.steps);
  record.mutable_config()->set_estimate_unknown_ops(
      request.estimate_unknown_ops);
  record.set_model_flops_per_step_per_chip(static_cast<int64_t>(
      facts.model_flops * slice.topology.devices_per_chip()));
  record.mutable_status()->set_code("OK");
  for (int step = 0; step < request.steps; ++step) {
    const absl::Status status = (*workload)->Step();
    if (status.ok()) continue;
    if (!absl::IsResourceExhausted(status) || session.programs().empty()) {
      return At("trace", status);
    }
    *record.mutable_memory() = session.programs().back().memory;
    *record.add_compiles() = session.programs().back().compile;
    record.mutable_status()->set_code("RESOURCE_EXHAUSTED");
    record.mutable_status()->set_message(std::string(status.message()));
    record.mutable_status()->set_where("compile");
    SuggestBatch(&record);
    FinishRecord(slice, &record);
    return prediction;
  }
  FillSteps(executor, session, &record);
  FillFirstSteps(executor, session, &record);
  RETURN_IF_ERROR(
      FillSteady(executor, session, host, request.assumed_effects, &record));
  *record.mutable_memory() = session.programs()[record.steady_program()].memory;
  if (!request.explain.empty()) {
    ASSIGN_OR_RETURN(prediction.explanation,
                     session.Explain(record.steady_program(), request.explain));
  }
  FinishRecord(slice, &record);
  if (request.timeline) {
    prediction.timeline = Timeline(record, executor, session);
  }
  for (const DeviceProgram& p : session.programs()) {
    prediction.traces.push_back(p.trace);
    if (p.verification) {
      prediction.verifications.push_back(p.verification->Line());
    }
  }
  return prediction;
}

}  // namespace ptxla::driver
