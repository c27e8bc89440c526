#include "hlo_backend/passes/fusion/softmax_fusion.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/fusion/softmax_group.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kWide = PrimitiveType::kF32;
constexpr PrimitiveType kNarrow = PrimitiveType::kBf16;

class SoftmaxFuser {
 public:
  SoftmaxFuser(Computation* c, const chips::ChipSpec& chip, int least_rank)
      : c_(c),
        least_rank_(least_rank),
        order_(c->PostOrder()),
        softmax_(order_, chip) {}

  // Makes the next kernel; false: there is none.
  bool MakeNext() {
    for (size_t n = 0; n < order_.size(); ++n) {
      if (!StartsSoftmax(*order_[n], least_rank_) || !softmax_.Gather(n)) {
        continue;
      }
      SumWhatIsStored();
      Build();
      return true;
    }
    return false;
  }

 private:
  // A sum behind the kernel reads what is stored in bf16, as there, not its f32
  // value that would be stored beside it: bf16 programs have both, since a
  // convert and its way back are none.
  void SumWhatIsStored() {
    for (Instruction* wide : softmax_.members()) {
      if (wide->shape().type() != kWide) continue;
      const auto narrow = std::find_if(
          wide->users().begin(), wide->users().end(), [&](Instruction* user) {
            return user->opcode() == Opcode::kConvert &&
                   user->shape().type() == kNarrow && softmax_.Contains(user) &&
                   softmax_.UsedOutside(*user);
          });
      if (narrow == wide->users().end()) continue;
      std::vector<Instruction*> sums;
      for (Instruction* user : wide->users()) {
        if (user->opcode() == Opcode::kReduce && !softmax_.Contains(user)) {
          sums.push_back(user);
        }
      }
      if (sums.empty()) continue;
      Instruction* stored = c_->Add(Opcode::kConvert, wide->shape(), {*narrow});
      for (Instruction* sum : sums) wide->ReplaceUseIn(sum, stored);
    }
  }

  // Broadcasts and constants are made inside again.
  Instruction* Inside(Instruction* value) {
    if (softmax_.Contains(value)) return value;
    const bool constant = value->IsConstant() && value->shape().IsScalar();
    if (!constant && value->opcode() != Opcode::kBroadcast) return value;
    auto [it, is_new] = clones_.try_emplace(value, nullptr);
    if (!is_new) return it->second;
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) operands.push_back(Inside(o));
    Instruction* clone = c_->AddLike(*value, value->shape(), operands);
    group_.push_back(clone);
    return clones_[value] = clone;
  }

  void Build() {
    clones_.clear();
    group_.clear();
    for (Instruction* i : softmax_.members()) {
      for (int k = 0; k < i->operand_count(); ++k) {
        Instruction* value = Inside(i->operand(k));
        if (value != i->operand(k)) i->ReplaceOperand(k, value);
      }
      group_.push_back(i);
    }
    const auto metadata = softmax_.start()->shared_metadata();
    Instruction* fusion =
        c_->CreateFusion(group_, FusionKind::kInput, "softmax_fusion");
    if (metadata != nullptr) fusion->set_metadata(metadata);
  }

  Computation* c_;
  const int least_rank_;
  const std::vector<Instruction*> order_;
  SoftmaxGroup softmax_;  // of the kernel at hand
  absl::flat_hash_map<const Instruction*, Instruction*> clones_;
  std::vector<Instruction*> group_;
};

}  // namespace

absl::StatusOr<bool> SoftmaxFusionPass::Run(Module* module,
                                            const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const auto rank = context.chip->Policy("softmax_rank");
  if (!rank) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= c->RemoveDead() > 0;
    while (SoftmaxFuser(c, *context.chip, static_cast<int>(*rank)).MakeNext()) {
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
