#include "hlo_backend/evaluator/matrix_product.h"

#include <vector>

#include "Eigen/Core"
#include "gtest/gtest.h"

namespace ptxla::hlo {
namespace {

template <class T>
std::vector<T> Numbers(int64_t count) {
  std::vector<T> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<T>((i * 7919 % 1009) / 1009.0 - 0.4));
  }
  return numbers;
}

// Eigen chooses its blocks by the caches of the machine.
template <class T>
void ExpectSameBitsOnEveryCache(PrimitiveType type) {
  const ProductSize size = {2, 37, 41, 1500};
  const std::vector<T> lhs = Numbers<T>(size.batch * size.m * size.k);
  const std::vector<T> rhs = Numbers<T>(size.batch * size.k * size.n);
  std::vector<T> first(size.batch * size.m * size.n);
  MatrixProduct(type, size, lhs.data(), rhs.data(), first.data());
  const std::ptrdiff_t l1 = Eigen::l1CacheSize();
  const std::ptrdiff_t l2 = Eigen::l2CacheSize();
  const std::ptrdiff_t l3 = Eigen::l3CacheSize();
  for (int shift : {0, 2, 5}) {
    Eigen::setCpuCacheSizes(16384 << shift, 65536 << shift, 262144 << shift);
    std::vector<T> again(first.size());
    MatrixProduct(type, size, lhs.data(), rhs.data(), again.data());
    EXPECT_EQ(again, first) << shift;
  }
  Eigen::setCpuCacheSizes(l1, l2, l3);
}

TEST(MatrixProductTest, GivesTheSameBitsWhateverTheCaches) {
  ExpectSameBitsOnEveryCache<float>(PrimitiveType::kF32);
  ExpectSameBitsOnEveryCache<double>(PrimitiveType::kF64);
}

TEST(MatrixProductTest, IntegersWrap) {
  const uint32_t lhs[] = {0x80000000u, 3};
  const uint32_t rhs[] = {2, 5};
  uint32_t out = 0;
  MatrixProduct(PrimitiveType::kU32, {1, 1, 1, 2}, lhs, rhs, &out);
  EXPECT_EQ(out, 15u);
}

TEST(MatrixProductTest, NoTermsGiveZero) {
  float out[2] = {7, 7};
  MatrixProduct(PrimitiveType::kF32, {1, 1, 2, 0}, out, out, out);
  EXPECT_EQ(out[0], 0);
  EXPECT_EQ(out[1], 0);
}

TEST(MatrixProductTest, TheChipTakesF16AsBf16) {
  PrecisionConfig precision;
  precision.operands = {Precision::kHighest, Precision::kHighest};
  const auto passes = [&](PrimitiveType type, bool tpu_mode) {
    return PassesOf(precision, type, type, tpu_mode);
  };
  EXPECT_EQ(passes(PrimitiveType::kF16, true), ProductPasses::kBf16);
  EXPECT_EQ(passes(PrimitiveType::kF16, false), ProductPasses::kOne);
  EXPECT_EQ(passes(PrimitiveType::kBf16, true), ProductPasses::kOne);
}

}  // namespace
}  // namespace ptxla::hlo
