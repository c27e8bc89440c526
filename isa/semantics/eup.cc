// Extended unary unit: transcendental functions, shared with the evaluator.
#include "base/numerics/transcendental.h"
#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {

#define EUP_F32(name, function)                                      \
  void name(ExecContext& c, const Instr& i) {                        \
    MapWords(c.V(i.a), &c.PushWords(Fifo::kEup, 0), [](uint32_t a) { \
      return FloatBits(numerics::function(FloatFromBits(a)));        \
    });                                                              \
  }
#define EUP_BF16(name, function)                                     \
  void name(ExecContext& c, const Instr& i) {                        \
    MapWords(c.V(i.a), &c.PushWords(Fifo::kEup, 0), [](uint32_t a) { \
      return Halves(a, [](uint16_t x) {                              \
        return EncodeBf16(numerics::function(DecodeBf16(x)));        \
      });                                                            \
    });                                                              \
  }

EUP_F32(VrcpF32, Rcp)
EUP_F32(VrsqrtF32, Rsqrt)
EUP_F32(Vpow2F32, Exp2)
EUP_F32(Vlog2F32, Log2)
EUP_F32(VtanhF32, Tanh)
EUP_F32(VsigmoidF32, Sigmoid)
EUP_F32(VerfF32, Erf)
EUP_F32(VsinqF32, Sin)
EUP_F32(VcosqF32, Cos)
EUP_BF16(VrcpBf16, Rcp)
EUP_BF16(VrsqrtBf16, Rsqrt)
EUP_BF16(Vpow2Bf16, Exp2)
EUP_BF16(Vlog2Bf16, Log2)
EUP_BF16(VtanhBf16, Tanh)

void VpopEup(ExecContext& c, const Instr& i) {
  c.PopWords(Fifo::kEup, 0, &c.OutV(i.dst));
}

}  // namespace ptxla::isa::semantics
