#include "hlo_backend/passes/loops/loop_prefetch.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/range_maximum.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/trip_count.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/loops/loop_state.h"
#include "hlo_backend/passes/memory/kept_elements.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// What a copy brings is read at least so often. ASSUMED, from where on it pays.
constexpr int64_t kLeastReads = 2;
constexpr int64_t kRegisterBytes = 4096;

// Bytes in VMEM at position `at` and inside of the loops there, at most.
int64_t TakenAt(const RangeMaximum& live, int at,
                const Instruction& instruction);

// At any position.
int64_t MostTaken(const Computation& c) {
  const Positions positions = PositionsOf(c);
  RangeMaximum live(c.instruction_count());
  AddVmemResidents(c, positions, &live);
  int64_t most = 0;
  for (const Instruction* i : c.instructions()) {
    most = std::max(most, TakenAt(live, positions.at(i), *i));
  }
  return most;
}

int64_t TakenAt(const RangeMaximum& live, int at,
                const Instruction& instruction) {
  const int64_t here = live.Maximum(at, at);
  return instruction.opcode() == Opcode::kWhile
             ? here + MostTaken(*instruction.while_body())
             : here;
}

// Does a slice take whole planes, of whole registers of one column of tiles?
// They are read in VMEM where they lie; others would be copied twice.
bool TakesPlanes(const Instruction& slice) {
  const Shape &to = slice.shape(), &from = slice.operand(0)->shape();
  const int rank = from.rank();
  if (rank < 3 || !from.layout().IsRowMajor() || from.dim(rank - 1) > kLanes) {
    return false;
  }
  int64_t planes = 1;
  for (int d = 0; d < rank - 2; ++d) planes *= from.dim(d);
  return to.dim(rank - 1) == from.dim(rank - 1) &&
         to.dim(rank - 2) == from.dim(rank - 2) &&
         PaddedBytes(from) % (planes * kRegisterBytes) == 0;
}

// Bytes that a kernel takes of an operand; nothing: not where it lies.
std::optional<int64_t> BytesRead(const Instruction& kernel,
                                 const Instruction& value) {
  if (kernel.opcode() == Opcode::kDynamicSlice) {
    if (!TakesPlanes(kernel)) return {};
    return PaddedBytes(kernel.shape());
  }
  const int64_t whole = PaddedBytes(value.shape());
  if (kernel.opcode() != Opcode::kFusion) return whole;
  int64_t bytes = 0;
  for (int k = 0; k < kernel.operand_count(); ++k) {
    if (kernel.operand(k) != &value) continue;
    for (const Instruction* user : kernel.fused()->parameter(k)->users()) {
      if (user->opcode() == Opcode::kDynamicSlice) return {};
      bytes +=
          user->opcode() == Opcode::kSlice ? user->shape().ByteSize() : whole;
    }
  }
  return std::min(bytes, whole);
}

std::optional<int64_t> BytesOfLoop(Instruction* loop, int k);

// Of one iteration, of what `value` names; nothing: somebody else than kernels
// in VMEM has it, and the next state, which is the same.
std::optional<int64_t> BytesOfValue(const Instruction& value, int k,
                                    const Instruction& next) {
  int64_t bytes = 0;
  for (Instruction* user : value.users()) {
    std::optional<int64_t> more;
    if (user == &next) {
      // Where it was, and nowhere else.
      if (k < 0 || next.OperandUses(&value) != 1 || next.operand(k) != &value) {
        return {};
      }
      more = 0;
    } else if (user->opcode() == Opcode::kBitcast &&
               !user->shape().IsScalar()) {
      more = BytesOfValue(*user, -1, next);
    } else if (user->opcode() == Opcode::kTuple && user->user_count() == 1 &&
               user->users()[0]->opcode() == Opcode::kWhile) {
      if (user->OperandUses(&value) != 1) return {};
      const auto at =
          std::find(user->operands().begin(), user->operands().end(), &value);
      more = BytesOfLoop(user->users()[0],
                         static_cast<int>(at - user->operands().begin()));
    } else if (user->opcode() != Opcode::kGather &&
               user->opcode() != Opcode::kScatter &&
               ReadsInVmem(*user, value) && !UpdatesInPlace(*user, value)) {
      more = BytesRead(*user, value);
    }
    if (!more.has_value()) return {};
    bytes += *more;
  }
  return bytes;
}

// Of element k of its state, in all iterations.
std::optional<int64_t> BytesOfLoop(Instruction* loop, int k) {
  const std::optional<TripCount> trips = TripCountOf(*loop);
  if (!trips.has_value() || !LoopState(loop).IsPlain() ||
      !ElementsOf(*loop, k).empty() ||
      !ElementsOf(*loop->while_condition()->parameter(0), k).empty()) {
    return {};
  }
  const Computation& body = *loop->while_body();
  if (!KeepsElement(*loop, k)) return {};
  int64_t bytes = 0;
  for (const Instruction* value : ElementsOf(*body.parameter(0), k)) {
    const auto more = BytesOfValue(*value, k, *body.root());
    if (!more.has_value()) return {};
    bytes += *more;
  }
  return bytes * trips->count;
}

