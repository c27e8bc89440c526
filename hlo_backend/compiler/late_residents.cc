#include "hlo_backend/compiler/late_residents.h"

#include <algorithm>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/scheduled/part_names.h"

namespace ptxla::hlo {
namespace {

// Kernels whose arrays come to VMEM, or leave it again, have other windows.
// Should they never settle, all goes back to where it was after so many plans.
// ASSUMED.
constexpr int kMostPlansByWindows = 8;
constexpr int64_t kNoLimit = int64_t{1} << 60;

// Whether the scoped limit leaves room for all that the schedule put into VMEM,
// but perhaps for holes between.
bool FitsInVmem(const Module& module, const chips::ChipSpec& chip) {
  const Computation& entry = *module.entry();
  RangeMaximum live(entry.instruction_count());
  AddVmemResidents(entry, PositionsOf(entry), &live);
  return live.Maximum(0, entry.instruction_count() - 1) <=
         WholeRoomForResidents(chip);
}

bool IsReadBy(const Instruction& value,
              absl::FunctionRef<bool(const Instruction&)> which) {
  for (const Instruction* user : value.users()) {
    if (OnlyNamesMemory(*user) ? IsReadBy(*user, which) : which(*user)) {
      return true;
    }
  }
  return false;
}

bool MoveBack(absl::FunctionRef<bool(const Instruction&)> refused,
              std::vector<KernelResult>* placed) {
  const auto touched = [&](const KernelResult& r) {
    return refused(*r.maker) || IsReadBy(*r.maker, refused);
  };
  const auto end =
      std::stable_partition(placed->begin(), placed->end(),
                            [&](const KernelResult& r) { return !touched(r); });
  if (end == placed->end()) return false;
  for (auto it = end; it != placed->end(); ++it) {
    SetMemorySpace(it->maker, it->index, kMemoryHbm);
  }
  placed->erase(end, placed->end());
  return true;
}

}  // namespace

LateResidents::LateResidents(Module* module, const chips::ChipSpec& chip)
    : module_(module), chip_(chip), fits_(FitsInVmem(*module, chip)) {}

bool LateResidents::Move(const isa::Program& program,
                         const absl::flat_hash_set<std::string>& crowded_out) {
  if (!parts_.has_value()) {
    PutParts();
    if (!parts_->empty()) return true;
  }
  const KernelWindows now = WindowsOf(*module_, program, chip_);
  if (!beside_windows_.has_value()) {
    PutWhereWindowsAreSmall(now, crowded_out);
    if (beside_windows_->empty()) return false;
    windows_ = now;
    return true;
  }
  if (!windows_.has_value() || !windows_->Raise(now)) return false;
  if (++plans_by_windows_ == kMostPlansByWindows) {
    MoveBack([](const Instruction&) { return true; }, &*beside_windows_);
    windows_.reset();
  }
  return true;
}

bool LateResidents::GiveBack(
    absl::FunctionRef<bool(const Instruction&)> refused) {
  return (beside_windows_.has_value() &&
          MoveBack(refused, &*beside_windows_)) ||
         (parts_.has_value() && MoveBack(refused, &*parts_));
}

// Where there is room beside what the schedule put there.
void LateResidents::PutParts() {
  parts_ = PutIntoVmem(module_->entry(), chip_, WholeRoomForResidents(chip_),
                       IsInnerPart);
}

// Of a schedule that does not fit, what was crowded out and all parts: the plan
// chooses among all residents by their worth. Both cores of a chip with CMEM
// have their residents there alone.
void LateResidents::PutWhereWindowsAreSmall(
    const KernelWindows& windows,
    const absl::flat_hash_set<std::string>& crowded_out) {
  beside_windows_.emplace();
  if (chip_.cmem().count() > 0 || WholeRoomForResidents(chip_) <= 0) return;
  const auto may = [&](const Instruction& i) {
    return IsInnerPart(i) || crowded_out.contains(WholeName(i.name()));
  };
  beside_windows_ =
      fits_ ? PutIntoVmem(
                  module_->entry(), chip_, chip_.vmem().usable.count(), may,
                  [&](const Instruction& i) { return windows.Within(i); })
            : PutIntoVmem(module_->entry(), chip_, kNoLimit, may);
}

}  // namespace ptxla::hlo
