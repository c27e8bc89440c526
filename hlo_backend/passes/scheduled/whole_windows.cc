#include "hlo_backend/passes/scheduled/whole_windows.h"

#include <algorithm>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

// A sum of bf16: the units add f32 and round once.
bool SumsRound(const Instruction& window) {
  return window.shape().type() == PrimitiveType::kBf16 &&
         MonoidOf(*window.to_apply()) == Opcode::kAdd;
}

Instruction* WideReduce(Instruction* i, const Shape& small,
                        const DimVector& reduced, int chip_generation) {
  Builder b(i->parent());
  const auto wide = [&](Shape shape) {
    shape.set_type(PrimitiveType::kF32);
    return WithTpuLayout(shape, chip_generation);
  };
  Computation* c = i->parent();
  Instruction* start = b.ConstantScalar(
      PrimitiveType::kF32,
      i->operand(1)->IsConstant() ? i->operand(1)->literal().GetDouble(0) : 0);
  Instruction* x =
      c->Add(Opcode::kConvert, wide(i->operand(0)->shape()), {i->operand(0)});
  Instruction* sum =
      c->Add(Opcode::kReduce, wide(small), {x, start}, DimensionsAttrs{reduced},
             {b.Scalar2(Opcode::kAdd, PrimitiveType::kF32)});
  return c->Add(Opcode::kConvert, small, {sum});
}

}  // namespace

bool ReplaceByReduce(Instruction* i, int chip_generation) {
  // The padding holds the start once per element.
  if (i->opcode() != Opcode::kReduceWindow || i->operand_count() != 2 ||
      !StartMayRepeat(*i)) {
    return false;
  }
  const Shape& shape = i->shape();
  const Window& window = i->attrs<WindowAttrs>().window;
  if (!shape.IsArray() || !i->operand(0)->shape().SameDims(shape)) return false;
  DimVector reduced, kept, sizes;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    const WindowDim& w = window.dims[d];
    const int64_t n = shape.dim(static_cast<int>(d));
    if (w.stride != 1 || w.window_dilation != 1 || w.base_dilation != 1) {
      return false;
    }
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) {
      kept.push_back(static_cast<int64_t>(d));
      sizes.push_back(n);
      continue;
    }
    // Position p sees elements p - low ... p - low + size - 1: all of them.
    if (w.padding_low < n - 1 || w.size - 1 - w.padding_low < n - 1) {
      return false;
    }
    reduced.push_back(static_cast<int64_t>(d));
  }
  if (reduced.empty()) return false;
  Shape small = Shape::Array(shape.type(), sizes);
  if (shape.has_layout()) {
    Layout order;
    for (int64_t d : shape.layout().minor_to_major) {
      const auto at = std::find(kept.begin(), kept.end(), d);
      if (at != kept.end()) order.minor_to_major.push_back(at - kept.begin());
    }
    small.set_layout(order);
    small.set_layout(TpuLayout(small, chip_generation));
  }
  Computation* c = i->parent();
  Instruction* reduce =
      SumsRound(*i)
          ? WideReduce(i, small, reduced, chip_generation)
          : c->Add(Opcode::kReduce, small, {i->operand(0), i->operand(1)},
                   DimensionsAttrs{reduced}, {i->to_apply()});
  c->Replace(
      i, c->Add(Opcode::kBroadcast, shape, {reduce}, DimensionsAttrs{kept}));
  return true;
}

}  // namespace ptxla::hlo
