#include "hlo_backend/passes/loops/planes_in_place.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "hlo_backend/analysis/planes_in_place.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/loops/second_result.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// A kernel whose windows may be anywhere in an array.
bool IsKernel(const Instruction& i) {
  return IsVmemKernel(i) || IsLargeConvolution(i);
}

// The number of the scalar unit behind a copy of it, which kernels on two cores
// would read: the start of a call needs none.
Instruction* NumberBehind(Instruction* index) {
  const auto is_in_smem = [](const Instruction& i) {
    return i.shape().has_layout() && i.shape().memory_space() == kMemorySmem;
  };
  return index->opcode() == Opcode::kCopy && !is_in_smem(*index) &&
                 is_in_smem(*index->operand(0))
             ? index->operand(0)
             : index;
}

void TakeNumbers(Instruction* i) {
  const bool updates = i->opcode() == Opcode::kDynamicUpdateSlice;
  for (int k = updates ? 2 : 1; k < i->operand_count(); ++k) {
    Instruction* index = i->operand(k);
    i->ReplaceOperand(k, NumberBehind(index));
    if (index->user_count() == 0) index->parent()->Remove(index);
  }
}

bool IsOfState(const MemoryPlace& place) {
  return place.maker->opcode() == Opcode::kParameter && place.index >= 0 &&
         place.plane == Plane::kWhole;
}

// The same element of the next state.
MemoryPlace NextOf(const MemoryPlace& place, const Computation& body) {
  const Instruction* root = body.root();
  if (root->opcode() != Opcode::kTuple ||
      place.index >= root->operand_count()) {
    return {};
  }
  return PlaceOf(root->operand(static_cast<int>(place.index)));
}

class Body {
 public:
  explicit Body(Computation* c) : c_(c), positions_(PositionsOf(*c)) {}

  bool MayRead(const Instruction& slice) const {
    const auto planes = PlanesOf(slice);
    if (!planes.has_value() || !MayBegin(*slice.operand(0), *planes)) {
      return false;
    }
    if (!SlicesState(slice)) return false;
    const std::optional<int> last = LastReader(slice);
    return last.has_value() && StartsStandUntil(slice, *planes, *last);
  }

  // What makes the update, in front of it.
  std::optional<MemoryPlace> MakerOf(const Instruction& update) const {
    const auto planes = PlanesOf(update);
    if (!planes.has_value() || !MayBegin(*update.operand(0), *planes) ||
        !OnlyFills(update)) {
      return {};
    }
    const Instruction* value = update.operand(1);
    const MemoryPlace made = PlaceOf(value);
    const Instruction& kernel = *made.maker;
    if (made.plane != Plane::kWhole || !IsKernel(kernel) ||
        kernel.parent() != c_ ||
        kernel.shape().IsTuple() != (made.index >= 0) ||
        !StartsStandUntil(update, *planes, positions_.at(&kernel))) {
      return {};
    }
    const int64_t bytes = PaddedBytes(value->shape());
    for (; value != &kernel; value = value->operand(0)) {
      if (PaddedBytes(value->shape()) != bytes) return {};
      if (made.index >= 0 && value->operand(0) == &kernel) break;
    }
    return IsAlone(update, made) || MayStoreTwice(made)
               ? std::optional<MemoryPlace>(made)
               : std::nullopt;
  }

  // Nobody else reads what it updates with.
  static bool IsAlone(const Instruction& update, const MemoryPlace& made) {
    if (ReadersOf(made) != 1) return false;
    const Instruction* value = update.operand(1);
    while (value->opcode() == Opcode::kBitcast) {
      if (value->user_count() != 1) return false;
      value = value->operand(0);
    }
    return value->user_count() == 1;
  }

 private:
  static bool MayBegin(const Instruction& stack,
                       const std::vector<PartOfDim>& planes) {
    if (stack.shape().memory_space() == kMemoryHbm) return true;
    return stack.shape().memory_space() == kMemoryVmem &&
           std::all_of(planes.begin(), planes.end(), [](const PartOfDim& p) {
             return p.stride % kPlaneAlignment == 0;
           });
  }

  MemoryPlace NextOf(const MemoryPlace& place) const {
    return hlo::NextOf(place, *c_);
  }

  static int ReadersOf(const MemoryPlace& place) {
    if (place.index < 0) return place.maker->user_count();
    int readers = 0;
    for (const Instruction* user : place.maker->users()) {
      if (user->opcode() != Opcode::kGetTupleElement) return INT32_MAX;
      if (user->tuple_index() == place.index) readers += user->user_count();
    }
    return readers;
  }

  // Nothing but the update has the stack, and the next state is what it makes.
  bool OnlyFills(const Instruction& update) const {
    const MemoryPlace stack = PlaceOf(update.operand(0));
    if (!IsOfState(stack) || ReadersOf(stack) != 1) return false;
    const Instruction* value = &update;
    while (value->user_count() == 1 &&
           value->users()[0]->opcode() == Opcode::kBitcast) {
      value = value->users()[0];
    }
    return value->user_count() == 1 && value->users()[0] == c_->root() &&
           update.operand(0)->user_count() == 1 &&
           NextOf(stack).maker == &update;
  }

