#include "hlo_backend/passes/fusion/prologue_policy.h"

#include <algorithm>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/prologue_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {
namespace {

// Two arrays with two slots each in a quarter of the kernels' room.
constexpr int64_t kPlanesOfRoom = 16;
// Line numbers are divided by a multiplication of 32 bits (LineOf of
// tile_rows.cc).
constexpr int64_t kMostLines = 1 << 16;

// By a value per row, or a number: multiplied by its inverse.
bool DividesByRow(const Instruction& division) {
  return division.operand(1)->opcode() == Opcode::kBroadcast;
}

// Bytes that the kernel of `user` moves beside `value`: what else it reads, and
// its result, at the end of elementwise work that alone reads it.
int64_t OtherBytes(const Instruction& user, const Instruction& value) {
  const Instruction* read = &value;
  const Instruction* i = &user;
  int64_t bytes = 0;
  while (true) {
    for (const Instruction* o : i->operands()) {
      if (o != read && o->opcode() != Opcode::kBroadcast && !o->IsConstant()) {
        bytes += o->shape().ByteSize();
      }
    }
    if (IsProduct(*i)) {
      // Its result is rounded to what it reads behind it.
      const Shape& other = i->operand(i->operand(0) == read ? 1 : 0)->shape();
      return bytes + i->shape().ElementCount() * BitWidth(other.type()) / 8;
    }
    if (!i->IsElementwise() || i->user_count() != 1) {
      return bytes + i->shape().ByteSize();
    }
    read = i;
    i = i->users()[0];
  }
}

}  // namespace

ProloguePolicy::ProloguePolicy(const chips::ChipSpec& chip)
    : computes_(true),
      finishes_products_(!chip.Policy("streamed_prologue_rows").has_value()),
      bytes_per_operation_(chip.hbm_bandwidth_per_device().count() /
                           chip.core().clock.frequency().count() /
                           (1024.0 * chip.slots().valu)),
      division_(static_cast<int>(chips::WholePolicy(chip, "repeated_divide"))),
      erf_(static_cast<int>(chips::WholePolicy(chip, "repeated_erf"))),
      one_visit_(2.0 * chip.core().mxu_cols),
      plane_bytes_(chip.vmem().scoped_limit.count() / kPlanesOfRoom) {}

int ProloguePolicy::OperationsOf(const Instruction& i) const {
  switch (i.opcode()) {
    case Opcode::kDivide:
      return DividesByRow(i) ? 1 : division_;
    case Opcode::kLogistic:  // 1 / (1 + exp(-x))
      return division_ + 3;
    case Opcode::kErf:
      return erf_;
    default:
      return 1;
  }
}

bool ProloguePolicy::MayCompute(const Instruction& dot, int operand) const {
  if (!computes_ || dot.opcode() != Opcode::kConvolution) return computes_;
  // Computed once for each tile of columns: they are features of the other. A
  // step has all rows of some planes of the first axis.
  const Shape& mine = dot.operand(operand)->shape();
  const auto width =
      static_cast<double>(dot.operand(1 - operand)->shape().dims().back());
  const int64_t rows = mine.ElementCount() / mine.dim(0) / mine.dims().back();
  return width <= one_visit_ && rows * kLanes * 4 <= plane_bytes_;
}

bool ProloguePolicy::IsRepeated(const Instruction& value, int operations,
                                int64_t read) const {
  // Arithmetic of bf16 is f32's between two conversions.
  const bool narrow = value.shape().type() == PrimitiveType::kBf16 &&
                      value.opcode() != Opcode::kConvert;
  const double work = (operations + (narrow ? 2 : 0)) * bytes_per_operation_ *
                      static_cast<double>(value.shape().ElementCount());
  const int64_t bytes = value.shape().ByteSize();
  double once = std::max(work, static_cast<double>(read + bytes));
  double again = 0;
  for (const Instruction* user : value.users()) {
    const int64_t others = OtherBytes(*user, value);
    once += static_cast<double>(bytes + others);
    again +=
        std::max(work, static_cast<double>(std::min(read, bytes) + others));
    again += static_cast<double>(std::max<int64_t>(read - bytes, 0));
  }
  return again <= once;
}

