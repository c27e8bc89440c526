// Vector compares and masks.
#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {
namespace {

uint32_t AllOnes(bool set) { return set ? 0xFFFFFFFF : 0; }

template <class F>
void MapMasks(ExecContext& c, const Instr& i, F f) {
  const Words& a = c.M(i.a);
  const Words& b = c.M(i.b);
  Words& d = c.OutM(i.dst);
  for (int w = 0; w < kVregWords; ++w) d[w] = f(a[w], b[w]);
}

}  // namespace

#define COMPARE(name, type, convert, op)                        \
  void name(ExecContext& c, const Instr& i) {                   \
    MapWords(c, i, &c.OutM(i.dst), [](uint32_t x, uint32_t y) { \
      const type a = convert(x);                                \
      const type b = convert(y);                                \
      return AllOnes(a op b);                                   \
    });                                                         \
  }
#define COMPARE6(suffix, type, convert)      \
  COMPARE(VcmpEq##suffix, type, convert, ==) \
  COMPARE(VcmpNe##suffix, type, convert, !=) \
  COMPARE(VcmpLt##suffix, type, convert, <)  \
  COMPARE(VcmpLe##suffix, type, convert, <=) \
  COMPARE(VcmpGt##suffix, type, convert, >)  \
  COMPARE(VcmpGe##suffix, type, convert, >=)

COMPARE6(F32, float, FloatFromBits)
COMPARE6(S32, int32_t, static_cast<int32_t>)
COMPARE(VcmpLtU32, uint32_t, static_cast<uint32_t>, <)
COMPARE(VcmpLeU32, uint32_t, static_cast<uint32_t>, <=)
COMPARE(VcmpGtU32, uint32_t, static_cast<uint32_t>, >)
COMPARE(VcmpGeU32, uint32_t, static_cast<uint32_t>, >=)

void Vweird(ExecContext& c, const Instr& i) {
  MapWords(c.V(i.a), &c.OutM(i.dst), [](uint32_t a) {
    return AllOnes((a & 0x7F800000u) == 0x7F800000u);
  });
}

void Vmand(ExecContext& c, const Instr& i) {
  MapMasks(c, i, [](uint32_t a, uint32_t b) { return a & b; });
}
void Vmor(ExecContext& c, const Instr& i) {
  MapMasks(c, i, [](uint32_t a, uint32_t b) { return a | b; });
}
void Vmxor(ExecContext& c, const Instr& i) {
  MapMasks(c, i, [](uint32_t a, uint32_t b) { return a ^ b; });
}
void Vmneg(ExecContext& c, const Instr& i) {
  MapWords(c.M(i.a), &c.OutM(i.dst), [](uint32_t a) { return ~a; });
}
void Vmmov(ExecContext& c, const Instr& i) { c.OutM(i.dst) = c.M(i.a); }

void Vcmask(ExecContext& c, const Instr& i) {
  Words& d = c.OutM(i.dst);
  const int lane_lo = i.imm & 0xFFFF;
  const int lane_hi = i.imm >> 16;
  const int row_lo = i.imm2 & 0xFFFF;
  const int row_hi = i.imm2 >> 16;
  for (int s = 0; s < kSublanes; ++s) {
    const bool row = row_lo <= s && s < row_hi;
    for (int l = 0; l < kLanes; ++l) {
      d[WordAt(s, l)] = AllOnes(row && lane_lo <= l && l < lane_hi);
    }
  }
}

}  // namespace ptxla::isa::semantics
