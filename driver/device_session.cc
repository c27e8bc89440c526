#include "driver/device_session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/text_proto.h"
#include "driver/explain/explain.h"
#include "driver/program_record.h"
#include "driver/stage.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/scheduled/part_names.h"
#include "isa/asm.h"

namespace ptxla::driver {
namespace {

// Code is emitted per call: the TPU compiler shares nothing between equal
// kernels. A loop's body is emitted once.
int64_t EmittedBundles(const isa::Program& program,
                       const isa::Schedule& schedule) {
  int64_t bundles = 0;
  for (const isa::Op& op : schedule) {
    if (const auto* call = std::get_if<isa::Call>(&op.action)) {
      const isa::Kernel& k = program.kernels[call->kernel];
      bundles += isa::CountBundles(k.entry) + isa::CountBundles(k.step) +
                 isa::CountBundles(k.exit);
    } else if (const auto* loop = std::get_if<isa::While>(&op.action)) {
      bundles += EmittedBundles(program, loop->condition) +
                 EmittedBundles(program, loop->body);
    } else if (const auto* branch = std::get_if<isa::Conditional>(&op.action)) {
      for (const isa::Schedule& s : branch->branches) {
        bundles += EmittedBundles(program, s);
      }
    }
  }
  return bundles;
}

// Does `value`, or a view of it, go into a part of `whole`?
bool PartReads(const hlo::Instruction& value, absl::string_view whole) {
  for (const hlo::Instruction* user : value.users()) {
    if (user->opcode() == hlo::Opcode::kBitcast) {
      if (PartReads(*user, whole)) return true;
    } else if (user->name() != whole && hlo::WholeName(user->name()) == whole) {
      return true;
    }
  }
  return false;
}

// What parts of a fusion hand on to other parts of it by way of HBM.
int64_t BytesBetweenParts(const hlo::Module& module) {
  int64_t bytes = 0;
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* value : c->instructions()) {
      const hlo::Instruction* maker = value;
      if (value->opcode() == hlo::Opcode::kGetTupleElement) {
        maker = value->operand(0);
      }
      const absl::string_view whole = hlo::WholeName(maker->name());
      const hlo::Shape& shape = value->shape();
      if (whole == maker->name() || value->IsFused() || !shape.IsArray() ||
          value->opcode() == hlo::Opcode::kBitcast || !shape.has_layout() ||
          shape.memory_space() != hlo::kMemoryHbm) {
        continue;
      }
      if (PartReads(*value, whole)) bytes += hlo::PaddedBytes(shape);
    }
  }
  return bytes;
}

void FillMemory(const hlo::CompiledModule& compiled, const memory::Fit& fit,
                int devices_per_chip, record::MemoryRecord* out) {
  const auto per_chip = [&](Bytes b) { return b.count() * devices_per_chip; };
  const memory::MemoryStats& m = compiled.memory;
  out->set_argument_bytes(per_chip(m.argument));
  out->set_output_bytes(per_chip(m.output));
  out->set_alias_bytes(per_chip(m.alias));
  out->set_temp_bytes(per_chip(m.temp));
  out->set_code_bytes(per_chip(m.code));
  out->set_peak_bytes(per_chip(m.peak));
  out->set_usable_bytes(per_chip(fit.usable));
  out->set_nominal_bytes(per_chip(fit.nominal));
  out->set_verdict(memory::VerdictName(fit.verdict));
  for (const memory::LiveBuffer& live : compiled.largest_at_peak) {
    const hlo::PlannedBuffer& buffer = compiled.buffers.buffers[live.request];
    record::BufferRecord* b = out->add_largest();
    b->set_name(buffer.name);
    b->set_layer(buffer.label);
    b->set_kind(buffer.kind == hlo::PlannedKind::kArgument   ? "argument"
                : buffer.kind == hlo::PlannedKind::kOutput   ? "output"
                : buffer.kind == hlo::PlannedKind::kConstant ? "constant"
                                                             : "temp");
    b->set_bytes(live.bytes.count());
  }
}

void FillCompile(const hlo::CompiledModule& compiled,
                 const std::string& graph_hash, const runtime::HostCosts& costs,
                 record::CompileRecord* out) {
  out->set_graph_hash(graph_hash);
  out->set_name(compiled.module->name());
  out->set_hlo_instructions(compiled.effort.hlo_instructions);
  out->set_optimized_instructions(compiled.effort.optimised_instructions);
  out->set_bundles(EmittedBundles(compiled.program, compiled.program.schedule));
  *out->mutable_predicted() =
      PredictedCompileTime(out->hlo_instructions(), costs);
  out->set_argument_bytes(compiled.memory.argument.count());
  out->set_output_bytes(compiled.memory.output.count());
  out->set_alias_bytes(compiled.memory.alias.count());
  out->set_temp_bytes(compiled.memory.temp.count());
  out->set_code_bytes(compiled.memory.code.count());
  for (const hlo::PassReport& report : compiled.passes) {
    record::PassRecord* pass = out->add_passes();
    pass->set_name(report.name);
    pass->set_changed(report.changed);
    pass->set_instructions_before(report.instructions_before);
    pass->set_instructions_after(report.instructions_after);
    pass->set_wall_ns(std::llround(report.ms * 1e6));
  }
}

