#include "hlo_backend/passes/expanders/cumulative_windows.h"

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

class CumulativeWindow {
 public:
  CumulativeWindow(Instruction* i, int dim)
      : i_(i),
        dim_(dim),
        size_(i->operand(0)->shape().dim(dim)),
        earlier_(i->attrs<WindowAttrs>().window.dims[dim].padding_low > 0),
        all_(i->operand(0)->shape().dims().begin(),
             i->operand(0)->shape().dims().end()),
        b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Value(Opcode op) {
    Instruction* y = i_->operand(0);
    for (int64_t step = 1; step < size_; step *= 2) {
      y = b_.Binary(op, y, Shifted(y, i_->operand(1), step));
    }
    return y;
  }

  std::vector<Instruction*> Values() {
    const int arrays = i_->operand_count() / 2;
    std::vector<Instruction*> y, starts;
    y.reserve(arrays);
    starts.reserve(arrays);
    for (int k = 0; k < arrays; ++k) {
      y.push_back(i_->operand(k));
      starts.push_back(i_->operand(arrays + k));
    }
    for (int64_t step = 1; step < size_; step *= 2) {
      std::vector<Instruction*> others;
      others.reserve(arrays);
      for (int k = 0; k < arrays; ++k) {
        others.push_back(Shifted(y[k], starts[k], step));
      }
      const std::vector<Instruction*> both =
          earlier_ ? Body(others, y) : Body(y, others);
      Instruction* has_others = HasOthers(step);
      for (int k = 0; k < arrays; ++k) {
        y[k] = b_.Select(has_others, both[k], y[k]);
      }
    }
    for (Instruction*& start : starts) start = b_.BroadcastScalar(start, all_);
    return Body(starts, y);
  }

 private:
  // What lies `step` before (behind) each element.
  Instruction* Shifted(Instruction* x, Instruction* start, int64_t step) {
    // A slice and a pad: both may lie in VMEM, a pad that cuts may not.
    DimVector starts(all_.size(), 0), limits = all_;
    PadAttrs shift;
    shift.dims.resize(all_.size());
    if (earlier_) {
      limits[dim_] -= step;
      shift.dims[dim_].low = step;
    } else {
      starts[dim_] = step;
      shift.dims[dim_].high = step;
    }
    Instruction* others =
        b_.Slice(x, starts, limits, DimVector(all_.size(), 1));
    return b_.Pad(others, start, shift.dims);
  }

  Instruction* HasOthers(int64_t step) {
    const Shape counts = Shape::Array(PrimitiveType::kS32, all_);
    Instruction* border = b_.BroadcastScalar(
        b_.ConstantScalar(PrimitiveType::kS32,
                          static_cast<double>(earlier_ ? step : size_ - step)),
        all_);
    return b_.Compare(b_.Iota(counts, dim_), border,
                      earlier_ ? CompareDirection::kGe : CompareDirection::kLt);
  }

  std::vector<Instruction*> Body(const std::vector<Instruction*>& first,
                                 const std::vector<Instruction*>& second) {
    std::vector<Instruction*> operands = first;
    operands.insert(operands.end(), second.begin(), second.end());
    return ApplyElementwise(*i_->to_apply(), operands, all_, i_->parent());
  }

  Instruction* i_;
  const int dim_;
  const int64_t size_;
  const bool earlier_;
  const DimVector all_;
  Builder b_;
};

}  // namespace

int CumulativeDim(const Instruction& reduce_window) {
  const Window& window = reduce_window.attrs<WindowAttrs>().window;
  int found = -1;
  for (int d = 0; d < static_cast<int>(window.dims.size()); ++d) {
    const WindowDim& w = window.dims[d];
    if (w.stride != 1 || w.window_dilation != 1 || w.base_dilation != 1 ||
        w.reversal) {
      return -1;
    }
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const int64_t n = reduce_window.operand(0)->shape().dim(d);
    const bool earlier = w.padding_low == n - 1 && w.padding_high == 0;
    const bool later = w.padding_high == n - 1 && w.padding_low == 0;
    if (found >= 0 || w.size != n || (!earlier && !later)) return -1;
    found = d;
  }
  return found;
}

Instruction* CumulativeValue(Instruction* reduce_window, Opcode op, int dim) {
  return CumulativeWindow(reduce_window, dim).Value(op);
}

std::vector<Instruction*> CumulativeValues(Instruction* reduce_window,
                                           int dim) {
  return CumulativeWindow(reduce_window, dim).Values();
}

}  // namespace ptxla::hlo
