#include "hlo_backend/passes/fusion/shift_fusion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/fusion/part_tree.h"

namespace ptxla::hlo {
namespace {

// Parts that a loop takes in: each has a window of its own, and none is too
// many for libtpu 0.0.42.1 (sums of 16 neighbours are one kernel). ASSUMED.
constexpr int kMostPartsOfLoop = 32;

bool IsFreeToGo(const Instruction& i) {
  return !i.IsRoot() && i.control_predecessors().empty() &&
         i.control_successors().empty();
}

// Worth a kernel's waiting for transfers of its own: not a line of less than a
// register.
bool IsWorthIt(const Instruction& part) {
  return part.shape().rank() > 1 || part.shape().dim(0) >= kTileRows * kLanes;
}

// A kernel that goes through a shape element by element, maybe to sum it up.
bool IsLoop(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kFusion:
      return i.fusion_kind() == FusionKind::kInput ||
             (i.fusion_kind() == FusionKind::kLoop && !IsMovementFusion(i));
    case Opcode::kReduce:
      return IsFusibleReduce(i) && IsRowMajor(i.operand(0)->shape());
    default:
      return IsLoopElementwise(i) && i.shape().rank() > 0 &&
             i.shape().has_layout();
  }
}

const Shape& ShapeOfLoop(const Instruction& loop) {
  switch (loop.opcode()) {
    case Opcode::kFusion:
      return IterationShape(loop);
    case Opcode::kReduce:
      return loop.operand(0)->shape();
    default:
      return loop.shape();
  }
}

class Shifts {
 public:
  explicit Shifts(Computation* c) : c_(c) {}

  bool Run() {
    bool changed = false;
    const std::vector<Instruction*> order = c_->PostOrder();
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Instruction* part = *it;
      if (gone_.contains(part) || !MayGo(*part)) continue;
      const PartTree tree = PartTreeOf(part, [](const Instruction& i) {
        return IsShift(i) && i.opcode() != Opcode::kPad;
      });
      const bool pads = part->opcode() == Opcode::kPad;
      if (tree.parts > (pads ? 1 : kMostShiftedParts)) continue;
      const std::vector<Instruction*> loops(part->users().begin(),
                                            part->users().end());
      if (!std::all_of(loops.begin(), loops.end(), [&](const Instruction* l) {
            return parts_[l->id()] + tree.parts <= kMostPartsOfLoop;
          })) {
        continue;
      }
      for (Instruction* loop : loops) TakeIn(tree, loop);
      for (Instruction* m : tree.members) {
        gone_.insert(m);
        c_->Remove(m);
      }
      changed = true;
    }
    if (changed) c_->RemoveDead();  // values of pads
    return changed;
  }

 private:
  // Loops over its own shape read it, and nobody else.
  bool MayGo(const Instruction& part) const {
    if (!IsShiftedOperand(part) || IsTileSlice(part) || !IsFreeToGo(part) ||
        part.user_count() == 0 || !IsWorthIt(part)) {
      return false;
    }
    return std::all_of(
        part.users().begin(), part.users().end(), [&](const Instruction* u) {
          return IsLoop(*u) && ShapeOfLoop(*u).SameDims(part.shape()) &&
                 ShapeOfLoop(*u).layout().minor_to_major ==
                     part.shape().layout().minor_to_major &&
                 ReadsInStep(*u, part);
        });
  }

  // What a loop broadcasts or slices again is no part of its own shape.
  static bool ReadsInStep(const Instruction& loop, const Instruction& part) {
    if (loop.opcode() != Opcode::kFusion) return true;
    for (int k = 0; k < loop.operand_count(); ++k) {
      if (loop.operand(k) != &part) continue;
      const auto& users = loop.fused()->parameter(k)->users();
      if (!std::all_of(users.begin(), users.end(), [&](const Instruction* u) {
            return u->opcode() == Opcode::kReduce ||
                   (u->IsElementwise() && u->shape().SameDims(part.shape()));
          })) {
        return false;
      }
    }
    return true;
  }

  // A lone instruction as a fusion of itself.
  Instruction* AsFusion(Instruction* loop) {
    if (loop->opcode() == Opcode::kFusion) return loop;
    const auto metadata = loop->shared_metadata();
    if (loop->opcode() == Opcode::kReduce) {
      Instruction* start = c_->AddConstant(loop->operand(1)->literal());
      loop->ReplaceOperand(1, start);
      loop =
          c_->CreateFusion({start, loop}, FusionKind::kInput, "reduce_fusion");
    } else {
      const std::string name =
          absl::StrCat(OpcodeName(loop->opcode()), "_fusion");
      loop = c_->CreateFusion({loop}, FusionKind::kLoop, name);
    }
    if (metadata != nullptr) loop->set_metadata(metadata);
    return loop;
  }

  // A part and what it is made of become work of `loop`.
  void TakeIn(const PartTree& tree, Instruction* loop) {
    const int had = parts_[loop->id()];
    loop = AsFusion(loop);
    Computation* fused = loop->fused();
    std::vector<Instruction*> operands(loop->operands().begin(),
                                       loop->operands().end());
    const auto parameter_of = [&](Instruction* operand) {
      for (size_t k = 0; k < operands.size(); ++k) {
        if (operands[k] == operand) {
          return fused->parameter(static_cast<int>(k));
        }
      }
      operands.push_back(operand);
      return fused->AddParameter(static_cast<int64_t>(operands.size()) - 1,
                                 operand->shape());
    };
    absl::flat_hash_map<const Instruction*, Instruction*> inside;
    for (auto m = tree.members.rbegin(); m != tree.members.rend(); ++m) {
      std::vector<Instruction*> of;
      for (Instruction* operand : (*m)->operands()) {
        const auto made = inside.find(operand);
        of.push_back(made != inside.end() ? made->second
                     : operand->IsConstant()
                         ? fused->AddConstant(operand->literal())
                         : parameter_of(operand));
      }
      inside[*m] = fused->AddLike(**m, (*m)->shape(), of);
    }
    for (size_t k = operands.size(); k-- > 0;) {
      if (operands[k] != tree.members[0]) continue;
      Instruction* parameter = fused->parameter(static_cast<int>(k));
      fused->Replace(parameter, inside.at(tree.members[0]));
      fused->Remove(parameter);
      operands.erase(operands.begin() + static_cast<int64_t>(k));
    }
    Instruction* grown = c_->AddLike(*loop, loop->shape(), operands);
    c_->Replace(loop, grown);
    parts_[grown->id()] = had + tree.parts;
  }

  Computation* c_;
  absl::flat_hash_set<const Instruction*> gone_;
  absl::flat_hash_map<int, int> parts_;  // by the loop's id
};

}  // namespace

absl::StatusOr<bool> ShiftFusionPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= Shifts(c).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
