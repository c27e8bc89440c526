// EmitPlaneReplacement: planes of updates take the places of those of a table.
//
// A plane is one DMA, or none where its number is outside of the table; those
// of a step are in flight together. Of equal numbers the last one stays: DMAs
// to one place arrive in the order in which they start.
#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/row_index.h"
#include "hlo_backend/lowering/movement/scatter.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

bool IsRowMajor(const PhysicalArray& array) {
  return std::is_sorted(array.dims.begin(), array.dims.end());
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitPlaneReplacement(const KernelContext& context,
                                                 const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray table, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const PhysicalArray updates,
                   PhysicalArray::Of(i.operand(2)->shape()));
  ASSIGN_OR_RETURN(const RowIndex index, RowIndex::Of(*i.operand(1)));
  const int64_t planes = updates.sizes[0];
  const int64_t plane = updates.bytes() / planes;
  if (!IsRowMajor(table) || !IsRowMajor(updates) ||
      table.tile_rows != updates.tile_rows ||
      plane != table.bytes() / table.sizes[0]) {
    return absl::UnimplementedError(
        absl::StrCat("%", i.name(), ": planes that lie otherwise"));
  }
  Tiling t;
  ASSIGN_OR_RETURN(t.args, KernelArgs(i));
  // Their numbers in two slots take half of SMEM at most, the other half is for
  // scalars that lie there.
  int64_t rows = planes;
  while (rows > 8 && 4 * index.SlotBytes(rows) > context.chip.smem().count()) {
    rows = RoundUpTo<int64_t>(rows / 2, 8);
  }
  const int64_t steps = CeilOfRatio(planes, rows);
  t.grid = {steps};
  const int index_window = index.AddWindow(1, rows, steps, &t);
  isa::DmaDescriptor copy;
  copy.src_arg = 2;
  copy.dst_arg = 3;
  copy.inner_bytes = plane;
  const int unit = copy.arg_shift =
      std::max(table.place_shift(), updates.place_shift());
  const auto pitch = static_cast<int32_t>(plane >> unit);
  t.descriptors.push_back(copy);
  t.num_semaphores = 1;
  for (const int arg : {1, 2, 3}) {
    if (t.args[arg].space == isa::Space::kHbm) {
      t.work.hbm_bytes += arg == 1 ? t.args[1].bytes : updates.bytes();
    }
  }
  t.note = absl::StrCat(planes, " planes of ", plane, " bytes");

  t.body = [=](CodeBuilder& b) -> absl::Status {
    b.NewBlock("addresses");
    const Sca indices = b.GlobalSca(), copied = b.GlobalSca(),
              exists = b.GlobalSca(), from = b.GlobalSca(), to = b.GlobalSca(),
              step = b.GlobalSca();
    b.WindowAddress(indices, index_window);
    b.GridIndex(step, 0);
    b.SImmTo(copied, 0);
    const Sca k = b.BeginLoop(rows, 1);
    b.NewBlock("place");
    const Sca n = b.SAdd(b.SMulImm(step, static_cast<int32_t>(rows)), k);
    Sca number = index.LoadRaw(b, indices, k);
    if (planes % rows != 0) {
      // Behind the last one there are none.
      const Sca last = b.SImm(static_cast<int32_t>(planes - 1));
      number = b.SBinary(
          Opcode::kSor, number,
          b.SBinaryImm(Opcode::kSshra, b.SBinary(Opcode::kSsub, last, n), 31));
    }
    b.SMove(exists,
            b.SSelectImm(b.SCompareImm(Opcode::kScmpLtU, number,
                                       static_cast<int32_t>(table.sizes[0])),
                         b.SImm(1), 0));
    b.SMove(from, b.SMulImm(n, pitch));
    b.SMove(to, b.SMulImm(number, pitch));
    b.SBinaryTo(copied, Opcode::kSadd, copied, exists);
    b.BeginLoopOf(exists, 1, 1);
    b.NewBlock("copy a plane");
    codegen::VInstr start;
    start.op = Opcode::kDmaStartDesc;
    start.a = from.id;
    start.b = to.id;
    b.Emit(start);
    b.EndLoop();
    b.EndLoop();
    b.BeginLoopOf(copied, rows, 1);
    b.NewBlock("wait for a plane", codegen::BlockMode::kInOrder);
    AwaitBytes(b, plane);
    b.EndLoop();
    return absl::OkStatus();
  };
  return FrameKernel(context, t);
}

}  // namespace ptxla::lowering
