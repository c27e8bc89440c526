#include "hlo_backend/passes/memory/prefetch_uses.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/table_columns.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/vmem_candidate.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"
#include "memory_model/hbm.h"
#include "memory_model/table_rows.h"

namespace ptxla::hlo {
namespace {

// Kernels that cannot read the operand where it lies in VMEM.
bool NeedsWindows(const Instruction& kernel, const Instruction& operand) {
  return ReadsWindows(kernel, operand) && !ReadsPlanesInPlace(kernel, operand);
}

int64_t BytesOf(const Shape& shape) {
  if (shape.IsArray()) return PaddedBytes(shape);
  int64_t bytes = 0;
  for (int k = 0; k < shape.element_count_of_tuple(); ++k) {
    if (shape.element(k).IsArray()) bytes += PaddedBytes(shape.element(k));
  }
  return bytes;
}

}  // namespace

const Instruction* ProductIn(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) {
    return IsProduct(kernel) ? &kernel : nullptr;
  }
  // The steps of a chain hide what they read.
  if (kernel.fusion_kind() == FusionKind::kCustom) return nullptr;
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (IsProduct(*i)) return i;
  }
  return nullptr;
}

bool HasProduct(const Instruction& kernel) {
  return ProductIn(kernel) != nullptr;
}

bool OnlyReduces(const Instruction& kernel) {
  if (kernel.opcode() != Opcode::kFusion) {
    return kernel.opcode() == Opcode::kReduce;
  }
  const Instruction* root = kernel.fused()->root();
  if (root->opcode() != Opcode::kTuple) {
    return root->opcode() == Opcode::kReduce;
  }
  for (const Instruction* i : root->operands()) {
    if (i->opcode() != Opcode::kReduce ||
        i->dimensions() != root->operand(0)->dimensions()) {
      return false;
    }
  }
  return true;
}

bool IsAlone(const Instruction& kernel,
             absl::Span<Instruction* const> schedule) {
  return std::all_of(schedule.begin(), schedule.end(),
                     [&](const Instruction* i) {
                       switch (i->opcode()) {
                         case Opcode::kParameter:
                         case Opcode::kConstant:
                         case Opcode::kIota:
                         case Opcode::kBitcast:
                         case Opcode::kTuple:
                         case Opcode::kGetTupleElement:
                           return true;
                         default:
                           return i == &kernel;
                       }
                     });
}

bool ReducesAsItIs(const Instruction& kernel, int k) {
  if (kernel.opcode() != Opcode::kFusion) return true;
  const auto reduced = [](const Instruction& value, auto&& again) -> bool {
    return std::all_of(value.users().begin(), value.users().end(),
                       [&](const Instruction* user) {
                         if (user->opcode() == Opcode::kReduce) return true;
                         return user->opcode() == Opcode::kBitcast &&
                                again(*user, again);
                       });
  };
  return reduced(*kernel.fused()->parameter(k), reduced);
}

bool HasOneRow(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot) return false;
  const int64_t out = dot.shape().ElementCount();
  for (int k = 0; k < 2; ++k) {
    // An operand without free dimensions: its elements are batch and K.
    const int64_t other = dot.operand(1 - k)->shape().ElementCount();
    const int64_t mine = dot.operand(k)->shape().ElementCount();
    if (mine * out == other) return true;
  }
  return false;
}

bool HasRowsOfOne(const Instruction& product) {
  if (product.opcode() != Opcode::kDot) return false;
  const auto& a = product.attrs<DotAttrs>();
  const auto no_free = [&](int k, const DimVector& batch,
                           const DimVector& contracting) {
    const Shape& shape = product.operand(k)->shape();
    int64_t other = 1;
    for (const int64_t d : batch) other *= shape.dim(static_cast<int>(d));
    for (const int64_t d : contracting) other *= shape.dim(static_cast<int>(d));
    return other == shape.ElementCount();
  };
  return no_free(0, a.lhs_batch, a.lhs_contracting) ||
         no_free(1, a.rhs_batch, a.rhs_contracting);
}

bool FeedsProduct(const Instruction& kernel, int k) {
  if (kernel.opcode() != Opcode::kFusion) return IsProduct(kernel);
  return FeedsADot(*kernel.fused()->parameter(k));
}

