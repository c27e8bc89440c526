#include "hlo_backend/passes/layout/lane_batches.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kLanes = 128, kRows = 8;
// Of VMEM's scoped limit, for the windows of the smallest steps. ASSUMED.
constexpr double kVmemShare = 0.9;

// Elements that a plane takes, padded, with these rows and lanes.
int64_t Padded(int64_t rows, int64_t lanes) {
  return RoundUpTo(rows, kRows) * RoundUpTo(lanes, kLanes);
}

int64_t SizeOf(const Instruction& value, int64_t dim) {
  return value.shape().dim(static_cast<int>(dim));
}

int64_t Bytes(const Instruction& value) {
  return BitWidth(value.shape().type()) / 8;
}

// A convolution in one of the two forms of convolution_canonicalizer.h.
struct Candidate {
  Instruction* convolution;
  bool gradient;  // of weights: the batch is contracted
  int64_t batch;
  int64_t in, out;  // features of the input and of the other array
};

class LaneBatches {
 public:
  LaneBatches(Computation* computation, const PassContext& context)
      : computation_(computation), context_(context) {}

  bool Run() {
    for (Instruction* i : computation_->instructions()) {
      if (i->opcode() == Opcode::kConvolution) AddIfCandidate(i);
    }
    if (chosen_.empty()) return false;
    JoinWork();
    while (DropLosers()) {
    }
    for (const Candidate& c : chosen_) Turn(c);
    return !chosen_.empty();
  }

 private:
  // Arrays that lie in one way, of one batch and as many features.
  struct Cluster {
    int64_t batch = 0, features = 0;
    int64_t saved = 0, lost = 0;  // elements that move, with the batch in lanes

    void AddPass(const Instruction& value, bool in_rows) {
      if (batch == 0) return;
      const int64_t planes = value.shape().ElementCount() / (batch * features);
      const int64_t rows = Padded(batch, features);
      const int64_t lanes = Padded(features, batch);
      saved += planes * (rows - lanes);
      // A transpose reads the one and writes the other; what it keeps apart
      // stores and loads once more.
      if (in_rows) lost += planes * (rows + 2 * lanes);
    }
  };

  void AddIfCandidate(Instruction* i) {
    const ConvAttrs& a = i->attrs<ConvAttrs>();
    const auto spatial = static_cast<int64_t>(a.dims.input_spatial.size());
    if (a.feature_group_count != 1 || a.batch_group_count != 1) return;
    Candidate c;
    c.convolution = i;
    c.gradient = a.dims.input_feature == spatial;
    const bool canonical =
        a.dims.input_batch + a.dims.input_feature == 2 * spatial + 1 &&
        a.dims.kernel_input_feature + a.dims.kernel_output_feature ==
            2 * spatial + 1 &&
        a.dims.output_feature == a.dims.input_feature;
    if (!canonical || (c.gradient && a.dims.kernel_input_feature != spatial)) {
      return;
    }
    const Instruction &x = *i->operand(0), &w = *i->operand(1);
    c.batch = SizeOf(x, spatial);
    c.in = SizeOf(x, spatial + 1);
    c.out = SizeOf(w, a.dims.kernel_output_feature);
    const bool slides =
        std::any_of(a.window.dims.begin(), a.window.dims.end(),
                    [](const WindowDim& d) { return d.size > 1; });
    if (slides && c.in % kRows == 0 && Saves(c.in, c.batch) &&
        Saves(c.out, c.batch) && Fits(c)) {
      chosen_.push_back(c);
    }
  }

  static bool Saves(int64_t features, int64_t batch) {
    return Padded(features, batch) < Padded(batch, features);
  }

  // Two slots of a row of planes of both arrays: the lanes that are contracted
  // lie whole, others in tiles.
  bool Fits(const Candidate& c) const {
    const Instruction& i = *c.convolution;
    const ConvAttrs& a = i.attrs<ConvAttrs>();
    const int spatial = static_cast<int>(a.window.dims.size());
    const Instruction &x = *i.operand(0), &w = *i.operand(1);
    const Instruction& other = c.gradient ? w : i;
    const int64_t lanes = c.gradient ? RoundUpTo(c.batch, kLanes) : kLanes;
    const int64_t in_plane = RoundUpTo(c.in, kRows) * lanes;
    const int64_t other_plane = RoundUpTo(c.out, kRows) * lanes;
    const auto limit = static_cast<int64_t>(
        kVmemShare *
        static_cast<double>(context_.chip->vmem().scoped_limit.count()));
    // Steps of a pass cut the first axis, those of a gradient the taps of any.
    for (int cut = 0; cut < (c.gradient ? spatial : 1); ++cut) {
      // Planes along it that a row of the result, or of taps, meets.
      int64_t met = c.gradient ? i.shape().dim(cut) : a.window.dims[cut].size;
      int64_t made = 1;
      for (int s = 0; s < spatial; ++s) {
        if (s == cut) continue;
        met *= x.shape().dim(s);
        made *= other.shape().dim(s);
      }
      const int64_t sums = c.gradient ? 0 : made * other_plane * 4;
      const int64_t slots =
          2 * (met * in_plane * Bytes(x) + made * other_plane * Bytes(other));
      if (sums + slots <= limit) return true;
    }
    return false;
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
    parent_.resize(all.size());
    std::iota(parent_.begin(), parent_.end(), 0);
    for (const Instruction* i : all) {
      if (!i->shape().IsArray() || !IsJoined(*i)) continue;
      for (const Instruction* o : i->operands()) {
        const bool free = o->opcode() == Opcode::kBroadcast ||
                          o->opcode() == Opcode::kIota ||
                          o->opcode() == Opcode::kConstant;
        if (!free && o->shape().rank() == i->shape().rank()) {
          parent_[Find(number_[i])] = Find(number_[o]);
        }
      }
    }
  }

