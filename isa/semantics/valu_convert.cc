// Conversions, packing and unpacking.
#include <algorithm>
#include <cmath>

#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {
namespace {

uint32_t F32ToS32(float a) {
  if (a != a) return 0;
  if (a >= 2147483648.0f) return 0x7FFFFFFF;
  if (a < -2147483648.0f) return 0x80000000;
  return static_cast<uint32_t>(static_cast<int32_t>(a));
}

uint32_t Bf16ToF32(uint16_t code) { return uint32_t{code} << 16; }
uint32_t F16ToF32(uint16_t code) {
  return FloatBits(numerics::DecodeF16(code));
}
uint32_t S16ToS32(uint16_t x) {
  return static_cast<uint32_t>(int32_t{static_cast<int16_t>(x)});
}
uint32_t U16ToS32(uint16_t x) { return x; }
uint32_t S8ToS32(uint8_t x) {
  return static_cast<uint32_t>(int32_t{static_cast<int8_t>(x)});
}
uint32_t U8ToS32(uint8_t x) { return x; }

uint32_t F8E5M2ToF32(uint8_t code) {
  return FloatBits(numerics::DecodeFloat(numerics::kF8E5M2, code));
}

uint16_t EncodeBf16Word(uint32_t x) { return EncodeBf16(FloatFromBits(x)); }
uint16_t EncodeF16Word(uint32_t x) {
  return numerics::EncodeF16(FloatFromBits(x));
}
uint16_t LowHalf(uint32_t x) { return static_cast<uint16_t>(x); }

// Rows 8 * part .. 8 * part + 7 of a 16-bit register to 32 bits.
template <class F>
void Unpack16(ExecContext& c, const Instr& i, int part, F f) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      d[WordAt(s, l)] = f(Row16(a, 8 * part + s, l));
    }
  }
}
template <class F>
void Unpack8(ExecContext& c, const Instr& i, int part, F f) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      d[WordAt(s, l)] = f(Row8(a, 8 * part + s, l));
    }
  }
}

// 8 rows of `a`, then 8 rows of `b`, as 16 packed rows.
template <class F>
void Pack16(ExecContext& c, const Instr& i, F f) {
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    const Words& from = c.V(s < 4 ? i.a : i.b);
    const int row = s % 4 * 2;
    for (int l = 0; l < kLanes; ++l) {
      d[WordAt(s, l)] =
          f(from[WordAt(row, l)]) | uint32_t{f(from[WordAt(row + 1, l)])} << 16;
    }
  }
}

}  // namespace

void VcvtF32S32(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t a) {
    return FloatBits(static_cast<float>(static_cast<int32_t>(a)));
  });
}
void VcvtS32F32(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst),
           [](uint32_t a) { return F32ToS32(FloatFromBits(a)); });
}
void VcvtEvenS32F32(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t a) {
    return F32ToS32(std::nearbyint(FloatFromBits(a)));
  });
}
void VcvtF8E5M2F32(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t a) {
    return numerics::EncodeFloat(numerics::kF8E5M2, FloatFromBits(a));
  });
}

void VpackCBf16(ExecContext& c, const Instr& i) {
  Pack16(c, i, EncodeBf16Word);
}
void VpackCF16(ExecContext& c, const Instr& i) { Pack16(c, i, EncodeF16Word); }
void VpackCB16(ExecContext& c, const Instr& i) { Pack16(c, i, LowHalf); }
void VpackIBf16(ExecContext& c, const Instr& i) {
  const Words& a = c.V(i.a);
  const Words& b = c.V(i.b);
  Words& d = c.OutV(i.dst);
  for (int w = 0; w < kVregWords; ++w) {
    d[w] = EncodeBf16Word(a[w]) | uint32_t{EncodeBf16Word(b[w])} << 16;
  }
}
void VpackCB8(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    const Words& from = c.V(s < 4 ? i.a : i.b);
    for (int l = 0; l < kLanes; ++l) {
      uint32_t word = 0;
      for (int r = 0; r < 4; ++r) {
        word |= (Row16(from, s % 4 * 4 + r, l) & 0xFFu) << (8 * r);
      }
      d[WordAt(s, l)] = word;
    }
  }
}

