#include "hlo_backend/passes/memory/vmem_kernels.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/plane_scatter.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/table_columns.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/products/convolution_canonicalizer.h"

namespace ptxla::hlo {
namespace {

// A step of a convolution whose result (or what is added to it) lies in VMEM
// makes planes of the outermost dimension as a whole; its window of the input
// is in the scoped VMEM twice, beside weights and sums.
constexpr int64_t kMostPlaneBytes = int64_t{4} << 20;

bool HasLargePlanes(const Instruction& kernel) {
  const Instruction* i = ConvolutionOf(kernel);
  if (i == nullptr) return false;
  const ConvAttrs& a = i->attrs<ConvAttrs>();
  const Shape& input = i->operand(0)->shape();
  const auto spatial = static_cast<int64_t>(a.window.dims.size());
  if (spatial == 0 || !input.has_layout()) return false;
  // A gradient's sums are in VMEM as a whole, whatever its windows are.
  if (a.dims.input_feature == spatial) return false;
  const WindowDim& outer = a.window.dims[0];
  const int64_t all = input.dim(static_cast<int>(a.dims.input_spatial[0]));
  // Of a dilated input as many results as its dilation are made together.
  const int64_t planes =
      std::min(all, outer.DilatedSize() / outer.base_dilation +
                        (outer.base_dilation > 1 ? 2 : 0));
  return PaddedBytes(input) / std::max<int64_t>(all, 1) * planes >
         kMostPlaneBytes;
}

}  // namespace

bool IsVmemKernel(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kFusion:
      return !HasLargePlanes(i) && !IsFilledScatter(i);
    case Opcode::kConvolution:
      return IsProduct(i) && !HasLargePlanes(i);
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return true;
    case Opcode::kTranspose:
      // More dimensions are walked by windows only.
      return i.shape().rank() <= 5;
    default:
      return i.IsElementwise();
  }
}

bool IsLargeConvolution(const Instruction& i) {
  if (i.opcode() == Opcode::kFusion && i.fusion_kind() == FusionKind::kCustom) {
    return false;
  }
  const Instruction* convolution = ConvolutionOf(i);
  return convolution != nullptr && IsProduct(*convolution) &&
         !HasMoreTapsThanResults(convolution->attrs<ConvAttrs>(),
                                 convolution->shape().dims()) &&
         HasLargePlanes(i);
}

bool MayLieInVmem(const Instruction& i) {
  // More dimensions are walked by windows of HBM only.
  constexpr int kMostRank = 5;
  const auto few_dimensions = [](const Shape& shape) {
    return !shape.IsArray() || shape.rank() <= kMostRank;
  };
  switch (i.opcode()) {
    case Opcode::kConvolution:
      if (IsDepthwise(i) || IsDepthwiseGradient(i)) break;
      return IsVmemKernel(i);
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kReduceWindow:
    case Opcode::kRngBitGenerator:
    case Opcode::kSelectAndScatter:
    case Opcode::kSlice:
    case Opcode::kSort:
      break;
    case Opcode::kCustomCall:
      // Memory alone.
      if (i.attrs<CustomCallAttrs>().target == "AllocateBuffer") break;
      return IsVmemKernel(i);
    case Opcode::kFusion:
      if (IsFilledScatter(i)) break;
      return IsVmemKernel(i);
    case Opcode::kPad:
      for (const PaddingDim& d : i.attrs<PadAttrs>().dims) {
        if (d.low < 0 || d.high < 0) return false;
      }
      break;
    case Opcode::kGather: {
      if (GathersPlanes(i) || GathersColumns(i)) break;
      // Packed rows are put together in windows of HBM, as are results of less
      // than whole tiles.
      if (BitWidth(i.shape().type()) != 32 || i.shape().rank() != 2 ||
          i.shape().dim(0) % kTileRows != 0) {
        return false;
      }
      break;
    }
    case Opcode::kScatter:
      if (ReplacesPlanes(i) || ScattersPlanes(i)) break;
      if (ScattersColumns(i)) return false;
      // Rows of a table, each by transfers of its own, or its elements.
      if (i.operand_count() != 3 || i.shape().rank() > 2) return false;
      break;
    default:
      return IsVmemKernel(i);
  }
  return few_dimensions(i.shape()) &&
         std::all_of(
             i.operands().begin(), i.operands().end(),
             [&](const Instruction* o) { return few_dimensions(o->shape()); });
}

bool ReadsInVmem(const Instruction& kernel, const Instruction& operand) {
  // A table of packed rows or of single elements, whose result cannot lie
  // there.
  if (GathersRows(kernel) || GathersColumns(kernel) ||
      GathersElements(kernel)) {
    return kernel.operand(0) != kernel.operand(1);
  }
  if (!MayLieInVmem(kernel) ||
      (ReadsWindows(kernel, operand) && !ReadsPlanesInPlace(kernel, operand))) {
    return false;
  }
  // (Weights are spread over registers from a window of HBM.)
  if (IsDepthwise(kernel)) return kernel.operand(0) == &operand;
  if (IsFilledScatter(kernel)) {
    // Row numbers are copied to SMEM; rows are read where they lie.
    return kernel.operand(0) == &operand ||
           operand.shape().dim(0) % kTileRows == 0;
  }
  if (ReplacesPlanes(kernel) || ScattersPlanes(kernel)) return true;
  // Row numbers are copied to SMEM; updates come by windows of HBM.
  return (kernel.opcode() != Opcode::kGather &&
          kernel.opcode() != Opcode::kScatter) ||
         kernel.operand(0) == &operand || kernel.operand(1) == &operand;
}

}  // namespace ptxla::hlo
