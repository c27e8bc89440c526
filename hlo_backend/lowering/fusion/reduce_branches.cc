#include "hlo_backend/lowering/fusion/reduce_branches.h"

#include <algorithm>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

using codegen::Vec;

void ReduceBranches::Begin(const std::vector<const Reduction*>& chains,
                           const std::function<Vec(const Reduction&)>& start) {
  const size_t cycles = static_cast<size_t>(
      std::max(1, b_.model().Latency(isa::LatencyKey::kValuF32)));
  // An extremum and its position are chosen together.
  const bool positions =
      std::any_of(chains.begin(), chains.end(),
                  [](const Reduction* r) { return r->extremum >= 0; });
  ways_ = chains.empty() || positions
              ? 1
              : (cycles + chains.size() - 1) / chains.size();
  turn_.assign(chains.size(), 0);
  branches_.clear();
  for (const Reduction* r : chains) {
    for (size_t k = 1; k < ways_; ++k) branches_.push_back(start(*r));
  }
}

absl::Status ReduceBranches::Add(const Reduction& r, size_t chain, Vec value,
                                 bool local, Vec* trunk) {
  const size_t turn = ways_ == 1 ? 0 : turn_[chain]++ % ways_;
  Vec* to = turn == 0 ? trunk : &branches_[chain * (ways_ - 1) + turn - 1];
  if (!to->valid()) {
    *to = value;
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const Vec sum, TileFold(r, b_).Combine(value, *to));
  if (local) {
    *to = sum;
  } else {
    b_.Redirect(sum, *to);
  }
  return absl::OkStatus();
}

absl::StatusOr<Vec> ReduceBranches::Meet(const Reduction& r, size_t chain,
                                         Vec trunk) {
  for (size_t k = 0; k + 1 < ways_; ++k) {
    Vec& branch = branches_[chain * (ways_ - 1) + k];
    if (!branch.valid()) continue;
    ASSIGN_OR_RETURN(trunk, TileFold(r, b_).Combine(trunk, branch));
    branch = Vec();
  }
  return trunk;
}

}  // namespace ptxla::lowering
