#include "hlo_backend/lowering/fusion/wide_multiply.h"

#include <algorithm>

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Vec;
using isa::Opcode;

// Of a word without sign, 16 bits each.
struct Halves {
  Vec low, high;
};

Halves HalvesOf(CodeBuilder& b, Vec x) {
  return {b.BinaryImm(Opcode::kVand, x, 0xFFFF),
          b.BinaryImm(Opcode::kVshrl, x, 16)};
}

// The high word of a product from those of halves, each of one word.
Vec HighWord(CodeBuilder& b, const Halves& x, const Halves& y) {
  const auto product = [&](Vec p, Vec q) {
    return b.Binary(Opcode::kVmulU32, p, q);
  };
  const auto add = [&](Vec p, Vec q) {
    return b.Binary(Opcode::kVaddS32, p, q);
  };
  const auto upper = [&](Vec p) { return b.BinaryImm(Opcode::kVshrl, p, 16); };
  const Vec low = upper(product(x.low, y.low));
  const Vec first = add(product(x.high, y.low), low);
  const Vec second =
      add(product(x.low, y.high), b.BinaryImm(Opcode::kVand, first, 0xFFFF));
  return add(add(product(x.high, y.high), upper(first)), upper(second));
}

std::pair<Vec, Vec> ByWords(CodeBuilder& b, Vec x, const std::array<Vec, 3>& w,
                            Vec high1, Vec high2) {
  const auto low = [&](Vec y) { return b.Binary(Opcode::kVmulU32, x, y); };
  const Vec low1 = low(w[1]);
  const Vec lower = b.Binary(Opcode::kVaddS32, low1, high2);
  const Mask carry = b.Compare(Opcode::kVcmpLtU32, lower, low1);
  const Vec carried = b.BinaryImm(Opcode::kVaddS32, high1, 1);
  return {
      b.Binary(Opcode::kVaddS32, low(w[0]), b.Select(carry, carried, high1)),
      lower};
}

// Chips without an integer multiply: digits of 12 bits, whose products are
// exact in f32.
std::pair<Vec, Vec> ByDigits(CodeBuilder& b, Vec x,
                             const std::array<Vec, 3>& w) {
  constexpr int kDigits = 8;
  const auto shr = [&](Vec v, int n) {
    return b.BinaryImm(Opcode::kVshrl, v, static_cast<uint32_t>(n));
  };
  const auto shl = [&](Vec v, int n) {
    return n == 0 ? v
                  : b.BinaryImm(Opcode::kVshll, v, static_cast<uint32_t>(n));
  };
  const auto either = [&](Vec p, Vec q) {
    return b.Binary(Opcode::kVor, p, q);
  };
  const auto digit = [&](Vec v) {
    return b.BinaryImm(Opcode::kVand, v, 0xFFF);
  };
  const auto number = [&](Vec v) { return b.Unary(Opcode::kVcvtF32S32, v); };
  // x is 24 bits, 8 bits up.
  const Vec x0 = number(digit(shr(x, 8))), x1 = number(shr(x, 20));
  std::array<Vec, kDigits> d;
  for (int k = 0; k < kDigits; ++k) {
    const int at = 12 * k, word = 2 - at / 32, from = at % 32;
    Vec bits = from == 0 ? w[word] : shr(w[word], from);
    const bool split = from > 20;
    if (split) bits = either(bits, shl(w[word - 1], 32 - from));
    d[k] = number(from == 20 ? bits : digit(bits));
  }
  const auto product = [&](Vec p, Vec q) {
    return b.Unary(Opcode::kVcvtS32F32, b.Binary(Opcode::kVmulF32, p, q));
  };
  // Digits of the product; those of bits 24 on are wanted.
  std::array<Vec, kDigits> sum;
  Vec carry;
  for (int k = 0; k < kDigits; ++k) {
    Vec column = product(x0, d[k]);
    if (k > 0) {
      column = b.Binary(Opcode::kVaddS32, column, product(x1, d[k - 1]));
      column = b.Binary(Opcode::kVaddS32, column, carry);
    }
    if (k + 1 < kDigits) carry = shr(column, 12);
    sum[k] = k >= 2 && k + 1 < kDigits ? digit(column) : column;
  }
  const Vec lower = either(either(sum[2], shl(sum[3], 12)), shl(sum[4], 24));
  const Vec upper = either(either(shr(sum[4], 8), shl(sum[5], 4)),
                           either(shl(sum[6], 16), shl(sum[7], 28)));
  return {upper, lower};
}

// Three digits of 12 bits each, whose products are exact in f32.
Vec HighWordByDigits(CodeBuilder& b, Vec x, Vec y) {
  const auto shr = [&](Vec v, uint32_t n) {
    return b.BinaryImm(Opcode::kVshrl, v, n);
  };
  const auto shl = [&](Vec v, uint32_t n) {
    return b.BinaryImm(Opcode::kVshll, v, n);
  };
  const auto digit = [&](Vec v) {
    return b.BinaryImm(Opcode::kVand, v, 0xFFF);
  };
  const auto digits = [&](Vec v) {
    const auto number = [&](Vec d) { return b.Unary(Opcode::kVcvtF32S32, d); };
    return std::array<Vec, 3>{number(digit(v)), number(digit(shr(v, 12))),
                              number(shr(v, 24))};
  };
  const std::array<Vec, 3> p = digits(x), q = digits(y);
  // What stands from bit 12 k on; bits 32 and up are wanted.
  std::array<Vec, 5> column;
  for (int k = 0; k < 5; ++k) {
    for (int i = std::max(0, k - 2); i <= std::min(k, 2); ++i) {
      const Vec product = b.Unary(Opcode::kVcvtS32F32,
                                  b.Binary(Opcode::kVmulF32, p[i], q[k - i]));
      column[k] = column[k].valid()
                      ? b.Binary(Opcode::kVaddS32, column[k], product)
                      : product;
    }
    if (k == 0) continue;
    column[k] = b.Binary(Opcode::kVaddS32, column[k], shr(column[k - 1], 12));
  }
  const Vec lower = b.Binary(Opcode::kVor, shr(digit(column[2]), 8),
                             shl(digit(column[3]), 4));
  return b.Binary(Opcode::kVor, lower, shl(column[4], 16));
}

}  // namespace

Vec MultiplyHigh(CodeBuilder& b, Vec x, Vec y) {
  if (isa::Supports(b.model(), Opcode::kVmulhiU32)) {
    return b.Binary(Opcode::kVmulhiU32, x, y);
  }
  if (!isa::Supports(b.model(), Opcode::kVmulU32)) {
    return HighWordByDigits(b, x, y);
  }
  return HighWord(b, HalvesOf(b, x), HalvesOf(b, y));
}

std::pair<Vec, Vec> MultiplyWordBy96(CodeBuilder& b, Vec x,
                                     const std::array<Vec, 3>& w) {
  if (!isa::Supports(b.model(), Opcode::kVmulU32)) return ByDigits(b, x, w);
  if (isa::Supports(b.model(), Opcode::kVmulhiU32)) {
    return ByWords(b, x, w, b.Binary(Opcode::kVmulhiU32, x, w[1]),
                   b.Binary(Opcode::kVmulhiU32, x, w[2]));
  }
  const Halves halves = HalvesOf(b, x);
  return ByWords(b, x, w, HighWord(b, halves, HalvesOf(b, w[1])),
                 HighWord(b, halves, HalvesOf(b, w[2])));
}

}  // namespace ptxla::lowering
