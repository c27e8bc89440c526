#include "hlo_backend/passes/fusion/joined_slices.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/passes/fusion/part_tree.h"

namespace ptxla::hlo {
namespace {

// Movements take bytes at the least.
bool MayJoin(const Instruction& i) {
  return MovesInOrder(i) && i.opcode() != Opcode::kPad &&
         BitWidth(i.shape().type()) >= 8;
}

bool IsJoin(const Instruction& i) {
  return i.opcode() == Opcode::kConcatenate && MayJoin(i);
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

}  // namespace

bool FuseJoinedSlices(Computation* c) {
  const std::vector<Instruction*> order = c->PostOrder();
  absl::flat_hash_set<const Instruction*> done;
  bool changed = false;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    Instruction* root = *it;
    if (done.contains(root) || !IsJoin(*root)) continue;
    PartTree tree = PartTreeOf(root, MayJoin);
    if (tree.members.size() < 2 || tree.parts > kMostParts ||
        std::none_of(tree.members.begin(), tree.members.end(),
                     [](const Instruction* i) { return CutsPlanes(*i); })) {
      continue;
    }
    done.insert(tree.members.begin(), tree.members.end());
    std::reverse(tree.members.begin(), tree.members.end());
    const auto metadata = root->shared_metadata();
    Instruction* fusion =
        c->CreateFusion(tree.members, FusionKind::kLoop, "concatenate_fusion");
    if (metadata != nullptr) fusion->set_metadata(metadata);
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
