#include "hlo_backend/passes/expanders/fft_expander.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kC64 = PrimitiveType::kC64;
constexpr double kTwoPi = 6.283185307179586;

// As seen in the TPU compiler's modules of 30 lengths from 8 to 65536 (v6e):
// 48, 60, 100, 200, 256 and 1000 are one product, 96 = 32 x 3, 512 = 128 x 4,
// 8192 = 128 x 64, 65536 = 256 x 256.
constexpr int64_t kLeastFactor = 32;
constexpr int64_t kColumns = 128, kWideColumns = 256;
// Second factors of fewer lie outside.
constexpr int64_t kPlanes = 64;
// 512 MiB of matrices (ASSUMED: where a matrix is still worth its memory).
constexpr int64_t kLongest = 8192;

// The first factor of a length; the length itself: one product.
int64_t FirstFactor(int64_t n) {
  const int64_t power = n & -n;
  const int64_t most = n / kColumns > kWideColumns ? kWideColumns : kColumns;
  const int64_t factor = std::min(power, most);
  return factor < kLeastFactor || n / factor <= 2 ? n : factor;
}

bool IsBuilt(int64_t n) {
  for (int64_t a = FirstFactor(n); a != n; a = FirstFactor(n)) n /= a;
  return n >= 1 && n <= kLongest;
}

class FftExpander {
 public:
  explicit FftExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  // Null: another instruction, or a type or a length that stays.
  Instruction* Expand() {
    if (i_->opcode() != Opcode::kFft) return nullptr;
    const FftAttrs& attrs = i_->attrs<FftAttrs>();
    Instruction* x = i_->operand(0);
    const PrimitiveType type = x->shape().type();
    if ((type != kF32 && type != kC64) || x->shape().ElementCount() == 0 ||
        !std::all_of(attrs.length.begin(), attrs.length.end(), IsBuilt)) {
      return nullptr;
    }
    const int last = x->shape().rank() - 1;
    const int first = last + 1 - static_cast<int>(attrs.length.size());
    const bool inverse =
        attrs.type == FftType::kIfft || attrs.type == FftType::kIrfft;
    if (attrs.type == FftType::kRfft) {
      x = Along(b_.Convert(x, kC64), last, false);
      DimVector limits = x->shape().dims();
      limits[last] = i_->shape().dim(last);
      x = b_.Slice(x, DimVector(limits.size(), 0), limits);
    } else if (attrs.type != FftType::kIrfft) {
      x = Along(x, last, inverse);
    }
    for (int d = last - 1; d >= first; --d) x = Along(x, d, inverse);
    if (attrs.type == FftType::kIrfft) {
      x = b_.Unary(Opcode::kReal,
                   Along(Mirrored(x, attrs.length.back()), last, true));
    }
    if (!inverse) return x;
    const auto count = std::accumulate(
        attrs.length.begin(), attrs.length.end(), 1.0,
        [](double p, int64_t n) { return p * static_cast<double>(n); });
    return Scaled(x, static_cast<float>(1 / count));
  }

 private:
  Instruction* F32(float value, const Shape& like) {
    return b_.BroadcastScalar(b_.Constant(Literal::Scalar<float>(value)),
                              like.dims());
  }
  Instruction* Complex(Instruction* re, Instruction* im) {
    return b_.Binary(Opcode::kComplex, re, im);
  }
  Instruction* Scaled(Instruction* x, float factor) {
    if (x->shape().type() == kF32) {
      return b_.Multiply(x, F32(factor, x->shape()));
    }
    Instruction* f = F32(factor, x->shape());
    return Complex(b_.Multiply(b_.Unary(Opcode::kReal, x), f),
                   b_.Multiply(b_.Unary(Opcode::kImag, x), f));
  }

  // w_n^(jk) = exp(-2 pi i j k / n), j < rows, k < columns; the inverse's sign
  // is the other.
  Instruction* Roots(int64_t rows, int64_t columns, int64_t n, bool inverse) {
    const bool is_exact = rows * columns <= int64_t{1} << 24;
    const Shape whole =
        Shape::Array(is_exact ? kF32 : PrimitiveType::kS32, {rows, columns});
    Instruction* turns = b_.Multiply(b_.Iota(whole, 0), b_.Iota(whole, 1));
    const Shape shape = Shape::Array(kF32, {rows, columns});
    if ((rows - 1) * (columns - 1) >= n) {
      // Whole turns are taken off; products below 2^24 are exact in f32.
      if (is_exact) {
        Instruction* full =
            b_.Floor(b_.Multiply(turns, F32(1 / static_cast<float>(n), shape)));
        turns = b_.Subtract(
            turns, b_.Multiply(full, F32(static_cast<float>(n), shape)));
      } else {
        turns = b_.Remainder(
            turns,
            b_.BroadcastScalar(
                b_.Constant(Literal::Scalar<int32_t>(static_cast<int32_t>(n))),
                shape.dims()));
      }
    }
    if (!is_exact) turns = b_.Convert(turns, kF32);
    const double angle = (inverse ? kTwoPi : -kTwoPi) / static_cast<double>(n);
    Instruction* angles =
        b_.Multiply(turns, F32(static_cast<float>(angle), shape));
    return Complex(b_.Cos(angles), b_.Sin(angles));
  }

