#include "hlo_backend/analysis/prologue_rules.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/analysis/turned_input.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {

absl::Status RefuseFusion(const Instruction& fusion, const Instruction& inside,
                          absl::string_view why) {
  return absl::UnimplementedError(absl::StrCat(Describe(fusion), ": ",
                                               Describe(inside),
                                               " cannot be fused here: ", why));
}

namespace {

using Instructions = absl::flat_hash_set<const Instruction*>;

// `shape`: of the operand, or of a smaller value that is broadcast to it.
absl::Status Collect(const Instruction& fusion, const Instruction& product,
                     const Instruction* value, const Shape& shape,
                     const Instruction** parameter, Instructions* seen) {
  if (!seen->insert(value).second) return absl::OkStatus();
  switch (value->opcode()) {
    case Opcode::kParameter:
      if (value->shape().SameDims(shape)) *parameter = value;
      return absl::OkStatus();
    case Opcode::kConstant:
      if (value->shape().IsScalar()) return absl::OkStatus();
      break;
    case Opcode::kIota:
      return absl::OkStatus();
    case Opcode::kTranspose: {
      if (product.opcode() != Opcode::kConvolution ||
          !TurnsBatchIntoRows(*value)) {
        break;
      }
      return Collect(fusion, product, value->operand(0),
                     value->operand(0)->shape(), parameter, seen);
    }
    case Opcode::kBroadcast: {
      if (!IsPrologueBroadcast(*value) && !IsMemberColumns(*value) &&
          !IsSharedPlane(*value)) {
        return RefuseFusion(fusion, *value, "no broadcast of a dot's prologue");
      }
      const Instruction* small = nullptr;
      return Collect(fusion, product, value->operand(0),
                     value->operand(0)->shape(), &small, seen);
    }
    default:
      break;
  }
  if (!IsLoopElementwise(*value) || !value->shape().SameDims(shape)) {
    return RefuseFusion(fusion, *value, "no elementwise prologue of a dot");
  }
  for (const Instruction* operand : value->operands()) {
    RETURN_IF_ERROR(Collect(fusion, product, operand, shape, parameter, seen));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CollectPrologue(const Instruction& fusion,
                             const Instruction& product,
                             const Instruction& operand,
                             const Instruction** parameter,
                             Instructions* seen) {
  return Collect(fusion, product, &operand, operand.shape(), parameter, seen);
}

bool IsPrologueBroadcast(const Instruction& i) {
  const Shape& source = i.operand(0)->shape();
  const int rank = i.shape().rank();
  if (source.IsScalar()) return true;
  if (source.rank() == 1 && i.dimensions()[0] == rank - 1) {
    return source.type() == PrimitiveType::kBf16 ||
           BitWidth(source.type()) == 32;
  }
  if (source.rank() != rank - 1 || BitWidth(source.type()) != 32) return false;
  for (int d = 0; d < source.rank(); ++d) {
    if (i.dimensions()[d] != d) return false;
  }
  return true;
}

bool IsMemberColumns(const Instruction& i) {
  const int rank = i.shape().rank();
  const Shape& source = i.operand(0)->shape();
  if (source.rank() < 2 || i.dimensions().back() != rank - 1) return false;
  if (source.rank() == 2) return i.dimensions()[0] < rank - 2;
  for (int d = 0; d + 1 < source.rank(); ++d) {
    if (i.dimensions()[d] != d) return false;
  }
  return source.rank() == rank - 1;
}

bool IsSharedPlane(const Instruction& i) {
  const int rank = i.shape().rank();
  const int planes = i.operand(0)->shape().rank() - 2;
  if (planes < 0 || planes >= rank - 2) return false;
  const auto dims = i.dimensions();
  if (dims[planes] != rank - 2 || dims[planes + 1] != rank - 1) return false;
  for (int k = 1; k < planes; ++k) {
    if (dims[k] != dims[0] + k) return false;
  }
  return true;
}

}  // namespace ptxla::hlo
