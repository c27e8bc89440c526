#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/element_types.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

Result BatchNorm(const Args& a) {
  const Shape& x = a.operand(0);
  const int64_t feature = a.attrs<BatchNormAttrs>()->feature_index;
  if (feature < 0 || feature >= x.rank()) {
    return Fail("feature_index=", feature, " is not a dimension of ", Text(x));
  }
  const int64_t size = x.dim(static_cast<int>(feature));
  const bool grad = a.opcode == Opcode::kBatchNormGrad;
  for (int i = 1; i < a.operand_count(); ++i) {
    const Shape& s = a.operand(i);
    if (grad && i == 4) {
      if (!s.SameDims(x)) {
        return Fail("the gradient ", Text(s), " does not fit ", Text(x));
      }
    } else if (s.rank() != 1 || !SizesAgree(s.dim(0), size)) {
      return Fail("operand ", i, " is ", Text(s), ", not a vector of ", size,
                  " features");
    }
  }
  if (a.opcode == Opcode::kBatchNormInference) return Like(x, x.type());
  const Shape feature_shape = Like(a.operand(1), a.operand(1).type());
  return Shape::Tuple({Like(x, x.type()), feature_shape, feature_shape});
}

Result Fft(const Args& a) {
  const Shape& x = a.operand(0);
  const FftAttrs& f = *a.attrs<FftAttrs>();
  const int rank = static_cast<int>(f.length.size());
  if (rank < 1 || rank > x.rank()) {
    return Fail("fft_length= has ", rank, " entries, the operand is ", Text(x));
  }
  Shape shape = Like(x, x.type());
  const int last = x.rank() - 1;
  const bool from_real = f.type == FftType::kRfft;
  const bool to_real = f.type == FftType::kIrfft;
  if (from_real
          ? x.type() != PrimitiveType::kF32 && x.type() != PrimitiveType::kF64
          : !IsComplex(x.type())) {
    return Fail("fft_type=", kFftTypes[static_cast<int>(f.type)], " takes ",
                from_real ? "f32 or f64" : "complex numbers", ", not ",
                Text(x));
  }
  for (int i = 0; i < rank; ++i) {
    int64_t want = f.length[i];
    if (to_real && i == rank - 1) want = want / 2 + 1;
    if (!SizesAgree(x.dim(x.rank() - rank + i), want)) {
      return Fail("fft_length ", f.length[i], " does not fit ", Text(x));
    }
  }
  if (from_real) {
    shape.set_type(x.type() == PrimitiveType::kF64 ? PrimitiveType::kC128
                                                   : PrimitiveType::kC64);
    shape.set_dim(last, f.length[rank - 1] / 2 + 1);
  } else if (to_real) {
    shape.set_type(ComplexComponent(x.type()));
    shape.set_dim(last, f.length[rank - 1]);
  }
  return shape;
}

absl::Status CheckSquare(const Shape& m) {
  const int r = m.rank();
  if (r >= 2 && SizesAgree(m.dim(r - 1), m.dim(r - 2))) {
    return absl::OkStatus();
  }
  return Fail(Text(m), " is not a (batch of) square matrix");
}

}  // namespace

Result Special(const Args& a) {
  for (const Shape* x : a.operands) {
    RETURN_IF_ERROR(CheckArray(*x, "the operand"));
  }
  RETURN_IF_ERROR(CheckElementType(a.opcode, a.operand(0)));
  switch (a.opcode) {
    case Opcode::kFft:
      return Fft(a);
    case Opcode::kCholesky:
      RETURN_IF_ERROR(CheckSquare(a.operand(0)));
      return Like(a.operand(0), a.operand(0).type());
    case Opcode::kTriangularSolve: {
      RETURN_IF_ERROR(CheckSquare(a.operand(0)));
      const Shape &m = a.operand(0), &b = a.operand(1);
      const bool left = a.attrs<TriangularSolveAttrs>()->left_side;
      if (b.rank() != m.rank() || b.type() != m.type() ||
          !SizesAgree(b.dim(b.rank() - (left ? 2 : 1)), m.dim(m.rank() - 1))) {
        return Fail("triangular-solve of ", Text(m), " and ", Text(b));
      }
      return Like(b, b.type());
    }
    default:
      return BatchNorm(a);
  }
}

}  // namespace ptxla::hlo::infer
