#include "driver/timed_program.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "base/status.h"
#include "driver/stage.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "runtime/host_costs.h"
#include "runtime/timelines.h"
#include "sim/simulator.h"

namespace ptxla::driver {
namespace {

// Calls whose period is measured, after as many that fill the queue.
constexpr int kAsyncCalls = 64;

// The parameter becomes the state of a loop, which changes it: the compiler
// decides where that lies.
bool IsLoopState(const hlo::Instruction& parameter) {
  for (const hlo::Instruction* tuple : parameter.users()) {
    if (tuple->opcode() != hlo::Opcode::kTuple) continue;
    for (const hlo::Instruction* loop : tuple->users()) {
      if (loop->opcode() != hlo::Opcode::kWhile) continue;
      const hlo::Instruction& root = *loop->while_body()->root();
      for (int k = 0; k < tuple->operand_count(); ++k) {
        if (tuple->operand(k) != &parameter) continue;
        const hlo::Instruction* next = root.operand(k);
        if (next->opcode() != hlo::Opcode::kGetTupleElement ||
            next->operand(0)->opcode() != hlo::Opcode::kParameter ||
            next->tuple_index() != k) {
          return true;
        }
      }
    }
  }
  return false;
}

// A product loads the larger of its operands from CMEM register by register,
// without a copy (libtpu 0.0.42.1, 337 of the 343 programs of A-GEMM): as it
// would from VMEM.
const hlo::Instruction* ReadInPlace(const hlo::Computation& entry) {
  const hlo::Instruction* root = entry.root();
  if (root->opcode() != hlo::Opcode::kDot) return nullptr;
  const hlo::Instruction* larger = root->operand(0);
  if (root->operand(1)->shape().ByteSize() > larger->shape().ByteSize()) {
    larger = root->operand(1);
  }
  return larger->opcode() == hlo::Opcode::kParameter ? larger : nullptr;
}

// Operands lie in the memory space as far as there is room beside what loops
// carry; scalars are in SMEM whatever happens.
void PlaceOperands(hlo::Module* module, int memory_space, int64_t room) {
  auto& entry_layout = module->mutable_config()->entry_layout;
  const hlo::Computation& entry = *module->entry();
  for (const hlo::Instruction* p : entry.parameters()) {
    if (IsLoopState(*p)) room -= p->shape().ByteSize();
  }
  const hlo::Instruction* in_place =
      memory_space == hlo::kMemoryCmem ? ReadInPlace(entry) : nullptr;
  for (int k = 0; k < entry.parameter_count(); ++k) {
    hlo::Shape* shape = entry.parameter(k)->mutable_shape();
    if (!shape->IsArray() || shape->IsScalar() || !shape->has_layout() ||
        IsLoopState(*entry.parameter(k)) || shape->ByteSize() > room) {
      continue;
    }
    room -= shape->ByteSize();
    const int space =
        entry.parameter(k) == in_place ? hlo::kMemoryVmem : memory_space;
    shape->mutable_layout()->memory_space = space;
    if (entry_layout.has_value() && entry_layout->parameters[k].has_layout()) {
      entry_layout->parameters[k].mutable_layout()->memory_space = space;
    }
  }
  // A kernel timed on operands in CMEM leaves its result there.
  hlo::Shape* result = module->entry()->root()->mutable_shape();
  if (memory_space != hlo::kMemoryCmem || !result->IsArray() ||
      result->IsScalar() || !result->has_layout()) {
    return;
  }
  result->mutable_layout()->memory_space = memory_space;
  if (entry_layout.has_value() && entry_layout->result.has_layout()) {
    entry_layout->result.mutable_layout()->memory_space = memory_space;
  }
}

// The loops of the schedule, not those inside of others.
std::vector<isa::While*> Loops(isa::Schedule* schedule) {
  std::vector<isa::While*> loops;
  for (isa::Op& op : *schedule) {
    if (auto* loop = std::get_if<isa::While>(&op.action)) loops.push_back(loop);
  }
  return loops;
}

}  // namespace

absl::StatusOr<TimedProgram> TimedProgram::Compile(
    const chips::Slice& slice, std::unique_ptr<hlo::Module> module,
    Residency residency, const std::vector<std::string>& disable_passes,
    bool verify) {
  if (residency == Residency::kCmem) {
    PlaceOperands(module.get(), hlo::kMemoryCmem, slice.chip.cmem().count());
  } else if (residency == Residency::kVmem) {
    PlaceOperands(module.get(), hlo::kMemoryVmem,
                  hlo::RoomForResidents(slice.chip));
  }
  hlo::CompileOptions options;
  options.pipeline.disabled = disable_passes;
  options.pipeline.verify = verify;
  auto compiled =
      hlo::Compile(std::move(module), slice.chip, slice.topology, options);
  if (!compiled.ok()) return At("compile", compiled.status());
  TimedProgram result(slice);
  result.module_ = std::move(compiled->module);
  result.program_ = std::move(compiled->program);
  return result;
}

absl::StatusOr<record::DeviceTrace> TimedProgram::Simulate() const {
  sim::SimOptions options;
  options.engine = sim::Engine::kPlain;  // same times, and many at once
  options.timings = timings_.get();
  return sim::Simulate(program_, *slice_, options);
}

absl::StatusOr<Picoseconds> TimedProgram::Time(Timing timing) {
  switch (timing) {
    case Timing::kChainSlope:
      return Slope();
    case Timing::kCopyWait:
      return CopyWait();
    case Timing::kHostAsync:
      return OnHost(/*wait=*/false);
    case Timing::kHostSync:
      return OnHost(/*wait=*/true);
    case Timing::kDeviceEvent:
      break;
    case Timing::kNotRunnable:
      return absl::InvalidArgumentError("a row that cannot run");
  }
  ASSIGN_OR_RETURN(const record::DeviceTrace trace, Simulate());
  return Picoseconds(trace.total_ps());
}

absl::StatusOr<Picoseconds> TimedProgram::Slope() {
  const std::vector<isa::While*> loops = Loops(&program_.schedule);
  if (loops.size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "chain_slope wants one loop; the program has ", loops.size()));
  }
  const int64_t trips = loops[0]->trips;
  ASSIGN_OR_RETURN(const record::DeviceTrace once, Simulate());
  loops[0]->trips = 2 * trips;
  const auto twice = Simulate();
  loops[0]->trips = trips;
  RETURN_IF_ERROR(twice.status());
  return Picoseconds((twice->total_ps() - once.total_ps()) /
                     std::max<int64_t>(1, trips));
}

