#include "hlo_backend/passes/window_expander.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/window_canonicalizer.h"

namespace ptxla::hlo {
namespace {

// Positions of a window that are worth a slice each.
constexpr int64_t kMostPositions = 64;

bool IsPlain(const Window& window) {
  return std::all_of(
      window.dims.begin(), window.dims.end(), [](const WindowDim& d) {
        return d.window_dilation == 1 && d.base_dilation == 1 && !d.reversal;
      });
}

int64_t PositionsOf(const Window& window) {
  int64_t n = 1;
  for (const WindowDim& d : window.dims) n *= d.size;
  return n;
}

// The one dimension that a window of all earlier (or later) elements covers;
// -1: another window.
int CumulativeDim(const Window& window, const Shape& x) {
  int found = -1;
  for (int d = 0; d < static_cast<int>(window.dims.size()); ++d) {
    const WindowDim& w = window.dims[d];
    if (w.stride != 1) return -1;
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const int64_t n = x.dim(d);
    const bool earlier = w.padding_low == n - 1 && w.padding_high == 0;
    const bool later = w.padding_high == n - 1 && w.padding_low == 0;
    if (found >= 0 || w.size != n || (!earlier && !later)) return -1;
    found = d;
  }
  return found;
}

class Expander {
 public:
  explicit Expander(Instruction* i)
      : i_(i),
        b_(i->parent()),
        x_(i->operand(0)),
        window_(i->attrs<WindowAttrs>().window) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* ReduceWindow() {
    if (i_->operand_count() != 2 || !IsPlain(window_)) return nullptr;
    const auto op = MonoidOf(*i_->to_apply());
    if (!op.has_value()) return nullptr;
    init_ = i_->operand(1);
    const int dim = CumulativeDim(window_, x_->shape());
    if (dim >= 0 && PositionsOf(window_) > 1) return Cumulative(*op, dim);
    if (PositionsOf(window_) > kMostPositions) return nullptr;
    Instruction* padded = Padded(init_);
    Instruction* result = b_.BroadcastScalar(init_, i_->shape().dims());
    ForEachPosition([&](const DimVector& at) {
      result = b_.Binary(*op, result, Slice(padded, at));
    });
    return result;
  }

  // Only the first of equal maxima is selected: `ge` keeps what it has.
  Instruction* SelectAndScatter() {
    const Instruction* ge = i_->select()->root();
    if (!IsPlain(window_) || PositionsOf(window_) > kMostPositions ||
        ge->opcode() != Opcode::kCompare ||
        ge->attrs<CompareAttrs>().direction != CompareDirection::kGe ||
        ge->operand(0)->opcode() != Opcode::kParameter ||
        ge->operand(1)->opcode() != Opcode::kParameter ||
        ge->operand(0)->parameter_number() != 0 ||
        !IsFloat(x_->shape().type()) ||
        MonoidOf(*i_->scatter()) != Opcode::kAdd) {
      return nullptr;
    }
    Instruction* source = i_->operand(1);
    const DimVector out(source->shape().dims().begin(),
                        source->shape().dims().end());
    const PrimitiveType type = x_->shape().type();
    Instruction* padded = Padded(b_.MinValue(type));
    std::vector<DimVector> positions;
    std::vector<Instruction*> slices;
    Instruction* most = nullptr;
    ForEachPosition([&](const DimVector& at) {
      positions.push_back(at);
      slices.push_back(Slice(padded, at));
      most = most == nullptr ? slices.back() : b_.Maximum(most, slices.back());
    });
    Instruction* zero = b_.Zero(source->shape().type());
    Instruction* nothing = b_.BroadcastScalar(zero, out);
    Instruction* open = nullptr;  // no earlier position was the one
    Instruction* sum = nullptr;
    for (size_t k = 0; k < slices.size(); ++k) {
      Instruction* hit = b_.Compare(slices[k], most, CompareDirection::kEq);
      Instruction* first = open == nullptr ? hit : b_.And(hit, open);
      Instruction* part =
          Spread(b_.Select(first, source, nothing), positions[k], zero);
      sum = sum == nullptr ? part : b_.Add(sum, part);
      Instruction* missed = b_.Not(hit);
      open = open == nullptr ? missed : b_.And(open, missed);
    }
    return b_.Add(sum, b_.BroadcastScalar(i_->operand(2), i_->shape().dims()));
  }

 private:
  Instruction* Cumulative(Opcode op, int dim) {
    const WindowDim& w = window_.dims[dim];
    const bool earlier = w.padding_low > 0;
    Instruction* y = x_;
    for (int64_t step = 1; step < w.size; step *= 2) {
      PadAttrs shift;
      shift.dims.resize(x_->shape().rank());
      shift.dims[dim].low = earlier ? step : -step;
      shift.dims[dim].high = -shift.dims[dim].low;
      y = b_.Binary(op, y, b_.Pad(y, init_, shift.dims));
    }
    return y;
  }

  Instruction* Padded(Instruction* value) {
    PadAttrs pad;
    bool any = false;
    for (const WindowDim& w : window_.dims) {
      pad.dims.push_back({w.padding_low, w.padding_high, 0});
      any |= w.padding_low != 0 || w.padding_high != 0;
    }
    return any ? b_.Pad(x_, value, pad.dims) : x_;
  }

  template <class Fn>
  void ForEachPosition(Fn fn) {
    DimVector at(window_.dims.size(), 0);
    while (true) {
      fn(at);
      int d = static_cast<int>(at.size()) - 1;
      while (d >= 0 && ++at[d] == window_.dims[d].size) at[d--] = 0;
      if (d < 0) return;
    }
  }

  // What position `at` of the window sees, for every place of the window.
  Instruction* Slice(Instruction* padded, const DimVector& at) {
    DimVector limits, strides;
    for (size_t d = 0; d < at.size(); ++d) {
      const WindowDim& w = window_.dims[d];
      const int64_t places = w.OutputSize(x_->shape().dim(static_cast<int>(d)));
      limits.push_back(at[d] + (places - 1) * w.stride + 1);
      strides.push_back(w.stride);
    }
    return b_.Slice(padded, at, limits, strides);
  }

  // The other way: a value per place of the window back to where position `at`
  // lies in the base.
  Instruction* Spread(Instruction* value, const DimVector& at,
                      Instruction* zero) {
    PadAttrs pad;
    for (size_t d = 0; d < at.size(); ++d) {
      const WindowDim& w = window_.dims[d];
      const int64_t n = x_->shape().dim(static_cast<int>(d));
      const int64_t places = value->shape().dim(static_cast<int>(d));
      const int64_t low = at[d] - w.padding_low;
      pad.dims.push_back(
          {low, n - low - ((places - 1) * w.stride + 1), w.stride - 1});
    }
    return b_.Pad(value, zero, pad.dims);
  }

  Instruction* i_;
  Builder b_;
  Instruction* x_;
  const Window window_;
  Instruction* init_ = nullptr;
};

}  // namespace

absl::StatusOr<bool> WindowExpanderPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (IsPlaneWindow(*i)) continue;
      Instruction* expanded = nullptr;
      if (i->opcode() == Opcode::kReduceWindow) {
        expanded = Expander(i).ReduceWindow();
      } else if (i->opcode() == Opcode::kSelectAndScatter) {
        expanded = Expander(i).SelectAndScatter();
      }
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