  // Over dimension 1 of x[rows, n] or x[rows, n, others], which becomes the
  // last.
  Instruction* Product(Instruction* x, int64_t n, bool inverse) {
    return Contracted(x, 1, Roots(n, n, n, inverse), 0);
  }
  Instruction* Contracted(Instruction* x, int64_t x_dim, Instruction* y,
                          int64_t y_dim) {
    DotAttrs attrs;
    attrs.lhs_contracting = {x_dim};
    attrs.rhs_contracting = {y_dim};
    attrs.precision.operands = {Precision::kHighest, Precision::kHighest};
    return b_.Dot(x, y, std::move(attrs));
  }

  // x[rows, n] -> [rows, n]
  Instruction* Rows(Instruction* x, bool inverse) {
    const int64_t rows = x->shape().dim(0), n = x->shape().dim(1);
    if (n == 1) return x;
    const int64_t a = FirstFactor(n), b = n / a;
    if (a == n) return Product(x, n, inverse);
    x = b_.Reshape(x, {rows, a, b});
    if (b < kPlanes) return OfPlanes(b_.Transpose(x, {2, 0, 1}), inverse);
    Instruction* y = Product(x, a, inverse);  // [rows, b, a]
    y = b_.Multiply(
        y, b_.Broadcast(Roots(b, a, n, inverse), {rows, b, a}, {1, 2}));
    if (FirstFactor(b) == b) {
      y = Product(y, b, inverse);  // [rows, a, b]
    } else {
      y = b_.Reshape(b_.Transpose(y, {0, 2, 1}), {rows * a, b});
      y = b_.Reshape(Rows(y, inverse), {rows, a, b});
    }
    return b_.Reshape(b_.Transpose(y, {0, 2, 1}), {rows, n});
  }

  // A small second factor lies outside, where it needs no whole lanes:
  // x[b, rows, a] -> [rows, b a].
  Instruction* OfPlanes(Instruction* x, bool inverse) {
    const int64_t b = x->shape().dim(0), rows = x->shape().dim(1),
                  a = x->shape().dim(2), n = a * b;
    x = Contracted(x, 2, Roots(a, a, a, inverse), 0);
    x = b_.Multiply(
        x, b_.Broadcast(Roots(b, a, n, inverse), {b, rows, a}, {0, 2}));
    x = Contracted(Roots(b, b, b, inverse), 1, x, 0);
    return b_.Reshape(b_.Transpose(x, {1, 0, 2}), {rows, n});
  }

  Instruction* Along(Instruction* x, int dimension, bool inverse) {
    const int rank = x->shape().rank(), last = rank - 1;
    DimVector swap(rank);
    std::iota(swap.begin(), swap.end(), 0);
    std::swap(swap[dimension], swap[last]);
    if (dimension != last) x = b_.Transpose(x, swap);
    const DimVector dims = x->shape().dims();
    const int64_t n = dims[last];
    x = Rows(b_.Reshape(x, {x->shape().ElementCount() / n, n}), inverse);
    x = b_.Reshape(x, dims);
    return dimension == last ? x : b_.Transpose(x, swap);
  }

  // All n values of a transform of real numbers from its first n / 2 + 1: the
  // others are their conjugates; what must be real is taken so.
  Instruction* Mirrored(Instruction* x, int64_t n) {
    const int last = x->shape().rank() - 1;
    const auto columns = [&](Instruction* v, int64_t from, int64_t to) {
      DimVector begin(last + 1, 0), end = v->shape().dims();
      begin[last] = from;
      end[last] = to;
      return b_.Slice(v, begin, end);
    };
    Instruction* re = b_.Unary(Opcode::kReal, x);
    Instruction* im = b_.Unary(Opcode::kImag, x);
    const int64_t pairs = (n - 1) / 2;
    std::vector<Instruction*> all_re = {columns(re, 0, n / 2 + 1)}, all_im;
    Instruction* zero = F32(0, columns(im, 0, 1)->shape());
    all_im.push_back(zero);
    if (pairs > 0) {
      Instruction* behind = columns(im, 1, 1 + pairs);
      all_im.push_back(behind);
      if (n % 2 == 0) all_im.push_back(zero);
      all_im.push_back(b_.Negate(b_.Reverse(behind, {last})));
      all_re.push_back(b_.Reverse(columns(re, 1, 1 + pairs), {last}));
    } else if (n == 2) {
      all_im.push_back(zero);
    }
    const auto joined = [&](const std::vector<Instruction*>& parts) {
      return parts.size() == 1 ? parts[0] : b_.Concatenate(parts, last);
    };
    return Complex(joined(all_re), joined(all_im));
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> FftExpanderPass::Run(Module* module, const PassContext&) {
  return ExpandEach(module,
                    [](Instruction* i) { return FftExpander(i).Expand(); });
}

}  // namespace ptxla::hlo
