// Scalar unit.
#include <algorithm>
#include <cstring>

#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {
namespace {

template <class F>
void Binary(ExecContext& c, const Instr& i, F f) {
  c.SetS(i.dst, f(c.S(i.a), c.SB(i)));
}
template <class F>
void Compare(ExecContext& c, const Instr& i, F f) {
  c.SetP(i.dst, f(c.S(i.a), c.SB(i)));
}

}  // namespace

#define SCALAR(name, expr)                    \
  void name(ExecContext& c, const Instr& i) { \
    Binary(c, i, [](uint32_t a, uint32_t b) { \
      return static_cast<uint32_t>(expr);     \
    });                                       \
  }
#define COMPARE(name, expr)                                     \
  void name(ExecContext& c, const Instr& i) {                   \
    Compare(c, i, [](uint32_t a, uint32_t b) { return expr; }); \
  }

SCALAR(Sadd, a + b)
SCALAR(Ssub, a - b)
SCALAR(Smul, a* b)
SCALAR(Smax, std::max(Signed(a), Signed(b)))
SCALAR(Smin, std::min(Signed(a), Signed(b)))
SCALAR(Sand, a& b)
SCALAR(Sor, a | b)
SCALAR(Sxor, a ^ b)
SCALAR(Sshll, b < 32 ? a << b : 0)
SCALAR(Sshrl, b < 32 ? a >> b : 0)
SCALAR(Sshra, Signed(a) >> std::min(b, 31u))
COMPARE(ScmpEq, a == b)
COMPARE(ScmpNe, a != b)
COMPARE(ScmpLt, Signed(a) < Signed(b))
COMPARE(ScmpLe, Signed(a) <= Signed(b))
COMPARE(ScmpGt, Signed(a) > Signed(b))
COMPARE(ScmpGe, Signed(a) >= Signed(b))
COMPARE(ScmpLtU, a < b)

void Smov(ExecContext& c, const Instr& i) { c.SetS(i.dst, c.SB(i)); }

void Ssel(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, c.P(i.c) ? c.S(i.a) : c.SB(i));
}

void Pmov(ExecContext& c, const Instr& i) { c.SetP(i.dst, c.P(i.a)); }
void Pneg(ExecContext& c, const Instr& i) { c.SetP(i.dst, !c.P(i.a)); }
void Pand(ExecContext& c, const Instr& i) {
  c.SetP(i.dst, c.P(i.a) && c.P(i.b));
}
void Por(ExecContext& c, const Instr& i) {
  c.SetP(i.dst, c.P(i.a) || c.P(i.b));
}

void Sdivrem(ExecContext& c, const Instr& i) {
  const uint32_t a = c.S(i.a);
  const uint32_t b = c.SB(i);
  c.PushScalar(Fifo::kDivide, b == 0 ? 0xFFFFFFFF : a / b);
  c.PushScalar(Fifo::kDivide, b == 0 ? a : a % b);
}

void SpopDrf(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, c.PopScalar(Fifo::kDivide));
}

void Sld(ExecContext& c, const Instr& i) {
  uint32_t value = 0;
  if (const uint8_t* from = c.Smem(c.Address(i))) {
    std::memcpy(&value, from, 4);
  }
  c.SetS(i.dst, value);
}

void Sst(ExecContext& c, const Instr& i) {
  const uint32_t value = c.S(i.b);
  if (uint8_t* to = c.Smem(c.Address(i))) std::memcpy(to, &value, 4);
}

void Sgrid(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, static_cast<uint32_t>(c.kernel->GridIndex(i.imm)));
}
void Swin(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, static_cast<uint32_t>(c.kernel->WindowAddress(i.imm)));
}
void Swinlen(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, static_cast<uint32_t>(c.kernel->WindowLength(i.imm, i.imm2)));
}
void Sarg(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, static_cast<uint32_t>(c.kernel->ArgAddress(i.imm)));
}
void Sscratch(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, static_cast<uint32_t>(c.kernel->ScratchAddress() + i.imm));
}

void ShaltErr(ExecContext& c, const Instr& i) {
  if (c.P(i.a)) c.Fail("shalt.err: a bounds check failed");
}

void Vpush(ExecContext& c, const Instr& i) {
  c.PushScalar(Fifo::kVectorToScalar, c.V(i.a)[0]);
}
void Spop(ExecContext& c, const Instr& i) {
  c.SetS(i.dst, c.PopScalar(Fifo::kVectorToScalar));
}

void Nop(ExecContext&, const Instr&) {}

}  // namespace ptxla::isa::semantics
