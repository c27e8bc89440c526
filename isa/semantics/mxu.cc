// Matrix units; the arithmetic is in isa/mxu.h.
#include "isa/mxu.h"

#include "isa/semantics/table.h"

namespace ptxla::isa::semantics {
namespace {

void Push(ExecContext& c, const Instr& i) {
  c.mxu(i.unit).Push(i.op, c.V(i.a), i.imm, i.b, i.c);
}

void Matmul(ExecContext& c, const Instr& i) {
  Mxu& mxu = c.mxu(i.unit);
  if (i.c == 1 || i.c == 2) mxu.Latch(i.c - 1);
  if (!mxu.loaded()) c.Fail("a matmul before any weights were latched");
  mxu.Matmul(i.op, c.V(i.a),
             [&]() -> Words& { return c.PushWords(Fifo::kMrf, i.unit); });
}

void Pop(ExecContext& c, const Instr& i) {
  c.PopWords(Fifo::kMrf, i.unit, &c.OutV(i.dst));
}

}  // namespace

void VmatprepSubr(ExecContext& c, const Instr& i) {
  c.mxu(i.unit).PrepWeights(c.V(i.a));
}
void VmatprepMubr(ExecContext& c, const Instr& i) {
  c.mxu(i.unit).PrepLhs(c.V(i.a));
}
void VmatpushF32(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF32Xpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushBf16(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushBf16Xpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushS8(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushS8Xpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatmulF32(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatmulBf16(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatmulS8(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatpushF32Low(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF32LowXpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E5M2(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E5M2Xpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E4M3Fn(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E4M3FnXpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E4M3B11(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatpushF8E4M3B11Xpose(ExecContext& c, const Instr& i) { Push(c, i); }
void VmatmulF32Low(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatmulF8E5M2(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatmulF8E4M3Fn(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VmatmulF8E4M3B11(ExecContext& c, const Instr& i) { Matmul(c, i); }
void VpopMrfF32(ExecContext& c, const Instr& i) { Pop(c, i); }
void VpopMrfS32(ExecContext& c, const Instr& i) { Pop(c, i); }

}  // namespace ptxla::isa::semantics
