#include "hlo_backend/passes/memory_space_assignment.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/buffer_plan.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/memory_places.h"
#include "hlo_backend/passes/range_maximum.h"
#include "hlo_backend/passes/shared_places.h"

namespace ptxla::hlo {
namespace {

// One array that a kernel makes.
struct Candidate {
  Instruction* maker = nullptr;
  int64_t index = -1;
  int first = 0, last = 0;  // positions
  int64_t bytes = 0;
  int reads = 0;
  int steps = 1;  // from first to last, without what takes no time
  // HBM traffic saved; per byte and step.
  int64_t Saved() const { return (1 + reads) * bytes; }
  double Worth() const { return static_cast<double>(1 + reads) / steps; }
};

// The result takes the place of `value`.
bool UpdatesInPlace(const Instruction& user, const Instruction& value) {
  const int operand = InPlaceOperand(user);
  return operand >= 0 && user.operand(operand) == &value;
}

// Everything that names one place: get-tuple-elements, bitcasts and what is
// updated in it. False if something other than a kernel reads it.
bool CollectNames(Instruction* value, const Positions& positions,
                  std::vector<Instruction*>* names, Candidate* c) {
  if (value->IsRoot()) return false;
  for (Instruction* user : value->users()) {
    const bool updates = UpdatesInPlace(*user, *value);
    if (updates && !MayLieInVmem(*user)) return false;
    // A scalar is read from SMEM.
    if (user->opcode() == Opcode::kBitcast && user->shape().IsScalar()) {
      return false;
    }
    if (user->opcode() == Opcode::kBitcast || updates) {
      names->push_back(user);
      if (!CollectNames(user, positions, names, c)) return false;
    }
    if (user->opcode() == Opcode::kBitcast) continue;
    if (ReadsInVmem(*user, *value)) {
      c->last = std::max(c->last, positions.at(user));
      ++c->reads;
    } else {
      return false;
    }
  }
  return true;
}

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

// The instructions that stand for element `index` of a result.
std::vector<Instruction*> Values(Instruction* maker, int64_t index) {
  if (index < 0) return {maker};
  std::vector<Instruction*> values;
  for (Instruction* user : maker->users()) {
    if (user->opcode() == Opcode::kGetTupleElement &&
        user->tuple_index() == index) {
      values.push_back(user);
    }
    // The first element of an asynchronous copy is what its end gives.
    if (user->opcode() == Opcode::kCopyDone && index == 0) {
      values.push_back(user);
    }
  }
  return values;
}

void SetSpace(Shape* shape, int memory_space) {
  shape->mutable_layout()->memory_space = memory_space;
}

void SetSpaceOfNames(Instruction* value, int memory_space) {
  SetSpace(value->mutable_shape(), memory_space);
  for (Instruction* user : value->users()) {
    if (user->opcode() == Opcode::kBitcast || UpdatesInPlace(*user, *value)) {
      SetSpaceOfNames(user, memory_space);
    }
    if (user->opcode() != Opcode::kFusion) continue;
    for (int k = 0; k < user->operand_count(); ++k) {
      if (user->operand(k) != value) continue;
      SetSpace(user->fused()->parameter(k)->mutable_shape(), memory_space);
    }
  }
}

// Whether what a place takes over, or what takes it over, is in VMEM, or among
// those that are to be.
class SharedNeighbours {
 public:
  using Places = absl::flat_hash_set<MemoryPlace>;

  SharedNeighbours(const Computation& c, const Positions& positions) {
    for (const SharedPlace& s : SharedPlaces(c, positions)) {
      before_[s.to] = s.from;
      behind_[s.from] = s.to;
    }
  }
  bool IsBefore(const MemoryPlace& place, const Places& chosen) const {
    return IsInVmem(before_, place, chosen);
  }
  bool IsBehind(const MemoryPlace& place, const Places& chosen) const {
    return IsInVmem(behind_, place, chosen);
  }

