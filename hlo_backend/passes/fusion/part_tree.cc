#include "hlo_backend/passes/fusion/part_tree.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

// The first elements of the array, as they follow one another in memory.
bool IsPrefix(const Instruction& slice) {
  const Shape &from = slice.operand(0)->shape(), &to = slice.shape();
  const auto& starts = slice.attrs<SliceAttrs>().starts;
  const auto& minors = to.layout().minor_to_major;
  bool outer = true;  // so far
  for (auto d = minors.rbegin(); d != minors.rend(); ++d) {
    if (starts[*d] != 0) return false;
    if (to.dim(*d) != from.dim(*d) && !outer) return false;
    if (from.dim(*d) != 1) outer = false;
  }
  return true;
}

class Collector {
 public:
  explicit Collector(absl::FunctionRef<bool(const Instruction&)> may_join)
      : may_join_(may_join) {}

  PartTree Run(Instruction* root) {
    members_ = {root};
    for (size_t before = 0; before != members_.size();) {
      before = members_.size();
      for (size_t m = 0; m < members_.size(); ++m) {
        for (Instruction* i : members_[m]->operands()) {
          if (MayJoin(*i)) members_.push_back(i);
        }
      }
    }
    // Slices of what turned out to be stored.
    const std::vector<Instruction*> all = members_;
    const auto is_stored = [&](const Instruction* i) {
      return i->opcode() == Opcode::kSlice && !IsPrefix(*i) &&
             std::find(all.begin(), all.end(), i->operand(0)) == all.end();
    };
    members_.erase(
        std::remove_if(members_.begin() + 1, members_.end(), is_stored),
        members_.end());
    return {members_, PartsOf(*root)};
  }

 private:
  bool IsMember(const Instruction& i) const {
    return std::find(members_.begin(), members_.end(), &i) != members_.end();
  }

  bool MayJoin(const Instruction& i) const {
    if (IsMember(i) || !may_join_(i) || i.IsRoot() ||
        !i.control_predecessors().empty() || !i.control_successors().empty()) {
      return false;
    }
    return std::all_of(i.users().begin(), i.users().end(),
                       [&](const Instruction* u) { return IsMember(*u); });
  }

  int PartsOf(const Instruction& i) const {
    int parts = 0;
    for (const Instruction* operand : i.operands()) {
      if (operand->shape().IsScalar()) continue;  // a pad's value
      parts += IsMember(*operand) ? PartsOf(*operand) : 1;
    }
    return parts;
  }

  absl::FunctionRef<bool(const Instruction&)> may_join_;
  std::vector<Instruction*> members_;
};

}  // namespace

PartTree PartTreeOf(Instruction* root,
                    absl::FunctionRef<bool(const Instruction&)> may_join) {
  return Collector(may_join).Run(root);
}

}  // namespace ptxla::hlo
