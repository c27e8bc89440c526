#include "hlo_backend/lowering/movement/scatter_forms.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
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
  combine.op = op;
  combine.type = scatter.shape().type();
  return combine;
}

Vec ScatterCombine::Emit(CodeBuilder& b, Vec old, Vec update) const {
  if (!op.has_value()) return update;
  // Of() gave an operation that words have.
  return EmitMonoid(b, *op, type, Value::Of(old), Value::Of(update))
      .value()
      .vec;
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
