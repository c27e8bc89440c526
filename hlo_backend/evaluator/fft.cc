// fft over the last 1 to 3 dimensions, in complex double: radix 2 where the
// length is a power of two, else the defining sum with exact angles.
#include <cmath>
#include <complex>

#include "base/numerics/transcendental64.h"
#include "base/status.h"
#include "hlo_backend/evaluator/complex_product.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

using Complex = std::complex<double>;

// exp(sign * 2 pi i k / n) for k < n.
std::vector<Complex> Roots(int64_t n, int sign) {
  std::vector<Complex> roots(n);
  for (int64_t k = 0; k < n; ++k) {
    const double angle = 6.283185307179586476925 * k / n;
    roots[k] = {numerics::Cos(angle), sign * numerics::Sin(angle)};
  }
  return roots;
}

void Radix2(std::vector<Complex>* x, const std::vector<Complex>& roots) {
  const size_t n = x->size();
  for (size_t i = 1, j = 0; i < n; ++i) {
    size_t bit = n >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i < j) std::swap((*x)[i], (*x)[j]);
  }
  for (size_t length = 2; length <= n; length <<= 1) {
    for (size_t i = 0; i < n; i += length) {
      for (size_t k = 0; k < length / 2; ++k) {
        const Complex a = (*x)[i + k];
        const Complex b =
            Times((*x)[i + k + length / 2], roots[k * (n / length)]);
        (*x)[i + k] = a + b;
        (*x)[i + k + length / 2] = a - b;
      }
    }
  }
}

// Transforms the line, forward (sign -1) or unscaled inverse (+1).
void Transform(std::vector<Complex>* x, const std::vector<Complex>& roots) {
  const size_t n = x->size();
  if ((n & (n - 1)) == 0) return Radix2(x, roots);
  std::vector<Complex> out(n);
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0; j < n; ++j) out[k] += Times((*x)[j], roots[k * j % n]);
  }
  *x = std::move(out);
}

// Transforms every line of `data` along dimension d.
void AlongDimension(Complex* data, const DimVector& dims, int d, int sign) {
  const DimVector strides = RowMajorStrides(dims);
  const int64_t n = dims[d];
  const std::vector<Complex> roots = Roots(n, sign);
  DimVector outer = dims;
  outer[d] = 1;
  std::vector<Complex> line(n);
  for (Odometer o(outer); !o.done(); o.Next()) {
    Complex* base = data + Dot(o.index(), strides);
    for (int64_t k = 0; k < n; ++k) line[k] = base[k * strides[d]];
    Transform(&line, roots);
    for (int64_t k = 0; k < n; ++k) base[k * strides[d]] = line[k];
  }
}

}  // namespace

absl::StatusOr<Value> EvalFft(OpContext&, const Instruction& i,
                              absl::Span<Value> operands) {
  const FftAttrs& fft = i.attrs<FftAttrs>();
  const bool inverse =
      fft.type == FftType::kIfft || fft.type == FftType::kIrfft;
  ASSIGN_OR_RETURN(Value x, ConvertTo(operands[0], PrimitiveType::kC128));
  x = x.Dense();
  const int rank = x.shape().rank();
  const int last = rank - 1;
  DimVector dims = x.shape().dims();
  if (fft.type == FftType::kIrfft && x.count() > 0) {
    // The missing half of the spectrum is the conjugate, reversed in every
    // transformed dimension.
    DimVector full = dims;
    full[last] = fft.length.back();
    const int transformed = static_cast<int>(fft.length.size());
    Value whole = Value::NewArray(Shape::Array(PrimitiveType::kC128, full));
    Complex* to = whole.MutableAs<Complex>();
    const DimVector strides = RowMajorStrides(dims);
    int64_t at = 0;
    for (Odometer o(full); !o.done(); o.Next(), ++at) {
      DimVector index = o.index();
      const bool mirrored = index[last] >= dims[last];
      if (mirrored) {
        for (int d = rank - transformed; d < rank; ++d) {
          index[d] = (full[d] - index[d]) % full[d];
        }
      }
      const Complex value = x.as<Complex>()[Dot(index, strides)];
      to[at] = mirrored ? std::conj(value) : value;
    }
    x = whole;
    dims = full;
  }
  Complex* data = x.MutableAs<Complex>();
  double scale = 1;
  for (size_t k = 0; k < fft.length.size(); ++k) {
    const int d = rank - static_cast<int>(fft.length.size() - k);
    if (x.count() > 0) AlongDimension(data, dims, d, inverse ? 1 : -1);
    if (inverse) scale /= static_cast<double>(fft.length[k]);
  }
  for (int64_t k = 0; inverse && k < x.count(); ++k) data[k] *= scale;
  if (fft.type == FftType::kRfft) {
    Shape half = i.shape();
    half.set_type(PrimitiveType::kC128);
    Value out = Value::NewArray(half);
    CopyBox(half.dims(), out.Mutable(), RowMajorStrides(half.dims()), x.data(),
            RowMajorStrides(dims), x.element_bytes());
    x = out;
  }
  ASSIGN_OR_RETURN(const Value out, ConvertTo(x, i.shape().type()));
  return out.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
