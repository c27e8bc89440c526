#include "hlo_backend/lowering/movement/scatter_forms.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

absl::StatusOr<ScatterCombine> ScatterCombine::Of(
    const hlo::Instruction& scatter) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(
        absl::StrCat("%", scatter.name(), ": ", what));
  };
  ScatterCombine combine;
  const hlo::Instruction* root = scatter.to_apply()->root();
  if (root->opcode() == hlo::Opcode::kParameter &&
      root->parameter_number() == 1) {
    combine.op.reset();
    return combine;
  }
  const auto op = hlo::MonoidOf(*scatter.to_apply());
  if (!op.has_value()) {
    return refuse("a scatter whose body is more than one operation");
  }
  const hlo::PrimitiveType type = scatter.shape().type();
  const bool f32 = type == hlo::PrimitiveType::kF32;
  const bool s32 = type == hlo::PrimitiveType::kS32;
  switch (*op) {
    case hlo::Opcode::kAdd:
      combine.op = f32 ? Opcode::kVaddF32 : Opcode::kVaddS32;
      return combine;
    case hlo::Opcode::kMultiply:
      combine.op = f32 ? Opcode::kVmulF32 : Opcode::kVmulU32;
      return combine;
    case hlo::Opcode::kMaximum:
      combine.op = f32   ? Opcode::kVmaxF32
                   : s32 ? Opcode::kVmaxS32
                         : Opcode::kVmaxU32;
      return combine;
    case hlo::Opcode::kMinimum:
      combine.op = f32   ? Opcode::kVminF32
                   : s32 ? Opcode::kVminS32
                         : Opcode::kVminU32;
      return combine;
    case hlo::Opcode::kAnd:
      combine.op = Opcode::kVand;
      return combine;
    case hlo::Opcode::kOr:
      combine.op = Opcode::kVor;
      return combine;
    case hlo::Opcode::kXor:
      combine.op = Opcode::kVxor;
      return combine;
    default:
      return refuse("a scatter with this operation");
  }
}

ScatterFrame FrameScatter(const ScatterProblem& p, int64_t rows) {
  ScatterFrame f;
  f.rows = RoundUpTo<int64_t>(std::min(p.updates.rows, rows), 8);
  f.steps = CeilOfRatio(p.updates.rows, f.rows);
  f.pitch = p.pieces() * isa::kVregBytes;
  Tiling& t = f.tiling;
  t.args = p.args;
  t.grid = {f.steps};
  f.indices = p.index.AddWindow(1, f.rows, f.steps, &t);
  isa::Window w;
  w.arg = 2;
  isa::WindowDim down, across;
  down.block = f.rows / 8;
  down.extent = p.updates.tiles_down;
  down.hbm_stride = p.updates.row_stride();
  down.vmem_stride = f.pitch;
  down.grid_dim = f.steps > 1 ? 0 : -1;
  across.block = across.extent = p.pieces();
  across.hbm_stride = p.updates.tile_bytes();
  across.vmem_stride = isa::kVregBytes;
  w.dims = {down, across};
  w.inner_bytes = p.updates.tile_bytes();
  w.slots = f.steps > 1 ? 2 : 1;
  // The last register of the last row reads up to seven pieces further.
  w.slot_bytes = f.rows / 8 * f.pitch + 8 * isa::kVregBytes;
  f.updates = static_cast<int>(t.windows.size());
  t.windows.push_back(w);
  t.work.flops = p.updates.rows * p.updates.columns;
  return f;
}

Sca IndexOrNone(CodeBuilder& b, const ScatterProblem& p, const ScatterFrame& f,
                Sca indices, Sca first, Sca n) {
  const Sca raw = p.index.LoadRaw(b, indices, n);
  if (p.updates.rows % f.rows == 0) return raw;
  const Sca last = b.SImm(static_cast<int32_t>(p.updates.rows - 1));
  const Sca beyond = b.SBinaryImm(
      Opcode::kSshra, b.SBinary(Opcode::kSsub, last, b.SAdd(first, n)), 31);
  return b.SBinary(Opcode::kSor, raw, beyond);
}

}  // namespace ptxla::lowering
