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
  f.indices = p.index.AddWindow(p.index_arg(), f.rows, f.steps, &t);
  isa::Window w;
  w.arg = p.updates_arg();
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

void FillTable(CodeBuilder& b, const ScatterProblem& p, int space, Sca at,
               int64_t bytes) {
  constexpr int64_t kUnroll = 16;
  b.BeginScope();
  b.NewBlock("value");
  const Vec value = b.GlobalVec();
  b.ImmTo(value, *p.fill);
  const int64_t registers = bytes / isa::kVregBytes;
  const int64_t loops = registers / kUnroll;
  if (loops > 0) {
    const Sca k = b.BeginLoop(loops, kUnroll * isa::kVregBytes);
    b.NewBlock("fill");
    const Sca to = b.SAdd(at, k);
    for (int32_t r = 0; r < kUnroll; ++r) {
      b.Store(space, to, r * isa::kVregBytes, value);
    }
    b.EndLoop();
  }
  b.NewBlock("fill");
  const auto offset = [](int64_t r) {
    return static_cast<int32_t>(r * isa::kVregBytes);
  };
  for (int64_t r = loops * kUnroll; r < registers; ++r) {
    b.Store(space, at, offset(r), value);
  }
  if (const int64_t rest = bytes % isa::kVregBytes; rest > 0) {
    b.StoreMasked(space, at, offset(registers), value,
                  b.Range(0, 128, 0, static_cast<int>(rest / isa::kRowBytes)));
  }
  b.EndScope();
}

Vec LoadUpdate(CodeBuilder& b, const ScatterProblem& p, int space, Sca from,
               int32_t offset, int64_t pitch, int64_t r, bool whole) {
  const auto stride = static_cast<int32_t>(pitch);
  const int64_t left = p.pieces() - 8 * r;
  const auto at = static_cast<int32_t>(offset + 8 * r * pitch);
  if (whole || left >= 8) return b.LoadStrided(space, from, at, stride, 1);
  const auto missing = static_cast<int32_t>(8 - left);
  return b.RotateSublanes(
      b.LoadStrided(space, from, at - missing * stride, stride, 1),
      static_cast<int>(left));
}

}  // namespace ptxla::lowering