 private:
  using Map = absl::flat_hash_map<MemoryPlace, MemoryPlace>;
  static bool IsInVmem(const Map& map, const MemoryPlace& place,
                       const Places& chosen) {
    const auto it = map.find(place);
    return it != map.end() &&
           (chosen.contains(it->second) ||
            ShapeOf(it->second).memory_space() == kMemoryVmem);
  }

  Map before_, behind_;
};

class Assigner {
 public:
  Assigner(Computation* c, int64_t room)
      : c_(c),
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
      absl::FunctionRef<bool(const Instruction&)> may) {
    RangeMaximum live(c_->instruction_count());
    AddVmemResidents(*c_, positions_, &live);
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
          Assigner(body, room_ - live.Maximum(at, at)).Run(may);
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
    if (large.saved > dense.saved) return large;
    return dense;
  }

  Choice Fitting(RangeMaximum live) const {
    Choice choice;
    SharedNeighbours::Places chosen;
    for (Candidate c : candidates_) {
      // The step in which two share a place counts once.
      const MemoryPlace place = {c.maker, c.index};
      const int64_t saved = c.Saved();
      c.first += neighbours_.IsBefore(place, chosen) ? 1 : 0;
      c.last -= neighbours_.IsBehind(place, chosen) ? 1 : 0;
      if (live.Maximum(c.first, c.last) + c.bytes > room_) continue;
      live.Add(c.first, c.last, c.bytes);
      chosen.insert(place);
      choice.candidates.push_back(c);
      choice.saved += saved;
    }
    return choice;
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
    c.first = c.last = positions_.at(maker);
    c.bytes = PaddedBytes(shape);
    std::vector<Instruction*> names;
    for (Instruction* value : Values(maker, index)) {
      if (!CollectNames(value, positions_, &names, &c)) return;
    }
    if (c.bytes > room_ || c.reads == 0) return;
    c.steps = step_[c.last] - step_[c.first] + 1;
    candidates_.push_back(c);
  }

  Computation* c_;
  const int64_t room_;
  const Positions positions_;
  const SharedNeighbours neighbours_;
  std::vector<int> step_;  // by position
  std::vector<Candidate> candidates_;
};

}  // namespace

namespace {

// A step of a convolution whose result (or what is added to it) lies in VMEM
// makes planes of the outermost dimension as a whole; its window of the input
// is in the scoped VMEM twice, beside weights and sums.
constexpr int64_t kMostPlaneBytes = int64_t{4} << 20;

bool HasLargePlanes(const Instruction& kernel) {
  const Instruction* i = ConvolutionOf(kernel);
  if (i == nullptr) return false;
  const ConvAttrs& a = i->attrs<ConvAttrs>();
  const Shape& input = i->operand(0)->shape();
  const auto spatial = static_cast<int64_t>(a.window.dims.size());
  if (spatial == 0 || !input.has_layout()) return false;
  // A gradient's sums are in VMEM as a whole, whatever its windows are.
  if (a.dims.input_feature == spatial) return false;
  const WindowDim& outer = a.window.dims[0];
  const int64_t all = input.dim(static_cast<int>(a.dims.input_spatial[0]));
  // Of a dilated input as many results as its dilation are made together.
  const int64_t planes =
      std::min(all, outer.DilatedSize() / outer.base_dilation +
                        (outer.base_dilation > 1 ? 2 : 0));
  return PaddedBytes(input) / std::max<int64_t>(all, 1) * planes >
         kMostPlaneBytes;
}

}  // namespace

bool IsVmemKernel(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kFusion:
      return !HasLargePlanes(i);
    case Opcode::kConvolution:
      return IsProduct(i) && !HasLargePlanes(i);
    case Opcode::kDot:
    case Opcode::kReduce:
    case Opcode::kReshape:
    case Opcode::kCopy:
    case Opcode::kBroadcast:
      return true;
    case Opcode::kTranspose:
      // More dimensions are walked by windows only.
      return i.shape().rank() <= 5;
    default:
      return i.IsElementwise();
  }
}