// Four rows of words to a word of bytes.
template <int kLow, int kHigh>
void PackWords8(ExecContext& c, const Instr& i) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      uint32_t word = 0;
      for (int r = 0; r < 4; ++r) {
        const auto value = static_cast<int32_t>(a[WordAt(s % 2 * 4 + r, l)]);
        const int bounded = std::clamp(value, kLow, kHigh);
        word |= (static_cast<uint32_t>(bounded) & 0xFFu) << (8 * r);
      }
      d[WordAt(s, l)] = word;
    }
  }
}
void VpackWS8(ExecContext& c, const Instr& i) { PackWords8<-128, 127>(c, i); }
void VpackWU8(ExecContext& c, const Instr& i) { PackWords8<0, 255>(c, i); }
void VpackCB4(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    const Words& from = c.V(s < 4 ? i.a : i.b);
    for (int l = 0; l < kLanes; ++l) {
      uint32_t word = 0;
      for (int r = 0; r < 8; ++r) {
        word |= (Row8(from, s % 4 * 8 + r, l) & 0xFu) << (4 * r);
      }
      d[WordAt(s, l)] = word;
    }
  }
}

void VunpackILBf16(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t a) { return a << 16; });
}
void VunpackIHBf16(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t a) { return a & 0xFFFF0000; });
}

#define UNPACK16(name, part, convert) \
  void name(ExecContext& c, const Instr& i) { Unpack16(c, i, part, convert); }
#define UNPACK8(name, part, convert) \
  void name(ExecContext& c, const Instr& i) { Unpack8(c, i, part, convert); }

// Word s of the result: the four numbers in one half of a word.
void UnpackS4(ExecContext& c, const Instr& i, int part) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      const uint32_t half =
          a[WordAt(4 * part + s / 2, l)] >> (16 * (s % 2)) & 0xFFFF;
      uint32_t word = 0;
      for (int r = 0; r < 4; ++r) {
        const uint32_t four = half >> (4 * r) & 0xF;
        word |= (four & 8 ? four | 0xF0 : four) << (8 * r);
      }
      d[WordAt(s, l)] = word;
    }
  }
}
void VunpackCLS4(ExecContext& c, const Instr& i) { UnpackS4(c, i, 0); }
void VunpackCHS4(ExecContext& c, const Instr& i) { UnpackS4(c, i, 1); }

UNPACK16(VunpackCLBf16, 0, Bf16ToF32)
UNPACK16(VunpackCHBf16, 1, Bf16ToF32)
UNPACK16(VunpackCLF16, 0, F16ToF32)
UNPACK16(VunpackCHF16, 1, F16ToF32)
UNPACK16(VunpackCLS16, 0, S16ToS32)
UNPACK16(VunpackCHS16, 1, S16ToS32)
UNPACK16(VunpackCLU16, 0, U16ToS32)
UNPACK16(VunpackCHU16, 1, U16ToS32)
UNPACK8(VunpackC0S8, 0, S8ToS32)
UNPACK8(VunpackC1S8, 1, S8ToS32)
UNPACK8(VunpackC2S8, 2, S8ToS32)
UNPACK8(VunpackC3S8, 3, S8ToS32)
UNPACK8(VunpackC0U8, 0, U8ToS32)
UNPACK8(VunpackC1U8, 1, U8ToS32)
UNPACK8(VunpackC2U8, 2, U8ToS32)
UNPACK8(VunpackC3U8, 3, U8ToS32)
UNPACK8(VunpackC0F8E5M2, 0, F8E5M2ToF32)
UNPACK8(VunpackC1F8E5M2, 1, F8E5M2ToF32)
UNPACK8(VunpackC2F8E5M2, 2, F8E5M2ToF32)
UNPACK8(VunpackC3F8E5M2, 3, F8E5M2ToF32)

}  // namespace ptxla::isa::semantics
