// Gathers, scatters and sorts.
#include <algorithm>

#include "absl/status/status.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/dynamic/padded_forms.h"

namespace ptxla::hlo {
namespace {

using Sizes = DimensionSizes;

PaddedResults Gather(const Instruction& i, PaddedOperands operands,
                     PaddedBuilder* b) {
  const GatherAttrs& g = i.attrs<GatherAttrs>();
  const PaddedArray &x = operands[0], &indices = operands[1];
  Sizes batch, slice;
  for (size_t d = 0; d < indices.sizes.size(); ++d) {
    if (static_cast<int64_t>(d) != g.index_vector_dim) {
      batch.push_back(indices.sizes[d]);
    }
  }
  for (int d = 0; d < x.data->shape().rank(); ++d) {
    if (Contains(g.collapsed_slice_dims, d) ||
        Contains(g.operand_batching_dims, d)) {
      continue;
    }
    const bool whole = g.slice_sizes[d] == x.data->shape().dim(d);
    slice.push_back(whole ? x.sizes[d] : nullptr);
  }
  Sizes sizes;
  size_t next_batch = 0, next_slice = 0;
  for (int d = 0; d < i.shape().rank(); ++d) {
    sizes.push_back(Contains(g.offset_dims, d) ? slice[next_slice++]
                                               : batch[next_batch++]);
  }
  return b->Each(b->Like(i, DataOf(operands)), 1, sizes);
}

// Indices in which there is a -1.
Instruction* WithSign(Instruction* indices, Builder* b) {
  const PrimitiveType type = indices->shape().type();
  if (!IsUnsigned(type)) return indices;
  return b->Convert(indices, BitWidth(type) == 64 ? PrimitiveType::kS64
                                                  : PrimitiveType::kS32);
}

// An update that does not count gets an index that no operand has. A window
// of which part does not count is refused.
PaddedResults Scatter(const Instruction& i, PaddedOperands operands,
                      PaddedBuilder* b) {
  const ScatterAttrs& s = i.attrs<ScatterAttrs>();
  const size_t arrays = operands.size() / 2;
  PaddedArray indices = operands[arrays];
  for (size_t j = arrays + 1; j < operands.size(); ++j) {
    size_t k = 0;
    for (size_t d = 0; d < operands[j].sizes.size(); ++d) {
      if (Contains(s.update_window_dims, static_cast<int64_t>(d))) {
        if (operands[j].sizes[d] != nullptr) return UnknownPadded();
        continue;
      }
      if (static_cast<int64_t>(k) == s.index_vector_dim) ++k;
      indices.sizes[k] = b->Smaller(indices.sizes[k], operands[j].sizes[d]);
      ++k;
    }
  }
  std::vector<Instruction*> data = DataOf(operands);
  indices.data = WithSign(indices.data, &b->builder());
  data[arrays] = b->Filled(
      indices, b->builder().ConstantScalar(indices.data->shape().type(), -1),
      Others(indices.data->shape().rank(), {}));
  return b->Each(b->Like(i, data), static_cast<int64_t>(arrays),
                 operands[0].sizes);
}

// The comparator of two more operands, which are 0 for what counts: those
// come first.
Computation* CountingFirst(Computation* compare, int64_t arrays) {
  Computation* c = compare->module()->AddComputation("counting_first");
  Builder b(c);
  std::vector<Instruction*> pairs;
  for (int64_t k = 0; k < 2 * arrays; ++k) {
    pairs.push_back(
        b.Parameter(k, compare->parameter(static_cast<int>(k))->shape()));
  }
  const Shape flag = Shape::Array(PrimitiveType::kS32, {});
  Instruction* left = b.Parameter(2 * arrays, flag);
  Instruction* right = b.Parameter(2 * arrays + 1, flag);
  Instruction* call = b.Call(compare, pairs);
  Instruction* same = b.Compare(left, right, CompareDirection::kEq);
  c->SetRoot(
      b.Or(b.Compare(left, right, CompareDirection::kLt), b.And(same, call)));
  InlineCall(call);
  return c;
}

PaddedResults Sort(const Instruction& i, PaddedOperands operands,
                   PaddedBuilder* b) {
  const SortAttrs& sort = i.attrs<SortAttrs>();
  const auto arrays = static_cast<int64_t>(operands.size());
  const Sizes sizes = b->Common(operands);
  std::vector<Instruction*> data = DataOf(operands);
  if (sizes[sort.dimension] == nullptr) {
    return b->Each(b->Like(i, data), arrays, sizes);
  }
  Builder& make = b->builder();
  Instruction* counts =
      b->Below(data[0]->shape().dims(), sort.dimension, sizes[sort.dimension]);
  data.push_back(make.Convert(make.Not(counts), PrimitiveType::kS32));
  Instruction* sorted = make.Sort(data, sort.dimension, sort.is_stable,
                                  CountingFirst(i.to_apply(), arrays));
  return b->Each(sorted, arrays, sizes);
}

}  // namespace

PaddedResults PaddedIndexing(const Instruction& i, PaddedOperands operands,
                             PaddedBuilder* b) {
  switch (i.opcode()) {
    case Opcode::kGather:
      return Gather(i, operands, b);
    case Opcode::kScatter:
      return Scatter(i, operands, b);
    case Opcode::kSort:
      return Sort(i, operands, b);
    default:
      return UnknownPadded();
  }
}

}  // namespace ptxla::hlo