// Of a module before another compiler changed it.
struct HandedIn {
  int64_t instructions;
  hlo::Cost cost;
};

}  // namespace

record::Band PredictedCompileTime(int64_t instructions,
                                  const runtime::HostCosts& costs) {
  const Picoseconds time =
      costs.compile_fixed + costs.compile_instruction * instructions;
  record::Band band;
  const auto value = static_cast<double>(time.count());
  band.set_value_ps(time.count());
  band.set_low_ps(std::llround(value * (1 - costs.compile_band)));
  band.set_high_ps(std::llround(value * (1 + costs.compile_band)));
  band.set_basis("per HLO instruction, from BERT-Large and a 50-layer decoder");
  return band;
}

std::string TakenApartText(const DeviceProgram& program) {
  constexpr size_t kNamed = 8;
  const std::vector<std::string>& names = program.taken_apart;
  if (names.empty()) return "";
  const size_t named = std::min(names.size(), kNamed);
  return absl::StrCat(
      program.program.name, ": ", names.size(),
      names.size() == 1 ? " fusion of the schedule is"
                        : " fusions of the schedule are",
      " no kernel of ours; several kernels stand for each: ",
      absl::StrJoin(names.begin(), names.begin() + named, ", "),
      named < names.size() ? " ..." : "",
      program.parts_through_hbm == 0
          ? "; what they hand on stays in VMEM"
          : absl::StrCat("; they hand on ", program.parts_through_hbm,
                         " bytes through HBM"));
}

std::string OutOfMemoryText(const record::MemoryRecord& m) {
  const auto size = [](int64_t bytes) {
    const double b = static_cast<double>(bytes);
    if (b >= (1 << 30)) return absl::StrFormat("%.2fG", b / (1 << 30));
    if (b >= (1 << 20)) return absl::StrFormat("%.2fM", b / (1 << 20));
    if (b >= (1 << 10)) return absl::StrFormat("%.2fK", b / (1 << 10));
    return absl::StrFormat("%dB", bytes);
  };
  const int64_t reserved = m.nominal_bytes() - m.usable_bytes();
  return absl::StrFormat(
      "Ran out of memory in memory space hbm. Used %s of %s hbm. Exceeded hbm "
      "capacity by %s.\nTotal hbm usage >= %s:\n    reserved     %10s\n"
      "    program      %10s\n    arguments    %10s",
      size(m.peak_bytes()), size(m.usable_bytes()),
      size(m.peak_bytes() - m.usable_bytes()), size(m.peak_bytes() + reserved),
      size(reserved), size(m.peak_bytes() - m.argument_bytes()),
      size(m.argument_bytes()));
}

hlo::CompileOptions DeviceSession::PassOptions() const {
  hlo::CompileOptions compile;
  compile.estimate_unknown_ops = options_.estimate_unknown_ops;
  compile.memory_first = true;
  compile.assumed_trip_count = options_.assumed_trip_count;
  compile.pipeline.verify = options_.verify || options_.prove;
  compile.verify_input = options_.verify;
  return compile;
}

hlo::CompileOptions DeviceSession::NextOptions() {
  hlo::CompileOptions compile = PassOptions();
  compile.earlier = [this]() -> absl::StatusOr<lowering::Programs> {
    lowering::Programs programs;
    for (const DeviceProgram& p : programs_) programs.push_back(&p.program);
    return programs;
  };
  compile.cache = &cache_;
  return compile;
}

absl::StatusOr<hlo::CompiledModule> DeviceSession::Compile(
    std::unique_ptr<hlo::Module> module, const hlo::CompileOptions& options,
    CompiledAhead ahead) const {
  if (auto* compiled = std::get_if<hlo::CompiledModule>(&ahead)) {
    return std::move(*compiled);
  }
  if (auto* passed = std::get_if<hlo::PassedModule>(&ahead)) {
    return hlo::CompilePassed(std::move(*passed), slice_.chip, options);
  }
  return hlo::Compile(std::move(module), slice_.chip, slice_.topology, options);
}

