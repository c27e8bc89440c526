#include "hlo_backend/passes/fusion/joined_slices.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace ptxla::hlo {
namespace {

// Each part has windows of its own in a step. ASSUMED.
constexpr size_t kMostParts = 8;
// Dimensions that a step of such a kernel walks: three of planes, rows, lanes.
constexpr int kMostRank = 5;

bool IsPlainSlice(const Instruction& i) {
  if (i.opcode() != Opcode::kSlice) return false;
  const auto& strides = i.attrs<SliceAttrs>().strides;
  return std::all_of(strides.begin(), strides.end(),
                     [](int64_t stride) { return stride == 1; });
}

bool KeepsOrder(const Instruction& i) {
  if (!i.shape().IsArray() || !i.shape().has_layout()) return false;
  for (const Instruction* operand : i.operands()) {
    if (!operand->shape().has_layout() ||
        operand->shape().layout().minor_to_major !=
            i.shape().layout().minor_to_major) {
      return false;
    }
  }
  return true;
}

bool IsJoin(const Instruction& i) {
  return i.opcode() == Opcode::kConcatenate && i.shape().rank() <= kMostRank &&
         BitWidth(i.shape().type()) >= 8 && KeepsOrder(i);
}

// It parts or joins rows or lanes. (Whole planes are a transfer each.)
bool CutsPlanes(const Instruction& i) {
  const auto& minors = i.shape().layout().minor_to_major;
  for (size_t m = 0; m < minors.size() && m < 2; ++m) {
    const int64_t d = minors[m];
    if (i.opcode() == Opcode::kConcatenate) {
      if (i.dimensions()[0] == d) return true;
    } else if (i.shape().dim(d) != i.operand(0)->shape().dim(d)) {
      return true;
    }
  }
  return false;
}

bool MayJoin(const Instruction& i) {
  return (IsJoin(i) || (IsPlainSlice(i) && KeepsOrder(i))) && !i.IsRoot() &&
         i.control_predecessors().empty() && i.control_successors().empty();
}

class Joins {
 public:
  explicit Joins(Computation* c) : c_(c) {}

  bool Run() {
    const std::vector<Instruction*> order = c_->PostOrder();
    for (size_t k = 0; k < order.size(); ++k) place_[order[k]] = k;
    bool changed = false;
    for (auto it = order.rbegin(); it != order.rend(); ++it) {
      Instruction* root = *it;
      if (done_.contains(root) || !IsJoin(*root)) continue;
      Collect(root);
      if (members_.size() < 2 || Parts(*root) > kMostParts ||
          std::none_of(members_.begin(), members_.end(),
                       [](const Instruction* i) { return CutsPlanes(*i); })) {
        continue;
      }
      for (const Instruction* i : members_) done_.insert(i);
      std::sort(members_.begin(), members_.end(),
                [&](const Instruction* a, const Instruction* b) {
                  return place_.at(a) < place_.at(b);
                });
      const auto metadata = root->shared_metadata();
      Instruction* fusion =
          c_->CreateFusion(members_, FusionKind::kLoop, "concatenate_fusion");
      if (metadata != nullptr) fusion->set_metadata(metadata);
      changed = true;
    }
    return changed;
  }

 private:
  bool IsMember(const Instruction* i) const {
    return std::find(members_.begin(), members_.end(), i) != members_.end();
  }

  // `root` and what nobody else reads.
  void Collect(Instruction* root) {
    members_ = {root};
    for (size_t before = 0; before != members_.size();) {
      before = members_.size();
      for (size_t m = 0; m < members_.size(); ++m) {
        for (Instruction* i : members_[m]->operands()) {
          if (IsMember(i) || done_.contains(i) || !MayJoin(*i)) continue;
          const auto& users = i->users();
          if (std::all_of(users.begin(), users.end(),
                          [&](const auto* u) { return IsMember(u); })) {
            members_.push_back(i);
          }
        }
      }
    }
  }

  // Boxes that the kernel moves.
  size_t Parts(const Instruction& i) const {
    size_t parts = 0;
    for (const Instruction* operand : i.operands()) {
      parts += IsMember(operand) ? Parts(*operand) : 1;
      if (parts > kMostParts) break;
    }
    return parts;
  }

  Computation* c_;
  absl::flat_hash_map<const Instruction*, size_t> place_;
  absl::flat_hash_set<const Instruction*> done_;
  std::vector<Instruction*> members_;  // of one kernel
};

}  // namespace

bool FuseJoinedSlices(Computation* computation) {
  return Joins(computation).Run();
}

}  // namespace ptxla::hlo
