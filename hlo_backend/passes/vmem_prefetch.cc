#include "hlo_backend/passes/vmem_prefetch.h"

#include <algorithm>
#include <map>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/memory_places.h"
#include "hlo_backend/passes/memory_space_assignment.h"
#include "hlo_backend/passes/range_maximum.h"

namespace ptxla::hlo {
namespace {

// Readers further apart keep VMEM from others for too long.
constexpr int kMostPositions = 16;

class Prefetcher {
 public:
  Prefetcher(Computation* c, int64_t room)
      : c_(c),
        room_(room),
        positions_(PositionsOf(*c)),
        live_(c->instruction_count()) {
    for (Instruction* i : c->instructions()) {
      order_.push_back(i);
      AddResident(*i);
    }
  }

  bool Run() {
    bool changed = false;
    const std::vector<Instruction*> parameters(c_->parameters().begin(),
                                               c_->parameters().end());
    for (Instruction* p : parameters) {
      if (p->shape().IsArray() && !p->shape().IsScalar()) changed |= Fetch(p);
    }
    if (!changed) return false;
    std::vector<Instruction*> result;
    for (Instruction* i : order_) {
      for (Instruction* before : before_[i]) result.push_back(before);
      result.push_back(i);
    }
    c_->Reorder(result);
    return true;
  }

 private:
  struct Reader {
    Instruction* kernel;
    Instruction* name;  // the parameter, or a bitcast of it
  };

  // What is in VMEM already, from its maker to its last reader.
  void AddResident(const Instruction& i) {
    if (OnlyNamesMemory(i) || i.opcode() == Opcode::kParameter) return;
    auto add = [&](const Shape& shape, int64_t index) {
      if (!shape.IsArray() || shape.memory_space() != kMemoryVmem) return;
      const int first = positions_.at(&i);
      const int last = std::max(first, LastRead({&i, index}, positions_));
      live_.Add(first, last, PaddedBytes(shape));
    };
    if (i.shape().IsArray()) add(i.shape(), -1);
    for (int k = 0; k < i.shape().element_count_of_tuple(); ++k) {
      add(i.shape().element(k), k);
    }
  }

  std::vector<Reader> ReadersOf(Instruction* value) const {
    std::vector<Reader> readers;
    for (Instruction* user : value->users()) {
      if (user->opcode() == Opcode::kBitcast) {
        for (const Reader& r : ReadersOf(user)) readers.push_back(r);
      } else if (IsVmemKernel(*user)) {
        readers.push_back({user, value});
      }
    }
    return readers;
  }

  bool Fetch(Instruction* parameter) {
    std::vector<Reader> readers = ReadersOf(parameter);
    if (readers.size() < 2) return false;
    int first = INT32_MAX, last = -1;
    for (const Reader& r : readers) {
      first = std::min(first, positions_.at(r.kernel));
      last = std::max(last, positions_.at(r.kernel));
    }
    if (last - first > kMostPositions || first == last) return false;
    int start = first;
    for (int k = first - 1; k >= 0 && k > first - kMostPositions; --k) {
      if (!IsVmemKernel(*order_[k])) continue;
      start = k;
      break;
    }
    const int64_t bytes = PaddedBytes(parameter->shape());
    if (live_.Maximum(start, last) + bytes > room_) return false;
    live_.Add(start, last, bytes);

    Shape resident = parameter->shape();
    resident.mutable_layout()->memory_space = kMemoryVmem;
    Shape context = Shape::Scalar(PrimitiveType::kU32);
    context.mutable_layout()->memory_space = kMemorySyncFlag;
    Instruction* copy_start =
        c_->Add(Opcode::kCopyStart,
                Shape::Tuple({resident, parameter->shape(), context}),
                {parameter}, CopyStartAttrs());
    Instruction* done = c_->Add(Opcode::kCopyDone, resident, {copy_start});
    before_[order_[start]].push_back(copy_start);
    before_[order_[first]].push_back(done);
    for (const Reader& r : readers) {
      Instruction* value = done;
      if (r.name != parameter) {
        value = c_->Add(Opcode::kBitcast, r.name->shape(), {done});
        before_[r.kernel].push_back(value);
      }
      r.name->ReplaceUseIn(r.kernel, value);
    }
    SetMemorySpace(done, -1, kMemoryVmem);
    return true;
  }

  Computation* c_;
  const int64_t room_;
  const Positions positions_;
  RangeMaximum live_;
  std::vector<Instruction*> order_;
  std::map<const Instruction*, std::vector<Instruction*>> before_;
};

}  // namespace

absl::StatusOr<bool> VmemPrefetchPass::Run(Module* module,
                                           const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  const int64_t room = RoomForResidents(*context.chip);
  if (room <= 0) return false;
  return Prefetcher(module->entry(), room).Run();
}

}  // namespace ptxla::hlo
