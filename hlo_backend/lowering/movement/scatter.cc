#include "hlo_backend/lowering/movement/scatter.h"

#include <cstring>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/plane_scatter.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/table_columns.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/movement/scatter_forms.h"
#include "memory_model/hbm.h"

namespace ptxla::lowering {
namespace {

absl::Status CheckForm(const hlo::Instruction& i) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
  };
  if (i.operand_count() != 3) return refuse("a scatter of several arrays");
  if (hlo::BitWidth(i.shape().type()) != 32) {
    return refuse("a scatter of other than words");
  }
  if (!hlo::ScattersRows(i)) {
    return refuse("a scatter of other than whole rows");
  }
  return absl::OkStatus();
}

// Time that HBM is busy: the whole table there and back against the rows.
bool ResidentIsCheaper(const KernelContext& context, const ScatterProblem& p) {
  const memory::HbmModel hbm(context.chip);
  const auto both = [&](int64_t bytes, int64_t run) {
    return hbm.Busy({Bytes(bytes), false, Bytes(run), 0}) +
           hbm.Busy({Bytes(bytes), true, Bytes(run), 0});
  };
  const int64_t row = p.pieces() * isa::kRowBytes;
  return both(p.table.bytes(), 0).count() <=
         both(row, isa::kRowBytes).count() * p.updates.rows;
}

absl::StatusOr<Tiling> ChooseForm(const KernelContext& context,
                                  const ScatterProblem& p) {
  auto resident = ResidentScatter(context, p);
  const bool in_vmem = p.args[0].space == isa::Space::kVmem;
  if (resident.ok() && (in_vmem || ResidentIsCheaper(context, p))) {
    return resident;
  }
  auto batched = BatchedScatter(context, p);
  return batched.ok() || !resident.ok() ? batched : resident;
}

absl::StatusOr<ScatterProblem> ProblemOf(const hlo::Instruction& scatter,
                                         const hlo::Instruction& kernel) {
  RETURN_IF_ERROR(CheckForm(scatter));
  ScatterProblem p;
  ASSIGN_OR_RETURN(p.combine, ScatterCombine::Of(scatter));
  ASSIGN_OR_RETURN(p.table, PhysicalArray::Of(scatter.shape()));
  ASSIGN_OR_RETURN(p.result, PhysicalArray::Of(kernel.shape()));
  ASSIGN_OR_RETURN(p.updates, PhysicalArray::Of(scatter.operand(2)->shape()));
  ASSIGN_OR_RETURN(p.index, RowIndex::Of(*scatter.operand(1)));
  ASSIGN_OR_RETURN(p.args, KernelArgs(kernel));
  return p;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitScatter(const KernelContext& context,
                                        const hlo::Instruction& i) {
  if (i.operand_count() == 3 && i.shape().rank() == 1 &&
      i.operand(1)->shape().rank() == 1 &&
      hlo::BitWidth(i.shape().type()) == 32) {
    return EmitElementScatter(context, i);
  }
  if (hlo::ReplacesPlanes(i)) return EmitPlaneReplacement(context, i);
  if (hlo::ScattersPlanes(i)) return EmitPlaneScatter(context, i);
  if (hlo::ScattersColumns(i)) return EmitColumnScatter(context, i);
  ASSIGN_OR_RETURN(const ScatterProblem p, ProblemOf(i, i));
  ASSIGN_OR_RETURN(const Tiling tiling, ChooseForm(context, p));
  return FrameKernel(context, tiling);
}

absl::StatusOr<isa::Kernel> EmitFilledScatter(const KernelContext& context,
                                              const hlo::Instruction& fusion) {
  RETURN_IF_ERROR(hlo::CheckFilledScatter(fusion));
  const hlo::Instruction& scatter = hlo::ScatterOf(fusion);
  ASSIGN_OR_RETURN(ScatterProblem p, ProblemOf(scatter, fusion));
  uint32_t bits = 0;
  std::memcpy(&bits, scatter.operand(0)->operand(0)->literal().element(0),
              sizeof(bits));
  p.fill = bits;
  absl::StatusOr<Tiling> tiling =
      p.result.bits == p.table.bits
          ? ResidentScatter(context, p)
          : absl::ResourceExhaustedError("sums are rounded block by block");
  if (!tiling.ok()) tiling = BlockScatter(context, p);
  RETURN_IF_ERROR(tiling.status());
  return FrameKernel(context, *tiling);
}

}  // namespace ptxla::lowering
