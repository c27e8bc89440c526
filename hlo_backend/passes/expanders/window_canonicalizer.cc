#include "hlo_backend/passes/expanders/window_canonicalizer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/prefix_blocks.h"
#include "hlo_backend/passes/expanders/reduce_start.h"
#include "hlo_backend/passes/expanders/separable_windows.h"

namespace ptxla::hlo {
namespace {

bool Scatters(const Instruction& i) {
  return i.opcode() == Opcode::kSelectAndScatter;
}

const Instruction& InitOf(const Instruction& i) {
  return *i.operand(Scatters(i) ? 2 : 1);
}

bool BeginsWithIdentity(const Instruction& i) {
  const Opcode op = *MonoidOf(Scatters(i) ? *i.scatter() : *i.to_apply());
  return IsScalarConstant(InitOf(i),
                          *WindowIdentity(op, i.operand(0)->shape().type()));
}

int LastWindowed(const Window& window) {
  int last = -1;
  for (size_t d = 0; d < window.dims.size(); ++d) {
    if (!IsIdentity(window.dims[d])) last = static_cast<int>(d);
  }
  return last;
}

// The same constant, or one of the same bits.
bool SameConstant(const Instruction& a, const Instruction& b) {
  return &a == &b ||
         (a.opcode() == Opcode::kConstant && b.opcode() == Opcode::kConstant &&
          a.shape().IsScalar() && b.shape().IsScalar() &&
          !a.literal().IsElided() && !b.literal().IsElided() &&
          a.literal().bytes() == b.literal().bytes());
}

// In what order windows have the dimensions that they do not slide along.
struct WindowOrder {
  bool of_convolutions = false;  // theirs: there are some
  int generation = 0;

  // The last two of `others` change places: the tiles of rows and lanes are so
  // much fuller then. (The batch is in the lanes where features are few.)
  bool TurnsRows(const Instruction& window, const DimVector& others) const {
    if (of_convolutions || others.size() < 2) return false;
    const Shape& shape = window.operand(0)->shape();
    const auto bytes = [&](int64_t rows, int64_t lanes) {
      return TpuBytes(
          Shape::Array(shape.type(), {shape.dim(static_cast<int>(rows)),
                                      shape.dim(static_cast<int>(lanes))}),
          generation);
    };
    const int64_t a = others[others.size() - 2], b = others.back();
    return chips::WholePolicy("reshape_gain") * bytes(b, a) <= bytes(a, b);
  }
};

class WindowCanonicalizer {
 public:
  WindowCanonicalizer(Instruction* i, const WindowOrder& planes)
      : i_(i),
        planes_(planes),
        b_(i->parent()),
        window_(i->attrs<WindowAttrs>().window) {
    b_.set_metadata(i->shared_metadata());
    arrays_.push_back(i->operand(0));
    if (Scatters(*i)) arrays_.push_back(i->operand(1));
    init_ = i->operand(Scatters(*i) ? 2 : 1);
  }

