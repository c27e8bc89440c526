#include "hlo_backend/passes/fusion/row_leaves.h"

#include <algorithm>

#include "absl/types/span.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

constexpr int kMostFree = 8;  // operations in a row

bool CostsNothing(const Instruction& o, int depth) {
  if (depth > kMostFree) return false;
  switch (o.opcode()) {
    case Opcode::kConstant:
      return o.shape().IsScalar();
    case Opcode::kIota: {
      const int64_t from_minor =
          o.shape().rank() - 1 - o.attrs<IotaAttrs>().dimension;
      return from_minor < 2 && BitWidth(o.shape().type()) == 32 &&
             IsInteger(o.shape().type());
    }
    case Opcode::kBroadcast:
      if (o.operand(0)->shape().rank() > 0 && !KeepsMatrix(o)) return false;
      return CostsNothing(*o.operand(0), depth + 1);
    default:
      break;
  }
  if (!IsLoopElementwise(o) || !IsRowMajor(o.shape()) || o.shape().rank() < 2) {
    return false;
  }
  return std::all_of(
      o.operands().begin(), o.operands().end(),
      [&](const Instruction* x) { return CostsNothing(*x, depth + 1); });
}

// Has a form in tiles, and one row after another.
bool IsTileType(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF32:
    case PrimitiveType::kBf16:
    case PrimitiveType::kS32:
    case PrimitiveType::kU32:
    case PrimitiveType::kPred:
    case PrimitiveType::kS8:
    case PrimitiveType::kU8:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool MeetsReduce(const Instruction& value, int64_t dimension, int depth) {
  constexpr int kDepth = 8;
  for (const Instruction* user : value.users()) {
    if (user->opcode() == Opcode::kReduce &&
        Contains(user->dimensions(), dimension)) {
      return true;
    }
    if (depth < kDepth && user->IsElementwise() &&
        MeetsReduce(*user, dimension, depth + 1)) {
      return true;
    }
  }
  return false;
}

bool MeetsRowReduce(const Instruction& value) {
  return MeetsReduce(value, value.shape().rank() - 1);
}

bool ReducesInTiles(const Instruction& reduce) {
  return reduce.dimensions().size() == 1 &&
         reduce.dimensions()[0] >= reduce.operand(0)->shape().rank() - 2;
}

bool IsFreeOfRows(const Instruction& value) { return CostsNothing(value, 0); }

bool KeepsMatrix(const Instruction& broadcast) {
  const int rank = broadcast.operand(0)->shape().rank();
  if (rank != 2) return false;
  return broadcast.dimensions()[0] == broadcast.shape().rank() - 2 &&
         broadcast.dimensions()[1] == broadcast.shape().rank() - 1;
}

bool IsSharedByRows(const Instruction& broadcast, const Instruction& dot) {
  const Shape& source = broadcast.operand(0)->shape();
  const int rank = broadcast.shape().rank();
  const int mine = source.rank();
  const absl::Span<const int64_t> dims = broadcast.dimensions();
  if (!IsRowMajor(source) || mine < 1 || mine >= rank ||
      !IsTileType(source.type()) || dims[mine - 1] != rank - 1) {
    return false;
  }
  if (mine == 1) return true;
  if (KeepsMatrix(broadcast)) return true;
  // Rows of one dimension behind those of the batch.
  const int batch = ProductBatch(dot);
  if (rank != batch + 2) return false;
  const bool rows = dims[mine - 2] == rank - 2;
  const int of_batch = rows ? mine - 2 : mine - 1;
  if (!rows) {
    int64_t members = 1;
    for (int d = 0; d < batch; ++d) members *= broadcast.shape().dim(d);
    if (of_batch != 1 || members > kMostSharingMembers) return false;
  }
  for (int k = 0; k < of_batch; ++k) {
    if (dims[k] != dims[0] + k || dims[k] >= batch) return false;
  }
  return true;
}

bool IsBroadcastOfWidened(const Instruction& broadcast) {
  if (broadcast.opcode() != Opcode::kBroadcast) return false;
  const Instruction& source = *broadcast.operand(0);
  return source.opcode() == Opcode::kConvert && source.shape().rank() > 0 &&
         IsTileType(source.operand(0)->shape().type()) &&
         BitWidth(source.operand(0)->shape().type()) <
             BitWidth(source.shape().type());
}

}  // namespace ptxla::hlo
