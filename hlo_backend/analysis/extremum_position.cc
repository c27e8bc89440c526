#include "hlo_backend/analysis/extremum_position.h"

#include <limits>
#include <vector>

#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/monoid.h"

namespace ptxla::hlo {
namespace {

bool IsCompare(const Instruction& i, CompareDirection direction) {
  if (i.opcode() != Opcode::kCompare) return false;
  const auto& attrs = i.attrs<CompareAttrs>();
  return attrs.direction == direction && attrs.type != CompareType::kTotalOrder;
}

bool IsNanOf(const Instruction& i, const Instruction* values) {
  return IsCompare(i, CompareDirection::kNe) && i.operand(0) == values &&
         i.operand(1) == values;
}

bool IsLast(const Instruction* i) {
  if (i->opcode() == Opcode::kBroadcast) i = i->operand(0);
  return i->IsConstant() && i->literal().IsUniform() &&
         i->literal().GetInt(0) == std::numeric_limits<int32_t>::max();
}

bool CountsAlong(const Instruction& index, int64_t dim) {
  if (index.opcode() == Opcode::kIota) {
    return index.attrs<IotaAttrs>().dimension == dim;
  }
  return index.opcode() == Opcode::kBroadcast &&
         index.operand(0)->opcode() == Opcode::kIota &&
         index.operand(0)->shape().rank() == 1 && index.dimensions()[0] == dim;
}

// The reduce whose result is broadcast along `dim` again.
const Instruction* BehindBroadcast(const Instruction& i, int64_t dim) {
  if (i.opcode() != Opcode::kBroadcast ||
      i.operand(0)->opcode() != Opcode::kReduce ||
      i.operand(0)->shape().rank() != i.shape().rank() - 1) {
    return nullptr;
  }
  int64_t next = 0;
  for (int64_t d : i.dimensions()) {
    next += next == dim ? 1 : 0;
    if (d != next++) return nullptr;
  }
  return i.operand(0);
}

// The extremum, if `equal` compares the values with it.
const Instruction* ComparedWith(const Instruction& equal, int64_t dim) {
  if (!IsCompare(equal, CompareDirection::kEq)) return nullptr;
  for (int k = 0; k < 2; ++k) {
    const Instruction* best = BehindBroadcast(*equal.operand(1 - k), dim);
    if (best != nullptr && best->operand(0) == equal.operand(k)) return best;
  }
  return nullptr;
}

}  // namespace

std::optional<ExtremumPosition> FindExtremumPosition(
    const Instruction& reduce) {
  if (!IsFusibleReduce(reduce) || reduce.dimensions().size() != 1 ||
      reduce.shape().type() != PrimitiveType::kS32 ||
      MonoidOf(*reduce.to_apply()) != Opcode::kMinimum ||
      !IsLast(reduce.operand(1))) {
    return {};
  }
  const int64_t dim = reduce.dimensions()[0];
  const Instruction* where = reduce.operand(0);
  if (where->opcode() != Opcode::kSelect || !IsLast(where->operand(2)) ||
      !CountsAlong(*where->operand(1), dim)) {
    return {};
  }
  const Instruction* hit = where->operand(0);
  const Instruction* nan = nullptr;
  if (hit->opcode() == Opcode::kOr) {
    const int k = IsCompare(*hit->operand(0), CompareDirection::kNe) ? 0 : 1;
    nan = hit->operand(k);
    hit = hit->operand(1 - k);
  }
  const Instruction* best = ComparedWith(*hit, dim);
  if (best == nullptr || !IsFusibleReduce(*best) ||
      best->dimensions() != reduce.dimensions()) {
    return {};
  }
  const Opcode op = *MonoidOf(*best->to_apply());
  const Instruction* values = best->operand(0);
  const PrimitiveType type = values->shape().type();
  const bool floats = IsFloat(type);
  if ((op != Opcode::kMaximum && op != Opcode::kMinimum) ||
      type == PrimitiveType::kPred || floats != (nan != nullptr) ||
      (floats && !IsNanOf(*nan, values))) {
    return {};
  }
  return ExtremumPosition{best, values, where->operand(1)};
}

bool IsForPositionsOnly(const Instruction& best) {
  std::vector<const Instruction*> open = {&best};
  for (size_t next = 0; next < open.size(); ++next) {
    for (const Instruction* user : open[next]->users()) {
      switch (user->opcode()) {
        case Opcode::kTuple:
          if (open[next] != &best || !user->IsRoot()) return false;
          break;
        case Opcode::kReduce: {
          const auto found = FindExtremumPosition(*user);
          if (!found.has_value() || found->best != &best) return false;
          break;
        }
        case Opcode::kBroadcast:
        case Opcode::kCompare:
        case Opcode::kOr:
        case Opcode::kSelect:
          if (user->IsRoot()) return false;
          open.push_back(user);
          break;
        default:
          return false;
      }
    }
  }
  return true;
}

}  // namespace ptxla::hlo
