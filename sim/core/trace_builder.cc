#include "sim/core/trace_builder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "isa/matmul_type.h"

namespace ptxla::sim {
namespace {

// How the lowering marks a kernel that only takes time.
constexpr char kEstimateNote[] = "ESTIMATE";

record::TransferTrace::Resource ResourceOf(Memory memory) {
  switch (memory) {
    case Memory::kHbm:
      return record::TransferTrace::HBM;
    case Memory::kOnChip:
      return record::TransferTrace::ON_CHIP;
    case Memory::kHost:
      return record::TransferTrace::HOST;
  }
  return record::TransferTrace::HBM;
}

// A copy inside HBM reads and writes it.
int64_t HbmSides(const isa::Program& program, const isa::Op& op) {
  const auto& copy = std::get<isa::CopyStart>(op.action);
  int64_t sides = 0;
  for (const isa::BufferSlice* slice : {&copy.from, &copy.to}) {
    sides += program.buffers[slice->buffer].space == isa::Space::kHbm;
  }
  return sides;
}

// One execution of the kernel's products at the peak of the device's MXUs.
int64_t MxuPeakPs(const isa::Kernel& kernel, const chips::Slice& slice) {
  if (kernel.work.mxu_flops == 0) return 0;
  const double peak = slice.chip.PeakMatmul(isa::MatmulTypeOf(kernel)).count() /
                      slice.topology.devices_per_chip();
  return static_cast<int64_t>(
      std::round(static_cast<double>(kernel.work.mxu_flops) / peak * 1e12));
}

void FillOp(const isa::Program& program, const OpEvent& event,
            const DeviceModel& device, record::OpTrace* op) {
  const Clock& clock = device.clock;
  const isa::OpInfo& info = event.op->info;
  op->set_name(info.name);
  op->set_opcode(info.opcode);
  op->set_layer(info.layer);
  if (!info.source_file.empty()) {
    op->set_source(absl::StrCat(info.source_file, ":", info.source_line));
  }
  op->set_start_ps(clock.ToTime(Cycles(event.start)).count());
  op->set_end_ps(clock.ToTime(Cycles(event.end)).count());
  op->set_cycles(event.end - event.start);
  *op->mutable_bound() = ToPicoseconds(event.bounds, event.start, clock);
  op->set_flops(info.flops);
  op->set_bytes(info.bytes);
  op->set_repeat(event.repeat);
  op->set_cores(1);
  if (const auto* call = std::get_if<isa::Call>(&event.op->action)) {
    const isa::Kernel& kernel = program.kernels[call->kernel];
    op->set_kernel(kernel.name);
    op->set_estimated(absl::StartsWith(kernel.note, kEstimateNote));
    op->set_cores(call->cores);
    op->set_grid_steps(kernel.NumSteps());
    if (op->flops() == 0) op->set_flops(kernel.work.flops);
    op->set_mxu_peak_ps(MxuPeakPs(kernel, *device.slice));
    if (event.plan != nullptr) op->set_bytes(event.plan->hbm_bytes);
    record::UnitCycles* busy = op->mutable_busy();
    busy->set_mxu(event.use.mxu);
    busy->set_valu(event.use.valu);
    busy->set_eup(event.use.eup);
    busy->set_xlu(event.use.xlu);
    busy->set_load(event.use.load);
    busy->set_store(event.use.store);
  }
}

}  // namespace

record::BoundBreakdown ToPicoseconds(const BoundCycles& bounds, int64_t start,
                                     const Clock& clock) {
  record::BoundBreakdown out;
  int64_t at = start;
  Picoseconds from = clock.ToTime(Cycles(at));
  const auto next = [&](Bound b) {
    at += bounds[b];
    const Picoseconds to = clock.ToTime(Cycles(at));
    const int64_t ps = (to - from).count();
    from = to;
    return ps;
  };
  out.set_mxu_ps(next(Bound::kMxu));
  out.set_vpu_ps(next(Bound::kVpu));
  out.set_hbm_ps(next(Bound::kHbm));
  out.set_ici_ps(next(Bound::kIci));
  out.set_dcn_ps(next(Bound::kDcn));
  out.set_overhead_ps(next(Bound::kOverhead));
  out.set_host_ps(next(Bound::kHost));
  return out;
}

record::DeviceTrace BuildTrace(const isa::Program& program,
                               const DeviceModel& device,
                               const Recorder& recorder, bool transfers) {
  record::DeviceTrace trace;
  const Clock& clock = device.clock;
  trace.set_program(program.name);
  trace.set_total_cycles(recorder.end);
  trace.set_total_ps(clock.ToTime(Cycles(recorder.end)).count());
  trace.set_clock_hz(clock.frequency().count());
  trace.set_simulated_chips(1);
  trace.set_total_chips(device.slice->topology.num_chips());
  trace.set_events(recorder.events);
  BoundCycles total;
  total[Bound::kOverhead] += recorder.prologue;
  int64_t flops = 0, bytes = 0, peak_ps = 0;
  trace.mutable_op()->Reserve(static_cast<int>(recorder.ops.size()));
  for (const OpEvent& event : recorder.ops) {
    record::OpTrace* op = trace.add_op();
    FillOp(program, event, device, op);
    peak_ps += op->mxu_peak_ps() * event.repeat;
    total.Add(event.bounds, event.repeat);
    if (const auto* call = std::get_if<isa::Call>(&event.op->action)) {
      flops += program.kernels[call->kernel].work.mxu_flops * event.repeat;
      if (event.plan != nullptr) bytes += event.plan->hbm_bytes * event.repeat;
      if (transfers && event.plan != nullptr && event.plan->hbm_bytes > 0) {
        record::TransferTrace* t = trace.add_transfer();
        t->set_resource(record::TransferTrace::HBM);
        t->set_name(event.op->info.name);
        t->set_start_ps(clock.ToTime(Cycles(event.start)).count());
        t->set_end_ps(clock.ToTime(Cycles(event.end)).count());
        t->set_bytes(event.plan->hbm_bytes);
        t->set_exposed_ps(op->bound().hbm_ps());
      }
    }
  }
  *trace.mutable_bound() = ToPicoseconds(total, 0, clock);
  for (const AsyncEvent& event : recorder.transfers) {
    if (event.memory == Memory::kHbm && !event.collective) {
      bytes += event.bytes * HbmSides(program, *event.op) * event.repeat;
    }
    bytes += event.cost.hbm_bytes.count() * event.repeat;
    const int64_t start = clock.ToTime(Cycles(event.start)).count();
    const int64_t end = clock.ToTime(Cycles(event.end)).count();
    const int64_t exposed = clock.ToTime(Cycles(event.exposed)).count();
    if (event.collective) {
      record::CollectiveTrace* c = trace.add_collective();
      const auto& action = std::get<isa::CollectiveStart>(event.op->action);
      c->set_name(event.op->info.name);
      c->set_kind(std::string(isa::Name(action.kind)));
      c->set_start_ps(start);
      c->set_end_ps(end);
      c->set_bytes(event.bytes);
      c->set_bytes_per_link(event.cost.bytes_per_link.count());
      c->set_group_size(event.cost.group_size);
      c->set_exposed_ps(exposed);
      c->set_algorithm(event.cost.algorithm);
      c->set_phases(event.cost.phases);
      c->set_repeat(event.repeat);
    }
    if (!transfers) continue;
    record::TransferTrace* t = trace.add_transfer();
    t->set_resource(event.collective ? record::TransferTrace::ICI
                                     : ResourceOf(event.memory));
    t->set_name(event.op->info.name);
    t->set_start_ps(start);
    t->set_end_ps(end);
    t->set_bytes(event.bytes);
    t->set_exposed_ps(exposed);
  }
  trace.set_matmul_flops(flops);
  trace.set_mxu_peak_ps(peak_ps);
  trace.set_hbm_bytes(bytes);
  return trace;
}

}  // namespace ptxla::sim
