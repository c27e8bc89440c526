#include "hlo_backend/analysis/turned_input.h"

#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

// Rows of the batch that one register holds.
int64_t BatchUnit(PrimitiveType type) {
  return type == PrimitiveType::kBf16 ? 16 : 8;
}

}  // namespace

bool TurnsBatchIntoRows(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose || i.shape().rank() < 3) return false;
  const int rank = i.shape().rank();
  const Shape& from = i.operand(0)->shape();
  if (!IsRowMajor(from) || !IsRowMajor(i.shape()) ||
      (from.type() != PrimitiveType::kF32 &&
       from.type() != PrimitiveType::kBf16)) {
    return false;
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t source = d == rank - 1 ? d : d == rank - 2 ? 0 : d + 1;
    if (i.dimensions()[d] != source) return false;
  }
  return from.dim(0) % BatchUnit(from.type()) == 0;
}

ConvolutionSource InputSource(const Instruction& convolution) {
  ConvolutionSource source{convolution.operand(0)};
  while (true) {
    const Instruction& value = *source.value;
    const bool turns = !source.turned && TurnsBatchIntoRows(value);
    if (value.opcode() != Opcode::kConvert && !turns) return source;
    source.turned |= turns;
    source.value = value.operand(0);
  }
}

bool HasFeaturesInRows(const Instruction& convolution) {
  const ConvDims& d = convolution.attrs<ConvAttrs>().dims;
  const int rank = convolution.shape().rank();
  return IsRowMajor(convolution.shape()) && d.output_feature == rank - 2 &&
         d.output_batch == rank - 1;
}

}  // namespace ptxla::hlo
