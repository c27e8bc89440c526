#include "hlo_backend/lowering/movement/update_slice.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/start_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

bool FillsTiles(const PhysicalArray& to, const PhysicalArray& from) {
  const int rank = to.rank();
  if (rank < 2 || from.dims != to.dims ||
      from.sizes[rank - 1] != to.sizes[rank - 1]) {
    return false;
  }
  if (from.sizes[rank - 2] != to.sizes[rank - 2]) {
    return from.sizes[rank - 2] == 1 && to.bits == 32;
  }
  return from.tile_rows == to.tile_rows;
}

}  // namespace

bool IsTileUpdate(const hlo::Instruction& i) {
  const auto to = PhysicalArray::Of(i.shape());
  const auto from = PhysicalArray::Of(i.operand(1)->shape());
  return to.ok() && from.ok() && FillsTiles(*to, *from);
}

absl::StatusOr<isa::Kernel> EmitUpdateSlice(const KernelContext& context,
                                            const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray to, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const PhysicalArray from,
                   PhysicalArray::Of(i.operand(1)->shape()));
  if (!FillsTiles(to, from)) {
    return absl::UnimplementedError(absl::StrCat(
        "%", i.name(), " (dynamic-update-slice): it ends inside of tiles"));
  }
  const int rank = to.rank();
  const bool rows = from.sizes[rank - 2] != to.sizes[rank - 2];
  Tiling t;
  ASSIGN_OR_RETURN(t.args, KernelArgs(i));
  isa::DmaDescriptor d;
  d.src_arg = 1;
  const int unit = d.arg_shift = to.place_shift();
  d.dst_arg = static_cast<int>(t.args.size()) - 1;
  std::vector<int64_t> stride(rank, 0);  // of the result, per start index
  int64_t from_plane = from.plane_stride(), to_plane = to.plane_stride();
  for (int p = rank - 3; p >= 0; --p) {
    d.dims.insert(d.dims.begin(), {from.sizes[p], from_plane, to_plane});
    stride[p] = to_plane;
    from_plane *= from.sizes[p];
    to_plane *= to.sizes[p];
  }
  if (rows) {
    d.dims.push_back({to.tiles_across, from.tile_bytes(), to.tile_bytes()});
    d.inner_bytes = isa::kRowBytes;
  } else {
    d.inner_bytes = to.plane_stride();
  }
  t.descriptors.push_back(d);
  t.num_semaphores = 1;
  // Start indices that matter come by SMEM.
  struct Start {
    int physical;
    StartIndex index;
    int64_t last;
  };
  std::vector<Start> starts;
  for (int p = 0; p + 1 < rank; ++p) {
    if (from.sizes[p] == to.sizes[p]) continue;
    const int arg = 2 + static_cast<int>(to.dims[p]);
    starts.push_back(
        {p, StartIndex::Add(i, arg, &t), to.sizes[p] - from.sizes[p]});
  }
  t.body = [&](CodeBuilder& b) -> absl::Status {
    b.NewBlock("place");
    const Sca target = b.GlobalSca();
    b.SImmTo(target, 0);
    for (const Start& s : starts) {
      const Sca at = s.index.Clamped(b, s.last);
      Sca bytes;
      if (s.physical == rank - 2) {
        int shift = 0;
        while ((int64_t{1} << shift) < to.tile_rows) ++shift;
        const Sca tile = b.SBinaryImm(Opcode::kSshrl, at, shift);
        const Sca row = b.SBinaryImm(Opcode::kSand, at,
                                     static_cast<int32_t>(to.tile_rows - 1));
        bytes = b.SAdd(
            b.SMulImm(tile, static_cast<int32_t>(to.row_stride() >> unit)),
            b.SMulImm(row, isa::kRowBytes >> unit));
      } else {
        bytes = b.SMulImm(at, static_cast<int32_t>(stride[s.physical] >> unit));
      }
      b.SBinaryTo(target, Opcode::kSadd, target, bytes);
    }
    TransferOnce(b, {}, target, d.Bytes());
    return absl::OkStatus();
  };
  t.note = "in place";
  return FrameKernel(context, t);
}

}  // namespace ptxla::lowering
