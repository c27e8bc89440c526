#include "hlo_backend/passes/products/product_order.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/layout/compact_entry.h"
#include "hlo_backend/passes/layout/result_products.h"

namespace ptxla::hlo {
namespace {

// Elementwise work is followed so far to an array of the entry.
constexpr int kDeepest = 6;
// Of the work behind a product, as many instructions are asked.
constexpr size_t kLargestWork = 64;

// Of elementwise work on an array of the entry: 1 if that lies the other way,
// -1 if not, 0 if there is none.
int Vote(const Instruction& x, int depth) {
  if (x.opcode() == Opcode::kParameter) return x.shape().IsScalar() ? 0 : -1;
  if (x.opcode() == Opcode::kTranspose) {
    return NamesParameterAsItLies(*x.operand(0)) ? 1 : 0;
  }
  if (!x.IsElementwise() || depth == 0) return 0;
  for (const Instruction* o : x.operands()) {
    if (!o->shape().SameDims(x.shape())) continue;
    if (const int vote = Vote(*o, depth - 1)) return vote;
  }
  return 0;
}

// Of operand `side`, in a dot without a batch.
int FreeDims(const Instruction& dot, int side) {
  return dot.operand(side)->shape().rank() -
         static_cast<int>(dot.attrs<DotAttrs>().lhs_contracting.size());
}

}  // namespace

bool IsWantedTransposed(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || dot.shape().rank() != 2 ||
      FreeDims(dot, 0) != 1 || !dot.attrs<DotAttrs>().lhs_batch.empty() ||
      !dot.attrs<DotAttrs>().sparsity.empty() ||
      !dot.control_predecessors().empty() ||
      !dot.control_successors().empty() ||
      (dot.parent()->IsEntry() && IsOneOfResults(dot))) {
    return false;
  }
  int votes = 0;
  std::vector<const Instruction*> work = {&dot};
  absl::flat_hash_set<const Instruction*> met = {&dot}, asked = {&dot};
  for (size_t k = 0; k < work.size() && k < kLargestWork; ++k) {
    for (const Instruction* user : work[k]->users()) {
      if (!met.insert(user).second) continue;
      if (user->opcode() == Opcode::kTranspose) {
        ++votes;
      } else if (user->IsRoot()) {
        --votes;
      } else if (user->IsElementwise() && user->shape().SameDims(dot.shape()) &&
                 user->opcode() != Opcode::kCopy) {
        work.push_back(user);
        for (const Instruction* o : user->operands()) {
          if (asked.insert(o).second) votes += Vote(*o, kDeepest);
        }
      }
    }
  }
  return votes > 0;
}

}  // namespace ptxla::hlo
