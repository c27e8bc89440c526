#include "hlo_backend/lowering/movement/plane_slice.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/status.h"
#include "hlo_backend/lowering/movement/data_transfer.h"
#include "hlo_backend/lowering/movement/start_index.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// A dimension of planes of which the slice has a part.
struct Start {
  StartIndex index;
  int64_t last;    // where it may begin at most
  int64_t stride;  // bytes of the operand
};

bool IsInVmem(const hlo::Instruction& i) {
  return i.shape().memory_space() == hlo::kMemoryVmem;
}

}  // namespace

bool IsPlaneSlice(const hlo::Instruction& i) {
  if (i.opcode() == hlo::Opcode::kSlice) {
    if (!IsInVmem(*i.operand(0)) && !IsInVmem(i)) return false;
    const auto& strides = i.attrs<hlo::SliceAttrs>().strides;
    if (std::any_of(strides.begin(), strides.end(),
                    [](int64_t stride) { return stride != 1; })) {
      return false;
    }
  } else if (i.opcode() != hlo::Opcode::kDynamicSlice ||
             i.operand(0)->shape().memory_space() != hlo::kMemoryHbm) {
    return false;
  }
  const auto to = PhysicalArray::Of(i.shape());
  const auto from = PhysicalArray::Of(i.operand(0)->shape());
  if (!to.ok() || !from.ok() || to->rank() < 3 || from->dims != to->dims ||
      from->plane_stride() != to->plane_stride()) {
    return false;
  }
  return std::equal(to->sizes.end() - 2, to->sizes.end(),
                    from->sizes.end() - 2);
}

absl::StatusOr<isa::Kernel> EmitPlaneSlice(const KernelContext& context,
                                           const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray to, PhysicalArray::Of(i.shape()));
  ASSIGN_OR_RETURN(const PhysicalArray from,
                   PhysicalArray::Of(i.operand(0)->shape()));
  Tiling t;
  ASSIGN_OR_RETURN(t.args, KernelArgs(i));
  t.num_semaphores = 1;
  isa::DmaDescriptor d;
  d.src_arg = 0;
  const int unit = d.arg_shift = from.place_shift();
  d.dst_arg = static_cast<int>(t.args.size()) - 1;
  d.inner_bytes = to.plane_stride();
  std::vector<Start> starts;  // that are data
  int64_t begin = 0;          // of those that are not, in bytes
  int64_t from_plane = from.plane_stride(), to_plane = to.plane_stride();
  for (int p = to.rank() - 3; p >= 0; --p) {
    // Planes that follow one another on both sides are one run of bytes.
    if (d.dims.empty() && from_plane == d.inner_bytes) {
      d.inner_bytes *= to.sizes[p];
    } else {
      d.dims.insert(d.dims.begin(), {to.sizes[p], from_plane, to_plane});
    }
    if (i.opcode() == hlo::Opcode::kSlice) {
      begin += i.attrs<hlo::SliceAttrs>().starts[from.dims[p]] * from_plane;
    } else if (from.sizes[p] != to.sizes[p]) {
      const int arg = 1 + static_cast<int>(from.dims[p]);
      starts.push_back({StartIndex::Add(i, arg, &t),
                        from.sizes[p] - to.sizes[p], from_plane});
    }
    from_plane *= from.sizes[p];
    to_plane *= to.sizes[p];
  }
  for (const int arg : {d.src_arg, d.dst_arg}) {
    if (t.args[arg].space == isa::Space::kHbm) t.work.hbm_bytes += to.bytes();
  }
  t.descriptors.push_back(std::move(d));
  t.body = [&, unit](CodeBuilder& b) -> absl::Status {
    b.NewBlock("place");
    const Sca source = b.GlobalSca(), target = b.GlobalSca();
    b.SImmTo(source, static_cast<int32_t>(begin >> unit));
    b.SImmTo(target, 0);
    for (const Start& s : starts) {
      const Sca at = s.index.Clamped(b, s.last);
      b.SBinaryTo(source, Opcode::kSadd, source,
                  b.SMulImm(at, static_cast<int32_t>(s.stride >> unit)));
    }
    TransferOnce(b, source, target, to.bytes());
    return absl::OkStatus();
  };
  t.note = "planes, one transfer";
  return FrameKernel(context, t);
}

}  // namespace ptxla::lowering