  // The value that stands for the instruction; null: it has no such form.
  Instruction* Run() {
    DimVector order, others;
    for (size_t d = 0; d < window_.dims.size(); ++d) {
      (IsIdentity(window_.dims[d]) ? others : order)
          .push_back(static_cast<int64_t>(d));
    }
    if (order.empty()) return Elements();
    if (!Scatters(*i_) && others.size() < 2 && IsSideBySide()) return Blocks();
    if (others.empty() || static_cast<int>(order.size()) > kMostWindowPlanes) {
      return nullptr;
    }
    while (!Scatters(*i_) && FoldPad()) continue;
    Instruction* start = nullptr;  // combined with the result
    if (Scatters(*i_) && IsDilated()) return nullptr;
    if (!BeginsWithIdentity(*i_)) {
      start = init_;
      init_ = Identity();
    }
    const bool moves = !InPlace();
    if (!moves && start == nullptr && arrays_[0] == i_->operand(0)) {
      return nullptr;  // it is one already
    }
    const bool row = others.size() == 1;
    if (moves && planes_.TurnsRows(*i_, others)) {
      std::swap(others[others.size() - 2], others.back());
    }
    order.insert(order.end(), others.begin(), others.end());
    if (moves) {
      for (Instruction*& x : arrays_) x = Ordered(x, order, row);
      Window window;
      for (const int64_t d : order) window.dims.push_back(window_.dims[d]);
      if (row) window.dims.insert(window.dims.end() - 1, WindowDim());
      window_ = window;
    }
    Instruction* value = Emit();
    if (moves) {
      if (row) {
        DimVector plain(value->shape().dims().begin(),
                        value->shape().dims().end());
        plain.erase(plain.end() - 2);
        value = b_.Reshape(value, plain);
      }
      DimVector back(order.size(), 0);
      for (size_t d = 0; d < order.size(); ++d) {
        back[order[d]] = static_cast<int64_t>(d);
      }
      if (!IsIdentityMapping(back)) value = b_.Transpose(value, back);
    }
    if (start == nullptr) return value;
    return b_.Binary(OpOf(), b_.BroadcastScalar(start, value->shape().dims()),
                     value);
  }

 private:
  Opcode OpOf() const {
    return *MonoidOf(Scatters(*i_) ? *i_->scatter() : *i_->to_apply());
  }

  bool IsDilated() const {
    return std::any_of(window_.dims.begin(), window_.dims.end(),
                       [](const WindowDim& w) { return w.base_dilation != 1; });
  }

  // Its places share no element and leave none between them.
  bool IsSideBySide() const {
    return std::all_of(window_.dims.begin(), window_.dims.end(),
                       [](const WindowDim& w) {
                         return w.base_dilation == 1 && w.stride == w.size &&
                                (w.window_dilation == 1 || w.size == 1);
                       });
  }

  // Each place is one element, which is selected where one is.
  Instruction* Elements() {
    Instruction* x = arrays_.back();
    if (BeginsWithIdentity(*i_)) return x;
    return b_.Binary(OpOf(), b_.BroadcastScalar(init_, x->shape().dims()), x);
  }

  // Each place is a block of the array, reduced.
  Instruction* Blocks() {
    PadExplicitly();
    Instruction* x = arrays_[0];
    const DimVector starts(window_.dims.size(), 0);
    const DimVector strides(window_.dims.size(), 1);
    DimVector used, blocks, reduced;
    for (size_t d = 0; d < window_.dims.size(); ++d) {
      const int64_t size = window_.dims[d].size;
      const int64_t places = x->shape().dim(static_cast<int>(d)) / size;
      used.push_back(places * size);
      blocks.push_back(places);
      if (IsIdentity(window_.dims[d])) continue;
      reduced.push_back(static_cast<int64_t>(blocks.size()));
      blocks.push_back(size);
    }
    if (used != DimVector(x->shape().dims().begin(), x->shape().dims().end())) {
      x = b_.Slice(x, starts, used, strides);
    }
    return b_.Reduce(b_.Reshape(x, blocks), init_, reduced, i_->to_apply());
  }

  bool InPlace() const {
    const int last = LastWindowed(window_);
    return last + 2 < static_cast<int>(window_.dims.size()) &&
           last < kMostWindowPlanes;
  }

  Instruction* Identity() {
    return NeutralStart(OpOf(), arrays_[0]->shape().type(), b_);
  }