// Element k of the loop and of those that it hands it to.
void NameInLoop(Instruction* loop, int k) {
  const auto element = [&](Instruction* tuple) {
    SetSpace(tuple->mutable_shape()->mutable_element(k), kMemoryVmem);
  };
  element(loop->operand(0));
  element(loop);
  element(loop->while_condition()->parameter(0));
  element(loop->while_body()->parameter(0));
  element(loop->while_body()->root());
  std::vector<Instruction*> names =
      ElementsOf(*loop->while_body()->parameter(0), k);
  for (Instruction* value : names) SetMemorySpace(value, -1, kMemoryVmem);
  for (size_t n = 0; n < names.size(); ++n) {
    for (Instruction* user : names[n]->users()) {
      if (user->opcode() == Opcode::kBitcast) names.push_back(user);
      if (user->opcode() != Opcode::kTuple || user->IsRoot()) continue;
      const auto at =
          std::find(user->operands().begin(), user->operands().end(), names[n]);
      NameInLoop(user->users()[0],
                 static_cast<int>(at - user->operands().begin()));
    }
  }
}

class LoopPrefetcher {
 public:
  LoopPrefetcher(Computation* c, int64_t room)
      : c_(c),
        room_(room),
        positions_(PositionsOf(*c)),
        live_(c->instruction_count()) {
    AddVmemResidents(*c, positions_, &live_);
    for (Instruction* i : c->instructions()) {
      order_.push_back(i);
      spare_.push_back(TakesTime(*i) ? BytesTouched(*i) : 0);
    }
  }

  bool Run() {
    bool changed = false;
    for (Instruction* i : order_) {
      if (i->opcode() == Opcode::kTuple && i->user_count() == 1 &&
          i->users()[0]->opcode() == Opcode::kWhile) {
        changed |= Fetch(i, i->users()[0]);
      }
    }
    if (!changed) return false;
    std::vector<Instruction*> result;
    for (Instruction* i : order_) {
      const std::vector<Instruction*>& before = before_[i];
      result.insert(result.end(), before.begin(), before.end());
      result.push_back(i);
    }
    c_->Reorder(result);
    return true;
  }

 private:
  bool Fetch(Instruction* init, Instruction* loop) {
    const int at = positions_.at(loop);
    bool changed = false;
    for (int k = 0; k < init->operand_count(); ++k) {
      Instruction* start = init->operand(k);
      const Shape& shape = start->shape();
      if (!shape.IsArray() || shape.IsScalar() ||
          shape.memory_space() != kMemoryHbm) {
        continue;
      }
      const int64_t bytes = PaddedBytes(shape);
      const std::optional<int64_t> read = BytesOfLoop(loop, k);
      if (!read.has_value() || *read < kLeastReads * bytes) continue;
      const std::optional<int> from = StartOfHidden(*start, *init, bytes);
      if (!from.has_value() || TakenAt(live_, at, *loop) + bytes > room_ ||
          live_.Maximum(*from, at) + bytes > room_) {
        continue;
      }
      live_.Add(*from, at, bytes);
      TakeTime(*from, positions_.at(init), bytes);
      init->ReplaceOperand(k, Copied(start, order_[*from], init));
      NameInLoop(loop, k);
      changed = true;
    }
    return changed;
  }

  // Where the copy starts: kernels from there to the loop move as many bytes,
  // wherever these lie (so libtpu 0.0.42.1 counts, v5e and v6e), and hide no
  // other copy. Nothing: not enough runs before it.
  std::optional<int> StartOfHidden(const Instruction& value,
                                   const Instruction& init,
                                   int64_t bytes) const {
    int64_t moved = 0;
    for (int at = positions_.at(&init) - 1; at > positions_.at(&value); --at) {
      moved += spare_[at];
      if (moved >= bytes || order_[at]->opcode() == Opcode::kWhile) return at;
    }
    return {};
  }

  void TakeTime(int from, int to, int64_t bytes) {
    for (int at = to - 1; at >= from && bytes > 0; --at) {
      const int64_t taken = std::min(bytes, spare_[at]);
      spare_[at] -= taken;
      bytes -= taken;
    }
  }

  // The value in VMEM, by a copy that starts before `from` and ends before
  // `to`.
  Instruction* Copied(Instruction* value, Instruction* from, Instruction* to) {
    Shape resident = value->shape();
    SetSpace(&resident, kMemoryVmem);
    Shape context = Shape::Scalar(PrimitiveType::kU32);
    context.mutable_layout()->memory_space = kMemorySyncFlag;
    Instruction* start = c_->Add(
        Opcode::kCopyStart, Shape::Tuple({resident, value->shape(), context}),
        {value}, CopyStartAttrs());
    Instruction* done = c_->Add(Opcode::kCopyDone, resident, {start});
    before_[from].push_back(start);
    before_[to].push_back(done);
    return done;
  }

  Computation* c_;
  const int64_t room_;
  const Positions positions_;
  RangeMaximum live_;
  std::vector<Instruction*> order_;
  std::vector<int64_t> spare_;  // by position: bytes that hide no copy yet
  // By what they come before. Never iterated.
  absl::flat_hash_map<const Instruction*, std::vector<Instruction*>> before_;
};

}  // namespace

absl::StatusOr<bool> LoopPrefetchPass::Run(Module* module,
                                           const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  const int64_t room = RoomForResidents(*context.chip);
  return room > 0 && LoopPrefetcher(module->entry(), room).Run();
}

}  // namespace ptxla::hlo
