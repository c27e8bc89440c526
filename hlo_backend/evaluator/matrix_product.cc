#include "hlo_backend/evaluator/matrix_product.h"

#include <algorithm>
#include <complex>
#include <vector>

#include "Eigen/Core"
#include "base/numerics/float_formats.h"

namespace ptxla::hlo {
namespace {

template <class T>
using RowMajor =
    Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Sums over k are cut into pieces of this many terms, added in order. Eigen
// cuts longer ones by the cache sizes that it finds on the machine, and then
// the order of additions, and so the last bits, would differ between machines.
template <class T>
constexpr int64_t kDepth = static_cast<int64_t>(1024 / sizeof(T));

template <class T>
void Multiply(const ProductSize& s, const void* lhs, const void* rhs,
              void* out) {
  for (int64_t b = 0; b < s.batch; ++b) {
    const Eigen::Map<const RowMajor<T>> l(
        static_cast<const T*>(lhs) + b * s.m * s.k, s.m, s.k);
    const Eigen::Map<const RowMajor<T>> r(
        static_cast<const T*>(rhs) + b * s.k * s.n, s.k, s.n);
    Eigen::Map<RowMajor<T>> o(static_cast<T*>(out) + b * s.m * s.n, s.m, s.n);
    if (s.k == 0) o.setZero();
    for (int64_t k = 0; k < s.k; k += kDepth<T>) {
      const int64_t depth = std::min(kDepth<T>, s.k - k);
      if (k == 0) {
        o.noalias() = l.middleCols(0, depth) * r.middleRows(0, depth);
      } else {
        o.noalias() += l.middleCols(k, depth) * r.middleRows(k, depth);
      }
    }
  }
}

// x = high + low with both bf16; what is below is lost, as on the chip.
void Split(Value* x, std::vector<float>* low) {
  float* v = x->MutableAs<float>();
  low->resize(x->count());
  for (int64_t i = 0; i < x->count(); ++i) {
    const float high = numerics::RoundToBf16(v[i]);
    const float rest = v[i] - high;
    (*low)[i] = rest == rest ? numerics::RoundToBf16(rest) : 0.0f;
    v[i] = high;
  }
}

// f32, or the parts of c64.
void RoundAll(PrimitiveType type, Value* x) {
  auto* v = reinterpret_cast<float*>(x->Mutable());
  const int64_t n = type == PrimitiveType::kC64 ? 2 * x->count() : x->count();
  for (int64_t i = 0; i < n; ++i) v[i] = numerics::RoundToBf16(v[i]);
}

}  // namespace

PrimitiveType ProductType(PrimitiveType lhs, PrimitiveType rhs,
                          PrimitiveType result) {
  for (PrimitiveType t : {lhs, rhs, result}) {
    if (IsComplex(t)) {
      return BitWidth(t) == 64 ? PrimitiveType::kC64 : PrimitiveType::kC128;
    }
  }
  for (PrimitiveType t : {lhs, rhs, result}) {
    if (t == PrimitiveType::kF64) return t;
  }
  for (PrimitiveType t : {lhs, rhs, result}) {
    if (IsFloat(t)) return PrimitiveType::kF32;
  }
  return BitWidth(result) == 64 ? PrimitiveType::kU64 : PrimitiveType::kU32;
}

void MatrixProduct(PrimitiveType type, const ProductSize& size, const void* lhs,
                   const void* rhs, void* out) {
  switch (type) {
    case PrimitiveType::kF32:
      return Multiply<float>(size, lhs, rhs, out);
    case PrimitiveType::kF64:
      return Multiply<double>(size, lhs, rhs, out);
    case PrimitiveType::kU32:
      return Multiply<uint32_t>(size, lhs, rhs, out);
    case PrimitiveType::kU64:
      return Multiply<uint64_t>(size, lhs, rhs, out);
    case PrimitiveType::kC64:
      return Multiply<std::complex<float>>(size, lhs, rhs, out);
    case PrimitiveType::kC128:
      return Multiply<std::complex<double>>(size, lhs, rhs, out);
    default:
      CHECK(false) << "product of " << PrimitiveTypeName(type);
  }
}

ProductPasses PassesOf(const PrecisionConfig& precision, PrimitiveType lhs,
                       PrimitiveType rhs, bool tpu_mode) {
  const auto is_f32 = [](PrimitiveType t) {
    return t == PrimitiveType::kF32 || t == PrimitiveType::kC64;
  };
  if (!is_f32(lhs) && !is_f32(rhs)) {
    // The MXU has no f16: it takes bf16, whatever the precision.
    const bool rounds =
        tpu_mode && (lhs == PrimitiveType::kF16 || rhs == PrimitiveType::kF16);
    return rounds ? ProductPasses::kBf16 : ProductPasses::kOne;
  }
  switch (precision.algorithm) {
    case DotAlgorithm::kBf16Bf16Bf16:
    case DotAlgorithm::kBf16Bf16F32:
      return ProductPasses::kBf16;
    case DotAlgorithm::kBf16Bf16F32X3:
      return ProductPasses::kBf16Times3;
    case DotAlgorithm::kUnset:
      break;
    default:
      return ProductPasses::kOne;
  }
  if (!tpu_mode) return ProductPasses::kOne;
  const Precision most = std::max(precision.operand(0), precision.operand(1));
  if (most == Precision::kHighest) return ProductPasses::kOne;
  return most == Precision::kHigh ? ProductPasses::kBf16Times3
                                  : ProductPasses::kBf16;
}

void MatrixProductInPasses(ProductPasses passes, PrimitiveType type,
                           const ProductSize& size, Value* lhs, Value* rhs,
                           void* out) {
  const bool is_one =
      passes == ProductPasses::kOne ||
      (type == PrimitiveType::kC64 ? passes != ProductPasses::kBf16
                                   : type != PrimitiveType::kF32);
  if (is_one) {
    MatrixProduct(type, size, lhs->data(), rhs->data(), out);
    return;
  }
  if (passes == ProductPasses::kBf16) {
    RoundAll(type, lhs);
    RoundAll(type, rhs);
    MatrixProduct(type, size, lhs->data(), rhs->data(), out);
    return;
  }
  std::vector<float> lhs_low;
  std::vector<float> rhs_low;
  Split(lhs, &lhs_low);
  Split(rhs, &rhs_low);
  // Small terms first: they would be lost in the large sum.
  float* sum = static_cast<float*>(out);
  const int64_t count = size.batch * size.m * size.n;
  std::vector<float> term(count);
  MatrixProduct(type, size, lhs->data(), rhs_low.data(), sum);
  MatrixProduct(type, size, lhs_low.data(), rhs->data(), term.data());
  for (int64_t i = 0; i < count; ++i) sum[i] += term[i];
  MatrixProduct(type, size, lhs->data(), rhs->data(), term.data());
  for (int64_t i = 0; i < count; ++i) sum[i] += term[i];
}

}  // namespace ptxla::hlo
