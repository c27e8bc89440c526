#include "sim/simulator.h"

#include <memory>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/suggest.h"
#include "sim/core/device_model.h"
#include "sim/core/dma_engine.h"
#include "sim/core/kernel_cache.h"
#include "sim/core/plain_engine.h"
#include "sim/core/program_data.h"
#include "sim/core/recorder.h"
#include "sim/core/sequencer.h"
#include "sim/core/trace_builder.h"
#include "sim/sc/session.h"
#include "sim/validate.h"

namespace ptxla::sim {

namespace {

KernelDetail DetailOf(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::kRoofline:
      return KernelDetail::kRoofline;
    case Fidelity::kKernel:
      return KernelDetail::kWhole;
    case Fidelity::kTile:
      return KernelDetail::kEvents;
    case Fidelity::kBundle:
      return KernelDetail::kBundles;
  }
  return KernelDetail::kWhole;
}

// Values are asked for: every collective must have some.
absl::Status CheckCollectives(const isa::Schedule& schedule,
                              const ProgramData& data) {
  for (const isa::Op& op : schedule) {
    if (const auto* start = std::get_if<isa::CollectiveStart>(&op.action)) {
      RETURN_IF_ERROR(data.CheckCollective(*start)) << op.info.name;
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      RETURN_IF_ERROR(CheckCollectives(loop->condition, data));
      RETURN_IF_ERROR(CheckCollectives(loop->body, data));
    } else if (const auto* c = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& branch : c->branches) {
        RETURN_IF_ERROR(CheckCollectives(branch, data));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

const char* FidelityName(Fidelity fidelity) {
  switch (fidelity) {
    case Fidelity::kRoofline:
      return "roofline";
    case Fidelity::kKernel:
      return "kernel";
    case Fidelity::kTile:
      return "tile";
    case Fidelity::kBundle:
      return "bundle";
  }
  return "?";
}

absl::StatusOr<Fidelity> ParseFidelity(absl::string_view name) {
  std::vector<std::string> known;
  for (Fidelity f : {Fidelity::kRoofline, Fidelity::kKernel, Fidelity::kTile,
                     Fidelity::kBundle}) {
    if (name == FidelityName(f)) return f;
    known.push_back(FidelityName(f));
  }
  return absl::InvalidArgumentError(
      UnknownName("fidelity", name, known).message());
}

absl::StatusOr<record::DeviceTrace> Simulate(const isa::Program& program,
                                             const chips::Slice& slice,
                                             const SimOptions& options) {
  RETURN_IF_ERROR(ValidateProgram(program, slice))
      << "program \"" << program.name << "\"";
  const DeviceModel device(slice);
  DmaEngine dma(device);
  KernelCache cache(program, device, options.memoize, options.timings);
  Recorder recorder;
  const KernelDetail detail = DetailOf(options.fidelity);
  ProgramData* data = nullptr;
  std::unique_ptr<ProgramData> zeros;
  if (detail == KernelDetail::kBundles) {
    data = options.data;
    if (data != nullptr) {
      RETURN_IF_ERROR(CheckCollectives(program.schedule, *data));
    } else {
      zeros = std::make_unique<ProgramData>(program, slice);
      data = zeros.get();
    }
  }
  Sequencer sequencer(program, device, detail, options.memoize, &dma, &cache,
                      &recorder, data);
  if (options.engine == Engine::kSystemC && HasSystemC()) {
    RETURN_IF_ERROR(sc::RunSystemC(device, &sequencer, &dma, &recorder));
  } else {
    RETURN_IF_ERROR(RunPlain(&sequencer, &dma, &recorder));
  }
  record::DeviceTrace trace;
  if (options.ops) {
    trace = BuildTrace(program, device, recorder, options.transfers);
  } else {
    trace.set_total_cycles(recorder.end);
    trace.set_total_ps(device.clock.ToTime(Cycles(recorder.end)).count());
  }
  trace.set_fidelity(FidelityName(options.fidelity));
  return trace;
}

}  // namespace ptxla::sim