bool MayLieInVmem(const Instruction& i) {
  // More dimensions are walked by windows of HBM only.
  constexpr int kMostRank = 5;
  const auto few_dimensions = [](const Shape& shape) {
    return !shape.IsArray() || shape.rank() <= kMostRank;
  };
  switch (i.opcode()) {
    case Opcode::kConcatenate:
    case Opcode::kDynamicSlice:
    case Opcode::kDynamicUpdateSlice:
    case Opcode::kReduceWindow:
    case Opcode::kRngBitGenerator:
    case Opcode::kSelectAndScatter:
    case Opcode::kSlice:
      break;
    case Opcode::kPad:
      for (const PaddingDim& d : i.attrs<PadAttrs>().dims) {
        if (d.interior != 0 || d.low < 0 || d.high < 0) return false;
      }
      break;
    case Opcode::kGather: {
      constexpr int kTileRows = 8;
      if (GathersPlanes(i)) break;
      // Packed rows are put together in windows of HBM, as are results of less
      // than whole tiles.
      if (BitWidth(i.shape().type()) != 32 || i.shape().rank() != 2 ||
          i.shape().dim(0) % kTileRows != 0) {
        return false;
      }
      break;
    }
    case Opcode::kScatter:
      // Rows of a table, each by transfers of its own.
      if (i.operand_count() != 3 || i.shape().rank() != 2) return false;
      break;
    default:
      return IsVmemKernel(i);
  }
  return few_dimensions(i.shape()) &&
         std::all_of(
             i.operands().begin(), i.operands().end(),
             [&](const Instruction* o) { return few_dimensions(o->shape()); });
}

bool ReadsInVmem(const Instruction& kernel, const Instruction& operand) {
  if (!MayLieInVmem(kernel) ||
      (ReadsWindows(kernel, operand) && !ReadsPlanesInPlace(kernel, operand))) {
    return false;
  }
  // Row numbers come from HBM to SMEM, updates by windows.
  return (kernel.opcode() != Opcode::kGather &&
          kernel.opcode() != Opcode::kScatter) ||
         (kernel.operand(0) == &operand && kernel.operand(1) != &operand);
}

int64_t WholeRoomForResidents(const chips::ChipSpec& chip) {
  const chips::VmemSpec& vmem = chip.vmem();
  return (vmem.usable - vmem.scoped_limit + chip.cmem()).count();
}

int64_t RoomForResidents(const chips::ChipSpec& chip) {
  return WholeRoomForResidents(chip) / 8 * 7;
}

void SetMemorySpace(Instruction* maker, int64_t index, int memory_space) {
  for (Instruction* value : Values(maker, index)) {
    SetSpaceOfNames(value, memory_space);
  }
  Instruction* root =
      maker->opcode() == Opcode::kFusion ? maker->fused()->root() : nullptr;
  if (index < 0) {
    if (root != nullptr) SetSpace(root->mutable_shape(), memory_space);
    return;
  }
  const int k = static_cast<int>(index);
  SetSpace(maker->mutable_shape()->mutable_element(k), memory_space);
  if (root != nullptr) {
    SetSpace(root->mutable_shape()->mutable_element(k), memory_space);
    SetSpace(root->operand(k)->mutable_shape(), memory_space);
  }
}

std::vector<KernelResult> PutIntoVmem(
    Computation* computation, int64_t room,
    absl::FunctionRef<bool(const Instruction&)> may) {
  if (room <= 0) return {};
  return Assigner(computation, room).Run(may);
}

int64_t TrafficSavedInVmem(Computation* computation, int64_t room) {
  if (room <= 0) return 0;
  return Assigner(computation, room).Saved([](const Instruction&) {
    return true;
  });
}

absl::StatusOr<bool> MemorySpaceAssignmentPass::Run(
    Module* module, const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  return !PutIntoVmem(module->entry(), WholeRoomForResidents(*context.chip),
                      [](const Instruction&) { return true; })
              .empty();
}

}  // namespace ptxla::hlo
