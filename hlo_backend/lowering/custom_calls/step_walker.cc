#include "hlo_backend/lowering/custom_calls/step_walker.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::lowering {
namespace {

using mosaic::Block;
using mosaic::Operation;

// A kernel that goes round its loops more often than this, inner ones counted
// each time, is not walked: so many trips take seconds. A limit of ours, no
// chip's.
constexpr int64_t kMaxTrips = 1 << 24;

std::vector<std::optional<int64_t>> ValuesOf(const mosaic::IndexMath& math,
                                             const std::vector<int>& ids,
                                             size_t from = 0) {
  std::vector<std::optional<int64_t>> values;
  for (size_t k = from; k < ids.size(); ++k) values.push_back(math.Get(ids[k]));
  return values;
}

void SetAll(const std::vector<int>& ids,
            const std::vector<std::optional<int64_t>>& values,
            mosaic::IndexMath* math, size_t from = 0) {
  for (size_t k = from; k < ids.size(); ++k) {
    math->Set(ids[k],
              k - from < values.size() ? values[k - from] : std::nullopt);
  }
}

// What the last operation of a block hands on.
const std::vector<int>& Yielded(const Block& block) {
  static const std::vector<int>& nothing = *new std::vector<int>;
  return block.operations.empty() ? nothing : block.operations.back().operands;
}

// A condition on scalars and one copy needs no branch: its instructions are
// predicated, as libtpu 0.0.42.1 has them in `emit_pipeline` and in copies that
// are started ahead; those of several copies are branched over.
bool IsPredicated(const Operation& op) {
  int copies = 0;
  for (const mosaic::Region& region : op.regions) {
    for (const Block& block : region.blocks) {
      for (const Operation& inner : block.operations) {
        if (!inner.regions.empty() || absl::StartsWith(inner.name, "vector.") ||
            absl::StartsWith(inner.name, "tpu.vector_") ||
            absl::StrContains(inner.name, "store")) {
          return false;
        }
        copies += absl::StrContains(inner.name, "_dma");
      }
    }
  }
  return copies <= 1;
}

}  // namespace

StepWalker::StepWalker(const mosaic::PallasKernel& kernel,
                       const isa::MachineModel& model,
                       mosaic::ScalarMemory* memory, OwnCopies* copies)
    : kernel_(kernel),
      model_(model),
      memory_(memory == nullptr ? &own_memory_ : memory),
      copies_(copies),
      costs_(model) {}

absl::StatusOr<StepTime> StepWalker::At(const std::vector<int64_t>& index) {
  Walk walk{mosaic::IndexMath(kernel_.module, memory_), /*listing=*/false, {}};
  const std::vector<int>& arguments = kernel_.body().arguments;
  for (size_t d = 0; d < index.size() && d < arguments.size(); ++d) {
    walk.math.Set(arguments[d], index[d]);
  }
  RETURN_IF_ERROR(Run(kernel_.body(), &walk));
  TakeScalarTime(&walk);
  return walk.time;
}

absl::StatusOr<int64_t> StepWalker::CodeBundles() {
  Walk walk{mosaic::IndexMath(kernel_.module), /*listing=*/true, {}};
  RETURN_IF_ERROR(Run(kernel_.body(), &walk));
  TakeScalarTime(&walk);
  return walk.time.bundles;
}

int64_t StepWalker::Piece(const Operation* first, size_t count) {
  const auto [it, fresh] = pieces_.try_emplace({first, count}, 0);
  if (fresh) {
    BlockSchedule schedule(kernel_.module, model_, &costs_, rules_);
    for (size_t k = 0; k < count; ++k) schedule.Add(first[k]);
    it->second = schedule.Finish();
    unknown_.insert(schedule.unknown().begin(), schedule.unknown().end());
  }
  return it->second;
}

void StepWalker::TakeTime(int64_t bundles, Walk* walk) {
  walk->time.bundles += bundles;
  if (!walk->listing) now_ += bundles;
}

void StepWalker::TakeScalarTime(Walk* walk) {
  TakeTime(scalar_, walk);
  scalar_ = 0;
}

void StepWalker::Branch(Walk* walk) {
  TakeScalarTime(walk);
  TakeTime(1 + model_.branch_delay_slots, walk);
}

absl::Status StepWalker::CountTrip() {
  if (++trips_ <= kMaxTrips) return absl::OkStatus();
  return absl::UnimplementedError(
      absl::StrCat("a Mosaic kernel whose loops run more than ", kMaxTrips,
                   " times, or do not end"));
}

