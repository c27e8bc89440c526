// Copying a box of elements between two arrays, each with its own stride per
// dimension: broadcast, transpose, slice, pad, concatenate, reverse and the
// dynamic slices are all this.
//
//   // A transpose of a [2,3] into a [3,2].
//   CopyBox({3, 2}, out, {2, 1}, in, {1, 3}, /*element_bytes=*/4);
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_STRIDED_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_STRIDED_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/layout.h"

namespace ptxla::hlo {

// Row-major strides in elements: {3, 1} for [2,3].
DimVector RowMajorStrides(absl::Span<const int64_t> dims);

// For every index of the box `dims`: out[sum index * out_strides] =
// in[sum index * in_strides]. Strides may be 0 (broadcast) or negative
// (reverse); `out` and `in` point at the elements of index 0.
void CopyBox(absl::Span<const int64_t> dims, uint8_t* out,
             absl::Span<const int64_t> out_strides, const uint8_t* in,
             absl::Span<const int64_t> in_strides, int element_bytes);

// Counts through a box of indices, last dimension fastest.
//
//   for (Odometer o(dims); !o.done(); o.Next()) use(o.index());
class Odometer {
 public:
  explicit Odometer(absl::Span<const int64_t> dims)
      : dims_(dims.begin(), dims.end()), index_(dims.size(), 0) {
    for (int64_t d : dims_) done_ = done_ || d <= 0;
  }
  bool done() const { return done_; }
  const DimVector& index() const { return index_; }
  void Next() {
    for (size_t i = dims_.size(); i-- > 0;) {
      if (++index_[i] < dims_[i]) return;
      index_[i] = 0;
    }
    done_ = true;
  }

 private:
  DimVector dims_, index_;
  bool done_ = false;
};

inline int64_t Dot(absl::Span<const int64_t> a, absl::Span<const int64_t> b) {
  int64_t sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_STRIDED_H_
