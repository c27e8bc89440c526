#include "isa/mxu.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/numerics/bits.h"
#include "base/numerics/float_formats.h"

namespace ptxla::isa {
namespace {

enum class Number { kF32, kF32Low, kBf16, kS8, kF8E5M2, kF8E4M3Fn, kF8E4M3B11 };

Number NumberOf(Opcode op) {
  switch (op) {
    case Opcode::kVmatpushF32Low:
    case Opcode::kVmatpushF32LowXpose:
    case Opcode::kVmatmulF32Low:
      return Number::kF32Low;
    case Opcode::kVmatpushF8E5M2:
    case Opcode::kVmatpushF8E5M2Xpose:
    case Opcode::kVmatmulF8E5M2:
      return Number::kF8E5M2;
    case Opcode::kVmatpushF8E4M3Fn:
    case Opcode::kVmatpushF8E4M3FnXpose:
    case Opcode::kVmatmulF8E4M3Fn:
      return Number::kF8E4M3Fn;
    case Opcode::kVmatpushF8E4M3B11:
    case Opcode::kVmatpushF8E4M3B11Xpose:
    case Opcode::kVmatmulF8E4M3B11:
      return Number::kF8E4M3B11;
    default:
      break;
  }
  const int rows = MxuRows(op);
  return rows == 8 ? Number::kF32 : rows == 16 ? Number::kBf16 : Number::kS8;
}

float ValueOfByte(Number number, uint8_t byte) {
  switch (number) {
    case Number::kF8E5M2:
      return numerics::DecodeFloat(numerics::kF8E5M2, byte);
    case Number::kF8E4M3Fn:
      return numerics::DecodeFloat(numerics::kF8E4M3Fn, byte);
    case Number::kF8E4M3B11:
      return numerics::DecodeFloat(numerics::kF8E4M3B11Fnuz, byte);
    default:
      return static_cast<int8_t>(byte);
  }
}

// Row `row` of a vector register as 128 numbers, by its packing.
void DecodeRow(Number number, int rows, const Mxu::Words& words, int row,
               float* out) {
  const int per_word = rows / kSublanes;
  const uint32_t* from = &words[row / per_word * kLanes];
  const int part = row % per_word;
  for (int l = 0; l < kLanes; ++l) {
    if (per_word == 1) {
      const float x = numerics::FloatFromBits(from[l]);
      out[l] = numerics::RoundToBf16(x);
      if (number == Number::kF32Low) out[l] = numerics::RoundToBf16(x - out[l]);
    } else if (per_word == 2) {
      out[l] =
          numerics::DecodeBf16(static_cast<uint16_t>(from[l] >> 16 * part));
    } else {
      out[l] = ValueOfByte(number, static_cast<uint8_t>(from[l] >> 8 * part));
    }
  }
}

// Eight floats at a time; AVX2 where there is it, which rounds products and
// sums as SSE does (no fused multiply-add), so that they are the same
// everywhere. The choice at load time (ifunc) comes before the sanitizers are
// ready.
using Float8 = float __attribute__((vector_size(32), aligned(4), may_alias));
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PTXLA_WIDEST __attribute__((target_clones("avx2", "default")))
#else
#define PTXLA_WIDEST
#endif

// A part of a row-major matrix.
struct Part {
  const float* data;
  int stride;  // between rows
};

// out[r][n] = sum over k of lhs[r][k] * gain[k][n] for 128 columns, k
// ascending, in blocks of 4 rows x 16 columns: eight registers of AVX2.
PTXLA_WIDEST void Multiply(const Part& lhs, const Part& gain, int rows,
                           int depth, int out_stride, float* out) {
  for (int n = 0; n < kLanes; n += 16) {
    for (int r = 0; r < rows; r += 4) {
      Float8 sum[4][2] = {};
      const float* a = lhs.data + r * lhs.stride;
      for (int k = 0; k < depth; ++k) {
        const auto* g =
            reinterpret_cast<const Float8*>(gain.data + k * gain.stride + n);
        for (int i = 0; i < 4; ++i) {
          const float x = a[i * lhs.stride + k];
          sum[i][0] += x * g[0];
          sum[i][1] += x * g[1];
        }
      }
      for (int i = 0; i < 4; ++i) {
        auto* to = reinterpret_cast<Float8*>(out + (r + i) * out_stride + n);
        to[0] = sum[i][0];
        to[1] = sum[i][1];
      }
    }
  }
}

}  // namespace

Mxu::Mxu(int size) : size_(size) {
  CHECK(size == 128 || size == 256) << size;
  for (auto& staging : staging_) staging.assign(size * size, 0.0f);
  gain_.assign(size * size, 0.0f);
}

void Mxu::PrepWeights(const Words& x) {
  subr_ = x;
  has_subr_ = true;
}

void Mxu::PrepLhs(const Words& b) {
  mubr_ = b;
  has_mubr_ = true;
}

void Mxu::Push(Opcode op, const Words& y, int row, int block, int stage) {
  const int k0 = block == 2 ? kLanes : 0;
  PushBlock(op, y, row, k0, 0, stage);
  if (has_subr_) {
    PushBlock(op, subr_, row, block == 1 ? 0 : kLanes, kLanes, stage);
  }
  has_subr_ = false;
}

void Mxu::PushBlock(Opcode op, const Words& words, int row, int k0, int n0,
                    int stage) {
  staging_used_[stage] |= 1u << (2 * (k0 / kLanes) + n0 / kLanes);
  std::vector<float>& staging = staging_[stage];
  const int rows = MxuRows(op);
  float values[kLanes];
  for (int i = 0; i < rows; ++i) {
    DecodeRow(NumberOf(op), rows, words, i, values);
    if (!IsTransposePush(op)) {
      std::copy_n(values, kLanes, &staging[(k0 + row + i) * size_ + n0]);
      continue;
    }
    for (int k = 0; k < kLanes; ++k) {
      staging[(k0 + k) * size_ + n0 + row + i] = values[k];
    }
  }
}

void Mxu::Latch(int stage) {
  loaded_ = true;
  std::swap(gain_, staging_[stage]);
  std::fill(staging_[stage].begin(), staging_[stage].end(), 0.0f);
  gain_used_ = staging_used_[stage];
  staging_used_[stage] = 0;
}

// Columns n0 .. n0 + 127 over the K halves that take part.
void Mxu::MultiplyHalf(int rows, int depth, int n0) {
  const int n_half = n0 / kLanes;
  const bool low = (gain_used_ >> n_half & 1) != 0;
  const bool high = (gain_used_ >> (2 + n_half) & 1) != 0 && depth > kLanes;
  float* out = &out_[n0];
  if (!low && !high) {
    for (int r = 0; r < rows; ++r) std::fill_n(out + r * size_, kLanes, 0.0f);
    return;
  }
  const int k0 = low ? 0 : kLanes;
  Multiply({&lhs_[k0], depth}, {&gain_[k0 * size_ + n0], size_}, rows,
           low && high ? 2 * kLanes : kLanes, size_, out);
}

void Mxu::Matmul(Opcode op, const Words& a,
                 const std::function<Words&()>& next_result) {
  const Number number = NumberOf(op);
  const int rows = MxuRows(op);
  const int depth = has_mubr_ ? size_ : kLanes;
  lhs_.resize(rows * depth);
  out_.resize(rows * size_);
  for (int i = 0; i < rows; ++i) {
    DecodeRow(number, rows, a, i, &lhs_[i * depth]);
    if (has_mubr_) DecodeRow(number, rows, mubr_, i, &lhs_[i * depth + kLanes]);
  }
  has_mubr_ = false;
  for (int n = 0; n < size_; n += kLanes) MultiplyHalf(rows, depth, n);

  const bool integers = op == Opcode::kVmatmulS8;
  for (int r = 0; r < rows; r += kSublanes) {
    for (int n = 0; n < size_; n += kLanes) {
      Words& result = next_result();
      for (int s = 0; s < kSublanes; ++s) {
        const float* from = &out_[(r + s) * size_ + n];
        uint32_t* to = &result[s * kLanes];
        for (int l = 0; l < kLanes; ++l) {
          // Sums of s8 products are whole and below 2^24: exact as float.
          to[l] = integers
                      ? static_cast<uint32_t>(static_cast<int32_t>(from[l]))
                      : numerics::FloatBits(from[l]);
        }
      }
    }
  }
}

}  // namespace ptxla::isa