absl::StatusOr<int> DeviceSession::Add(
    std::unique_ptr<hlo::Module> module, const std::string& graph_hash,
    CompiledAhead ahead, const std::function<void()>& before_simulation) {
  const auto begin = std::chrono::steady_clock::now();
  const std::string name = module->name();
  hlo::CompileOptions compile = NextOptions();
  if (dump_ != nullptr && dump_->enabled()) {
    compile.pipeline.dump = [&](int, const std::string& pass,
                                const hlo::Module& m) {
      return dump_->Write(absl::StrCat(name, ".", pass, ".hlo"), hlo::Print(m));
    };
  }
  OriginMap origins;
  if (options_.keep_modules) origins = OriginsOf(*module);
  std::optional<HandedIn> handed_in;
  if (options_.libtpu != nullptr) {
    hlo::CostOptions devices;
    devices.device_count = slice_.topology.num_devices();
    handed_in = HandedIn{module->instruction_count(),
                         hlo::CostAnalysis(devices).Of(*module)};
    auto scheduled = options_.libtpu->Compile(*module, slice_);
    if (!scheduled.ok()) return At("compile", scheduled.status());
    module = *std::move(scheduled);
    if (dump_ != nullptr && dump_->enabled()) {
      RETURN_IF_ERROR(
          dump_->Write(absl::StrCat(name, ".libtpu.hlo"), hlo::Print(*module)));
    }
  }
  std::unique_ptr<hlo::Module> input;
  if (options_.verify) input = module->Clone();
  auto compiled = Compile(std::move(module), compile, std::move(ahead));
  if (absl::IsResourceExhausted(compiled.status())) {
    // A kernel that the lowering cannot fit into VMEM or registers: our limit,
    // not the chip's. ResourceExhausted is kept for HBM.
    return At("compile", absl::UnimplementedError(compiled.status().message()));
  }
  if (!compiled.ok()) return At("compile", compiled.status());
  if (handed_in.has_value()) {
    compiled->effort.hlo_instructions = handed_in->instructions;
    compiled->cost = handed_in->cost;
  }
  programs_.emplace_back();
  DeviceProgram& p = programs_.back();
  p.cost = compiled->cost;
  p.fit = memory::CheckFit(compiled->memory, slice_.chip);
  FillMemory(*compiled, p.fit, slice_.topology.devices_per_chip(), &p.memory);
  FillCompile(*compiled, graph_hash, costs_, &p.compile);
  p.compile.set_program(static_cast<int>(programs_.size()) - 1);
  if (options_.verify && p.fit.verdict != memory::Verdict::kOutOfMemory) {
    auto verification = VerifyProgram(*input, *compiled, slice_);
    if (!verification.ok()) return At("verify", verification.status());
    if (!verification->ok()) {
      return At("verify",
                absl::InternalError(absl::StrCat(verification->Line(), "\n",
                                                 verification->Details())));
    }
    p.verification = *std::move(verification);
  }
  p.taken_apart = std::move(compiled->taken_apart);
  if (!p.taken_apart.empty()) {
    p.parts_through_hbm = BytesBetweenParts(*compiled->module);
  }
  p.program = std::move(compiled->program);
  p.compile.set_wall_ns(std::chrono::duration_cast<std::chrono::nanoseconds>(
                            std::chrono::steady_clock::now() - begin)
                            .count());
  if (dump_ != nullptr && dump_->enabled()) {
    RETURN_IF_ERROR(dump_->Write(absl::StrCat(name, ".scheduled.hlo"),
                                 hlo::Print(*compiled->module)));
    RETURN_IF_ERROR(dump_->Write(absl::StrCat(name, ".program.tpuasm"),
                                 isa::Print(p.program)));
  }
  if (options_.keep_modules) {
    p.module = std::move(compiled->module);
    p.origins = std::move(origins);
  }
  if (p.fit.verdict == memory::Verdict::kOutOfMemory) {
    return At("compile",
              absl::ResourceExhaustedError(OutOfMemoryText(p.memory)));
  }
  if (before_simulation) before_simulation();
  sim::SimOptions simulate;
  simulate.fidelity = options_.fidelity;
  simulate.transfers = options_.transfers;
  p.timings = std::make_shared<sim::TimingCache>();
  for (const DeviceProgram& other : programs_) {
    if (other.timings == nullptr || &other == &p) continue;
    p.timings->Share(*other.timings, other.program, p.program);
  }
  simulate.timings = p.timings.get();
  auto trace = sim::Simulate(p.program, slice_, simulate);
  if (!trace.ok()) return At("simulate", trace.status());
  p.trace = *std::move(trace);
  p.record = MakeProgramRecord(p.trace, slice_);
  if (dump_ != nullptr && dump_->enabled()) {
    RETURN_IF_ERROR(dump_->Write(absl::StrCat(name, ".trace.textproto"),
                                 PrintTextProto(p.trace)));
  }
  return static_cast<int>(programs_.size()) - 1;
}

absl::StatusOr<Picoseconds> DeviceSession::Resimulate(
    int program, const chips::ChipSpec& chip) const {
  chips::Slice slice = slice_;
  slice.chip = chip;
  sim::SimOptions simulate;
  simulate.fidelity = options_.fidelity;
  simulate.engine = sim::Engine::kPlain;  // same times, less start-up
  simulate.transfers = false;
  simulate.ops = false;
  simulate.timings = programs_[program].timings.get();
  ASSIGN_OR_RETURN(const record::DeviceTrace trace,
                   sim::Simulate(programs_[program].program, slice, simulate));
  return Picoseconds(trace.total_ps());
}

absl::StatusOr<record::Explanation> DeviceSession::Explain(
    int program, const std::string& op) const {
  const DeviceProgram& p = programs_[program];
  auto explanation = ExplainOp(
      {slice_, *p.module, p.origins, p.program, p.trace, p.record}, op);
  if (!explanation.ok()) return At("explain", explanation.status());
  return explanation;
}

}  // namespace ptxla::driver
