#include "hlo_backend/passes/layout/strided_slices.h"

#include <algorithm>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/layout/picked_planes.h"
#include "hlo_backend/passes/layout/stepped_rows.h"

namespace ptxla::hlo {
namespace {

class StridedSlices {
 public:
  explicit StridedSlices(Instruction* slice)
      : slice_(slice),
        rest_(slice->attrs<SliceAttrs>()),
        b_(slice->parent()),
        x_(slice->operand(0)) {
    b_.set_metadata(slice->shared_metadata());
  }

  Instruction* Expand(const PassContext& context) {
    const int rank = slice_->shape().rank();
    const bool boxed = TakeBox(GenerationOf(context));
    DimVector picked;
    for (int d = 0; d < rank; ++d) {
      if (rest_.strides[d] > 1 && slice_->shape().dim(d) > 1 &&
          MovesMany(*slice_, d)) {
        picked.push_back(d);
      }
    }
    if (picked.empty()) return boxed ? Rest() : nullptr;
    if (picked[0] == rank - 2 &&
        !(rank == 2 && TableReadsLess(rest_.strides[0], x_->shape().dim(1)))) {
      Shape few = x_->shape();
      few.set_dim(rank - 2, slice_->shape().dim(rank - 2));
      if (MoverStepsOverRows(few, x_->shape(), rest_.starts[rank - 2],
                             rest_.strides[rank - 2], context)) {
        if (picked.size() == 1) return boxed ? Rest() : nullptr;
        // First, as fewer elements are left then.
        SliceRows(rank - 2);
        picked.erase(picked.begin());
      }
    }
    for (const int64_t d : picked) {
      if (d + 1 == rank && StepsOverTurnedRows(context)) continue;
      x_ = PickedPlanes(b_, x_, d, rest_.starts[d], rest_.strides[d],
                        slice_->shape().dim(static_cast<int>(d)),
                        GenerationOf(context));
      Done(d);
    }
    return x_->shape().SameDims(slice_->shape()) ? x_ : Rest();
  }

 private:
  Instruction* Rest() {
    return b_.Slice(x_, rest_.starts, rest_.limits, rest_.strides);
  }

  // What lies around the elements alone, of a large array of which it is a
  // small part: kernels that step over elements read all. ASSUMED: from 1 MiB
  // on, an eighth.
  bool TakeBox(int generation) {
    constexpr int64_t kLarge = 1 << 20, kSmaller = 8;
    DimVector box;
    bool steps = false;
    for (int d = 0; d < x_->shape().rank(); ++d) {
      const int64_t steps_over =
          (slice_->shape().dim(d) - 1) * rest_.strides[d];
      steps |= steps_over >= slice_->shape().dim(d);
      box.push_back(steps_over + 1);
    }
    const Shape around = Shape::Array(x_->shape().type(), box);
    const int64_t bytes = TpuBytes(x_->shape(), generation);
    if (!steps || bytes < kLarge ||
        TpuBytes(around, generation) > bytes / kSmaller) {
      return false;
    }
    DimVector limits = rest_.starts;
    for (size_t d = 0; d < limits.size(); ++d) limits[d] += box[d];
    x_ = b_.Slice(x_, rest_.starts, limits, DimVector(box.size(), 1));
    rest_.starts.assign(box.size(), 0);
    rest_.limits = box;
    return true;
  }

  // Rows of a table by number: a kernel that steps over rows reads all. Taken
  // where our own times say so (v6e: f32[3000,4000] by 7 15 us against 41,
  // f32[100000,128] by 2 200 against 56); ASSUMED between.
  static bool TableReadsLess(int64_t step, int64_t columns) {
    constexpr int64_t kFewer = 4;
    return step >= kFewer && columns >= kFewer * kLanes;
  }

  // Lanes of a plane as rows of one. Whether it has become so.
  bool StepsOverTurnedRows(const PassContext& context) {
    if (x_->shape().rank() != 2) return false;
    const auto rows_of = [&](int64_t rows) {
      return Shape::Array(x_->shape().type(), {rows, x_->shape().dim(0)});
    };
    const Shape many = rows_of(x_->shape().dim(1));
    const Shape few = rows_of(slice_->shape().dim(1));
    if (TableReadsLess(rest_.strides[1], few.dim(1)) ||
        !MoverStepsOverRows(few, many, rest_.starts[1], rest_.strides[1],
                            context)) {
      return false;
    }
    x_ = b_.Transpose(
        b_.Slice(b_.Transpose(x_, {1, 0}), {rest_.starts[1], 0},
                 {rest_.limits[1], few.dim(1)}, {rest_.strides[1], 1}),
        {1, 0});
    Done(1);
    return true;
  }

  void SliceRows(int rows) {
    DimVector starts(x_->shape().rank(), 0), limits = x_->shape().dims();
    DimVector strides(x_->shape().rank(), 1);
    starts[rows] = rest_.starts[rows];
    limits[rows] = rest_.limits[rows];
    strides[rows] = rest_.strides[rows];
    x_ = b_.Slice(x_, starts, limits, strides);
    Done(rows);
  }
  void Done(int64_t d) {
    rest_.starts[d] = 0;
    rest_.limits[d] = slice_->shape().dim(static_cast<int>(d));
    rest_.strides[d] = 1;
  }

  Instruction* slice_;
  SliceAttrs rest_;  // what is left to do
  Builder b_;
  Instruction* x_;
};

}  // namespace

Instruction* StridedSlice(Instruction* slice, const PassContext& context) {
  return StridedSlices(slice).Expand(context);
}

}  // namespace ptxla::hlo
