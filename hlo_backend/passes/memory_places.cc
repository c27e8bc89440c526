#include "hlo_backend/passes/memory_places.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

int LastUse(const Instruction* value, const Positions& positions,
            const Instruction* except) {
  int last = -1;
  for (const Instruction* user : value->users()) {
    if (user == except) continue;
    if (OnlyNamesMemory(*user)) {
      last = std::max(last, LastUse(user, positions, except));
    } else if (user->opcode() == Opcode::kTuple) {
      // Read by whoever takes the tuple; the root is after everything.
      if (!user->IsRoot()) {
        last = std::max(last, LastUse(user, positions, except));
      }
    } else {
      last = std::max(last, positions.at(user));
    }
  }
  return last;
}

// The parameter feeds an operand of a dot, perhaps through a convert.
bool FeedsADot(const Instruction& parameter) {
  for (const Instruction* user : parameter.users()) {
    if (user->opcode() == Opcode::kDot) return true;
    if (user->IsElementwise() && FeedsADot(*user)) return true;
  }
  return false;
}

}  // namespace

bool OnlyNamesMemory(const Instruction& i) {
  return i.opcode() == Opcode::kGetTupleElement ||
         i.opcode() == Opcode::kBitcast;
}

MemoryPlace PlaceOf(const Instruction* value) {
  MemoryPlace place;
  while (OnlyNamesMemory(*value)) {
    if (value->opcode() == Opcode::kGetTupleElement) {
      place.index = value->tuple_index();
    }
    value = value->operand(0);
  }
  place.maker = value;
  return place;
}

Positions PositionsOf(const Computation& computation) {
  Positions positions;
  positions.reserve(computation.instruction_count());
  int n = 0;
  for (const Instruction* i : computation.instructions()) positions[i] = n++;
  return positions;
}

int LastRead(const MemoryPlace& place, const Positions& positions,
             const Instruction* except) {
  if (place.index < 0) return LastUse(place.maker, positions, except);
  int last = -1;
  for (const Instruction* user : place.maker->users()) {
    if (user->opcode() == Opcode::kGetTupleElement) {
      if (user->tuple_index() == place.index) {
        last = std::max(last, LastUse(user, positions, except));
      }
    } else if (!user->IsRoot() && user != except) {
      last = std::max(last, positions.at(user));
    }
  }
  return last;
}

bool ReadsInStep(const Instruction& value, const Instruction& maker) {
  if (maker.IsElementwise()) return true;
  if (maker.opcode() == Opcode::kDynamicUpdateSlice) {
    return maker.operand(0) == &value && maker.OperandUses(&value) == 1;
  }
  if (maker.opcode() != Opcode::kFusion) return false;
  for (int k = 0; k < maker.operand_count(); ++k) {
    if (maker.operand(k) != &value) continue;
    if (maker.fusion_kind() == FusionKind::kOutput &&
        FeedsADot(*maker.fused()->parameter(k))) {
      return false;
    }
    for (const Instruction* user : maker.fused()->parameter(k)->users()) {
      // A product, a reduce or a broadcast reads elsewhere than it writes.
      if (user->opcode() == Opcode::kTuple) continue;
      if (!user->IsElementwise() || !user->shape().SameDims(value.shape())) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace ptxla::hlo
