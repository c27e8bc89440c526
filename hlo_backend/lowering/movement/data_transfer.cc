#include "hlo_backend/lowering/movement/data_transfer.h"

#include <algorithm>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

void TransferOnce(CodeBuilder& b, Sca source, Sca target, int64_t bytes) {
  b.NewBlock("transfer", codegen::BlockMode::kInOrder);
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  if (source.valid()) start.a = source.id;
  if (target.valid()) start.b = target.id;
  b.Emit(start);
  AwaitBytes(b, bytes);
}

void AwaitBytes(CodeBuilder& b, int64_t bytes) {
  constexpr int64_t kMost = int64_t{1} << 30;  // of an immediate
  for (; bytes > 0; bytes -= kMost) {
    codegen::VInstr wait;
    wait.op = Opcode::kDmaDoneWait;
    wait.imm2 = static_cast<int32_t>(std::min(bytes, kMost));
    b.Emit(wait);
  }
}

}  // namespace ptxla::lowering
