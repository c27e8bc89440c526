#include "hlo_backend/passes/fusion/mask_readers.h"

#include <algorithm>
#include <vector>

namespace ptxla::hlo {
namespace {

// Work on a mask and what it is made from is looked for so far.
constexpr size_t kMostReaders = 16;
constexpr int kDeepest = 4;

// Is it made of `source` and of what is free, one step after another?
bool IsMadeOf(const FusionNodes& nodes, const Instruction* i,
              const Instruction& source) {
  for (int depth = 0; depth < kDeepest && i != &source; ++depth) {
    if (nodes.of(i).role != FusionRole::kElementwise) return false;
    const Instruction* array = nullptr;
    for (const Instruction* o : i->operands()) {
      if (nodes.of(o).role == FusionRole::kFree) continue;
      if (array != nullptr) return false;
      array = o;
    }
    if (array == nullptr) return false;
    i = array;
  }
  return i == &source;
}

}  // namespace

bool IsReadWith(const FusionNodes& nodes, const Instruction& mask,
                const Instruction& source) {
  if (mask.shape().type() != PrimitiveType::kPred || mask.IsRoot()) {
    return false;
  }
  const auto is_of_loop = [&](const Instruction* i) {
    return nodes.of(i).role == FusionRole::kElementwise &&
           i->shape().SameDims(mask.shape());
  };
  return std::all_of(
      mask.users().begin(), mask.users().end(), [&](const Instruction* user) {
        std::vector<const Instruction*> open = {user};
        for (size_t next = 0; next < open.size(); ++next) {
          const Instruction* i = open[next];
          if (!is_of_loop(i)) continue;
          for (const Instruction* o : i->operands()) {
            if (o != &mask && IsMadeOf(nodes, o, source)) return true;
          }
          for (const Instruction* u : i->users()) {
            if (open.size() < kMostReaders &&
                std::find(open.begin(), open.end(), u) == open.end()) {
              open.push_back(u);
            }
          }
        }
        return false;
      });
}

bool IsKeptForProducts(const FusionNodes& nodes, const Instruction& mask,
                       const Instruction& source) {
  const auto products = std::count_if(
      source.users().begin(), source.users().end(), [&](const Instruction* u) {
        return nodes.of(u).role == FusionRole::kDot;
      });
  return mask.shape().type() == PrimitiveType::kPred && !mask.IsRoot() &&
         products > 1 &&
         source.shape().ByteSize() <= 2 * mask.shape().ByteSize();
}

}  // namespace ptxla::hlo
