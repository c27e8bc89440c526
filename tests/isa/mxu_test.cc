#include "isa/mxu.h"

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "base/numerics/bits.h"
#include "base/numerics/float_formats.h"
#include "gtest/gtest.h"
#include "isa/semantics/context.h"

namespace ptxla::isa {
namespace {

using Matrix = std::vector<std::vector<float>>;

Matrix RandomMatrix(int rows, int cols, std::mt19937* rng) {
  Matrix m(rows, std::vector<float>(cols));
  for (auto& row : m) {
    for (float& x : row) x = static_cast<int>((*rng)() % 17) - 8;
  }
  return m;
}

// Packs `n` rows of 128 columns starting at (row, col); outside is 0.
Words Pack(const Matrix& m, int row, int col, int n,
           numerics::FloatFormat f8 = {}) {
  Words words{};
  for (int r = 0; r < n; ++r) {
    for (int l = 0; l < kLanes; ++l) {
      const float x =
          row + r < m.size() && col + l < m[0].size() ? m[row + r][col + l] : 0;
      if (n == 8) {
        words[r * kLanes + l] = numerics::FloatBits(x);
      } else if (n == 16) {
        words[r / 2 * kLanes + l] |= uint32_t{numerics::EncodeBf16(x)}
                                     << (r % 2 * 16);
      } else if (f8.exponent_bits > 0) {
        words[r / 4 * kLanes + l] |= numerics::EncodeFloat(f8, x)
                                     << (r % 4 * 8);
      } else {
        words[r / 4 * kLanes + l] |= static_cast<uint32_t>(
            static_cast<uint8_t>(static_cast<int8_t>(x)) << (r % 4 * 8));
      }
    }
  }
  return words;
}

Matrix Transposed(const Matrix& m) {
  Matrix t(m[0].size(), std::vector<float>(m.size()));
  for (size_t i = 0; i < m.size(); ++i) {
    for (size_t j = 0; j < m[0].size(); ++j) t[j][i] = m[i][j];
  }
  return t;
}

struct Type {
  Opcode push, push_xpose, matmul;
  int rows;
  bool integers;
  numerics::FloatFormat f8{};
};
constexpr Type kTypes[] = {
    {Opcode::kVmatpushF32, Opcode::kVmatpushF32Xpose, Opcode::kVmatmulF32, 8,
     false},
    {Opcode::kVmatpushBf16, Opcode::kVmatpushBf16Xpose, Opcode::kVmatmulBf16,
     16, false},
    {Opcode::kVmatpushS8, Opcode::kVmatpushS8Xpose, Opcode::kVmatmulS8, 32,
     true},
    {Opcode::kVmatpushF8E5M2, Opcode::kVmatpushF8E5M2Xpose,
     Opcode::kVmatmulF8E5M2, 32, false, numerics::kF8E5M2},
    {Opcode::kVmatpushF8E4M3Fn, Opcode::kVmatpushF8E4M3FnXpose,
     Opcode::kVmatmulF8E4M3Fn, 32, false, numerics::kF8E4M3Fn},
    {Opcode::kVmatpushF8E4M3B11, Opcode::kVmatpushF8E4M3B11Xpose,
     Opcode::kVmatmulF8E4M3B11, 32, false, numerics::kF8E4M3B11Fnuz},
};

// result[8-row group][128-column group] of words.
std::vector<Words> Multiplied(Mxu* mxu, const Type& type, const Words& a) {
  std::vector<std::unique_ptr<Words>> results;
  mxu->Matmul(type.matmul, a, [&]() -> Words& {
    results.push_back(std::make_unique<Words>());
    return *results.back();
  });
  std::vector<Words> out;
  for (auto& r : results) out.push_back(*r);
  return out;
}

float ValueOf(const Type& type, uint32_t word) {
  return type.integers ? static_cast<float>(static_cast<int32_t>(word))
                       : numerics::FloatFromBits(word);
}

TEST(MxuTest, FullTileIsTheProductForEveryTypeArrayAndPush) {
  std::mt19937 rng(3);
  for (int size : {128, 256}) {
    for (const Type& type : kTypes) {
      for (bool xpose : {false, true}) {
        const Matrix w = RandomMatrix(size, size, &rng);
        const Matrix a = RandomMatrix(type.rows, size, &rng);
        // A transposed push takes rows of the transposed weights.
        const Matrix source = xpose ? Transposed(w) : w;
        Mxu mxu(size);
        for (int block = 1; block <= size / 128; ++block) {
          for (int row = 0; row < 128; row += type.rows) {
            const int half = 128 * (block - 1);
            // Blocks are halves of K: rows of w, or columns of its transpose.
            if (size == 256) {
              mxu.PrepWeights(
                  xpose ? Pack(source, 128 + row, half, type.rows, type.f8)
                        : Pack(source, half + row, 128, type.rows, type.f8));
            }
            mxu.Push(xpose ? type.push_xpose : type.push,
                     xpose ? Pack(source, row, half, type.rows, type.f8)
                           : Pack(source, half + row, 0, type.rows, type.f8),
                     row, block, 0);
          }
        }
        mxu.Latch(0);
        if (size == 256) mxu.PrepLhs(Pack(a, 0, 128, type.rows, type.f8));
        const std::vector<Words> out =
            Multiplied(&mxu, type, Pack(a, 0, 0, type.rows, type.f8));
        const int halves = size / 128;
        ASSERT_EQ(out.size(), type.rows / 8 * halves);
        for (int r = 0; r < type.rows; ++r) {
          for (int n = 0; n < size; ++n) {
            float want = 0;
            for (int k = 0; k < size; ++k) want += a[r][k] * w[k][n];
            const uint32_t got =
                out[r / 8 * halves + n / 128][r % 8 * kLanes + n % 128];
            ASSERT_EQ(ValueOf(type, got), want)
                << size << " " << xpose << " " << r << " " << n;
          }
        }
      }
    }
  }
}

TEST(MxuTest, BlockThreeIsBlockDiagonal) {
  std::mt19937 rng(4);
  const Type& type = kTypes[1];
  const Matrix w = RandomMatrix(128, 128, &rng);
  const Matrix a = RandomMatrix(32, 128, &rng);
  Mxu mxu(256);
  for (int row = 0; row < 128; row += 16) {
    mxu.PrepWeights(Pack(w, row, 0, 16));
    mxu.Push(type.push, Pack(w, row, 0, 16), row, 3, 0);
  }
  mxu.Latch(0);
  // Two different row blocks at once: 32 rows in one matmul.
  mxu.PrepLhs(Pack(a, 16, 0, 16));
  const std::vector<Words> out = Multiplied(&mxu, type, Pack(a, 0, 0, 16));
  ASSERT_EQ(out.size(), 4);
  for (int r = 0; r < 32; ++r) {
    for (int n = 0; n < 128; ++n) {
      float want = 0;
      for (int k = 0; k < 128; ++k) want += a[r][k] * w[k][n];
      const uint32_t got = out[r % 16 / 8 * 2 + r / 16][r % 8 * kLanes + n];
      ASSERT_EQ(ValueOf(type, got), want) << r << " " << n;
    }
  }
}

TEST(MxuTest, HalvesOfABlockDiagonalDoNotTouch) {
  Words ones;
  Words nans;
  ones.fill(numerics::FloatBits(1));
  nans.fill(0x7FC00000);
  Mxu mxu(256);
  mxu.PrepWeights(ones);
  mxu.Push(Opcode::kVmatpushF32, ones, 0, 3, 0);
  mxu.Latch(0);
  mxu.PrepLhs(nans);
  const std::vector<Words> out = Multiplied(&mxu, kTypes[0], ones);
  EXPECT_EQ(numerics::FloatFromBits(out[0][7]), 8);
  EXPECT_TRUE(std::isnan(numerics::FloatFromBits(out[1][7])));
}

TEST(MxuTest, RowsThatAreNotPushedAreZeroAfterALatch) {
  Mxu mxu(128);
  Words ones;
  ones.fill(numerics::FloatBits(1));
  for (int row = 0; row < 128; row += 8) {
    mxu.Push(Opcode::kVmatpushF32, ones, row, 1, 0);
  }
  mxu.Latch(0);
  mxu.Push(Opcode::kVmatpushF32, ones, 16, 1, 0);
  // Pushed but not latched: the old weights are still in use.
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, kTypes[0], ones)[0][5]),
            128);
  mxu.Latch(0);
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, kTypes[0], ones)[0][5]),
            8);
}

