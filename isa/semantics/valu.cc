// Vector ALU: arithmetic, logic, moves, random bits.
#include <algorithm>
#include <cmath>

#include "base/numerics/random.h"
#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {
namespace {

int LeadingZeros(uint32_t x) { return x == 0 ? 32 : __builtin_clz(x); }

}  // namespace

#define BINARY(name, expr)                                      \
  void name(ExecContext& c, const Instr& i) {                   \
    MapWords(c, i, &c.OutV(i.dst), [](uint32_t a, uint32_t b) { \
      return static_cast<uint32_t>(expr);                       \
    });                                                         \
  }
#define UNARY(name, expr)                                             \
  void name(ExecContext& c, const Instr& i) {                         \
    MapWords(c.V(i.a), &c.OutV(i.dst),                                \
             [](uint32_t a) { return static_cast<uint32_t>(expr); }); \
  }
#define BINARY_F32(name, expr)                                  \
  void name(ExecContext& c, const Instr& i) {                   \
    MapWords(c, i, &c.OutV(i.dst), [](uint32_t x, uint32_t y) { \
      const float a = FloatFromBits(x);                         \
      const float b = FloatFromBits(y);                         \
      return FloatBits(expr);                                   \
    });                                                         \
  }
#define UNARY_F32(name, expr)                           \
  void name(ExecContext& c, const Instr& i) {           \
    MapWords(c.V(i.a), &c.OutV(i.dst), [](uint32_t x) { \
      const float a = FloatFromBits(x);                 \
      return FloatBits(expr);                           \
    });                                                 \
  }
#define BINARY_BF16(name, expr)                                 \
  void name(ExecContext& c, const Instr& i) {                   \
    MapWords(c, i, &c.OutV(i.dst), [](uint32_t x, uint32_t y) { \
      return Halves(x, y, [](uint16_t p, uint16_t q) {          \
        const float a = DecodeBf16(p);                          \
        const float b = DecodeBf16(q);                          \
        return EncodeBf16(expr);                                \
      });                                                       \
    });                                                         \
  }

BINARY_F32(VaddF32, a + b)
BINARY_F32(VsubF32, a - b)
BINARY_F32(VmulF32, a* b)
BINARY_F32(VmaxF32, MaxF32(a, b))
BINARY_F32(VminF32, MinF32(a, b))
UNARY_F32(VfloorF32, std::floor(a))
UNARY_F32(VceilF32, std::ceil(a))
UNARY_F32(VtruncF32, std::trunc(a))
UNARY_F32(VroundF32, std::round(a))
UNARY_F32(VroundEvenF32, std::nearbyint(a))

BINARY(VaddS32, a + b)
BINARY(VsubS32, a - b)
BINARY(VmaxU32, std::max(a, b))
BINARY(VminU32, std::min(a, b))
BINARY(VmulU32, a* b)
BINARY(VmulhiU32, uint64_t{a} * b >> 32)
BINARY(VmulhiS32, int64_t{Signed(a)} * Signed(b) >> 32)
BINARY(VmulU16, (a & 0xFFFF) * (b & 0xFFFF))
BINARY(Vand, a& b)
BINARY(Vor, a | b)
BINARY(Vxor, a ^ b)
UNARY(Vnot, ~a)
BINARY(Vshll, b < 32 ? a << b : 0)
BINARY(Vshrl, b < 32 ? a >> b : 0)
BINARY(Vshra, Signed(a) >> std::min(b, 31u))
UNARY(Vclz, LeadingZeros(a))
UNARY(Vpcnt, __builtin_popcount(a))

BINARY_BF16(VaddBf16, a + b)
BINARY_BF16(VsubBf16, a - b)
BINARY_BF16(VmulBf16, a* b)
BINARY_BF16(VmaxBf16, MaxF32(a, b))
BINARY_BF16(VminBf16, MinF32(a, b))
BINARY(VaddS16, Halves(a, b, [](uint16_t p, uint16_t q) { return p + q; }))
BINARY(VsubS16, Halves(a, b, [](uint16_t p, uint16_t q) { return p - q; }))

void Vmov(ExecContext& c, const Instr& i) { c.OutV(i.dst) = c.V(i.a); }
void Vimm(ExecContext& c, const Instr& i) {
  c.OutV(i.dst).fill(static_cast<uint32_t>(i.imm));
}
void Vstv(ExecContext& c, const Instr& i) { c.OutV(i.dst).fill(c.S(i.a)); }

void Vlaneseq(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  for (int w = 0; w < kVregWords; ++w) d[w] = static_cast<uint32_t>(w);
}

void Vsel(ExecContext& c, const Instr& i) {
  const Words& m = c.M(i.c);
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  if (i.b == kNoReg) {
    const uint32_t b = static_cast<uint32_t>(i.imm);
    for (int w = 0; w < kVregWords; ++w) d[w] = (a[w] & m[w]) | (b & ~m[w]);
    return;
  }
  const Words& b = c.V(i.b);
  for (int w = 0; w < kVregWords; ++w) d[w] = (a[w] & m[w]) | (b[w] & ~m[w]);
}

void VrotSlane(ExecContext& c, const Instr& i) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  const uint32_t amount = c.SB(i) % kSublanes;
  for (uint32_t s = 0; s < kSublanes; ++s) {
    const uint32_t from = (s + kSublanes - amount) % kSublanes;
    std::copy_n(&a[from * kLanes], kLanes, &d[s * kLanes]);
  }
}

void VbcastSlane(ExecContext& c, const Instr& i) {
  const Words& a = c.V(i.a);
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    std::copy_n(&a[(i.imm & 7) * kLanes], kLanes, &d[s * kLanes]);
  }
}

void VcombineLow(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  std::copy_n(&c.V(i.a)[0], kVregWords / 2, &d[0]);
  std::copy_n(&c.V(i.b)[0], kVregWords / 2, &d[kVregWords / 2]);
}

void VcombineHigh(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  std::copy_n(&c.V(i.a)[kVregWords / 2], kVregWords / 2, &d[0]);
  std::copy_n(&c.V(i.b)[kVregWords / 2], kVregWords / 2, &d[kVregWords / 2]);
}

void Setrngseed(ExecContext& c, const Instr& i) {
  const Words& a = c.V(i.a);
  c.random() = {a[0] | uint64_t{a[1]} << 32, a[2] | uint64_t{a[3]} << 32, 0};
}

void Setrngpos(ExecContext& c, const Instr& i) {
  c.random().position = c.S(i.a);
}

void Vrng(ExecContext& c, const Instr& i) {
  RandomState& r = c.random();
  numerics::HardwareRandomFill(r.key_lo, r.key_hi, r.position * kVregWords,
                               absl::MakeSpan(c.OutV(i.dst)));
  ++r.position;
}

}  // namespace ptxla::isa::semantics
