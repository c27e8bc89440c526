// EmitPlaneGather: whole planes of a table by number, each by one DMA from
// where it lies to where it goes.
#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/gather_forms.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

constexpr int64_t kUnroll = 8;

// Planes that a grid step gathers: equal steps, one at least for each core.
// Numbers of rows come eight at a time, so steps have a multiple of eight, or
// there is one.
int64_t PlanesPerStep(int64_t planes, int cores) {
  for (int64_t n = planes / cores / 8 * 8; n > 0; n -= 8) {
    if (planes % n == 0) return n;
  }
  return planes;
}

bool IsRowMajor(const PhysicalArray& array) {
  for (int p = 0; p < array.rank(); ++p) {
    if (array.dims[p] != p) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitPlaneGather(const KernelContext& context,
                                            const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table,
                   PhysicalArray::Of(i.operand(0)->shape()));
  ASSIGN_OR_RETURN(const PhysicalArray out, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(RowIndex index, RowIndex::OfGather(i));
  const int64_t plane = table.bytes() / table.sizes[0];
  const int64_t planes = out.sizes[0];
  if (!IsRowMajor(table) || !IsRowMajor(out) ||
      table.tile_rows != out.tile_rows || plane != out.bytes() / planes) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": planes that lie otherwise"));
  }
  Tiling tiling;
  ASSIGN_OR_RETURN(tiling.args, KernelArgs(i));
  const int64_t rows = PlanesPerStep(planes, context.model.cores);
  const int64_t steps = planes / rows;
  tiling.grid = {steps};
  tiling.megacore_dim = steps > 1 ? 0 : -1;
  index.SetSteps(rows, steps);
  const int index_window = index.AddWindow(1, rows, steps, &tiling);
  isa::DmaDescriptor copy;
  copy.src_arg = 0;
  copy.dst_arg = 2;
  copy.inner_bytes = plane;
  const int unit = copy.arg_shift =
      std::max(table.place_shift(), out.place_shift());
  const auto pitch = static_cast<int32_t>(plane >> unit);
  tiling.descriptors.push_back(copy);
  tiling.num_semaphores = 1;
  tiling.work.hbm_bytes = tiling.args[1].bytes;
  for (const int arg : {0, 2}) {
    if (tiling.args[arg].space == isa::Space::kHbm) {
      tiling.work.hbm_bytes += out.bytes();
    }
  }
  tiling.note = absl::StrCat(rows, " planes of ", plane, " bytes per step");
  const int64_t unroll = rows % kUnroll == 0 ? kUnroll : 1;

  tiling.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), to = b.GlobalSca();
    b.WindowAddress(indices, index_window);
    if (steps > 1) {
      const Sca step = b.NewSca();
      b.GridIndex(step, 0);
      b.SMove(to, b.SMulImm(step, static_cast<int32_t>(rows * pitch)));
    } else {
      b.SImmTo(to, 0);
    }
    const Sca first = b.BeginLoop(rows / unroll, static_cast<int32_t>(unroll));
    b.NewBlock("copy planes");
    for (int u = 0; u < unroll; ++u) {
      const Sca n = b.SAddImm(first, u);
      const Sca r = index.Load(b, indices, n, table.sizes[0]);
      codegen::VInstr start;
      start.op = Opcode::kDmaStartDesc;
      start.imm = 0;
      start.a = b.SMulImm(r, pitch).id;
      start.b = b.SAdd(to, b.SMulImm(n, pitch)).id;
      b.Emit(start);
    }
    b.EndLoop();
    b.NewBlock("wait for planes", codegen::BlockMode::kInOrder);
    AwaitBytes(b, rows * plane);
    return absl::OkStatus();
  };
  return FrameKernel(context, tiling);
}

}  // namespace ptxla::lowering
