#include "hlo_backend/lowering/movement/plane_concat.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;

// Where dimension `d` stands among the planes of `a`, or -1.
int PlaneOf(const PhysicalArray& a, int64_t d) {
  for (int p = 0; p + 2 < a.rank(); ++p) {
    if (a.dims[p] == d) return p;
  }
  return -1;
}

}  // namespace

bool IsPlaneConcat(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kConcatenate) return false;
  const auto to = PhysicalArray::Of(i.shape());
  if (!to.ok() || PlaneOf(*to, i.dimensions()[0]) < 0 ||
      to->bytes() > std::numeric_limits<int32_t>::max()) {
    return false;
  }
  bool vmem = i.shape().memory_space() == hlo::kMemoryVmem;
  for (const hlo::Instruction* o : i.operands()) {
    const auto from = PhysicalArray::Of(o->shape());
    if (!from.ok() || from->dims != to->dims || from->bits != to->bits ||
        from->plane_stride() != to->plane_stride()) {
      return false;
    }
    vmem |= o->shape().memory_space() == hlo::kMemoryVmem;
  }
  return vmem;
}

absl::StatusOr<isa::Kernel> EmitPlaneConcat(const KernelContext& context,
                                            const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const PhysicalArray to, PhysicalArray::Of(i.shape()));
  const int along = PlaneOf(to, i.dimensions()[0]);
  int64_t outer = 1, inner = to.plane_stride();
  for (int p = 0; p < along; ++p) outer *= to.sizes[p];
  for (int p = along + 1; p + 2 < to.rank(); ++p) inner *= to.sizes[p];
  Tiling t;
  ASSIGN_OR_RETURN(t.args, KernelArgs(i));
  t.num_semaphores = 1;
  std::vector<int64_t> places;
  int64_t place = 0;
  for (int o = 0; o < i.operand_count(); ++o) {
    const int64_t run =
        i.operand(o)->shape().dim(static_cast<int>(i.dimensions()[0])) * inner;
    isa::DmaDescriptor d;
    d.src_arg = o;
    d.dst_arg = i.operand_count();
    if (outer > 1) d.dims = {{outer, run, to.sizes[along] * inner}};
    d.inner_bytes = run;
    t.descriptors.push_back(std::move(d));
    places.push_back(place);
    place += run;
    for (const int arg : {o, i.operand_count()}) {
      if (t.args[arg].space == isa::Space::kHbm) {
        t.work.hbm_bytes += outer * run;
      }
    }
  }
  t.body = [&](CodeBuilder& b) -> absl::Status {
    b.NewBlock("start planes");
    const codegen::Sca zero = b.GlobalSca();
    b.SImmTo(zero, 0);
    for (size_t o = 0; o < places.size(); ++o) {
      const codegen::Sca at = b.NewSca();
      b.SImmTo(at, static_cast<int32_t>(places[o]));
      codegen::VInstr start;
      start.op = isa::Opcode::kDmaStartDesc;
      start.imm = static_cast<int>(o);
      start.a = zero.id;
      start.b = at.id;
      b.Emit(start);
    }
    b.NewBlock("wait for planes", codegen::BlockMode::kInOrder);
    codegen::VInstr wait;
    wait.op = isa::Opcode::kDmaDoneWait;
    wait.imm2 = static_cast<int32_t>(outer * place);
    b.Emit(wait);
    return absl::OkStatus();
  };
  t.note = absl::StrCat("planes of ", i.operand_count(), " arrays");
  return FrameKernel(context, t);
}

}  // namespace ptxla::lowering
