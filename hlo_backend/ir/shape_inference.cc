#include "hlo_backend/ir/shape_inference.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo {
namespace {

using infer::Args;

absl::StatusOr<Shape> Dispatch(const Args& a) {
  switch (a.opcode) {
    case Opcode::kParameter:
    case Opcode::kConstant:
    case Opcode::kIota:
    case Opcode::kReplicaId:
    case Opcode::kPartitionId:
    case Opcode::kRng:
    case Opcode::kRngBitGenerator:
    case Opcode::kRngGetAndUpdateState:
      return infer::Leaf(a);
    case Opcode::kBroadcast:
    case Opcode::kReshape:
    case Opcode::kDynamicReshape:
    case Opcode::kBitcast:
    case Opcode::kTranspose:
    case Opcode::kReverse:
    case Opcode::kConcatenate:
    case Opcode::kGetDimensionSize:
    case Opcode::kSetDimensionSize:
      return infer::Movement(a);
    case Opcode::kSlice:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kPad:
      return infer::Slicing(a);
    case Opcode::kGather:
    case Opcode::kScatter:
      return infer::GatherScatter(a);
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      return infer::DotLike(a);
    case Opcode::kConvolution:
      return infer::Convolution(a);
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
    case Opcode::kMap:
    case Opcode::kScan:
    case Opcode::kSort:
    case Opcode::kTopK:
      return infer::Reduction(a);
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
    case Opcode::kCholesky:
    case Opcode::kFft:
    case Opcode::kTriangularSolve:
      return infer::Special(a);
    case Opcode::kTuple:
    case Opcode::kGetTupleElement:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kCustomCall:
    case Opcode::kFusion:
    case Opcode::kWhile:
    case Opcode::kAddDependency:
    case Opcode::kAfterAll:
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
      return infer::Control(a);
    case Opcode::kAllGather:
    case Opcode::kAllReduce:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kCollectivePermute:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return infer::Collective(a);
    case Opcode::kAllGatherDone:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduceDone:
    case Opcode::kAllReduceStart:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
    case Opcode::kCollectivePermuteDone:
    case Opcode::kCollectivePermuteStart:
    case Opcode::kCopyDone:
    case Opcode::kCopyStart:
    case Opcode::kInfeed:
    case Opcode::kOutfeed:
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return infer::Async(a);
    default:
      return infer::Elementwise(a);
  }
}

}  // namespace

absl::StatusOr<Shape> InferShape(Opcode opcode,
                                 absl::Span<const Shape* const> operands,
                                 const Attributes& attributes,
                                 absl::Span<Computation* const> called,
                                 const Shape* declared) {
  const int arity = OpcodeArity(opcode);
  if (arity >= 0 && static_cast<int>(operands.size()) != arity) {
    return absl::InvalidArgumentError(absl::StrCat(
        OpcodeName(opcode), " takes ", arity,
        arity == 1 ? " operand" : " operands", ", not ", operands.size()));
  }
  return Dispatch(Args{opcode, operands, attributes, called, declared});
}

absl::StatusOr<Shape> InferShape(const Instruction& instruction) {
  absl::InlinedVector<const Shape*, 4> operands;
  for (const Instruction* o : instruction.operands()) {
    operands.push_back(&o->shape());
  }
  return InferShape(instruction.opcode(), operands, instruction.attributes(),
                    instruction.called(), &instruction.shape());
}

}  // namespace ptxla::hlo