  int Find(int n) {
    while (parent_[n] != n) n = parent_[n] = parent_[parent_[n]];
    return n;
  }
  Cluster& Of(const Instruction& value) {
    return clusters_[Find(number_[&value])];
  }

  void SetSizes(const Instruction& value, int64_t batch, int64_t features) {
    Cluster& cluster = Of(value);
    cluster.batch = batch;
    cluster.features = features;
  }

  static const Instruction& Other(const Candidate& c) {
    return c.gradient ? *c.convolution->operand(1) : *c.convolution;
  }

  // Those whose arrays are better off with the batch in rows; false: none.
  bool DropLosers() {
    clusters_.clear();
    absl::flat_hash_map<const Instruction*, const Candidate*> chosen;
    for (const Candidate& c : chosen_) chosen[c.convolution] = &c;
    for (const Candidate& c : chosen_) {
      SetSizes(*c.convolution->operand(0), c.batch, c.in);
      SetSizes(Other(c), c.batch, c.out);
    }
    for (const Instruction* i : computation_->instructions()) {
      const auto it = chosen.find(i);
      if (it != chosen.end()) {
        Of(*i->operand(0)).AddPass(*i->operand(0), false);
        const Instruction& other = Other(*it->second);
        Of(other).AddPass(other, false);
      } else if (i->opcode() == Opcode::kReduce) {
        Of(*i->operand(0)).AddPass(*i->operand(0), false);
      } else if (i->opcode() == Opcode::kReduceWindow ||
                 i->opcode() == Opcode::kSelectAndScatter) {
        AddPooling(*i);
      } else if (i->opcode() == Opcode::kConvolution ||
                 i->opcode() == Opcode::kDot) {
        for (const Instruction* o : i->operands()) Of(*o).AddPass(*o, true);
        Of(*i).AddPass(*i, true);
      }
    }
    const auto wants = [&](const Instruction& value) {
      return Of(value).saved > Of(value).lost;
    };
    const auto loses = [&](const Candidate& c) {
      return !wants(*c.convolution->operand(0)) || !wants(Other(c));
    };
    const auto first = std::remove_if(chosen_.begin(), chosen_.end(), loses);
    const bool any = first != chosen_.end();
    chosen_.erase(first, chosen_.end());
    return any;
  }

  // Rows and lanes change places.
  static Instruction* Swapped(Builder* b, Instruction* value) {
    DimVector order(value->shape().rank(), 0);
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[order.size() - 2], order[order.size() - 1]);
    return b->Transpose(value, order);
  }

  // Its arrays lie alike: in rows where none of the convolutions behind one
  // of them wants it otherwise.
  void AddPooling(const Instruction& i) {
    std::vector<const Instruction*> arrays = {&i};
    for (const Instruction* o : i.operands()) {
      if (o->shape().rank() == i.shape().rank()) arrays.push_back(o);
    }
    const bool in_rows =
        std::any_of(arrays.begin(), arrays.end(),
                    [&](const Instruction* a) { return Of(*a).batch == 0; });
    for (const Instruction* a : arrays) Of(*a).AddPass(*a, in_rows);
  }

  void Turn(const Candidate& c) {
    Instruction* i = c.convolution;
    Builder b(computation_);
    b.set_metadata(i->shared_metadata());
    ConvAttrs attrs = i->attrs<ConvAttrs>();
    ConvDims& d = attrs.dims;
    Instruction* w = i->operand(1);
    std::swap(d.input_batch, d.input_feature);
    std::swap(d.output_batch, d.output_feature);
    // Contracted: rows of the weights of a pass, lanes of a gradient.
    if (c.gradient || d.kernel_input_feature > d.kernel_output_feature) {
      std::swap(d.kernel_input_feature, d.kernel_output_feature);
      w = Swapped(&b, w);
    }
    Shape shape = i->shape();
    const int rank = shape.rank();
    DimVector dims(shape.dims().begin(), shape.dims().end());
    std::swap(dims[rank - 2], dims[rank - 1]);
    Instruction* turned = computation_->Add(
        Opcode::kConvolution, Shape::Array(shape.type(), dims),
        {Swapped(&b, i->operand(0)), w}, attrs, {}, i->name());
    turned->set_metadata(i->shared_metadata());
    computation_->Replace(i, Swapped(&b, turned));
  }

  Computation* computation_;
  const PassContext& context_;
  std::vector<Candidate> chosen_;
  absl::flat_hash_map<const Instruction*, int> number_;
  std::vector<int> parent_;
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
