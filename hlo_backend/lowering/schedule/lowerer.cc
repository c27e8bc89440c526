#include "hlo_backend/lowering/schedule/lowerer.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/known_instructions.h"
#include "isa/from_chip_spec.h"

namespace ptxla::lowering {

using hlo::Computation;
using hlo::Instruction;
using hlo::Shape;

namespace {

bool IsPlumbing(const Instruction& i) {
  switch (i.opcode()) {
    case hlo::Opcode::kParameter:
    case hlo::Opcode::kConstant:
    case hlo::Opcode::kTuple:
    case hlo::Opcode::kGetTupleElement:
    case hlo::Opcode::kBitcast:
    case hlo::Opcode::kAfterAll:
    case hlo::Opcode::kAddDependency:
    case hlo::Opcode::kOptimizationBarrier:
      return true;
    default:
      return false;
  }
}

// It is a result of the computation, with more sizes or in more places perhaps.
bool IsResult(const Instruction& i) {
  return std::all_of(
      i.users().begin(), i.users().end(), [](const Instruction* user) {
        return (user->opcode() == hlo::Opcode::kSetDimensionSize ||
                user->opcode() == hlo::Opcode::kTuple ||
                user->opcode() == hlo::Opcode::kCopy) &&
               IsResult(*user);
      });
}

}  // namespace

Lowerer::Lowerer(const hlo::Module& module, const Placement& placement,
                 const chips::ChipSpec& chip, const LoweringOptions& options)
    : module_(module),
      placement_(placement),
      chip_(chip),
      options_(options),
      model_(isa::FromChipSpec(chip)) {}

absl::StatusOr<isa::Program> Lowerer::Run(LoweringStats* stats) {
  program_.name = module_.name();
  program_.chip = chip_.name();
  program_.buffers = placement_.buffers;
  const absl::Status walked =
      LowerComputation(*module_.entry(), &program_.schedule);
  // A kernel that cannot be made comes before what stopped the walk.
  const absl::Status made = MakeAllKernels();
  if (!made.ok()) {
    if (stats != nullptr) {
      stats_.made = std::move(program_.kernels);
      *stats = std::move(stats_);
    }
    return made;
  }
  RETURN_IF_ERROR(walked);
  SetCores(&program_.schedule);
  RETURN_IF_ERROR(Leaves());
  for (const isa::Kernel& k : program_.kernels) {
    program_.scoped_vmem_bytes =
        std::max(program_.scoped_vmem_bytes, k.vmem_bytes);
  }
  if (stats != nullptr) {
    stats_.kernels = static_cast<int64_t>(program_.kernels.size());
    *stats = std::move(stats_);
  }
  return std::move(program_);
}

isa::OpInfo Lowerer::InfoOf(const Instruction& i) {
  isa::OpInfo info;
  info.name = i.name();
  info.opcode = std::string(hlo::OpcodeName(i.opcode()));
  const hlo::Metadata& m = i.metadata();
  info.layer = m.op_name;
  info.source_file = m.source_file;
  info.source_line = static_cast<int>(m.source_line);
  const hlo::Cost cost = options_.known != nullptr
                             ? options_.known->CostOf(i, &costs_)
                             : costs_.Of(i);
  info.flops = static_cast<int64_t>(cost.flops);
  info.bytes = static_cast<int64_t>(cost.bytes_accessed);
  return info;
}

absl::Status Lowerer::LowerComputation(const Computation& c,
                                       isa::Schedule* schedule) {
  for (const Instruction* i : c.PostOrder()) {
    RETURN_IF_ERROR(LowerInstruction(*i, schedule));
  }
  return absl::OkStatus();
}

absl::Status Lowerer::LowerInstruction(const Instruction& i,
                                       isa::Schedule* schedule) {
  if (i.opcode() == hlo::Opcode::kConstant) return Constant(i);
  if (IsPlumbing(i) || hlo::IsInPlace(i)) return absl::OkStatus();
  switch (i.opcode()) {
    case hlo::Opcode::kCall:
      return LowerComputation(*i.to_apply(), schedule);
    case hlo::Opcode::kWhile:
      return While(i, schedule);
    case hlo::Opcode::kConditional:
      return Conditional(i, schedule);
    case hlo::Opcode::kCopyStart:
      return CopyStart(i, schedule);
    case hlo::Opcode::kAsyncStart:
      return AsyncStart(i, schedule);
    case hlo::Opcode::kAsyncDone:
    case hlo::Opcode::kCopyDone:
      schedule->push_back({InfoOf(i), isa::CopyDone{started_[i.operand(0)]}});
      return absl::OkStatus();
    case hlo::Opcode::kCopy:
      if (i.shape().layout().minor_to_major ==
              i.operand(0)->shape().layout().minor_to_major &&
          i.shape().layout().tiles == i.operand(0)->shape().layout().tiles) {
        return WholeCopy(i, schedule);
      }
      break;
    // The data, whose sizes the host reads beside it. Inside of a program
    // (of a schedule) nobody would leave out what does not count.
    case hlo::Opcode::kSetDimensionSize:
      if (IsResult(i)) return WholeCopy(i, schedule);
      break;
    case hlo::Opcode::kAllReduceDone:
    case hlo::Opcode::kAllGatherDone:
    case hlo::Opcode::kCollectivePermuteDone:
      schedule->push_back(
          {InfoOf(i), isa::CollectiveDone{started_[i.operand(0)]}});
      return absl::OkStatus();
    case hlo::Opcode::kAllReduce:
    case hlo::Opcode::kAllReduceStart:
    case hlo::Opcode::kAllGather:
    case hlo::Opcode::kAllGatherStart:
    case hlo::Opcode::kReduceScatter:
    case hlo::Opcode::kAllToAll:
    case hlo::Opcode::kCollectivePermute:
    case hlo::Opcode::kCollectivePermuteStart:
    case hlo::Opcode::kRaggedAllToAll:
      return Collective(i, schedule);
    case hlo::Opcode::kCustomCall:
      return CustomCall(i, schedule);
    case hlo::Opcode::kInfeed:
    case hlo::Opcode::kRecvDone:
    case hlo::Opcode::kOutfeed:
    case hlo::Opcode::kSend:
      return HostTransfer(i, schedule);
    case hlo::Opcode::kRecv:
    case hlo::Opcode::kSendDone:
      return absl::OkStatus();  // what they wait for is in the other half
    case hlo::Opcode::kPartitionId:
    case hlo::Opcode::kReplicaId:
      return DeviceNumber(i);
    default:
      break;
  }
  return Call(i, schedule);
}

}  // namespace ptxla::lowering
