#include "hlo_backend/passes/memory/output_places.h"

#include <algorithm>

#include "absl/types/span.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/passes/x64/x64_elimination.h"

namespace ptxla::hlo {
namespace {

constexpr Plane kPlanes[] = {Plane::kLow, Plane::kHigh};

}  // namespace

bool OutputPlaces::IsHomeOf(const MemoryPlace& place,
                            const Instruction* update) const {
  const MemoryPlace updated = kept_.PlaceOf(update);
  for (size_t k = 0; k < homes_.size(); ++k) {
    if (!homes_[k].Overlaps(place)) continue;
    for (const MemoryPlace& part : PartsOf(Output(k))) {
      if (part == updated) return true;
      // Later updates would write over what is an output itself.
      if (OriginOf(part, updated) == updated) return !IsOutput(updated);
    }
  }
  return false;
}

bool OutputPlaces::IsOverwritten(const MemoryPlace& place, int k) const {
  if (place.maker->opcode() != Opcode::kParameter) return false;
  for (size_t j = 0; j < homes_.size(); ++j) {
    if (static_cast<int>(j) == k || !(homes_[j] == place)) continue;
    return !(kept_.PlaceOf(Output(j)) == place);
  }
  return false;
}

// The places that a value of the result names: of a 64-bit one its halves.
std::vector<MemoryPlace> OutputPlaces::PartsOf(const Instruction* value) const {
  const MemoryPlace place = kept_.PlaceOf(value);
  if (!IsX64Combine(*place.maker)) return {place};
  return {kept_.PlaceOf(place.maker->operand(0)),
          kept_.PlaceOf(place.maker->operand(1))};
}

bool OutputPlaces::IsOutput(const MemoryPlace& place) const {
  const Instruction* root = c_.root();
  const auto names = [&](const Instruction* output) {
    const std::vector<MemoryPlace> parts = PartsOf(output);
    const MemoryPlace named = kept_.PlaceOf(output);
    return named == place ||
           (output->shape().IsTuple() && named.maker == place.maker) ||
           std::any_of(parts.begin(), parts.end(),
                       [&](const MemoryPlace& p) { return p.Overlaps(place); });
  };
  if (root->opcode() != Opcode::kTuple) return names(root);
  return std::any_of(root->operands().begin(), root->operands().end(), names);
}

const Instruction* OutputPlaces::Output(size_t k) const {
  const Instruction* root = c_.root();
  return root->opcode() == Opcode::kTuple ? root->operand(static_cast<int>(k))
                                          : root;
}

// A half that is an array of its own is put into its place at `combine`.
bool OutputPlaces::HalfNeedsCopy(const Instruction* combine, int k,
                                 MemoryPlace home) const {
  const Instruction* half = combine->operand(k);
  const Opcode maker = kept_.PlaceOf(half).maker->opcode();
  home.plane = kPlanes[k];
  if (half->user_count() == 1 && maker != Opcode::kParameter &&
      !IsPreset(*kept_.PlaceOf(half).maker)) {
    return IsMadeTooEarly(kept_.PlaceOf(half), home);
  }
  return kept_.LastRead(home, copies_.positions()) >
         copies_.positions().at(combine);
}

bool OutputPlaces::NeedsCopy(const Instruction* value,
                             const MemoryPlace& home) const {
  const MemoryPlace place = kept_.PlaceOf(value);
  if (place.maker->opcode() == Opcode::kParameter) {
    const Shape& whole = place.maker->shape();
    const Shape& shape =
        place.index < 0 ? whole : whole.element(static_cast<int>(place.index));
    return !(place == home) || value->shape() != shape;
  }
  if (IsPreset(*place.maker)) return true;
  if (home.maker == nullptr) return false;
  if (IsX64Combine(*place.maker)) {
    return HalfNeedsCopy(place.maker, 0, home) ||
           HalfNeedsCopy(place.maker, 1, home);
  }
  return IsMadeTooEarly(place, home);
}

// Of the copies in front of one instruction, which have one position, one
// behind `copy` reads what lies at `home`.
bool OutputPlaces::IsCopiedLater(const MemoryPlace& home,
                                 const Instruction* copy) const {
  const absl::Span<Instruction* const> all = copies_.From(copy);
  return std::any_of(all.begin(), all.end(), [&](const Instruction* later) {
    return later != copy && later->opcode() == Opcode::kCopy &&
           kept_.PlaceOf(later->operand(0)).Overlaps(home);
  });
}

// An operand of the maker of `made` is, or has, what lies at `home`, and is
// not read in step with writing that.
bool OutputPlaces::ReadsFar(const Instruction& operand, const MemoryPlace& home,
                            const MemoryPlace& made) const {
  if (operand.opcode() == Opcode::kTuple) {
    return std::any_of(
        operand.operands().begin(), operand.operands().end(),
        [&](const Instruction* o) { return kept_.PlaceOf(o).Overlaps(home); });
  }
  // A state may lie in VMEM, where a kernel reads and writes it in place. The
  // entry's arrays come by blocks, each before its place is written.
  return kept_.PlaceOf(&operand).Overlaps(home) &&
         !ReadsInStep(operand, *made.maker, c_.IsEntry() ? -1 : made.index);
}

// What lies at `home` is still read when the first writer of `place` writes
// there, and not in step.
bool OutputPlaces::IsMadeTooEarly(const MemoryPlace& place,
                                  const MemoryPlace& home) const {
  const MemoryPlace origin = OriginOf(place, home);
  if (origin == home) return false;
  if (origin.maker->opcode() == Opcode::kParameter) return true;
  const int made = copies_.positions().at(origin.maker);
  const int read = kept_.LastRead(home, copies_.positions());
  if (read != made) return read > made;
  if (IsCopiedLater(home, origin.maker)) return true;
  return std::any_of(
      origin.maker->operands().begin(), origin.maker->operands().end(),
      [&](const Instruction* o) { return ReadsFar(*o, home, origin); });
}

}  // namespace ptxla::hlo