absl::StatusOr<Picoseconds> TimedProgram::CopyWait() const {
  ASSIGN_OR_RETURN(const record::DeviceTrace trace, Simulate());
  if (trace.transfer_size() != 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "copy_wait wants one copy; the program has ", trace.transfer_size()));
  }
  for (const record::OpTrace& done : trace.op()) {
    if (done.opcode() != "copy-done") continue;
    return Picoseconds(done.end_ps() - trace.transfer(0).start_ps());
  }
  return absl::InvalidArgumentError("nothing waits for the copy");
}

absl::StatusOr<Picoseconds> TimedProgram::OnHost(bool wait) const {
  ASSIGN_OR_RETURN(const record::DeviceTrace trace, Simulate());
  ASSIGN_OR_RETURN(const runtime::HostCosts costs,
                   runtime::HostCosts::For(slice_->chip));
  const Picoseconds device(trace.total_ps());
  runtime::Timelines timelines(costs, /*record_spans=*/false);
  if (wait) {
    const runtime::Execution e =
        timelines.Launch(program_.name, device, Picoseconds(0));
    timelines.ReadBack(e.end);
    return timelines.tracing();
  }
  Picoseconds begin, end;
  for (int k = 0; k < 2 * kAsyncCalls; ++k) {
    end = timelines.Launch(program_.name, device, Picoseconds(0)).end;
    if (k == kAsyncCalls - 1) begin = end;
  }
  return Picoseconds((end - begin).count() / kAsyncCalls);
}

}  // namespace ptxla::driver
