#include "hlo_backend/passes/layout/lane_batches.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/union_find.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/layout/lane_convolution.h"

namespace ptxla::hlo {
namespace {

// Elements that a plane takes, padded, with these rows and lanes.
int64_t Padded(int64_t rows, int64_t lanes) {
  return RoundUpTo<int64_t>(rows, 8) * RoundUpTo(lanes, kLanes);
}

class LaneBatches {
 public:
  LaneBatches(Computation* computation, const PassContext& context)
      : computation_(computation), context_(context) {}

  bool Run() {
    for (Instruction* i : computation_->instructions()) {
      if (i->opcode() == Opcode::kConvolution) AddIfCandidate(i);
    }
    for (const LaneConvolution& c : misfits_) MakeFit(c);
    for (const LaneConvolution& c : ragged_) FillRows(c);
    for (const LaneConvolution& c : rounded_) Round(c);
    if (!chosen_.empty()) JoinWork();
    while (!chosen_.empty() && DropLosers()) {
    }
    for (const LaneConvolution& c : chosen_) Turn(c);
    return !misfits_.empty() || !ragged_.empty() || !rounded_.empty() ||
           !chosen_.empty();
  }

 private:
  // Arrays that lie in one way, of one batch and as many features.
  struct Cluster {
    int64_t batch = 0, features = 0;
    int64_t saved = 0, lost = 0;  // elements that move, with the batch in lanes
    bool wants_rows = false;      // a product reads or makes it

    void AddPass(const Instruction& value, bool in_rows) {
      wants_rows |= in_rows;
      if (batch == 0) return;
      const int64_t planes = value.shape().ElementCount() / (batch * features);
      const int64_t rows = Padded(batch, features);
      const int64_t lanes = Padded(features, batch);
      saved += planes * (rows - lanes);
      if (in_rows) AddTranspose(value.shape().ElementCount());
    }
    // It reads the one and writes the other; that what it keeps apart stores or
    // loads once more is ASSUMED.
    void AddTranspose(int64_t elements) {
      if (batch == 0) return;
      lost += elements / (batch * features) *
              (Padded(batch, features) + 2 * Padded(features, batch));
    }
  };

  void AddIfCandidate(Instruction* i) {
    auto c = LaneConvolution::Of(i);
    if (!c.has_value()) return;
    bool fits = c->FitsLanes(*context_.chip);
    if (!fits && c->MayBeRounded()) {
      c->rounded = true;
      fits = c->rounded = c->FitsLanes(*context_.chip);
    }
    if (c->in_lanes) {
      if (c->rounded) rounded_.push_back(*c);
      if (!fits && CanFit(*c)) misfits_.push_back(*c);
      if (fits && !c->FillsRows()) ragged_.push_back(*c);
      return;
    }
    // The lanes are what the gradient of weights contracts: where they are not
    // half full, its taps, of which it has a plane each, would be packed first.
    if (c->gradient && 2 * c->batch < kLanes) return;
    if (Padded(c->in, c->batch) < Padded(c->batch, c->in) &&
        Padded(c->out, c->batch) < Padded(c->batch, c->out) && fits) {
      chosen_.push_back(*c);
    }
  }

  // Work that is done in any order of dimensions (transpose_mover.h).
  static bool IsJoined(const Instruction& i) {
    switch (i.opcode()) {
      case Opcode::kTranspose:
      case Opcode::kReverse:
      case Opcode::kPad:
      case Opcode::kSlice:
      case Opcode::kConcatenate:
        return true;
      default:
        return i.IsElementwise();
    }
  }

  // It joins the arrays that it reads and makes.
  void JoinWork() {
    std::vector<const Instruction*> all;
    for (const Instruction* i : computation_->instructions()) {
      number_[i] = static_cast<int>(all.size());
      all.push_back(i);
    }
    joined_.emplace(static_cast<int>(all.size()));
    for (const Instruction* i : all) {
      if (!i->shape().IsArray() || !IsJoined(*i)) continue;
      for (const Instruction* o : i->operands()) {
        const bool free = o->opcode() == Opcode::kBroadcast ||
                          o->opcode() == Opcode::kIota ||
                          o->opcode() == Opcode::kConstant;
        if (!free && o->shape().rank() == i->shape().rank()) {
          joined_->Union(number_[i], number_[o]);
        }
      }
    }
  }

