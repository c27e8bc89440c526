#include "hlo_backend/passes/scheduled/convolution_to_dot.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// More pairs of positions than this are those of a real window.
constexpr int64_t kMaxPairs = 1 << 22;

// `shape` without (or with other) dimensions: `kept[n]` is the dimension of
// `shape` that dimension n of the result is. Physical order and tiles stay.
Shape Selected(const Shape& shape, const DimVector& kept) {
  DimVector dims;
  for (int64_t d : kept) dims.push_back(shape.dim(static_cast<int>(d)));
  Shape result = Shape::Array(shape.type(), dims);
  if (!shape.has_layout()) return result;
  Layout layout = shape.layout();
  layout.minor_to_major.clear();
  for (int64_t d : shape.layout().minor_to_major) {
    const auto at = std::find(kept.begin(), kept.end(), d);
    if (at != kept.end()) layout.minor_to_major.push_back(at - kept.begin());
  }
  *result.mutable_layout() = layout;
  return result;
}

bool IsSame(const Shape& a, const Shape& b) {
  if (!a.SameDimsAndType(b) || a.has_layout() != b.has_layout()) return false;
  return !a.has_layout() ||
         (a.layout().minor_to_major == b.layout().minor_to_major &&
          a.layout().tiles == b.layout().tiles);
}

// `value` in the shape `wanted`, which has the same elements in the same
// physical order. A bitcast from that shape is taken back. Without layouts it
// is a reshape.
Instruction* InShape(Instruction* value, const Shape& wanted) {
  if (IsSame(value->shape(), wanted)) return value;
  if (!wanted.has_layout()) {
    return value->parent()->Add(Opcode::kReshape, wanted, {value});
  }
  if (value->opcode() == Opcode::kBitcast &&
      IsSame(value->operand(0)->shape(), wanted)) {
    return value->operand(0);
  }
  return value->parent()->Add(Opcode::kBitcast, wanted, {value});
}

// Dimension numbers of one operand as they are collected.
struct Side {
  DimVector batch, contracting, dropped;

  // In the shape without the dropped dimensions.
  DimVector Renumbered(const DimVector& dims) const {
    DimVector result;
    for (int64_t d : dims) {
      result.push_back(d - std::count_if(dropped.begin(), dropped.end(),
                                         [d](int64_t x) { return x < d; }));
    }
    return result;
  }
  DimVector Kept(int rank) const {
    DimVector kept;
    for (int64_t d = 0; d < rank; ++d) {
      if (std::find(dropped.begin(), dropped.end(), d) == dropped.end()) {
        kept.push_back(d);
      }
    }
    return kept;
  }
  bool IsFree(int64_t d) const {
    const auto has = [d](const DimVector& v) {
      return std::find(v.begin(), v.end(), d) != v.end();
    };
    return !has(batch) && !has(contracting) && !has(dropped);
  }
};

// Pairs of dimensions in the order of the first.
void SortPairs(DimVector* a, DimVector* b) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (size_t n = 0; n < a->size(); ++n) pairs.emplace_back((*a)[n], (*b)[n]);
  std::sort(pairs.begin(), pairs.end());
  for (size_t n = 0; n < pairs.size(); ++n) {
    std::tie((*a)[n], (*b)[n]) = pairs[n];
  }
}

}  // namespace

SpatialRole RoleOf(const WindowDim& w, int64_t input, int64_t kernel,
                   int64_t output) {
  if (output * kernel > kMaxPairs) return SpatialRole::kWindow;
  bool batch = input == kernel && kernel == output;
  bool contracting = output == 1 && input == kernel;
  bool of_input = kernel == 1 && input == output;
  bool of_kernel = input == 1 && kernel == output;
  int64_t pairs = 0;
  for (int64_t o = 0; o < output; ++o) {
    for (int64_t k = 0; k < kernel; ++k) {
      const int64_t position =
          o * w.stride + k * w.window_dilation - w.padding_low;
      if (position < 0 || position % w.base_dilation != 0) continue;
      const int64_t i = position / w.base_dilation;
      if (i >= input) continue;
      // A reversed window meets its kernel from the other end.
      const int64_t at = w.reversal ? kernel - 1 - k : k;
      ++pairs;
      batch &= i == o && at == o;
      contracting &= i == at;
      of_input &= i == o;
      of_kernel &= at == o;
    }
  }
  if (of_input && pairs == input) return SpatialRole::kInput;
  if (contracting && pairs == input) return SpatialRole::kContracting;
  if (of_kernel && pairs == kernel) return SpatialRole::kKernel;
  if (batch && pairs == input) return SpatialRole::kBatch;
  return SpatialRole::kWindow;
}

