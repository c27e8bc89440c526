#include "hlo_backend/passes/products/operands_in_place.h"

#include <algorithm>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/fusion/row_statistics.h"

namespace ptxla::hlo {
namespace {

// The transpose of an array that lies row-major, as a name for it: its
// dimensions where they lie.
Shape InPlace(const Instruction& t, int generation) {
  const int rank = t.shape().rank();
  Layout order = Layout::RowMajor(rank);
  for (int d = 0; d < rank; ++d) {
    const int64_t major = t.dimensions()[d];
    order.minor_to_major[rank - 1 - major] = d;
  }
  Shape shape = t.shape();
  shape.set_layout(order);
  return WithTpuLayout(shape, generation);
}

// Whole rows that are reduced stay with their product (row_fusion.h), those of
// the 8 members that share tiles in one step.
bool RowsOfMembersFit(const Instruction& dot, const chips::ChipSpec& chip) {
  if (!MeetsRowReduce(dot)) return true;
  const Shape& s = dot.shape();
  const int64_t rows = s.dim(s.rank() - 2);
  const auto share = [&](const char* policy) {
    return chip.Policy(policy).value_or(0) *
           static_cast<double>(chip.vmem().scoped_limit.count());
  };
  const auto bytes = [&](int64_t of) {
    return static_cast<double>(MemberStepBytes(dot, std::min(rows, of)));
  };
  const auto most =
      static_cast<int64_t>(chip.Policy("member_rows").value_or(0));
  return rows <= kMemberRowUnit || OnlyStatistics(dot, chip) ||
         (bytes(most) <= share("product_vmem_share") &&
          bytes(kMemberRowUnit) <= share("row_vmem_share"));
}

// A step has the members of whole tiles of 8 rows, or all of them where their
// number is no multiple of 8; with each come all that share it. Each member
// pushes at least 128 rows of weights, and the code of a step has a limit.
bool StepsCutMembers(int64_t members, int64_t sharing,
                     const chips::ChipSpec& chip) {
  constexpr int64_t kTileMembers = 8, kPush = 128;
  const int64_t least = members % kTileMembers == 0 ? kTileMembers : members;
  return least * sharing * kPush <= chips::ProductStepBundles(chip);
}

// Every user is a product that reads the array `as` where it lies. A step of a
// chain has few members, and reads planes.
bool ReadsInPlace(const Instruction& value, const Shape& as,
                  const chips::ChipSpec& chip) {
  if (value.user_count() == 0 || value.IsRoot()) return false;
  for (const Instruction* user : value.users()) {
    if (user->opcode() != Opcode::kDot) return false;
    const DotAttrs& a = user->attrs<DotAttrs>();
    for (int o = 0; o < 2; ++o) {
      if (user->operand(o) != &value) continue;
      const int batch = OperandBatch(*user, o);
      if (!MembersInRows(as, batch) || as.rank() != batch + 2 ||
          !StepsCutMembers(as.dim(batch - 1),
                           o == 1 ? SharingMembers(*user) : 1, chip)) {
        return false;
      }
    }
    if (user->shape().rank() != ProductBatch(*user) + 2 ||
        !RowsOfMembersFit(*user, chip)) {
      return false;
    }
    for (size_t d = 0; d < a.lhs_batch.size(); ++d) {
      const auto number = static_cast<int64_t>(d);
      if (a.lhs_batch[d] != number || a.rhs_batch[d] != number) return false;
    }
  }
  return true;
}

}  // namespace

bool ReadOperandsInPlace(Computation* c, const chips::ChipSpec& chip) {
  bool changed = false;
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() != Opcode::kTranspose ||
        i->operand(0)->opcode() == Opcode::kReshape ||
        !i->operand(0)->shape().layout().IsRowMajor()) {
      continue;
    }
    const Shape as = InPlace(*i, chip.generation());
    if (as.layout().tiles != i->operand(0)->shape().layout().tiles ||
        !ReadsInPlace(*i, as, chip)) {
      continue;
    }
    c->Replace(i, c->Add(Opcode::kBitcast, as, {i->operand(0)}));
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
