#include "hlo_backend/evaluator/strided.h"

#include <algorithm>
#include <cstdlib>

#include "hlo_backend/evaluator/fill.h"

namespace ptxla::hlo {

DimVector RowMajorStrides(absl::Span<const int64_t> dims) {
  DimVector strides(dims.size(), 1);
  for (size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

namespace {

struct BoxDim {
  int64_t size, out, in;
};

// Drops dimensions of size 1 and merges neighbours that are contiguous in
// both arrays.
absl::InlinedVector<BoxDim, 6> Merge(absl::Span<const int64_t> dims,
                                     absl::Span<const int64_t> out,
                                     absl::Span<const int64_t> in) {
  absl::InlinedVector<BoxDim, 6> merged;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 1) continue;
    if (!merged.empty()) {
      BoxDim& last = merged.back();
      if (last.out == out[i] * dims[i] && last.in == in[i] * dims[i]) {
        last = {last.size * dims[i], out[i], in[i]};
        continue;
      }
    }
    merged.push_back({dims[i], out[i], in[i]});
  }
  return merged;
}

// A plane where each side is contiguous in a different dimension is copied in
// small squares, so that both sides use whole cache lines.
void CopyPlane(const BoxDim& a, const BoxDim& b, uint8_t* out,
               const uint8_t* in, int bytes) {
  constexpr int64_t kSquare = 32;
  for (int64_t i0 = 0; i0 < a.size; i0 += kSquare) {
    const int64_t i1 = std::min(a.size, i0 + kSquare);
    for (int64_t j0 = 0; j0 < b.size; j0 += kSquare) {
      const int64_t length = std::min(b.size - j0, kSquare);
      for (int64_t i = i0; i < i1; ++i) {
        CopyStrided(out + (i * a.out + j0 * b.out) * bytes, b.out,
                    in + (i * a.in + j0 * b.in) * bytes, b.in, bytes, length);
      }
    }
  }
}

}  // namespace

void CopyBox(absl::Span<const int64_t> dims, uint8_t* out,
             absl::Span<const int64_t> out_strides, const uint8_t* in,
             absl::Span<const int64_t> in_strides, int element_bytes) {
  for (int64_t d : dims) {
    if (d <= 0) return;
  }
  auto box = Merge(dims, out_strides, in_strides);
  if (box.empty()) box.push_back({1, 1, 1});
  const bool plane = box.size() >= 2 && std::abs(box.back().in) > 1 &&
                     std::abs(box[box.size() - 2].in) == 1;
  const size_t inner = plane ? 2 : 1;
  DimVector outer_dims;
  for (size_t i = 0; i + inner < box.size(); ++i) {
    outer_dims.push_back(box[i].size);
  }
  for (Odometer o(outer_dims); !o.done(); o.Next()) {
    int64_t at_out = 0;
    int64_t at_in = 0;
    for (size_t i = 0; i < outer_dims.size(); ++i) {
      at_out += o.index()[i] * box[i].out;
      at_in += o.index()[i] * box[i].in;
    }
    uint8_t* to = out + at_out * element_bytes;
    const uint8_t* from = in + at_in * element_bytes;
    if (plane) {
      CopyPlane(box[box.size() - 2], box.back(), to, from, element_bytes);
    } else {
      CopyStrided(to, box.back().out, from, box.back().in, element_bytes,
                  box.back().size);
    }
  }
}

}  // namespace ptxla::hlo