  // Of kernels, which all readers are; nothing: somebody else reads it, or
  // nobody.
  std::optional<int> LastReader(const Instruction& value) const {
    if (value.IsRoot() || value.user_count() == 0) return {};
    int last = 0;
    for (const Instruction* user : value.users()) {
      std::optional<int> at;
      if (user->opcode() == Opcode::kBitcast && !user->shape().IsScalar()) {
        at = LastReader(*user);
      } else if (IsKernel(*user) && !UpdatesInPlace(*user, value)) {
        at = positions_.at(user);
      }
      if (!at.has_value()) return {};
      last = std::max(last, *at);
    }
    return last;
  }

  bool StartsStandUntil(const Instruction& i,
                        const std::vector<PartOfDim>& planes,
                        int position) const {
    return std::all_of(planes.begin(), planes.end(), [&](const PartOfDim& p) {
      return StandsUntil(*NumberBehind(StartOfPlanes(i, p.dim)), position);
    });
  }

  // The number is where a scalar core reads it when the kernel at `position`
  // starts, and that of the next iteration has not replaced it yet.
  bool StandsUntil(const Instruction& index, int position) const {
    if (index.opcode() == Opcode::kConstant) return true;
    if (index.shape().memory_space() != kMemorySmem) return false;
    const MemoryPlace place = PlaceOf(&index);
    if (place.maker->opcode() != Opcode::kParameter) {
      return positions_.at(place.maker) < position;
    }
    const MemoryPlace next = NextOf(place);
    return next.maker != nullptr &&
           (next == place || positions_.at(next.maker) > position);
  }

  Computation* c_;
  const Positions positions_;
};

// The same names, of another result; `made`: they, in their order.
Instruction* NamedAs(Instruction* name, Instruction* result,
                     std::vector<Instruction*>* made) {
  if (name->opcode() != Opcode::kBitcast) return result;
  Instruction* below = NamedAs(name->operand(0), result, made);
  Shape shape = name->shape();
  SetSpace(&shape, result->shape().memory_space());
  made->push_back(name->parent()->AddLike(*name, shape, {below}));
  return made->back();
}

void WriteInPlace(Instruction* update, const MemoryPlace& made) {
  const int space = update->operand(0)->shape().memory_space();
  if (Body::IsAlone(*update, made)) {
    SetMemorySpace(const_cast<Instruction*>(made.maker), made.index, space);
    return;
  }
  Computation* c = update->parent();
  Instruction* name = update->operand(1);
  Instruction* second = AddSecondResult(made, space);
  std::vector<Instruction*> order, names;
  for (Instruction* i : c->instructions()) order.push_back(i);
  update->ReplaceOperand(1, NamedAs(name, second, &names));
  order.insert(std::find(order.begin(), order.end(), update), names.begin(),
               names.end());
  c->Reorder(order);
  // Names that only the update had.
  while (name->user_count() == 0 && OnlyNamesMemory(*name)) {
    Instruction* below = name->operand(0);
    c->Remove(name);
    name = below;
  }
}

bool PutInPlace(Instruction* i) {
  const Body body(i->parent());
  if (i->opcode() == Opcode::kDynamicSlice) {
    if (!body.MayRead(*i)) return false;
    SetMemorySpace(i, -1, i->operand(0)->shape().memory_space());
  } else {
    const std::optional<MemoryPlace> made = body.MakerOf(*i);
    if (!made.has_value()) return false;
    WriteInPlace(i, *made);
  }
  TakeNumbers(i);
  i->set_backend_config(std::string(kInPlaceConfig), /*is_json=*/false);
  return true;
}

}  // namespace

bool SlicesState(const Instruction& slice) {
  if (slice.opcode() != Opcode::kDynamicSlice || !PlanesOf(slice).has_value()) {
    return false;
  }
  const MemoryPlace stack = PlaceOf(slice.operand(0));
  const Instruction* loop = LoopOf(*slice.parent());
  return loop != nullptr && IsOfState(stack) &&
         KeepsElement(*loop, static_cast<int>(stack.index));
}

bool PutPlanesInPlace(Module* module,
                      absl::FunctionRef<bool(const Instruction&)> may) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> parts;
    for (Instruction* i : c->instructions()) {
      if ((i->opcode() == Opcode::kDynamicSlice ||
           i->opcode() == Opcode::kDynamicUpdateSlice) &&
          !IsInPlace(*i) && may(*i)) {
        parts.push_back(i);
      }
    }
    for (Instruction* i : parts) changed |= PutInPlace(i);
  }
  return changed;
}

absl::StatusOr<bool> PlanesInPlacePass::Run(Module* module,
                                            const PassContext&) {
  if (!module->config().is_scheduled) return false;
  return PutPlanesInPlace(module, [](const Instruction&) { return true; });
}

}  // namespace ptxla::hlo