absl::Status StepWalker::Run(const Block& block, Walk* walk) {
  size_t begin = 0;
  const auto finish = [&](size_t end) {
    if (end > begin) {
      const int64_t bundles = Piece(&block.operations[begin], end - begin);
      scalar_ = std::max<int64_t>(0, scalar_ - bundles);
      TakeTime(bundles, walk);
    }
    begin = end + 1;
  };
  for (size_t k = 0; k < block.operations.size(); ++k) {
    const Operation& op = block.operations[k];
    if (op.regions.empty() || op.name == "vector.multi_reduction") {
      walk->math.Run(op);
      if (absl::StartsWith(op.name, "tpu.memref_")) Slice(op, *walk);
      // What stands behind them finds what was copied, or what was there before
      // it was overwritten.
      if (op.name == "tpu.enqueue_dma") {
        finish(k);
        StartCopy(op, walk);
      } else if (op.name == "tpu.wait_dma2" || op.name == "tpu.wait_dma") {
        finish(k);
        AwaitCopy(op, walk);
      }
      continue;
    }
    finish(k);
    RETURN_IF_ERROR(RunRegions(op, walk));
  }
  finish(block.operations.size());
  return absl::OkStatus();
}

absl::Status StepWalker::RunRegions(const Operation& op, Walk* walk) {
  if (op.name == "scf.if") return If(op, walk);
  if (op.name == "scf.for") return For(op, walk);
  if (op.name == "scf.while") return While(op, walk);
  for (const mosaic::Region& region : op.regions) {
    for (const Block& block : region.blocks) {
      RETURN_IF_ERROR(Run(block, walk));
      SetAll(op.results, ValuesOf(walk->math, Yielded(block)), &walk->math);
    }
  }
  return absl::OkStatus();
}

absl::Status StepWalker::If(const Operation& op, Walk* walk) {
  const std::optional<int64_t> taken = walk->listing || op.operands.empty()
                                           ? std::nullopt
                                           : walk->math.Get(op.operands[0]);
  if (!taken && !walk->listing) walk->time.assumed = true;
  Values results;
  // Branches of unknown conditions: the first. A listing has all.
  for (size_t r = 0; r < op.regions.size(); ++r) {
    const bool runs =
        walk->listing || (taken ? (*taken != 0) == (r == 0) : r == 0);
    if (!runs) continue;
    for (const Block& block : op.regions[r].blocks) {
      RETURN_IF_ERROR(Run(block, walk));
      if (taken) results = ValuesOf(walk->math, Yielded(block));
    }
  }
  SetAll(op.results, results, &walk->math);
  if (!IsPredicated(op)) Branch(walk);
  return absl::OkStatus();
}

// scf.for %first, %limit, %step, initial values...
absl::Status StepWalker::For(const Operation& op, Walk* walk) {
  if (op.operands.size() < 3 || op.regions.empty() ||
      op.regions[0].blocks.empty()) {
    return absl::InvalidArgumentError("Mosaic kernel: a loop without bounds");
  }
  const Block& body = op.regions[0].blocks[0];
  const auto first = walk->math.Get(op.operands[0]);
  const auto limit = walk->math.Get(op.operands[1]);
  const auto step = walk->math.Get(op.operands[2]);
  int64_t trips = 1;
  if (!walk->listing) {
    if (first && limit && step && *step > 0) {
      trips = std::max<int64_t>(
          0,
          CeilOfRatio<int64_t>(std::max<int64_t>(0, *limit - *first), *step));
    } else {
      walk->time.assumed = true;
    }
  }
  Values carried = ValuesOf(walk->math, op.operands, 3);
  for (int64_t t = 0; t < trips; ++t) {
    RETURN_IF_ERROR(CountTrip());
    if (!body.arguments.empty()) {
      walk->math.Set(body.arguments[0],
                     first && step && !walk->listing
                         ? std::optional<int64_t>(*first + t * *step)
                         : std::nullopt);
    }
    SetAll(body.arguments, carried, &walk->math, 1);
    RETURN_IF_ERROR(Run(body, walk));
    carried = ValuesOf(walk->math, Yielded(body));
    Branch(walk);
  }
  SetAll(op.results, carried, &walk->math);
  return absl::OkStatus();
}

// scf.while initial values...: a region that ends with the condition and what
// it hands to the second one, which hands the values of the next time round.
absl::Status StepWalker::While(const Operation& op, Walk* walk) {
  if (op.regions.size() != 2 || op.regions[0].blocks.empty() ||
      op.regions[1].blocks.empty()) {
    return absl::InvalidArgumentError("Mosaic kernel: a loop without a body");
  }
  const Block& before = op.regions[0].blocks[0];
  const Block& body = op.regions[1].blocks[0];
  Values carried = ValuesOf(walk->math, op.operands), handed;
  for (int64_t trips = 0;; ++trips) {
    RETURN_IF_ERROR(CountTrip());
    SetAll(before.arguments, carried, &walk->math);
    RETURN_IF_ERROR(Run(before, walk));
    const std::vector<int>& condition = Yielded(before);
    const std::optional<int64_t> goes_on = walk->listing || condition.empty()
                                               ? std::nullopt
                                               : walk->math.Get(condition[0]);
    if (!goes_on && !walk->listing) walk->time.assumed = true;
    handed = ValuesOf(walk->math, condition, 1);
    if (goes_on ? *goes_on == 0 : trips > 0) break;
    SetAll(body.arguments, handed, &walk->math);
    RETURN_IF_ERROR(Run(body, walk));
    carried = ValuesOf(walk->math, Yielded(body));
    Branch(walk);
    if (walk->listing) break;
  }
  SetAll(op.results, handed, &walk->math);
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
