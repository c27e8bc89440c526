#include "hlo_backend/passes/memory/memory_space_assignment.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/range_maximum.h"
#include "base/units.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/shared_places.h"
#include "hlo_backend/passes/memory/vmem_candidate.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

bool TakesNoTime(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kBitcast:
    case Opcode::kConstant:
    case Opcode::kGetTupleElement:
    case Opcode::kParameter:
    case Opcode::kTuple:
      return true;
    default:
      return false;
  }
}

// What each place takes over, and what takes it over.
class SharedNeighbours {
 public:
  SharedNeighbours(const Computation& c, const Positions& positions) {
    for (const SharedPlace& s : SharedPlaces(c, positions)) {
      before_[s.to] = s.from;
      behind_[s.from] = s.to;
    }
  }
  // Null: none.
  const MemoryPlace* Before(const MemoryPlace& place) const {
    return Find(before_, place);
  }
  const MemoryPlace* Behind(const MemoryPlace& place) const {
    return Find(behind_, place);
  }

 private:
  using Map = absl::flat_hash_map<MemoryPlace, MemoryPlace>;
  static const MemoryPlace* Find(const Map& map, const MemoryPlace& place) {
    const auto it = map.find(place);
    return it == map.end() ? nullptr : &it->second;
  }

  Map before_, behind_;
};

class Assigner {
 public:
  Assigner(Computation* c, const ElementReads& elements, int64_t room)
      : c_(c),
        elements_(elements),
        room_(room),
        positions_(PositionsOf(*c)),
        neighbours_(*c, positions_) {
    int step = 0;
    for (const Instruction* i : c->instructions()) {
      step_.push_back(step);
      if (!TakesNoTime(*i)) ++step;
    }
  }

  // Then bodies of loops, in the room that is left while they run.
  std::vector<KernelResult> Run(
      absl::FunctionRef<bool(const Instruction&)> may,
      absl::FunctionRef<int64_t(const Instruction&)> taken) {
    RangeMaximum live(c_->instruction_count());
    AddVmemResidents(*c_, positions_, &live);
    for (const Instruction* i : c_->instructions()) {
      const int at = positions_.at(i);
      live.Add(at, at, taken(*i));
    }
    // What surrounds a body counts what is taken in it.
    const auto nothing = [](const Instruction&) { return int64_t{0}; };
    std::vector<KernelResult> placed;
    const Choice choice = Chosen(live, may);
    for (const Candidate& c : choice.candidates) {
      live.Add(c.first, c.last, c.bytes);
      SetMemorySpace(c.maker, c.index, kMemoryVmem);
      placed.push_back({c.maker, c.index});
    }
    for (const Instruction* i : c_->instructions()) {
      if (i->opcode() != Opcode::kWhile) continue;
      const int at = positions_.at(i);
      Computation* body = i->while_body();
      if (body->callers().size() != 1) continue;
      const std::vector<KernelResult> inside =
          Assigner(body, elements_, room_ - live.Maximum(at, at))
              .Run(may, nothing);
      placed.insert(placed.end(), inside.begin(), inside.end());
    }
    return placed;
  }

  // Bytes of HBM traffic that Run would save in this computation.
  int64_t Saved(absl::FunctionRef<bool(const Instruction&)> may) {
    RangeMaximum live(c_->instruction_count());
    AddVmemResidents(*c_, positions_, &live);
    return Chosen(live, may).saved;
  }

 private:
  struct Choice {
    std::vector<Candidate> candidates;
    int64_t saved = 0;
  };

  // Those that save most per byte and step first, or, where more is saved so,
  // those that save most: small arrays in the way of a large one.
  Choice Chosen(const RangeMaximum& live,
                absl::FunctionRef<bool(const Instruction&)> may) {
    for (Instruction* i : c_->instructions()) {
      // What updates in place lies where its operand does.
      if (MayLieInVmem(*i) && InPlaceOperand(*i) < 0 && may(*i)) Consider(i);
    }
    FindNeighbours();
    const auto sort = [&](auto worth) {
      std::stable_sort(candidates_.begin(), candidates_.end(),
                       [&](const Candidate& a, const Candidate& b) {
                         return worth(a) > worth(b);
                       });
    };
    sort([](const Candidate& c) { return c.Worth(); });
    Choice dense = Fitting(live);
    sort([](const Candidate& c) { return c.Saved(); });
    Choice large = Fitting(live);
    if (large.saved > dense.saved) {
      return WithoutObstacles(live, std::move(large));
    }
    sort([](const Candidate& c) { return c.Worth(); });
    return WithoutObstacles(live, std::move(dense));
  }

  // A large array that is read at once saves much per byte and step, and may
  // keep out many that save more together, alive before it and behind: each of
  // the largest stays away where that saves more in sum.
  Choice WithoutObstacles(const RangeMaximum& live, Choice best) const {
    constexpr size_t kTries = 16;  // ASSUMED: each is a pass over all
    std::vector<Candidate> largest = best.candidates;
    std::stable_sort(largest.begin(), largest.end(),
                     [](const Candidate& a, const Candidate& b) {
                       return a.bytes > b.bytes;
                     });
    if (best.candidates.size() == candidates_.size()) return best;
    if (largest.size() > kTries) largest.resize(kTries);
    std::vector<bool> away(candidates_.size());
    for (const Candidate& c : largest) {
      away[c.number] = true;
      Choice other = Fitting(live, away);
      if (other.saved > best.saved) {
        best = std::move(other);
      } else {
        away[c.number] = false;
      }
    }
    return best;
  }

