// Scalars that lie in SMEM: a few bundles of the scalar unit between kernels,
// without windows and without the entry of a kernel.
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/status.h"
#include "hlo_backend/analysis/scalar_work.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using codegen::VInstr;
using hlo::Instruction;
using hlo::PrimitiveType;

// A comparison as one that the unit has: perhaps of the other order, perhaps
// the opposite.
struct Comparison {
  isa::Opcode op = isa::Opcode::kScmpEq;
  bool swapped = false, negated = false;
};

Comparison ComparisonOf(hlo::CompareDirection direction, bool is_signed) {
  using Direction = hlo::CompareDirection;
  using isa::Opcode;
  switch (direction) {
    case Direction::kEq:
      return {Opcode::kScmpEq};
    case Direction::kNe:
      return {Opcode::kScmpNe};
    case Direction::kLt:
      return {is_signed ? Opcode::kScmpLt : Opcode::kScmpLtU};
    case Direction::kLe:
      if (is_signed) return {Opcode::kScmpLe};
      return {Opcode::kScmpLtU, true, true};
    case Direction::kGt:
      if (is_signed) return {Opcode::kScmpGt};
      return {Opcode::kScmpLtU, true, false};
    default:
      if (is_signed) return {Opcode::kScmpGe};
      return {Opcode::kScmpLtU, false, true};
  }
}

class ScalarCode {
 public:
  ScalarCode(const Instruction& i, CodeBuilder& b) : i_(i), b_(b) {}

  void Run() {
    const int operands = i_.operand_count();
    std::vector<Sca> inputs(static_cast<size_t>(operands));
    for (int k = 0; k < operands; ++k) {
      if (!IsRead(k)) continue;
      const Sca address = b_.NewSca();
      b_.ArgAddress(address, k);
      Sca word = b_.SLoad(k, address, 0);
      // A pred is one byte; what lies behind it is not its.
      if (i_.operand(k)->shape().type() == PrimitiveType::kPred) {
        word = b_.SBinaryImm(isa::Opcode::kSand, word, 255);
      }
      inputs[static_cast<size_t>(k)] = word;
    }
    Sca result;
    if (i_.opcode() == hlo::Opcode::kFusion) {
      for (const Instruction* f : i_.fused()->PostOrder()) {
        if (f->opcode() == hlo::Opcode::kParameter) {
          values_[f] = inputs[static_cast<size_t>(f->parameter_number())];
        } else {
          values_[f] = Value(*f);
        }
      }
      result = values_.at(i_.fused()->root());
    } else {
      for (int k = 0; k < operands; ++k) {
        if (IsRead(k)) values_[i_.operand(k)] = inputs[k];
      }
      result = Value(i_);
    }
    const Sca address = b_.NewSca();
    b_.ArgAddress(address, operands);
    VInstr store;
    store.op = isa::Opcode::kSst;
    store.space = static_cast<int16_t>(operands);
    store.a = address.id;
    store.b = result.id;
    b_.Emit(store);
  }

 private:
  // A word that nobody reads is not loaded: its register would be given away
  // before the word arrives.
  bool IsRead(int k) const {
    if (i_.opcode() == hlo::Opcode::kFusion) {
      return i_.fused()->parameter(k)->user_count() > 0;
    }
    for (int earlier = 0; earlier < k; ++earlier) {
      if (i_.operand(earlier) == i_.operand(k)) return false;
    }
    return true;
  }

  Sca Of(const Instruction& i, int k) const { return values_.at(i.operand(k)); }

  Sca Choose(Pred p, Sca yes, Sca no) {
    const Sca d = b_.NewSca();
    VInstr v;
    v.op = isa::Opcode::kSsel;
    v.dst = d.id;
    v.a = yes.id;
    v.b = no.id;
    v.c = p.id;
    b_.Emit(v);
    return d;
  }

  Sca Value(const Instruction& i) {
    switch (i.opcode()) {
      case hlo::Opcode::kConstant: {
        const hlo::Literal& l = i.literal();
        return b_.SImm(i.shape().type() == PrimitiveType::kPred
                           ? l.Get<uint8_t>(0) != 0
                           : l.Get<int32_t>(0));
      }
      case hlo::Opcode::kAdd:
        return b_.SAdd(Of(i, 0), Of(i, 1));
      case hlo::Opcode::kSubtract:
        return b_.SBinary(isa::Opcode::kSsub, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kNegate:
        return b_.SBinary(isa::Opcode::kSsub, b_.SImm(0), Of(i, 0));
      case hlo::Opcode::kMultiply:
        return b_.SBinary(isa::Opcode::kSmul, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kMaximum:
        return b_.SBinary(isa::Opcode::kSmax, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kMinimum:
        return b_.SBinary(isa::Opcode::kSmin, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kAnd:
        return b_.SBinary(isa::Opcode::kSand, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kOr:
        return b_.SBinary(isa::Opcode::kSor, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kXor:
        return b_.SBinary(isa::Opcode::kSxor, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kSelect: {
        const Pred p = b_.SCompareImm(isa::Opcode::kScmpNe, Of(i, 0), 0);
        return Choose(p, Of(i, 1), Of(i, 2));
      }
      case hlo::Opcode::kShiftLeft:
        return b_.SBinary(isa::Opcode::kSshll, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kShiftRightLogical:
        return b_.SBinary(isa::Opcode::kSshrl, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kShiftRightArithmetic:
        return b_.SBinary(isa::Opcode::kSshra, Of(i, 0), Of(i, 1));
      case hlo::Opcode::kConvert:
      case hlo::Opcode::kBitcastConvert:
      case hlo::Opcode::kCopy:
        return Of(i, 0);
      default: {  // compare
        const Comparison c =
            ComparisonOf(i.attrs<hlo::CompareAttrs>().direction,
                         i.operand(0)->shape().type() == PrimitiveType::kS32);
        VInstr v;
        const Pred p = b_.NewPred();
        v.op = c.op;
        v.dst = p.id;
        v.a = Of(i, c.swapped ? 1 : 0).id;
        v.b = Of(i, c.swapped ? 0 : 1).id;
        b_.Emit(v);
        return c.negated ? Choose(p, b_.SImm(0), b_.SImm(1))
                         : Choose(p, b_.SImm(1), b_.SImm(0));
      }
    }
  }

  const Instruction& i_;
  CodeBuilder& b_;
  absl::flat_hash_map<const Instruction*, Sca> values_;
};

}  // namespace

bool IsScalarKernel(const Instruction& i) {
  const bool copied =
      i.opcode() == hlo::Opcode::kCopy && hlo::IsScalarUnitShape(i.shape());
  if ((!copied && !hlo::IsScalarUnitWork(i)) ||
      i.shape().memory_space() != hlo::kMemorySmem) {
    return false;
  }
  for (const Instruction* o : i.operands()) {
    if (o->shape().memory_space() != hlo::kMemorySmem) return false;
  }
  return true;
}

absl::StatusOr<isa::Kernel> EmitScalarKernel(const KernelContext& context,
                                             const Instruction& i) {
  isa::Kernel kernel;
  ASSIGN_OR_RETURN(kernel.args, KernelArgs(i));
  CodeBuilder b(context.model);
  b.NewBlock("scalar unit");
  ScalarCode(i, b).Run();
  ASSIGN_OR_RETURN(kernel.step, codegen::EmitCode(b.Finish(), context.cache));
  kernel.note = "scalar unit";
  return kernel;
}

}  // namespace ptxla::lowering
