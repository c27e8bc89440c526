#include "hlo_backend/passes/memory/vmem_prefetch.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "base/range_maximum.h"
#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/filled_scatter.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/memory/copy_to_vmem.h"
#include "hlo_backend/passes/memory/late_gathers.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// Of a shared copy as much must be hidden, 1 / 4: waiting for the rest takes no
// longer than the first reader would beside the copy. ASSUMED.
constexpr int64_t kHiddenShare = 4;

class Prefetcher {
 public:
  Prefetcher(Computation* c, const chips::ChipSpec& chip,
             int64_t bytes_in_latency)
      : c_(c),
        chip_(chip),
        room_(RoomForResidents(chip)),
        whole_room_(WholeRoomForResidents(chip)),
        bytes_in_latency_(bytes_in_latency),
        positions_(PositionsOf(*c)),
        live_(c->instruction_count()) {
    for (Instruction* i : c->instructions()) {
      if (first_kernel_ < 0 && TakesTime(*i)) {
        first_kernel_ = static_cast<int>(order_.size());
      }
      order_.push_back(i);
      spare_.push_back(TakesTime(*i) ? BytesTouched(*i) : 0);
      const bool is_short = TakesTime(*i) && spare_.back() <= bytes_in_latency;
      far_.push_back((far_.empty() ? 0 : far_.back()) + !is_short);
    }
    AddVmemResidents(*c, positions_, &live_);
  }

