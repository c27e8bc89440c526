#include "hlo_backend/passes/layout/dilated_pads.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/picked_planes.h"
#include "hlo_backend/passes/layout/stepped_rows.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {
namespace {

class DilatedPads {
 public:
  DilatedPads(Instruction* pad, const PassContext& context)
      : context_(context), value_(pad->operand(1)), b_(pad->parent()) {
    b_.set_metadata(pad->shared_metadata());
  }

  // Padding between the elements of rows or lanes `d`, and at most as much
  // behind the last of them.
  Instruction* Dilated(Instruction* x, int d, const PaddingDim& padding) {
    const int rank = x->shape().rank();
    if (d == rank - 1) {
      const DimVector turn = LastTwoSwapped(rank);
      Instruction* rows = Dilated(Transposed(&b_, x, turn), rank - 2, padding);
      return b_.Transpose(rows, turn);
    }
    Instruction* rows = Padded(x, d, padding);
    if (MoverStepsOverRows(x->shape(), rows->shape(), 0, padding.interior + 1,
                           context_))
      return rows;
    x->parent()->Remove(rows);
    const DimVector order = PlanesAlong(x->shape(), d, GenerationOf(context_));
    return b_.Transpose(Padded(Transposed(&b_, x, order), 0, padding),
                        Inverse(order));
  }

  Instruction* Padded(Instruction* x, absl::Span<const PaddingDim> dims) {
    const bool none =
        std::all_of(dims.begin(), dims.end(),
                    [](const PaddingDim& p) { return p == PaddingDim(); });
    return none ? x : b_.Pad(x, value_, dims);
  }

 private:
  Instruction* Padded(Instruction* x, int d, const PaddingDim& padding) {
    std::vector<PaddingDim> dims(x->shape().rank());
    dims[d] = padding;
    return Padded(x, dims);
  }

  const PassContext& context_;
  Instruction* value_;
  Builder b_;
};

}  // namespace

Instruction* DilatedPad(Instruction* pad, const PassContext& context) {
  auto rest = pad->attrs<PadAttrs>().dims;
  const int rank = pad->shape().rank();
  DilatedPads make(pad, context);
  Instruction* x = pad->operand(0);
  for (const int d : {rank - 1, rank - 2}) {
    if (d < 0 || rest[d].interior == 0 || !MovesMany(*pad, d)) continue;
    PaddingDim even = rest[d];
    even.low = 0;
    even.high = std::clamp<int64_t>(rest[d].high, 0, even.interior);
    rest[d] = {rest[d].low, rest[d].high - even.high, 0};
    const bool alone =
        std::all_of(rest.begin(), rest.end(),
                    [](const PaddingDim& p) { return p == PaddingDim(); });
    // Nothing else to do, and the kernel does this.
    if (alone && x == pad->operand(0) && d == rank - 2 &&
        MoverStepsOverRows(x->shape(), pad->shape(), 0, even.interior + 1,
                           context)) {
      return nullptr;
    }
    x = make.Dilated(x, d, even);
  }
  return x == pad->operand(0) ? nullptr : make.Padded(x, rest);
}

}  // namespace ptxla::hlo
