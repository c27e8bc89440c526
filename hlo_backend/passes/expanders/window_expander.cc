#include "hlo_backend/passes/expanders/window_expander.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/cumulative_windows.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/expanders/window_canonicalizer.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

// Positions of a window that are worth a slice each.
constexpr int64_t kMostPositions = 64;

// Without gaps in the window or in the array.
bool IsPlain(const Window& window) {
  return std::all_of(
      window.dims.begin(), window.dims.end(), [](const WindowDim& d) {
        return d.window_dilation == 1 && d.base_dilation == 1 && !d.reversal;
      });
}

bool IsReversed(const Window& window) {
  return std::any_of(window.dims.begin(), window.dims.end(),
                     [](const WindowDim& d) { return d.reversal; });
}

int64_t PositionsOf(const Window& window) {
  int64_t n = 1;
  for (const WindowDim& d : window.dims) n *= d.size;
  return n;
}

class WindowExpander {
 public:
  explicit WindowExpander(Instruction* i)
      : i_(i),
        b_(i->parent()),
        x_(i->operand(0)),
        window_(i->attrs<WindowAttrs>().window) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* ReduceWindow() {
    const size_t arrays = i_->operand_count() / 2;
    const auto op = MonoidOf(*i_->to_apply());
    const DimVector out = Places();
    if (IsReversed(window_) ||
        std::count(out.begin(), out.end(), int64_t{0}) > 0 ||
        !CanApplyElementwise(*i_->to_apply())) {
      return nullptr;
    }
    const bool one = arrays == 1 && op.has_value();
    init_ = i_->operand(static_cast<int>(arrays));
    const int dim = CumulativeDim(*i_);
    if (one && dim >= 0 && StartIsNeutral(*i_)) {
      return CumulativeValue(i_, *op, dim);
    }
    if (PositionsOf(window_) > kMostPositions) {
      if (one) return Doubled(*op);
      return dim < 0 ? nullptr : ValueOf(CumulativeValues(i_, dim));
    }
    std::vector<Instruction*> padded, values;
    for (size_t k = 0; k < arrays; ++k) {
      Instruction* init = i_->operand(static_cast<int>(arrays + k));
      padded.push_back(
          Padded(i_->operand(static_cast<int>(k)), one ? Neutral(*op) : init));
      values.push_back(b_.BroadcastScalar(init, out));
    }
    ForEachPosition([&](const DimVector& at) {
      const std::vector<Instruction*> before = values;
      for (Instruction* x : padded) values.push_back(Slice(x, at));
      values = ApplyElementwise(*i_->to_apply(), values, out, i_->parent());
      Instruction* inside = one ? nullptr : Inside(at);
      if (inside == nullptr) return;
      for (size_t k = 0; k < arrays; ++k) {
        values[k] = b_.Select(inside, values[k], before[k]);
      }
    });
    return ValueOf(values);
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
    Instruction* padded = Padded(x_, b_.MinValue(type));
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
      if (Instruction* inside = Inside(positions[k])) {
        hit = b_.And(hit, inside);
      }
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
  Instruction* ValueOf(const std::vector<Instruction*>& values) {
    return i_->shape().IsTuple() ? b_.Tuple(values) : values[0];
  }

  // One dimension after the other: values of 1, 2, 4 ... neighbours, of which
  // as many as the window has are put together.
  Instruction* Doubled(Opcode op) {
    Instruction* y = Padded(x_, Neutral(op));
    const int rank = x_->shape().rank();
    for (int d = 0; d < rank; ++d) {
      const WindowDim& w = window_.dims[d];
      if (w.size == 1 && w.stride == 1) continue;
      const int64_t n = y->shape().dim(d), gap = w.window_dilation;
      // `x` from index `from` on, `size` of them.
      const auto part = [&](Instruction* x, int64_t from, int64_t size,
                            int64_t stride) {
        DimVector starts(rank, 0), strides(rank, 1);
        DimVector limits(x->shape().dims().begin(), x->shape().dims().end());
        starts[d] = from;
        limits[d] = from + size;
        strides[d] = stride;
        return b_.Slice(x, starts, limits, strides);
      };
      Instruction* power = y;  // of `count` neighbours
      Instruction* all = nullptr;
      int64_t done = 0;
      for (int64_t count = 1; count <= w.size; count *= 2) {
        if (w.size & count) {
          const int64_t size = n - (done + count - 1) * gap;
          Instruction* next = part(power, done * gap, size, 1);
          all = all == nullptr ? next
                               : b_.Binary(op, part(all, 0, size, 1), next);
          done += count;
        }
        if (2 * count > w.size) break;
        const int64_t size = n - (2 * count - 1) * gap;
        power = b_.Binary(op, part(power, 0, size, 1),
                          part(power, count * gap, size, 1));
      }
      y = w.stride == 1 ? all : part(all, 0, all->shape().dim(d), w.stride);
    }
    return b_.Binary(op, b_.BroadcastScalar(init_, y->shape().dims()), y);
  }

  // For borders and gaps, which take no part.
  Instruction* Neutral(Opcode op) {
    return StartMayRepeat(*i_) ? init_
                               : NeutralStart(op, x_->shape().type(), b_);
  }

  // Where position `at` of the window sees an element; null: everywhere.
  Instruction* Inside(const DimVector& at) {
    const DimVector places = Places();
    const Shape counts = Shape::Array(PrimitiveType::kS32, places);
    const auto all = [&](int64_t value) {
      return b_.BroadcastScalar(
          b_.ConstantScalar(PrimitiveType::kS32, static_cast<double>(value)),
          places);
    };
    Instruction* inside = nullptr;
    for (size_t d = 0; d < at.size(); ++d) {
      const WindowDim& w = window_.dims[d];
      // Of the base with its gaps.
      const int64_t last =
          (x_->shape().dim(static_cast<int>(d)) - 1) * w.base_dilation;
      const int64_t low = at[d] * w.window_dilation - w.padding_low;
      const int64_t high = low + (places[d] - 1) * w.stride;
      const bool before = low < 0;
      const bool behind = high > last;
      const bool gaps = w.base_dilation > 1;
      if (!before && !behind && !gaps) continue;
      Instruction* index = b_.Add(
          b_.Multiply(b_.Iota(counts, static_cast<int64_t>(d)), all(w.stride)),
          all(low));
      const auto require = [&](Instruction* holds) {
        inside = inside == nullptr ? holds : b_.And(inside, holds);
      };
      if (before) require(b_.Compare(index, all(0), CompareDirection::kGe));
      if (behind) require(b_.Compare(index, all(last), CompareDirection::kLe));
      if (gaps) {
        require(b_.Compare(b_.Remainder(index, all(w.base_dilation)), all(0),
                           CompareDirection::kEq));
      }
    }
    return inside;
  }

  // Of the window over the array.
  DimVector Places() const {
    DimVector places;
    for (size_t d = 0; d < window_.dims.size(); ++d) {
      places.push_back(
          window_.dims[d].OutputSize(x_->shape().dim(static_cast<int>(d))));
    }
    return places;
  }

  Instruction* Padded(Instruction* x, Instruction* value) {
    PadAttrs pad;
    bool any = false;
    for (const WindowDim& w : window_.dims) {
      pad.dims.push_back({w.padding_low, w.padding_high, w.base_dilation - 1});
      any |= w.padding_low != 0 || w.padding_high != 0 || w.base_dilation != 1;
    }
    return any ? b_.Pad(x, value, pad.dims) : x;
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
    const DimVector places = Places();
    DimVector starts, limits, strides;
    for (size_t d = 0; d < at.size(); ++d) {
      const WindowDim& w = window_.dims[d];
      starts.push_back(at[d] * w.window_dilation);
      limits.push_back(starts[d] + (places[d] - 1) * w.stride + 1);
      strides.push_back(w.stride);
    }
    return b_.Slice(padded, starts, limits, strides);
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

Instruction* ExpandedWindow(Instruction* reduce_window) {
  return WindowExpander(reduce_window).ReduceWindow();
}

absl::StatusOr<bool> WindowExpanderPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (IsPlaneWindow(*i)) continue;
      Instruction* expanded = nullptr;
      if (i->opcode() == Opcode::kReduceWindow) {
        expanded = ExpandedWindow(i);
      } else if (i->opcode() == Opcode::kSelectAndScatter) {
        expanded = WindowExpander(i).SelectAndScatter();
      }
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