  // The window's own padding, which takes no part, for a pad of the operand
  // with an initial value that changes nothing. False: there is none.
  bool FoldPad() {
    const Instruction& pad = *arrays_[0];
    if (pad.opcode() != Opcode::kPad) return false;
    const auto& dims = pad.attrs<PadAttrs>().dims;
    const bool pads =
        std::any_of(dims.begin(), dims.end(),
                    [](const PaddingDim& d) { return !(d == PaddingDim()); });
    if (pads && (IsDilated() || !StartMayRepeat(*i_) ||
                 !SameConstant(*pad.operand(1), *init_))) {
      return false;
    }
    for (const auto& d : dims) {
      if (d.low < 0 || d.high < 0) return false;
    }
    for (size_t d = 0; d < dims.size(); ++d) {
      // A dimension that nothing slides along stays out of the window.
      if ((dims[d].low != 0 || dims[d].high != 0 || dims[d].interior != 0) &&
          IsIdentity(window_.dims[d])) {
        return false;
      }
    }
    for (size_t d = 0; pads && d < dims.size(); ++d) {
      window_.dims[d].padding_low += dims[d].low;
      window_.dims[d].padding_high += dims[d].high;
      window_.dims[d].base_dilation = dims[d].interior + 1;
    }
    arrays_[0] = arrays_[0]->operand(0);
    return true;
  }

  // With values that change nothing.
  void PadExplicitly() {
    PadAttrs pad;
    bool any = false;
    for (WindowDim& w : window_.dims) {
      pad.dims.push_back({w.padding_low, w.padding_high, w.base_dilation - 1});
      any |= w.padding_low != 0 || w.padding_high != 0 || w.base_dilation != 1;
      w.padding_low = w.padding_high = 0;
      w.base_dilation = 1;
    }
    if (!any) return;
    arrays_[0] =
        b_.Pad(arrays_[0], StartMayRepeat(*i_) ? init_ : Identity(), pad.dims);
  }

  Instruction* Ordered(Instruction* x, const DimVector& order, bool row) {
    if (!IsIdentityMapping(order)) x = b_.Transpose(x, order);
    if (!row) return x;
    DimVector dims(x->shape().dims().begin(), x->shape().dims().end());
    dims.insert(dims.end() - 1, 1);
    return b_.Reshape(x, dims);
  }

  Instruction* Emit() {
    if (Scatters(*i_)) {
      return b_.SelectAndScatter(arrays_[0], arrays_[1], init_, window_,
                                 i_->select(), i_->scatter());
    }
    return b_.ReduceWindow({arrays_[0]}, {init_}, window_, i_->to_apply());
  }

  Instruction* i_;
  const WindowOrder& planes_;
  Builder b_;
  Window window_;
  std::vector<Instruction*> arrays_;
  Instruction* init_ = nullptr;
};

}  // namespace

bool IsPlaneWindow(const Instruction& i) {
  if (!IsSimpleWindow(i) || !BeginsWithIdentity(i)) return false;
  const Window& window = i.attrs<WindowAttrs>().window;
  for (const WindowDim& w : window.dims) {
    if (w.base_dilation != 1 && Scatters(i)) return false;
  }
  const int last = LastWindowed(window);
  return last >= 0 && last + 2 < static_cast<int>(window.dims.size()) &&
         last < kMostWindowPlanes;
}

absl::StatusOr<bool> WindowCanonicalizerPass::Run(Module* module,
                                                  const PassContext& context) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : module->computations()) {
    WindowOrder order;
    order.generation = GenerationOf(context);
    for (const Instruction* i : c->instructions()) {
      order.of_convolutions |= i->opcode() == Opcode::kConvolution;
    }
    for (Instruction* i : c->PostOrder()) {
      Instruction* value = PrefixInBlocks(i);
      if (value == nullptr) {
        value = SeparatedWindow(i, order.of_convolutions, order.generation);
      }
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
    for (Instruction* i : c->PostOrder()) {
      if (!IsSimpleWindow(*i) ||
          (IsPlaneWindow(*i) && i->operand(0)->opcode() != Opcode::kPad)) {
        continue;
      }
      Instruction* value = WindowCanonicalizer(i, order).Run();
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
    if (changed) c->RemoveDead();
  }
  return changed;
}

}  // namespace ptxla::hlo
