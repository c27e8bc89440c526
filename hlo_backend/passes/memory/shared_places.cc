#include "hlo_backend/passes/memory/shared_places.h"

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::hlo {
namespace {

// Kernels of which each value is an array of its own.
bool MakesArrays(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kFusion:
    case Opcode::kConvolution:
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kTranspose:
      return InPlaceOperand(i) < 0;
    default:
      return i.IsElementwise();
  }
}

// A kernel that computes element by element and stores nothing twice: sums at
// its end have places of their own.
bool WalksOnce(const Instruction& i) {
  if (i.opcode() != Opcode::kFusion) return i.IsElementwise();
  return InPlaceOperand(i) < 0 && (i.fusion_kind() == FusionKind::kLoop ||
                                   i.fusion_kind() == FusionKind::kInput);
}

// By name or whole; what passes it on in a tuple, moves it or writes to it is
// no reader.
bool OnlyKernelsRead(const Instruction& value) {
  for (const Instruction* user : value.users()) {
    const bool read = OnlyNamesMemory(*user)
                          ? !user->IsRoot() && OnlyKernelsRead(*user)
                          : MakesArrays(*user);
    if (!read) return false;
  }
  return true;
}

bool OnlyKernelsRead(const MemoryPlace& place) {
  if (place.maker->IsRoot()) return false;
  if (place.index < 0) return OnlyKernelsRead(*place.maker);
  for (const Instruction* user : place.maker->users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
    if (user->tuple_index() != place.index) continue;
    if (user->IsRoot() || !OnlyKernelsRead(*user)) return false;
  }
  return true;
}

bool LieAlike(const Shape& a, const Shape& b) {
  return a.IsArray() && b.IsArray() && a.has_layout() && b.has_layout() &&
         !a.IsScalar() && BitWidth(a.type()) == BitWidth(b.type()) &&
         a.dims() == b.dims() &&
         a.layout().minor_to_major == b.layout().minor_to_major &&
         a.layout().tiles == b.layout().tiles;
}

}  // namespace

const Shape& ShapeOf(const MemoryPlace& place) {
  const Shape& shape = place.maker->shape();
  return place.index < 0 ? shape : shape.element(static_cast<int>(place.index));
}

std::vector<SharedPlace> SharedPlaces(const Computation& computation,
                                      const Positions& positions) {
  std::vector<SharedPlace> shared;
  absl::flat_hash_set<MemoryPlace> taken;
  for (const Instruction* i : computation.instructions()) {
    if (!WalksOnce(*i)) continue;
    const int results =
        i->shape().IsTuple() ? i->shape().element_count_of_tuple() : 1;
    for (int k = 0; k < results; ++k) {
      const MemoryPlace to = {i, i->shape().IsTuple() ? k : -1};
      if (!OnlyKernelsRead(to)) continue;
      for (const Instruction* operand : i->operands()) {
        const MemoryPlace from = PlaceOf(operand);
        if (from.maker->parent() != &computation || !MakesArrays(*from.maker) ||
            !LieAlike(operand->shape(), ShapeOf(to)) ||
            !LieAlike(ShapeOf(from), ShapeOf(to)) ||
            !ReadsInStep(*operand, *i, to.index) ||
            LastRead(from, positions) != positions.at(i) ||
            !OnlyKernelsRead(from) || !taken.insert(from).second) {
          continue;
        }
        shared.push_back({from, to});
        break;
      }
    }
  }
  return shared;
}

}  // namespace ptxla::hlo
