#include "hlo_backend/passes/layout/expand_to_transpose.h"

#include <utility>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

// Tiles of the result from which on the second kernel is worth its start: put
// together value by value they take 12 to 55 cycles each on v2 to v7, from the
// transpose units 3 to 5, and a kernel 1,000 to 2,000 at least. DERIVED.
constexpr int64_t kLeastTiles = 256;

// The dimension in the lanes becomes one of rows; which dimensions of size 1
// are in front of it does not matter.
bool LeavesTheLanes(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || !i.shape().IsArray()) return false;
  const Shape &from = i.operand(0)->shape(), &to = i.shape();
  const int rank = to.rank();
  return rank >= 2 && from.rank() >= 1 && to.dim(rank - 1) == 1 &&
         to.dim(rank - 2) > 1 && from.dim(from.rank() - 1) == to.dim(rank - 2);
}

bool HasTransposeUnit(PrimitiveType type) {
  return BitWidth(type) == 32 || type == PrimitiveType::kBf16;
}

int64_t Tiles(const Shape& shape) {
  const int64_t rows = shape.dim(shape.rank() - 2);
  return shape.ElementCount() / rows * CeilOfRatio<int64_t>(rows, 8);
}

}  // namespace

absl::StatusOr<bool> ExpandToTransposePass::Run(Module* module,
                                                const PassContext& context) {
  if (context.chip == nullptr) return false;
  const int generation = context.chip->generation();
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (!LeavesTheLanes(*i) || !HasTransposeUnit(i->shape().type()) ||
          !i->operand(0)->shape().layout().IsRowMajor() ||
          !i->shape().layout().IsRowMajor() ||
          Tiles(i->shape()) < kLeastTiles) {
        continue;
      }
      const int rank = i->shape().rank();
      DimVector rows = i->shape().dims(), order;
      std::swap(rows[rank - 2], rows[rank - 1]);
      for (int d = 0; d < rank; ++d) order.push_back(d);
      std::swap(order[rank - 2], order[rank - 1]);
      Builder b(c);
      b.set_metadata(i->shared_metadata());
      Instruction* x = i->operand(0);
      if (x->shape().dims() != rows) {
        x = b.Reshape(x, rows);
        *x->mutable_shape() = WithTpuLayout(x->shape(), generation);
      }
      Instruction* y = b.Transpose(x, order);
      *y->mutable_shape() = i->shape();
      c->Replace(i, y);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
