#include "hlo_backend/lowering/movement/data_transfer.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

Sca ClampedStart(CodeBuilder& b, int window, int64_t last) {
  const Sca address = b.NewSca();
  b.WindowAddress(address, window);
  Sca at = b.SLoad(0, address, 0);
  at = b.SBinaryImm(Opcode::kSmax, at, 0);
  return b.SBinaryImm(Opcode::kSmin, at, static_cast<int32_t>(last));
}

void TransferOnce(CodeBuilder& b, Sca source, Sca target, int64_t bytes) {
  b.NewBlock("transfer", codegen::BlockMode::kInOrder);
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  if (source.valid()) start.a = source.id;
  if (target.valid()) start.b = target.id;
  b.Emit(start);
  codegen::VInstr wait;
  wait.op = Opcode::kDmaDoneWait;
  wait.imm2 = static_cast<int32_t>(bytes);
  b.Emit(wait);
}

}  // namespace ptxla::lowering
