#include "hlo_backend/passes/dynamic/padded_forms.h"

#include "absl/status/status.h"
#include "base/status.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

using Sizes = DimensionSizes;

PaddedResults Elementwise(const Instruction& i, PaddedOperands operands,
                          PaddedBuilder* b) {
  Sizes sizes(i.shape().rank(), nullptr);
  for (const PaddedArray& x : operands) {
    if (x.sizes.size() != sizes.size()) continue;  // a clamp's scalar
    for (size_t d = 0; d < sizes.size(); ++d) {
      sizes[d] = b->Smaller(sizes[d], x.sizes[d]);
    }
  }
  return b->Each(b->Like(i, DataOf(operands)), 1, sizes);
}

PaddedResults Reduce(const Instruction& i, PaddedOperands operands,
                     PaddedBuilder* b) {
  const size_t arrays = operands.size() / 2;
  std::vector<Instruction*> data = DataOf(operands);
  for (size_t j = 0; j < arrays; ++j) {
    const DimVector dims(i.dimensions().begin(), i.dimensions().end());
    data[j] = b->Filled(operands[j], operands[arrays + j].data, dims);
  }
  const Sizes common = b->Common(operands.subspan(0, arrays));
  Sizes kept;
  for (size_t d = 0; d < common.size(); ++d) {
    if (!Contains(i.dimensions(), static_cast<int64_t>(d))) {
      kept.push_back(common[d]);
    }
  }
  return b->Each(b->Like(i, data), static_cast<int64_t>(arrays), kept);
}

void AppendFree(const PaddedArray& x, const DimVector& batch,
                const DimVector& contracting, Sizes* sizes) {
  for (size_t d = 0; d < x.sizes.size(); ++d) {
    const auto dim = static_cast<int64_t>(d);
    if (Contains(batch, dim) || Contains(contracting, dim)) continue;
    sizes->push_back(x.sizes[d]);
  }
}

PaddedResults Dot(const Instruction& i, PaddedOperands operands,
                  PaddedBuilder* b) {
  const DotAttrs& dot = i.attrs<DotAttrs>();
  const PaddedArray &lhs = operands[0], &rhs = operands[1];
  auto zero = [&](const PaddedArray& x, const DimVector& contracting) {
    return b->Filled(x, b->builder().Zero(x.data->shape().type()), contracting);
  };
  Sizes sizes;
  for (size_t k = 0; k < dot.lhs_batch.size(); ++k) {
    sizes.push_back(
        b->Smaller(lhs.sizes[dot.lhs_batch[k]], rhs.sizes[dot.rhs_batch[k]]));
  }
  AppendFree(lhs, dot.lhs_batch, dot.lhs_contracting, &sizes);
  AppendFree(rhs, dot.rhs_batch, dot.rhs_contracting, &sizes);
  return b->Each(b->Like(i, {zero(lhs, dot.lhs_contracting),
                             zero(rhs, dot.rhs_contracting)}),
                 1, sizes);
}

// How many windows fit: OutputSize of ir/window.h.
Instruction* Windows(const WindowDim& w, Instruction* size, PaddedBuilder* b) {
  Builder& make = b->builder();
  Instruction* base = make.Multiply(make.Subtract(size, b->Number(1)),
                                    b->Number(w.base_dilation));
  base = make.Maximum(make.Add(base, b->Number(1)), b->Number(0));
  const int64_t more = w.padding_low + w.padding_high - w.DilatedSize();
  Instruction* room = make.Add(base, b->Number(more + w.stride));
  room = make.Maximum(room, b->Number(0));
  return make.Divide(room, b->Number(w.stride));
}

PaddedResults ReduceWindow(const Instruction& i, PaddedOperands operands,
                           PaddedBuilder* b) {
  const Window& window = i.attrs<WindowAttrs>().window;
  const size_t arrays = operands.size() / 2;
  std::vector<Instruction*> data = DataOf(operands);
  for (size_t j = 0; j < arrays; ++j) {
    data[j] = b->Filled(operands[j], operands[arrays + j].data,
                        Others(operands[j].data->shape().rank(), {}));
  }
  Sizes sizes = b->Common(operands.subspan(0, arrays));
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] != nullptr) sizes[d] = Windows(window.dims[d], sizes[d], b);
  }
  return b->Each(b->Like(i, data), static_cast<int64_t>(arrays), sizes);
}

PaddedResults SetSize(const Instruction& i, PaddedOperands operands) {
  PaddedArray x = operands[0];
  const int64_t d = i.dimensions()[0];
  Instruction* size = operands[1].data;
  const bool all =
      size->opcode() == Opcode::kConstant &&
      size->literal().GetInt(0) == x.data->shape().dim(static_cast<int>(d));
  x.sizes[d] = all ? nullptr : size;
  return std::vector<PaddedArray>{x};
}

}  // namespace

absl::Status UnknownPadded() {
  return absl::UnimplementedError("of an array of dynamic size");
}

PaddedResults PaddedForm(const Instruction& i, PaddedOperands operands,
                         PaddedBuilder* b) {
  const bool same_places = i.opcode() != Opcode::kBitcastConvert ||
                           i.shape().rank() == i.operand(0)->shape().rank();
  if ((i.IsElementwise() && same_places) || i.opcode() == Opcode::kMap ||
      i.opcode() == Opcode::kCopy) {
    return Elementwise(i, operands, b);
  }
  switch (i.opcode()) {
    case Opcode::kAddDependency:
      return std::vector<PaddedArray>{operands[0]};
    case Opcode::kGetDimensionSize:
      return std::vector<PaddedArray>{
          Whole(b->SizeOf(operands[0], i.dimensions()[0]))};
    case Opcode::kSetDimensionSize:
      return SetSize(i, operands);
    case Opcode::kReduce:
      return Reduce(i, operands, b);
    case Opcode::kDot:
      return Dot(i, operands, b);
    case Opcode::kReduceWindow:
      return ReduceWindow(i, operands, b);
    case Opcode::kDynamicReshape:
      return std::vector<PaddedArray>{PaddedReshape(i, operands, b)};
    case Opcode::kGather:
    case Opcode::kScatter:
    case Opcode::kSort:
      return PaddedIndexing(i, operands, b);
    default:
      return PaddedMovement(i, operands, b);
  }
}

}  // namespace ptxla::hlo
