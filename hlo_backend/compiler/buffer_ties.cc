#include "hlo_backend/compiler/buffer_ties.h"

#include <string>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/compiler/schedule_leaves.h"
#include "hlo_backend/passes/memory/shared_places.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {
namespace {

class TiesEverywhere {
 public:
  TiesEverywhere(const Module& module, const chips::ChipSpec& chip,
                 BufferClasses* classes)
      : module_(module), chip_(chip), classes_(*classes) {}

  void Run(const std::vector<Computation*>& computations) {
    for (const Computation* c : computations) {
      for (const Instruction* i : c->instructions()) Tie(*i);
    }
    TieOutputs();
  }

 private:
  int64_t BytesOf(const Shape& shape) const { return LeafBytes(shape, chip_); }

  // Instructions whose results lie where other values lie.
  void Tie(const Instruction& i) {
    const int me = classes_.First(&i);
    switch (i.opcode()) {
      case Opcode::kGetTupleElement: {
        const int from = classes_.Leaf(i.operand(0), {i.tuple_index()});
        for (int k = 0; k < i.shape().LeafCount(); ++k) {
          classes_.Tie(from + k, me + k);
        }
        break;
      }
      case Opcode::kTuple: {
        int to = me;
        for (const Instruction* o : i.operands()) {
          for (int k = 0; k < o->shape().LeafCount(); ++k) {
            classes_.Tie(classes_.First(o) + k, to++);
          }
        }
        break;
      }
      case Opcode::kBitcast:
      case Opcode::kScatter:
        classes_.Tie(classes_.First(i.operand(0)), me);
        break;
      case Opcode::kDynamicUpdateSlice:
        classes_.Tie(classes_.First(i.operand(0)), me);
        if (IsInPlace(i)) classes_.Tie(me, classes_.First(i.operand(1)));
        break;
      case Opcode::kDynamicSlice:
        if (IsInPlace(i)) classes_.Tie(classes_.First(i.operand(0)), me);
        break;
      case Opcode::kOptimizationBarrier:
      case Opcode::kAddDependency:
      case Opcode::kDomain:
      case Opcode::kAllReduceDone:
        classes_.TieAll(i.operand(0), &i);
        break;
      case Opcode::kCopyStart:  // (destination, source, context)
        classes_.Tie(classes_.First(i.operand(0)), me + 1);
        break;
      case Opcode::kCopyDone:
        classes_.Tie(classes_.First(i.operand(0)), me);
        break;
      case Opcode::kAsyncStart:  // ((operands), results, context)
        TieAsyncStart(i);
        break;
      case Opcode::kAsyncUpdate:
        classes_.TieAll(i.operand(0), &i);
        break;
      case Opcode::kAsyncDone: {
        const int from = classes_.Leaf(i.operand(0), {1});
        for (int k = 0; k < i.shape().LeafCount(); ++k) {
          classes_.Tie(from + k, me + k);
        }
        break;
      }
      case Opcode::kWhile:
        classes_.TieAll(i.operand(0), &i);
        classes_.TieAll(i.operand(0), i.while_body()->parameter(0));
        classes_.TieAll(i.operand(0), i.while_condition()->parameter(0));
        classes_.TieAll(i.operand(0), i.while_body()->root());
        break;
      case Opcode::kConditional:
        for (int b = 0; b < static_cast<int>(i.called().size()); ++b) {
          classes_.TieAll(i.operand(b + 1), i.called()[b]->parameter(0));
          classes_.TieAll(&i, i.called()[b]->root());
        }
        break;
      case Opcode::kCustomCall: {
        const std::string& target = i.attrs<CustomCallAttrs>().target;
        if (target != kX64SplitLow && target != kX64SplitHigh) break;
        // Planes: low words first, but the high part of an f64 first.
        const Shape& whole = i.operand(0)->shape();
        const bool second =
            (target == kX64SplitHigh) != (whole.type() == PrimitiveType::kF64);
        classes_.Tie(classes_.First(i.operand(0)), me,
                     second ? BytesOf(i.shape()) : 0);
        break;
      }
      default:
        break;
    }
  }

  void TieAsyncStart(const Instruction& i) {
    int to = classes_.Leaf(&i, {0});
    for (const Instruction* o : i.operands()) {
      for (int k = 0; k < o->shape().LeafCount(); ++k) {
        classes_.Tie(classes_.First(o) + k, to++);
      }
    }
  }

