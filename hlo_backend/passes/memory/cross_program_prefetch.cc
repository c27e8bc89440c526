#include "hlo_backend/passes/memory/cross_program_prefetch.h"

#include <algorithm>
#include <optional>
#include <tuple>
#include <vector>

#include "base/range_maximum.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/row_gather.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/memory/copy_to_vmem.h"
#include "hlo_backend/passes/memory/memory_places.h"
#include "hlo_backend/passes/memory/memory_space_assignment.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"
#include "hlo_backend/passes/memory/vmem_kernels.h"

namespace ptxla::hlo {
namespace {

// Inside of a kernel: products multiply it, as it is or converted.
bool IsMultiplied(const Instruction& value) {
  return value.user_count() > 0 &&
         std::all_of(value.users().begin(), value.users().end(),
                     [](const Instruction* user) {
                       return IsProduct(*user) ||
                              ((user->opcode() == Opcode::kConvert ||
                                user->opcode() == Opcode::kBitcast) &&
                               IsMultiplied(*user));
                     });
}

bool MultipliesAsItIs(const Instruction& kernel, int k) {
  if (kernel.opcode() != Opcode::kFusion) return IsProduct(kernel);
  return ProductIn(kernel) != nullptr &&
         IsMultiplied(*kernel.fused()->parameter(k));
}

bool MultipliesAsItIs(const Instruction& kernel, const Instruction& operand) {
  const Instruction* product = ProductIn(kernel);
  if (product != nullptr && HasRowsOfOne(*product)) return false;
  if (!TakesWhole(kernel, operand)) return false;
  for (int k = 0; k < kernel.operand_count(); ++k) {
    if (kernel.operand(k) == &operand && !MultipliesAsItIs(kernel, k)) {
      return false;
    }
  }
  return true;
}

struct PrefetchCandidate {
  Instruction* parameter = nullptr;
  std::vector<ParameterReader> readers;  // in the order of the schedule
  int64_t bytes = 0;
  int64_t made = 0;         // elements of the readers' results
  int first = 0, last = 0;  // positions of readers
};

class Chooser {
 public:
  Chooser(Computation* c, const chips::ChipSpec& chip)
      : c_(c),
        room_(WholeRoomForResidents(chip)),
        positions_(PositionsOf(*c)),
        live_(c->instruction_count()) {
    AddVmemResidents(*c, positions_, &live_);
  }

  std::optional<PrefetchCandidate> Best() {
    std::optional<PrefetchCandidate> best;
    for (Instruction* p : c_->parameters()) {
      std::optional<PrefetchCandidate> c = CandidateOf(p);
      if (c.has_value() && (!best.has_value() || IsBetter(*c, *best))) {
        best = std::move(c);
      }
    }
    return best;
  }

 private:
  std::optional<PrefetchCandidate> CandidateOf(Instruction* parameter) const {
    if (HbmParameterOf(parameter) == nullptr) return std::nullopt;
    PrefetchCandidate c;
    c.parameter = parameter;
    c.bytes = PaddedBytes(parameter->shape());
    bool multiplied = false;
    if (!Collect(parameter, &c.readers, &multiplied) || !multiplied) {
      return std::nullopt;
    }
    const auto position = [&](const ParameterReader& r) {
      return positions_.at(r.kernel);
    };
    std::stable_sort(c.readers.begin(), c.readers.end(),
                     [&](const ParameterReader& a, const ParameterReader& b) {
                       return position(a) < position(b);
                     });
    c.first = position(c.readers.front());
    c.last = position(c.readers.back());
    for (const ParameterReader& r : c.readers) {
      if (r.kernel->shape().IsArray()) {
        c.made += r.kernel->shape().ElementCount();
      }
      if (IsLargeConvolution(*r.kernel) &&
          c.last - c.first > kMostBetweenReaders) {
        return std::nullopt;
      }
    }
    if (live_.Maximum(0, c.last) + c.bytes > room_) return std::nullopt;
    return c;
  }

  // False: something reads it that no copy may be made for.
  static bool Collect(Instruction* value, std::vector<ParameterReader>* readers,
                      bool* multiplied) {
    for (Instruction* user : value->users()) {
      if (user->opcode() == Opcode::kBitcast) {
        if (user->IsRoot() || !Collect(user, readers, multiplied)) return false;
      } else if (GathersRows(*user) && ReadsInVmem(*user, *value)) {
        readers->push_back({user, value});
      } else if (MultipliesAsItIs(*user, *value)) {
        *multiplied = true;
        readers->push_back({user, value});
      } else {
        return false;
      }
    }
    return true;
  }

  static bool IsBetter(const PrefetchCandidate& a, const PrefetchCandidate& b) {
    const auto merit = [](const PrefetchCandidate& c) {
      return std::make_tuple(c.bytes, c.made, -c.last);
    };
    if (merit(a) != merit(b)) return merit(a) > merit(b);
    const Instruction& kernel = *a.readers.front().kernel;
    const Instruction* product = ProductIn(kernel);
    return &kernel == b.readers.front().kernel && product != nullptr &&
           SharesPlanes(kernel, *product);
  }

  Computation* c_;
  const int64_t room_;
  const Positions positions_;
  RangeMaximum live_;
};

// The copy starts before all that takes time.
void Place(Computation* c, const PrefetchCandidate& best) {
  std::vector<Instruction*> before;
  for (Instruction* i : c->instructions()) before.push_back(i);
  const VmemCopy copy = CopyToVmem(best.parameter, best.readers);
  std::vector<Instruction*> order;
  bool started = false;
  for (Instruction* i : before) {
    if (!started && (TakesTime(*i) || i == best.readers.front().kernel)) {
      order.push_back(copy.start);
      started = true;
    }
    if (i == best.readers.front().kernel) order.push_back(copy.done);
    for (const auto& [name, kernel] : copy.names) {
      if (kernel == i) order.push_back(name);
    }
    order.push_back(i);
  }
  c->Reorder(order);
}

}  // namespace

absl::StatusOr<bool> CrossProgramPrefetchPass::Run(Module* module,
                                                   const PassContext& context) {
  if (!module->config().is_scheduled) return false;
  if (RoomForResidents(*context.chip) <= 0) return false;
  Computation* entry = module->entry();
  const std::optional<PrefetchCandidate> best =
      Chooser(entry, *context.chip).Best();
  if (!best.has_value()) return false;
  Place(entry, *best);
  return true;
}

}  // namespace ptxla::hlo
