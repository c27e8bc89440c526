#include "hlo_backend/lowering/custom_calls/step_walker.h"

#include <algorithm>
#include <optional>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::lowering {
namespace {

using mosaic::Block;
using mosaic::Operation;

// A loop of more is a mistake, not a kernel.
constexpr int64_t kMaxTrips = 1 << 20;

}  // namespace

StepWalker::StepWalker(const mosaic::PallasKernel& kernel,
                       const isa::MachineModel& model)
    : kernel_(kernel), model_(model), costs_(model) {}

absl::StatusOr<StepTime> StepWalker::At(const std::vector<int64_t>& index) {
  Walk walk{mosaic::IndexMath(kernel_.module), /*listing=*/false, {}};
  const std::vector<int>& arguments = kernel_.body().arguments;
  for (size_t d = 0; d < index.size() && d < arguments.size(); ++d) {
    walk.math.Set(arguments[d], index[d]);
  }
  RETURN_IF_ERROR(Run(kernel_.body(), &walk));
  return walk.time;
}

absl::StatusOr<int64_t> StepWalker::CodeBundles() {
  Walk walk{mosaic::IndexMath(kernel_.module), /*listing=*/true, {}};
  RETURN_IF_ERROR(Run(kernel_.body(), &walk));
  return walk.time.bundles;
}

int64_t StepWalker::Piece(const Operation* first, size_t count) {
  const auto [it, fresh] = pieces_.try_emplace({first, count}, 0);
  if (fresh) {
    BlockSchedule schedule(kernel_.module, model_, &costs_);
    for (size_t k = 0; k < count; ++k) schedule.Add(first[k]);
    it->second = schedule.Finish();
    unknown_.insert(schedule.unknown().begin(), schedule.unknown().end());
  }
  return it->second;
}

absl::Status StepWalker::Run(const Block& block, Walk* walk) {
  size_t begin = 0;
  const auto finish = [&](size_t end) {
    if (end > begin) {
      walk->time.bundles += Piece(&block.operations[begin], end - begin);
    }
  };
  for (size_t k = 0; k < block.operations.size(); ++k) {
    const Operation& op = block.operations[k];
    if (op.regions.empty() || op.name == "vector.multi_reduction") {
      walk->math.Run(op);
      if (op.name == "tpu.enqueue_dma" && !op.operands.empty()) {
        walk->time.copied_bytes +=
            kernel_.module.values[op.operands[0]]->Bytes();
      }
      continue;
    }
    finish(k);
    begin = k + 1;
    RETURN_IF_ERROR(RunRegions(op, walk));
  }
  finish(block.operations.size());
  return absl::OkStatus();
}

absl::Status StepWalker::RunRegions(const Operation& op, Walk* walk) {
  if (op.name == "scf.if") {
    const std::optional<int64_t> taken = walk->listing || op.operands.empty()
                                             ? std::nullopt
                                             : walk->math.Get(op.operands[0]);
    if (!taken && !walk->listing) walk->time.assumed = true;
    // Branches of unknown conditions: the first. A listing has all.
    for (size_t r = 0; r < op.regions.size(); ++r) {
      const bool runs =
          walk->listing || (taken ? (*taken != 0) == (r == 0) : r == 0);
      if (!runs) continue;
      for (const Block& block : op.regions[r].blocks) {
        RETURN_IF_ERROR(Run(block, walk));
      }
    }
    walk->time.bundles += 1 + model_.branch_delay_slots;
    return absl::OkStatus();
  }
  if (op.name == "scf.for") return Loop(op, walk);
  if (op.name == "scf.while") walk->time.assumed = !walk->listing;
  for (const mosaic::Region& region : op.regions) {
    for (const Block& block : region.blocks) RETURN_IF_ERROR(Run(block, walk));
  }
  return absl::OkStatus();
}

// scf.for %first, %limit, %step, initial values...
absl::Status StepWalker::Loop(const Operation& op, Walk* walk) {
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
      if (trips > kMaxTrips) {
        return absl::UnimplementedError(
            absl::StrCat("a loop of ", trips, " iterations in a kernel"));
      }
    } else {
      walk->time.assumed = true;
    }
  }
  for (int64_t t = 0; t < trips; ++t) {
    if (!body.arguments.empty() && first && step) {
      walk->math.Set(body.arguments[0], *first + t * *step);
    }
    // What goes round is not followed.
    for (size_t a = 1; a < body.arguments.size(); ++a) {
      walk->math.Set(body.arguments[a], std::nullopt);
    }
    RETURN_IF_ERROR(Run(body, walk));
    walk->time.bundles += 1 + model_.branch_delay_slots;
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
