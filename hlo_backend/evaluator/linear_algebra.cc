// cholesky and triangular-solve, in double (complex double) on each matrix.
#include <cmath>
#include <complex>

#include "base/status.h"
#include "hlo_backend/evaluator/complex_product.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {
namespace {

using Complex = std::complex<double>;

double Conj(double x) { return x; }
Complex Conj(Complex x) { return std::conj(x); }
double Real(double x) { return x; }
double Real(Complex x) { return x.real(); }
// Quotients of std::complex may go through libgcc, as products may
// (complex_product.h).
double Over(double a, double b) { return a / b; }
Complex Over(Complex a, Complex b) {
  const double d = b.real() * b.real() + b.imag() * b.imag();
  const Complex n = Times(a, std::conj(b));
  return {n.real() / d, n.imag() / d};
}

// The lower factor, in place; the other triangle becomes zero. Not positive
// definite: NaN, as XLA.
template <class T>
void CholeskyInPlace(T* a, int64_t n, bool lower) {
  auto at = [&](int64_t r, int64_t c) -> T& {
    return lower ? a[r * n + c] : a[c * n + r];
  };
  for (int64_t c = 0; c < n; ++c) {
    double pivot = Real(at(c, c));
    for (int64_t k = 0; k < c; ++k) {
      pivot -= Real(Times(at(c, k), Conj(at(c, k))));
    }
    const double root = std::sqrt(pivot);
    at(c, c) = T(root);
    for (int64_t r = c + 1; r < n; ++r) {
      T sum = at(r, c);
      for (int64_t k = 0; k < c; ++k) sum -= Times(at(r, k), Conj(at(c, k)));
      at(r, c) = Over(sum, T(root));
    }
  }
  for (int64_t r = 0; r + 1 < n; ++r) {
    for (int64_t c = r + 1; c < n; ++c) at(r, c) = T(0);
  }
}

// x with op(a) x = b for one column of b (stride apart).
template <class T, class At>
void SolveColumn(At a, int64_t n, bool lower, bool unit, T* b, int64_t stride) {
  for (int64_t step = 0; step < n; ++step) {
    const int64_t r = lower ? step : n - 1 - step;
    T sum = b[r * stride];
    const int64_t begin = lower ? 0 : r + 1;
    const int64_t end = lower ? r : n;
    for (int64_t c = begin; c < end; ++c) {
      sum -= Times(a(r, c), b[c * stride]);
    }
    b[r * stride] = unit ? sum : Over(sum, a(r, r));
  }
}

template <class T>
void Solve(const TriangularSolveAttrs& attrs, const T* a, int64_t n, T* b,
           int64_t rows, int64_t columns) {
  const bool transpose = attrs.transpose_a == TransposeA::kTranspose ||
                         attrs.transpose_a == TransposeA::kAdjoint;
  const bool adjoint = attrs.transpose_a == TransposeA::kAdjoint;
  // x op(a) = b is op(a)^T x^T = b^T: one more transpose, b by rows.
  const bool flip = transpose != !attrs.left_side;
  auto at = [&](int64_t r, int64_t c) -> T {
    const T value = flip ? a[c * n + r] : a[r * n + c];
    return adjoint ? Conj(value) : value;
  };
  const bool lower = attrs.lower != flip;
  if (attrs.left_side) {
    for (int64_t c = 0; c < columns; ++c) {
      SolveColumn<T>(at, n, lower, attrs.unit_diagonal, b + c, columns);
    }
  } else {
    for (int64_t r = 0; r < rows; ++r) {
      SolveColumn<T>(at, n, lower, attrs.unit_diagonal, b + r * columns, 1);
    }
  }
}

absl::StatusOr<Value> Widened(const Value& x, bool complex) {
  ASSIGN_OR_RETURN(Value v, ConvertTo(x, complex ? PrimitiveType::kC128
                                                 : PrimitiveType::kF64));
  return v.Dense();
}

absl::StatusOr<Value> Narrowed(const Value& x, const Shape& shape) {
  ASSIGN_OR_RETURN(const Value v, ConvertTo(x, shape.type()));
  return v.WithShape(shape);
}

}  // namespace

absl::StatusOr<Value> EvalCholesky(OpContext&, const Instruction& i,
                                   absl::Span<Value> operands) {
  const bool complex = IsComplex(i.shape().type());
  ASSIGN_OR_RETURN(Value a, Widened(operands[0], complex));
  const int64_t n = i.shape().dim(i.shape().rank() - 1);
  uint8_t* data = a.Mutable();
  for (int64_t k = 0; n > 0 && k < a.count(); k += n * n) {
    const bool lower = i.attrs<CholeskyAttrs>().lower;
    if (complex) {
      CholeskyInPlace(reinterpret_cast<Complex*>(data) + k, n, lower);
    } else {
      CholeskyInPlace(reinterpret_cast<double*>(data) + k, n, lower);
    }
  }
  return Narrowed(a, i.shape());
}

absl::StatusOr<Value> EvalTriangularSolve(OpContext&, const Instruction& i,
                                          absl::Span<Value> operands) {
  const bool complex = IsComplex(i.shape().type());
  ASSIGN_OR_RETURN(const Value a, Widened(operands[0], complex));
  ASSIGN_OR_RETURN(Value b, Widened(operands[1], complex));
  const int rank = i.shape().rank();
  const int64_t rows = i.shape().dim(rank - 2);
  const int64_t columns = i.shape().dim(rank - 1);
  const int64_t n = operands[0].shape().dim(rank - 1);
  const auto& attrs = i.attrs<TriangularSolveAttrs>();
  uint8_t* data = b.Mutable();
  const int64_t matrices = n == 0 ? 0 : a.count() / (n * n);
  for (int64_t k = 0; k < matrices; ++k) {
    if (complex) {
      Solve(attrs, a.as<Complex>() + k * n * n, n,
            reinterpret_cast<Complex*>(data) + k * rows * columns, rows,
            columns);
    } else {
      Solve(attrs, a.as<double>() + k * n * n, n,
            reinterpret_cast<double*>(data) + k * rows * columns, rows,
            columns);
    }
  }
  return Narrowed(b, i.shape());
}

}  // namespace ptxla::hlo