OperandUse UseOf(const Instruction& kernel, const Instruction& operand) {
  const Instruction* product = ProductIn(kernel);
  if (product == nullptr) return OperandUse::kOther;
  int feeds = 0, uses = 0;
  for (int k = 0; k < kernel.operand_count(); ++k) {
    if (kernel.operand(k) != &operand) continue;
    ++uses;
    feeds += FeedsProduct(kernel, k);
  }
  if (feeds > 0 && HasOneRow(*product)) return OperandUse::kOneRowProduct;
  return feeds == 1 && uses == 1 ? OperandUse::kProduct : OperandUse::kOther;
}

Instruction* HbmParameterOf(Instruction* value) {
  while (value->opcode() == Opcode::kBitcast) value = value->operand(0);
  const bool fits = value->opcode() == Opcode::kParameter &&
                    value->shape().IsArray() && !value->shape().IsScalar() &&
                    value->shape().memory_space() == kMemoryHbm;
  return fits ? value : nullptr;
}

bool TakesTime(const Instruction& i) {
  return IsVmemKernel(i) || IsLargeConvolution(i) || IsFilledScatter(i);
}

bool TakesWhole(const Instruction& kernel, const Instruction& operand) {
  if (NeedsWindows(kernel, operand)) return false;
  if (IsVmemKernel(kernel)) return true;
  if (!IsLargeConvolution(kernel)) return false;
  for (int k = 0; k < kernel.operand_count(); ++k) {
    if (kernel.operand(k) == &operand && !FeedsProduct(kernel, k)) return false;
  }
  return true;
}

bool SharesPlanes(const Instruction& kernel, const Instruction& product) {
  if (kernel.opcode() != Opcode::kFusion || product.opcode() != Opcode::kDot) {
    return false;
  }
  const int rows = product.shape().rank() - 2;
  for (const Instruction* i : kernel.fused()->instructions()) {
    if (i->opcode() != Opcode::kBroadcast || IsFreeOfRows(*i) ||
        !IsSharedByRows(*i, product)) {
      continue;
    }
    const auto dims = i->dimensions();
    if (std::find(dims.begin(), dims.end(), rows) != dims.end()) return true;
  }
  return false;
}

bool WantsWholeTable(const Instruction& kernel, const chips::ChipSpec& chip) {
  const bool elements = GathersElements(kernel);
  const bool columns = GathersColumns(kernel);
  if (!elements && !columns && !GathersRows(kernel)) return false;
  const Shape& table = kernel.operand(0)->shape();
  memory::TableRows rows;
  rows.table_bytes = PaddedBytes(table);
  if (elements) {
    // From CMEM they would come by transfers, too.
    if (chip.cmem().count() > 0 ||
        rows.table_bytes <= ElementReads::Of(chip).least_table) {
      return false;
    }
    rows.rows = kernel.shape().ElementCount();
    rows.pieces = 1;
  } else if (columns) {
    // Each with the tiles that it is in.
    rows.rows = kernel.shape().dim(1);
    rows.pieces = RoundUpTo<int64_t>(table.dim(0), kTileRows);
  } else {
    rows.rows = kernel.shape().dim(0);
    rows.pieces = CeilOfRatio<int64_t>(table.dim(1), kLanes);
  }
  return rows.Copy(chip) + rows.ByRegisters(chip) < rows.ByTransfers(chip);
}

bool WantsWholePlanes(const Instruction& kernel, const chips::ChipSpec& chip) {
  if (!GathersPlanes(kernel)) return false;
  const memory::HbmModel hbm(chip);
  const auto from_hbm = [&](int64_t bytes) {
    return hbm.Busy({Bytes(bytes), false, Bytes(0), 0});
  };
  const int64_t planes = PaddedBytes(kernel.shape());
  return from_hbm(PaddedBytes(kernel.operand(0)->shape())) +
             Bytes(planes) / chip.dma().on_chip <
         from_hbm(planes);
}

bool WantsUnhidden(const Instruction& kernel, int k,
                   const chips::ChipSpec& chip) {
  if (IsFilledScatter(kernel)) {
    return k == 1 && ReadsInVmem(kernel, *kernel.operand(1)) &&
           PaddedBytes(ScatterOf(kernel).shape()) >
               chip.vmem().scoped_limit.count();
  }
  switch (kernel.opcode()) {
    case Opcode::kSort:
      return true;
    case Opcode::kBroadcast:
    case Opcode::kDynamicSlice:
      return k == 0;
    default:
      return k == 0 && WantsWholeTable(kernel, chip);
  }
}

int64_t BytesTouched(const Instruction& kernel) {
  int64_t bytes = BytesOf(kernel.shape());
  for (const Instruction* operand : kernel.operands()) {
    bytes += BytesOf(operand->shape());
  }
  return bytes;
}

}  // namespace ptxla::hlo