bool ReplaceByDot(Instruction* convolution) {
  const ConvAttrs& a = convolution->attrs<ConvAttrs>();
  if (a.feature_group_count != 1 || a.batch_group_count != 1 ||
      !a.sparsity.empty()) {
    return false;
  }
  Instruction* operands[2] = {convolution->operand(0), convolution->operand(1)};
  const Shape& out = convolution->shape();
  Side side[2];
  side[0].contracting.push_back(a.dims.input_feature);
  side[1].contracting.push_back(a.dims.kernel_input_feature);
  // The dimension of the convolution's result that a free or batch dimension
  // of an operand becomes.
  std::vector<int64_t> becomes[2];
  for (int o = 0; o < 2; ++o)
    becomes[o].assign(operands[o]->shape().rank(), -1);
  becomes[0][a.dims.input_batch] = a.dims.output_batch;
  becomes[1][a.dims.kernel_output_feature] = a.dims.output_feature;
  for (size_t s = 0; s < a.window.dims.size(); ++s) {
    const int64_t dim[2] = {a.dims.input_spatial[s], a.dims.kernel_spatial[s]};
    const int64_t result = a.dims.output_spatial[s];
    const auto size = [&](int o) {
      return operands[o]->shape().dim(static_cast<int>(dim[o]));
    };
    switch (RoleOf(a.window.dims[s], size(0), size(1),
                   out.dim(static_cast<int>(result)))) {
      case SpatialRole::kWindow:
        return false;
      case SpatialRole::kBatch:
        for (int o = 0; o < 2; ++o) {
          side[o].batch.push_back(dim[o]);
          becomes[o][dim[o]] = result;
        }
        break;
      case SpatialRole::kContracting:
        for (int o = 0; o < 2; ++o) side[o].contracting.push_back(dim[o]);
        break;
      case SpatialRole::kInput:
        side[1].dropped.push_back(dim[1]);
        becomes[0][dim[0]] = result;
        break;
      case SpatialRole::kKernel:
        side[0].dropped.push_back(dim[0]);
        becomes[1][dim[1]] = result;
        break;
    }
  }
  SortPairs(&side[0].contracting, &side[1].contracting);
  // Whose free dimensions come first in the result is on the left.
  const bool swapped = a.dims.output_feature < a.dims.output_batch;
  const int left = swapped ? 1 : 0, right = 1 - left;
  DimVector order;  // dimensions of the convolution's result
  for (int64_t d : side[left].batch) order.push_back(becomes[left][d]);
  for (int o : {left, right}) {
    for (int64_t d = 0; d < operands[o]->shape().rank(); ++d) {
      if (side[o].IsFree(d)) order.push_back(becomes[o][d]);
    }
  }
  if (!out.has_layout() && !std::is_sorted(order.begin(), order.end())) {
    return false;  // the result would have to be transposed
  }
  DotAttrs dot;
  dot.lhs_batch = side[left].Renumbered(side[left].batch);
  dot.rhs_batch = side[right].Renumbered(side[right].batch);
  dot.lhs_contracting = side[left].Renumbered(side[left].contracting);
  dot.rhs_contracting = side[right].Renumbered(side[right].contracting);
  dot.precision = a.precision;
  if (swapped && dot.precision.operands.size() == 2) {
    std::swap(dot.precision.operands[0], dot.precision.operands[1]);
  }
  Instruction* in[2];
  for (int o = 0; o < 2; ++o) {
    const Shape& shape = operands[o]->shape();
    in[o] = InShape(operands[o], Selected(shape, side[o].Kept(shape.rank())));
  }
  Computation* c = convolution->parent();
  Instruction* product =
      c->Add(Opcode::kDot, Selected(out, order), {in[left], in[right]}, dot, {},
             convolution->name());
  const bool in_order = static_cast<int>(order.size()) == out.rank() &&
                        std::is_sorted(order.begin(), order.end());
  Instruction* result =
      in_order ? product
               : c->Add(out.has_layout() ? Opcode::kBitcast : Opcode::kReshape,
                        out, {product});
  product->set_metadata(convolution->shared_metadata());
  for (Instruction* made : {product, result}) {
    made->set_source_position(convolution->source_line(),
                              convolution->source_column());
  }
  // Reports and profiles know it by its name.
  const std::string name = convolution->name();
  c->Replace(convolution, result);
  product->set_name(name);
  return true;
}

}  // namespace ptxla::hlo