  Cluster& Of(const Instruction& value) {
    return clusters_[joined_->Find(number_[&value])];
  }

  void SetSizes(const Instruction& value, int64_t batch, int64_t features) {
    Cluster& cluster = Of(value);
    cluster.batch = batch;
    cluster.features = features;
  }

  // Those whose arrays are better off with the batch in rows; false: none.
  bool DropLosers() {
    clusters_.clear();
    absl::flat_hash_map<const Instruction*, const LaneConvolution*> chosen;
    for (const LaneConvolution& c : chosen_) chosen[c.convolution] = &c;
    for (const LaneConvolution& c : chosen_) {
      SetSizes(*c.convolution->operand(0), c.batch, c.in);
      SetSizes(c.other(), c.batch, c.out);
    }
    for (const Instruction* i : computation_->instructions()) {
      const auto it = chosen.find(i);
      if (it != chosen.end()) {
        Of(*i->operand(0)).AddPass(*i->operand(0), false);
        const Instruction& other = it->second->other();
        Of(other).AddPass(other, false);
      } else if (i->opcode() == Opcode::kReduce) {
        Of(*i->operand(0)).AddPass(*i->operand(0), false);
      } else if (i->opcode() == Opcode::kConvolution ||
                 i->opcode() == Opcode::kDot) {
        for (const Instruction* o : i->operands()) Of(*o).AddPass(*o, true);
        Of(*i).AddPass(*i, true);
      }
    }
    for (const Instruction* i : computation_->instructions()) {
      if (i->opcode() == Opcode::kReduceWindow ||
          i->opcode() == Opcode::kSelectAndScatter) {
        AddPooling(*i);
      }
    }
    const auto wants = [&](const Instruction& value) {
      return Of(value).saved > Of(value).lost;
    };
    const auto loses = [&](const LaneConvolution& c) {
      return !wants(*c.convolution->operand(0)) || !wants(c.other());
    };
    const auto first = std::remove_if(chosen_.begin(), chosen_.end(), loses);
    const bool any = first != chosen_.end();
    chosen_.erase(first, chosen_.end());
    return any;
  }

  // Its arrays lie alike. Where one of them is a product's, which has it in
  // rows, and no convolution wants it otherwise, the smallest is transposed:
  // what lies between two poolings and the products.
  void AddPooling(const Instruction& i) {
    std::vector<const Instruction*> arrays = {&i};
    for (const Instruction* o : i.operands()) {
      if (o->shape().rank() == i.shape().rank()) arrays.push_back(o);
    }
    const bool in_rows =
        std::any_of(arrays.begin(), arrays.end(), [&](const Instruction* a) {
          return Of(*a).batch == 0 && Of(*a).wants_rows;
        });
    const auto elements = [](const Instruction* a) {
      return a->shape().ElementCount();
    };
    const Instruction* least = *std::min_element(
        arrays.begin(), arrays.end(), [&](const auto* a, const auto* b) {
          return elements(a) < elements(b);
        });
    std::vector<const Cluster*> charged;  // arrays of one lie alike anyway
    for (const Instruction* a : arrays) {
      Cluster& cluster = Of(*a);
      cluster.AddPass(*a, false);
      if (!in_rows || std::count(charged.begin(), charged.end(), &cluster)) {
        continue;
      }
      charged.push_back(&cluster);
      cluster.AddTranspose(elements(least));
    }
  }

  Computation* computation_;
  const PassContext& context_;
  std::vector<LaneConvolution> chosen_;
  // In lanes as a schedule has them: too large; with rows of part of a tile.
  std::vector<LaneConvolution> misfits_, ragged_;
  std::vector<LaneConvolution> rounded_;  // and fit as bf16
  absl::flat_hash_map<const Instruction*, int> number_;
  std::optional<UnionFind> joined_;
  absl::flat_hash_map<int, Cluster> clusters_;
};

}  // namespace

absl::StatusOr<bool> LaneBatchesPass::Run(Module* module,
                                          const PassContext& context) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    if (!LaneBatches(c, context).Run()) continue;
    c->RemoveDead();
    changed = true;
  }
  return changed;
}

}  // namespace ptxla::hlo
