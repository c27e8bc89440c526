#include "hlo_backend/lowering/movement/row_dma.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

RowDma RowDma::FromArg(int arg, int64_t pieces, int64_t pitch, Tiling* tiling,
                       int shift) {
  isa::DmaDescriptor d;
  d.src_arg = arg;
  d.arg_shift = shift;
  d.dims = {{pieces, pitch, isa::kRowBytes}};
  d.inner_bytes = isa::kRowBytes;
  d.semaphore = tiling->num_semaphores++;
  RowDma row;
  row.descriptor_ = static_cast<int>(tiling->descriptors.size());
  row.semaphore_ = d.semaphore;
  row.bytes_ = d.Bytes();
  tiling->descriptors.push_back(d);
  return row;
}

RowDma RowDma::ToArg(int arg, int64_t pieces, int64_t pitch, Tiling* tiling,
                     int shift) {
  RowDma row = FromArg(arg, pieces, pitch, tiling, shift);
  row.to_arg_ = true;
  isa::DmaDescriptor& d = tiling->descriptors.back();
  d.src_arg = -1;
  d.dst_arg = arg;
  d.dims = {{pieces, isa::kRowBytes, pitch}};
  return row;
}

void RowDma::Start(CodeBuilder& b, Sca offset, Sca vmem) const {
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  start.imm = descriptor_;
  start.a = to_arg_ ? vmem.id : offset.id;
  start.b = to_arg_ ? offset.id : vmem.id;
  b.Emit(start);
}

void RowDma::Wait(CodeBuilder& b, int64_t rows) const {
  b.NewBlock("wait for rows", codegen::BlockMode::kInOrder);
  codegen::VInstr wait;
  wait.op = Opcode::kDmaDoneWait;
  wait.imm = semaphore_;
  wait.imm2 = static_cast<int32_t>(rows * bytes_);
  b.Emit(wait);
}

void RowDma::Run(CodeBuilder& b, Sca offset, Sca vmem) const {
  b.NewBlock("start row", codegen::BlockMode::kInOrder);
  Start(b, offset, vmem);
  Wait(b, 1);
}

}  // namespace ptxla::lowering