  // Donated parameters and the outputs that take their memory.
  void TieOutputs() {
    const Instruction* root = module_.entry()->root();
    for (const InputOutputAlias& alias : module_.config().input_output_alias) {
      const Instruction* parameter =
          module_.entry()->parameter(static_cast<int>(alias.parameter));
      classes_.Tie(classes_.Leaf(parameter, alias.parameter_index),
                   classes_.Leaf(root, alias.output));
    }
  }

  const Module& module_;
  const chips::ChipSpec& chip_;
  BufferClasses& classes_;
};

class TiesWhereTheyLie {
 public:
  TiesWhereTheyLie(const ScheduleLeaves& schedule, BufferClasses* classes)
      : schedule_(schedule), classes_(*classes) {}

  void Run() {
    for (const Instruction* i : schedule_.assembled()) {
      TieCombine(*i);
      TieParts(*i);
    }
    for (const SharedPlace& s : schedule_.shared_places()) TieInStep(s);
  }

 private:
  int64_t BytesOf(const Instruction& i) const {
    return schedule_.BytesOf(classes_.First(&i));
  }

  // The parts of a value that several transfers bring are laid side by side.
  void TieParts(const Instruction& i) {
    if (!IsConcatBitcast(i)) return;
    int64_t offset = 0;
    for (const Instruction* part : i.operands()) {
      classes_.Tie(classes_.First(&i), classes_.First(part), offset);
      offset += BytesOf(*part);
    }
  }

  // A result in the place of an operand that nobody reads later.
  void TieInStep(const SharedPlace& s) {
    const auto leaf = [&](const MemoryPlace& place) {
      return place.index < 0 ? classes_.First(place.maker)
                             : classes_.Leaf(place.maker, {place.index});
    };
    if (ShapeOf(s.from).memory_space() == ShapeOf(s.to).memory_space()) {
      classes_.Tie(leaf(s.from), leaf(s.to));
    }
  }

  // The halves of a combined value are made in place, unless they lie
  // elsewhere already.
  void TieCombine(const Instruction& i) {
    if (!IsX64Combine(i)) return;
    const bool is_float = i.shape().type() == PrimitiveType::kF64;
    for (int k = 0; k < 2; ++k) {
      const Instruction* half = i.operand(k);
      const bool made_here =
          half->opcode() != Opcode::kParameter && !half->IsConstant() &&
          half->shape().IsArray() && half->user_count() == 1 &&
          half->shape().memory_space() == i.shape().memory_space();
      // A class of one: nothing else decides where it lies.
      const int leaf = classes_.First(half);
      if (!made_here || classes_.Find(leaf).root != leaf ||
          !tied_halves_.insert(leaf).second || half == i.operand(1 - k)) {
        continue;
      }
      const bool second = (k == 1) != is_float;
      classes_.Tie(classes_.First(&i), leaf, second ? BytesOf(*half) : 0);
    }
  }

  const ScheduleLeaves& schedule_;
  BufferClasses& classes_;
  absl::flat_hash_set<int> tied_halves_;
};

}  // namespace

bool HasMemory(const Shape& shape) {
  return shape.IsArray() && shape.memory_space() != kMemorySyncFlag;
}

int64_t LeafBytes(const Shape& shape, const chips::ChipSpec& chip) {
  if (!HasMemory(shape)) return 0;
  const bool tiled = shape.has_layout() && !shape.layout().tiles.empty();
  return tiled ? PaddedBytes(shape) : TpuBytes(shape, chip.generation());
}

bool IsConcatBitcast(const Instruction& i) {
  return i.opcode() == Opcode::kCustomCall &&
         i.attrs<CustomCallAttrs>().target == "ConcatBitcast";
}

void TieEverywhere(const Module& module,
                   const std::vector<Computation*>& computations,
                   const chips::ChipSpec& chip, BufferClasses* classes) {
  TiesEverywhere(module, chip, classes).Run(computations);
}

void TieWhereTheyLie(const ScheduleLeaves& schedule, BufferClasses* classes) {
  TiesWhereTheyLie(schedule, classes).Run();
}

}  // namespace ptxla::hlo