namespace {

// What a gradient of weights has in the rows of its product, which goes through
// the XLUs: the kernel, or the input where its features are the result's rows
// (lowering/convolutions/gradient_kernel.cc). Its batch fills tiles.
bool IsTurnedByGradient(const Instruction& conv, int operand) {
  const ConvAttrs& a = conv.attrs<ConvAttrs>();
  const ConvDims& d = a.dims;
  const auto rows = static_cast<int64_t>(d.input_spatial.size());
  for (int64_t s = 0; s < rows; ++s) {
    const WindowDim& w = a.window.dims[s];
    const bool steps = w.stride != 1 || w.base_dilation != 1 ||
                       w.window_dilation != 1 || w.reversal;
    if (d.input_spatial[s] != s || d.kernel_spatial[s] != s ||
        d.output_spatial[s] != s || (operand == 0 && steps)) {
      return false;
    }
  }
  const Shape& mine = conv.operand(operand)->shape();
  return a.feature_group_count == 1 && a.batch_group_count == 1 &&
         d.input_feature == rows && d.kernel_input_feature == rows &&
         (operand == 1 ? d.output_feature : d.output_batch) == rows &&
         mine.dim(static_cast<int>(rows)) % kTileRows == 0 &&
         (!mine.has_layout() || mine.layout().IsRowMajor()) &&
         a.precision.operand(operand) == Precision::kDefault &&
         (mine.type() == PrimitiveType::kF32 ||
          mine.type() == PrimitiveType::kBf16);
}

}  // namespace

bool PrologueForm(const Instruction& dot, int operand) {
  if (dot.opcode() == Opcode::kConvolution) {
    return dot.operand(operand)->user_count() == 1 &&
           IsTurnedByGradient(dot, operand);
  }
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const DimVector& batch = operand == 0 ? attrs.lhs_batch : attrs.rhs_batch;
  const DimVector& contracting =
      operand == 0 ? attrs.lhs_contracting : attrs.rhs_contracting;
  const Shape& shape = dot.operand(operand)->shape();
  const int nb = static_cast<int>(batch.size());
  const int members = OperandBatch(dot, operand);
  if (contracting.size() != 1 || shape.rank() < members + 2 ||
      contracting[0] < members) {
    return false;
  }
  // What members share is read as it lies.
  if (operand == 1 && SharingMembers(dot) > 1) return false;
  // Several dimensions that make the rows, one after another.
  if (shape.rank() > members + 2 &&
      (operand != 0 || dot.operand(1)->shape().rank() != 2)) {
    return false;
  }
  for (int d = 0; d < nb; ++d) {
    if (batch[d] != d) return false;
  }
  if (shape.has_layout() && !shape.layout().IsRowMajor()) return false;
  // f32 values that several passes split are not rounded on their way.
  const bool f32 = dot.operand(0)->shape().type() == PrimitiveType::kF32 ||
                   dot.operand(1)->shape().type() == PrimitiveType::kF32;
  if (f32 && (attrs.precision.algorithm != DotAlgorithm::kUnset ||
              attrs.precision.operand(0) != Precision::kDefault ||
              attrs.precision.operand(1) != Precision::kDefault)) {
    return false;
  }
  return shape.type() == PrimitiveType::kF32 ||
         shape.type() == PrimitiveType::kBf16;
}

bool PrologueReads(const Instruction& dot, const Instruction& broadcast) {
  const Shape& source = broadcast.operand(0)->shape();
  if (dot.opcode() == Opcode::kConvolution) {
    return source.IsScalar() ||
           (source.rank() == 1 && source.type() == PrimitiveType::kF32 &&
            broadcast.dimensions()[0] == broadcast.shape().rank() - 1);
  }
  if (IsMemberColumns(broadcast) && source.type() == PrimitiveType::kF32 &&
      source.rank() == broadcast.shape().rank() - 1 &&
      source.rank() == ProductBatch(dot) + 1) {
    return true;
  }
  if (!IsPrologueBroadcast(broadcast)) return false;
  const Shape& shape = broadcast.shape();
  const int rank = shape.rank();
  if (rank <= ProductBatch(dot) + 2 ||
      broadcast.operand(0)->shape().rank() != rank - 1) {
    return true;
  }
  // Values per row of several dimensions: whole lines of them.
  const int64_t lines = shape.dim(rank - 2) / kLanes;
  const int64_t members = broadcast.operand(0)->shape().ElementCount() /
                          std::max<int64_t>(1, shape.dim(rank - 2));
  return shape.dim(rank - 2) % kLanes == 0 &&
         members * lines * lines < kMostLines;
}

bool IsPrologueArray(const Shape& shape) {
  switch (shape.type()) {
    case PrimitiveType::kF32:
    case PrimitiveType::kBf16:
    case PrimitiveType::kS32:
    case PrimitiveType::kU32:
    case PrimitiveType::kPred:
    case PrimitiveType::kS8:
    case PrimitiveType::kU8:
      break;
    default:
      return false;
  }
  // Bytes lie in tiles of 32 rows.
  if (shape.rank() > 2 && BitWidth(shape.type()) == 8 &&
      shape.dim(shape.rank() - 2) % (4 * kTileRows) != 0) {
    return false;
  }
  return !shape.has_layout() || shape.layout().IsRowMajor();
}

}  // namespace ptxla::hlo
