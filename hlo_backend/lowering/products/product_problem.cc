#include "hlo_backend/lowering/products/product_problem.h"

namespace ptxla::lowering {

using isa::IntervalKey;
using isa::LatencyKey;
using isa::Opcode;

ArrayShape ArrayShapeOf(const isa::MachineModel& model, bool rhs_transposed) {
  ArrayShape a;
  a.size = model.mxu_cols;
  a.mxus = model.mxus;
  a.bf16 = isa::Supports(model, Opcode::kVmatmulBf16);
  const Opcode matmul = a.bf16 ? Opcode::kVmatmulBf16 : Opcode::kVmatmulF32;
  a.rows = isa::MxuRows(matmul);
  a.interval = model.Interval(isa::Info(matmul).interval);
  a.latency = model.Latency(isa::Info(matmul).latency);
  const IntervalKey push = a.bf16
                               ? (rhs_transposed ? IntervalKey::kPushBf16Xpose
                                                 : IntervalKey::kPushBf16)
                               : (rhs_transposed ? IntervalKey::kPushF32Xpose
                                                 : IntervalKey::kPushF32);
  a.push_rows = a.rows;
  a.push_interval = model.Interval(push);
  return a;
}

}  // namespace ptxla::lowering