  bool Run() {
    bool changed = FetchForLoneReduce();
    changed |= FetchUnhidden();
    for (Instruction* p : ParametersByNeed()) changed |= Fetch(p);
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
  std::vector<ParameterReader> ReadersOf(Instruction* value) const {
    return ReadersThat(value,
                       [&](const Instruction& user, const Instruction& name) {
                         const Opcode op = user.opcode();
                         return IsFilledScatter(user) || op == Opcode::kSort ||
                                        op == Opcode::kDynamicSlice ||
                                        WantsWholeTable(user, chip_) ||
                                        WantsWholePlanes(user, chip_)
                                    ? ReadsInVmem(user, name)
                                    : TakesWhole(user, name);
                       });
  }
  // Those for which nobody would copy it, and that read a copy if there is one:
  // none of ReadersOf.
  std::vector<ParameterReader> GathersOf(Instruction* value) const {
    return ReadersThat(
        value, [&](const Instruction& user, const Instruction& name) {
          return GathersElements(user) && !WantsWholeTable(user, chip_) &&
                 ReadsInVmem(user, name);
        });
  }

  // Arrays, those that are read sooner first: room and time to hide in are
  // theirs, whatever the parameters' numbers.
  std::vector<Instruction*> ParametersByNeed() const {
    std::vector<std::pair<int, Instruction*>> needed;
    for (Instruction* p : c_->parameters()) {
      if (!p->shape().IsArray() || p->shape().IsScalar()) continue;
      int first = c_->instruction_count();
      for (const ParameterReader& r : ReadersOf(p)) {
        first = std::min(first, PositionOf(r));
      }
      needed.emplace_back(first, p);
    }
    std::stable_sort(
        needed.begin(), needed.end(),
        [](const auto& a, const auto& b) { return a.first < b.first; });
    std::vector<Instruction*> parameters;
    parameters.reserve(needed.size());
    for (const auto& [first, p] : needed) parameters.push_back(p);
    return parameters;
  }

  // Nothing runs before the first kernel, so nothing hides this copy: a reduce
  // that is all of the program still gets the larger of those arrays whole that
  // nobody else reads.
  bool FetchForLoneReduce() {
    Instruction* first = nullptr;
    for (Instruction* i : order_) {
      if (!IsVmemKernel(*i) && !IsLargeConvolution(*i)) continue;
      first = i;
      break;
    }
    if (first == nullptr || !OnlyReduces(*first) || !IsAlone(*first, order_)) {
      return false;
    }
    Instruction* largest = nullptr;
    for (int k = 0; k < first->operand_count(); ++k) {
      if (!ReducesAsItIs(*first, k) || !TakesWhole(*first, *first->operand(k)))
        continue;
      Instruction* p = HbmParameterOf(first->operand(k));
      if (p == nullptr || PaddedBytes(p->shape()) > whole_room_ ||
          ReadersOf(p).size() > 1) {
        continue;
      }
      if (largest == nullptr ||
          PaddedBytes(p->shape()) > PaddedBytes(largest->shape())) {
        largest = p;
      }
    }
    return largest != nullptr && Fetch(largest, first);
  }

  // Arrays that their kernels have at once, whether that is hidden or not.
  bool FetchUnhidden() {
    bool changed = false;
    for (Instruction* i : order_) {
      for (int k = 0; k < i->operand_count(); ++k) {
        if (!WantsUnhidden(*i, k, chip_)) continue;
        Instruction* p = HbmParameterOf(i->operand(k));
        if (p != nullptr) changed |= Fetch(p, i);
      }
    }
    return changed;
  }

  // `only`: the one reader, and nothing before it hides the copy.
  bool Fetch(Instruction* parameter, Instruction* only = nullptr) {
    std::vector<ParameterReader> readers = ReadersOf(parameter);
    std::sort(readers.begin(), readers.end(),
              [&](const ParameterReader& a, const ParameterReader& b) {
                return PositionOf(a) < PositionOf(b);
              });
    bool changed = false;
    for (auto begin = readers.begin(); begin != readers.end();) {
      auto end = begin + 1;
      while (end != readers.end() &&
             far_[PositionOf(*end)] - far_[PositionOf(*begin)] <=
                 kMostBetweenReaders) {
        ++end;
      }
      std::vector<ParameterReader> near(begin, end);
      begin = end;
      if (only != nullptr) {
        if (near.front().kernel != only) continue;
        if (begin != readers.end()) near.resize(1);
      }
      changed |= FetchFor(parameter, std::move(near), only);
    }
    return changed;
  }

  int PositionOf(const ParameterReader& r) const {
    return positions_.at(r.kernel);
  }

  // Readers near one another, in their order.
  bool FetchFor(Instruction* parameter, std::vector<ParameterReader> readers,
                const Instruction* only) {
    int first = PositionOf(readers.front());
    const int last = PositionOf(readers.back());
    const bool one = only == nullptr && first == last;
    const OperandUse use = UseOf(*readers[0].kernel, *readers[0].name);
    if (one && (readers.size() > 1 || use == OperandUse::kOneRowProduct))
      return false;
    const int64_t bytes = PaddedBytes(parameter->shape());
    int before = first;
    // The program's first kernel reads HBM itself: the copy for those behind it
    // runs at the same time.
    if (only == nullptr && first == first_kernel_) {
      readers.erase(std::remove_if(readers.begin(), readers.end(),
                                   [&](const ParameterReader& r) {
                                     return PositionOf(r) == first;
                                   }),
                    readers.end());
      if (readers.empty()) return false;
      first = PositionOf(readers.front());
    }
    int start = one ? StartOfHidden(first, bytes, use == OperandUse::kProduct)
                    : StartOfShared(before, last, bytes);
    // Hardly a copy for several that pass over the array is hidden: the first
    // of them streams it, and the copy for the others runs meanwhile.
    if (only == nullptr && !one && first == before && first != last &&
        use == OperandUse::kOther &&
        Spare(start, first) < bytes / kHiddenShare) {
      readers.erase(std::remove_if(readers.begin(), readers.end(),
                                   [&](const ParameterReader& r) {
                                     return PositionOf(r) == first;
                                   }),
                    readers.end());
      start = first;
      first = PositionOf(readers.front());
    }
    // Nothing hides it: the kernel streams its operand as well.
    if (one && start == first) return false;
    if (!Fits(start, last, bytes)) return false;
    live_.Add(start, last, bytes);
    if (only == nullptr) TakeTime(start, first, bytes);
    for (const ParameterReader& r : GathersOf(parameter)) {
      if (first < PositionOf(r) && PositionOf(r) < last) readers.push_back(r);
    }
    Copy(parameter, readers, start, first);
    return true;
  }

  // The position of the kernel before that at `position`, or that.
  int KernelBefore(int position) const {
    for (int k = position - 1; k >= 0 && k > position - kMostBetweenReaders;
         --k) {
      if (TakesTime(*order_[k])) return k;
    }
    return position;
  }

  // Bytes that kernels from `start` to `first` could hide.
  int64_t Spare(int start, int first) const {
    int64_t bytes = 0;
    for (int k = start; k < first; ++k) {
      if (TakesTime(*order_[k])) bytes += spare_[k] + bytes_in_latency_;
    }
    return bytes;
  }

  // Where the copy for several readers starts: before the kernel that comes
  // before the first, or so early that others hide it, as far as there is room.
  int StartOfShared(int first, int last, int64_t bytes) const {
    int start = KernelBefore(first);
    int64_t moved = spare_[start];
    for (int k = start - 1;
         k > first_kernel_ && k > first - kMostBetweenReaders &&
         moved < bytes && Fits(k, last, bytes);
         --k) {
      if (!TakesTime(*order_[k])) continue;
      start = k;
      moved += spare_[k];
    }
    return start;
  }

  // There is room for an array from `start` to `last`.
  bool Fits(int start, int last, int64_t bytes) const {
    const int64_t beside = live_.Maximum(start, last);
    return beside + bytes <= (beside == 0 ? whole_room_ : room_);
  }

  // Where the copy for the kernel at `first` starts: so early that others move
  // as many bytes as it does, and as come in HBM's latency; else as early as
  // may be, if their time hides it all the same: each waits for memory, too.
  // `first`: nothing hides it, or of a product's operand not even half.
  int StartOfHidden(int first, int64_t bytes, bool for_product) const {
    int start = first;
    int64_t moved = 0, waited = 0;
    for (int k = first - 1; k >= 0 && k > first - kMostBetweenReaders; --k) {
      if (!TakesTime(*order_[k])) continue;
      // The first kernel's own windows would wait for a copy of more than it
      // moves itself.
      if (k == first_kernel_ && BytesTouched(*order_[k]) < bytes) {
        break;
      }
      start = k;
      moved += spare_[k];
      waited += bytes_in_latency_;
      if (moved >= bytes + bytes_in_latency_) return start;
    }
    const int64_t needed = for_product ? bytes / 2 : bytes + bytes_in_latency_;
    return moved + waited >= needed ? start : first;
  }

  // Kernels from `start` to `first` hide no other copy of so many bytes.
  void TakeTime(int start, int first, int64_t bytes) {
    for (int k = first - 1; k >= start && bytes > 0; --k) {
      const int64_t taken = std::min(bytes, spare_[k]);
      spare_[k] -= taken;
      bytes -= taken;
    }
  }

  void Copy(Instruction* parameter, const std::vector<ParameterReader>& readers,
            int start, int first) {
    const VmemCopy copy = CopyToVmem(parameter, readers);
    before_[order_[start]].push_back(copy.start);
    before_[order_[first]].push_back(copy.done);
    for (const auto& [name, kernel] : copy.names) {
      before_[kernel].push_back(name);
    }
  }

  Computation* c_;
  const chips::ChipSpec& chip_;
  const int64_t room_;              // for several arrays
  const int64_t whole_room_;        // for one alone
  const int64_t bytes_in_latency_;  // HBM's, while a DMA starts
  int first_kernel_ = -1;           // position
  const Positions positions_;
  RangeMaximum live_;
  std::vector<Instruction*> order_;
  // By position: bytes that could come from HBM in the kernel's time, unless
  // copies of others do; time counted in bytes, as memory bounds most kernels.
  std::vector<int64_t> spare_;
  std::vector<int> far_;  // by position: instructions but short kernels
  std::map<const Instruction*, std::vector<Instruction*>> before_;
};

}  // namespace

absl::StatusOr<bool> VmemPrefetchPass::Run(Module* module,
                                           const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  if (RoomForResidents(*context.chip) <= 0) return false;
  const double bytes_in_latency =
      static_cast<double>(context.chip->hbm_bandwidth_per_device().count()) *
      static_cast<double>(context.chip->hbm().latency.count()) * 1e-12;
  const bool moved = MoveGathersToTheirReaders(module->entry());
  return Prefetcher(module->entry(), *context.chip,
                    static_cast<int64_t>(bytes_in_latency))
             .Run() ||
         moved;
}

}  // namespace ptxla::hlo