TEST(MxuTest, F32OperandsAreRoundedToBf16) {
  Mxu mxu(128);
  Words words{};
  const float x = 1.0f + 1.0f / 512;  // halfway below the next bf16: to even
  words.fill(numerics::FloatBits(x + 1.0f / 4096));
  mxu.Push(Opcode::kVmatpushF32, words, 0, 1, 0);
  mxu.Latch(0);
  const float rounded = numerics::RoundToBf16(x + 1.0f / 4096);
  const std::vector<Words> out = Multiplied(&mxu, kTypes[0], words);
  EXPECT_EQ(numerics::FloatFromBits(out[0][0]), 8 * rounded * rounded);
}

TEST(MxuTest, LowPartsAreWhatRoundingLeaves) {
  Mxu mxu(128);
  const float x = 1.0f + 1.0f / 1024 + 1.0f / 65536;
  Words words{}, ones{};
  words.fill(numerics::FloatBits(x));
  ones.fill(numerics::FloatBits(1));
  mxu.Push(Opcode::kVmatpushF32Low, words, 0, 1, 0);
  mxu.Latch(0);
  const float low = numerics::RoundToBf16(x - numerics::RoundToBf16(x));
  ASSERT_NE(low, 0);
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, kTypes[0], ones)[0][0]),
            8 * low);
  Type type = kTypes[0];
  type.matmul = Opcode::kVmatmulF32Low;
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, type, words)[0][0]),
            8 * low * low);
}

TEST(MxuTest, TwoStagingRegistersAreIndependent) {
  Mxu mxu(128);
  Words ones;
  Words twos;
  ones.fill(numerics::FloatBits(1));
  twos.fill(numerics::FloatBits(2));
  mxu.Push(Opcode::kVmatpushF32, ones, 0, 1, 0);
  mxu.Push(Opcode::kVmatpushF32, twos, 0, 1, 1);
  mxu.Latch(1);
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, kTypes[0], ones)[0][0]),
            16);
  mxu.Latch(0);
  EXPECT_EQ(numerics::FloatFromBits(Multiplied(&mxu, kTypes[0], ones)[0][0]),
            8);
}

}  // namespace
}  // namespace ptxla::isa