  // `away`, by number: none, or those that stay where they are.
  Choice Fitting(RangeMaximum live, const std::vector<bool>& away = {}) const {
    Choice choice;
    std::vector<bool> chosen(candidates_.size());
    for (Candidate c : candidates_) {
      if (!away.empty() && away[c.number]) continue;
      // The step in which two share a place counts once.
      const int64_t saved = c.Saved();
      c.first += c.before.IsInVmem(chosen) ? 1 : 0;
      c.last -= c.behind.IsInVmem(chosen) ? 1 : 0;
      if (live.Maximum(c.first, c.last) + c.bytes > room_) continue;
      live.Add(c.first, c.last, c.bytes);
      chosen[c.number] = true;
      choice.candidates.push_back(c);
      choice.saved += saved;
    }
    return choice;
  }

  void FindNeighbours() {
    absl::flat_hash_map<MemoryPlace, int> numbers;
    for (const Candidate& c : candidates_) {
      numbers[{c.maker, c.index}] = c.number;
    }
    const auto neighbour = [&](const MemoryPlace* place) {
      Neighbour n;
      if (place == nullptr) return n;
      const auto it = numbers.find(*place);
      if (it != numbers.end()) n.number = it->second;
      n.is_in_vmem = ShapeOf(*place).memory_space() == kMemoryVmem;
      return n;
    };
    for (Candidate& c : candidates_) {
      const MemoryPlace place = {c.maker, c.index};
      c.before = neighbour(neighbours_.Before(place));
      c.behind = neighbour(neighbours_.Behind(place));
    }
  }

  void Consider(Instruction* i) {
    if (i->shape().IsArray()) {
      Consider(i, -1, i->shape());
      return;
    }
    for (const Instruction* user : i->users()) {
      if (user->opcode() != Opcode::kGetTupleElement) return;
    }
    for (int k = 0; k < i->shape().element_count_of_tuple(); ++k) {
      if (i->shape().element(k).IsArray())
        Consider(i, k, i->shape().element(k));
    }
  }

  void Consider(Instruction* maker, int64_t index, const Shape& shape) {
    // Scalars go to SMEM, whatever is said here.
    if (shape.IsScalar() || shape.memory_space() != kMemoryHbm) return;
    Candidate c;
    c.maker = maker;
    c.index = index;
    c.number = static_cast<int>(candidates_.size());
    c.first = c.last = positions_.at(maker);
    c.bytes = PaddedBytes(shape);
    for (const Instruction* value : ValuesOf(maker, index)) {
      if (!c.CollectReads(value, positions_, elements_)) return;
    }
    if (c.bytes > room_ || c.reads == 0) return;
    c.steps = step_[c.last] - step_[c.first] + 1;
    candidates_.push_back(c);
  }

  Computation* c_;
  const ElementReads elements_;
  const int64_t room_;
  const Positions positions_;
  const SharedNeighbours neighbours_;
  std::vector<int> step_;  // by position
  std::vector<Candidate> candidates_;
};

// A depthwise convolution with padding that reads VMEM in place takes its axes
// whole: of the cores each has some tiles of rows, if there are enough. (v4:
// 7x7 of one tile of rows takes 61 us on both cores, 99 on one.)
bool FeedsWholeSteps(const Instruction& i, int cores) {
  return std::any_of(
      i.users().begin(), i.users().end(), [&](const Instruction* user) {
        if (!IsDepthwise(*user) || user->operand(0) != &i) return false;
        const ConvAttrs& a = user->attrs<ConvAttrs>();
        const int64_t batch =
            user->shape().dim(static_cast<int>(a.dims.output_batch));
        const auto& dims = a.window.dims;
        return CeilOfRatio(batch, kTileRows) % cores != 0 &&
               std::any_of(dims.begin(), dims.end(), [](const WindowDim& w) {
                 return w.padding_low != 0 || w.padding_high != 0;
               });
      });
}

}  // namespace

int64_t WholeRoomForResidents(const chips::ChipSpec& chip) {
  const chips::VmemSpec& vmem = chip.vmem();
  return (vmem.usable - vmem.scoped_limit + chip.cmem()).count();
}

int64_t RoomForResidents(const chips::ChipSpec& chip) {
  return WholeRoomForResidents(chip) / 8 * 7;
}

bool MayKeepResults(const Instruction& kernel, const chips::ChipSpec& chip) {
  return !chip.CoresShareOnlyHbm() ||
         (kernel.opcode() == Opcode::kFusion &&
          kernel.fusion_kind() != FusionKind::kOutput);
}

std::vector<KernelResult> PutIntoVmem(
    Computation* computation, const chips::ChipSpec& chip, int64_t room,
    absl::FunctionRef<bool(const Instruction&)> may,
    absl::FunctionRef<int64_t(const Instruction&)> taken) {
  if (room <= 0) return {};
  return Assigner(computation, ElementReads::Of(chip), room).Run(may, taken);
}

int64_t TrafficSavedInVmem(Computation* computation,
                           const chips::ChipSpec& chip, int64_t room) {
  if (room <= 0) return 0;
  return Assigner(computation, ElementReads::Of(chip), room)
      .Saved([](const Instruction&) { return true; });
}

absl::StatusOr<bool> MemorySpaceAssignmentPass::Run(
    Module* module, const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  const int cores = context.chip->core().cores_in_use;
  return !PutIntoVmem(module->entry(), *context.chip,
                      WholeRoomForResidents(*context.chip),
                      [&](const Instruction& i) {
                        return !FeedsWholeSteps(i, cores) &&
                               MayKeepResults(i, *context.chip);
                      })
              .empty();
}

}  // namespace ptxla::hlo
