#include "hlo_backend/passes/expanders/separable_windows.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

// Vector operations in the time that a kernel takes to start and end: four in a
// bundle are 2.3 us on v6e; ASSUMED.
constexpr int64_t kOperationsOfKernel = 16384;

class WindowSeparator {
 public:
  WindowSeparator(Instruction* i, bool with_convolutions, int generation)
      : i_(i),
        with_convolutions_(with_convolutions),
        generation_(generation),
        window_(i->attrs<WindowAttrs>().window) {
    for (size_t d = 0; d < window_.dims.size(); ++d) {
      (IsIdentity(window_.dims[d]) ? others_ : slides_)
          .push_back(static_cast<int64_t>(d));
    }
  }

  bool Gains() const {
    if (slides_.size() < 2 || IsReduce()) return false;
    // Planes, or slices.
    const bool planes = IsSimpleWindow(*i_) && !others_.empty() &&
                        static_cast<int>(slides_.size()) <= kMostWindowPlanes;
    return planes ? PlanesPad() : TakesManySlices();
  }

  Instruction* Separated() const {
    Builder b(i_->parent());
    b.set_metadata(i_->shared_metadata());
    const PrimitiveType type = i_->shape().type();
    const Opcode op = *MonoidOf(*i_->to_apply());
    // Some 8-bit floats have no infinity to begin a maximum with.
    const bool widens =
        IsFloat(type) && BitWidth(type) < 32 &&
        (op == Opcode::kAdd || op == Opcode::kMultiply || BitWidth(type) <= 8);
    const PrimitiveType wide = widens ? PrimitiveType::kF32 : type;
    Computation* body =
        widens ? MonoidBody(op, wide, i_->parent()->module()) : i_->to_apply();
    Instruction* x = i_->operand(0);
    if (widens) x = b.Convert(x, wide);
    Instruction* identity = NeutralStart(op, wide, b);
    for (const int64_t d : slides_) {
      Window one;
      one.dims.resize(window_.dims.size());
      one.dims[d] = window_.dims[d];
      x = b.ReduceWindow({x}, {identity}, one, body);
    }
    if (!StartIsNeutral(*i_)) {
      Instruction* start = i_->operand(1);
      if (widens) start = b.Convert(start, wide);
      x = b.Binary(op, b.BroadcastScalar(start, x->shape().dims()), x);
    }
    return widens ? b.Convert(x, type) : x;
  }

 private:
  // One place along each dimension that it slides along.
  bool IsReduce() const {
    return std::all_of(slides_.begin(), slides_.end(), [&](int64_t d) {
      return i_->shape().dim(static_cast<int>(d)) == 1;
    });
  }

  // Bytes of the array with `outside` in front and `inside` behind, whose last
  // two are rows and lanes; without convolutions the other way round, too, if
  // that is less.
  int64_t PlaneBytes(const DimVector& outside, const DimVector& inside) const {
    const Shape& shape = i_->operand(0)->shape();
    DimVector dims;
    for (const DimVector* part : {&outside, &inside}) {
      for (const int64_t d : *part) {
        dims.push_back(shape.dim(static_cast<int>(d)));
      }
    }
    if (inside.size() == 1) dims.insert(dims.end() - 1, 1);
    const int64_t bytes =
        TpuBytes(Shape::Array(shape.type(), dims), generation_);
    if (with_convolutions_ || inside.size() == 1) return bytes;
    std::swap(dims[dims.size() - 2], dims.back());
    return std::min(bytes,
                    TpuBytes(Shape::Array(shape.type(), dims), generation_));
  }

  // The planes take more than the arrays of all windows of one dimension, by
  // far: these are read and written as often as there are dimensions.
  bool PlanesPad() const {
    int64_t separate = 0;
    for (const int64_t d : slides_) {
      DimVector inside;
      for (size_t k = 0; k < window_.dims.size(); ++k) {
        if (static_cast<int64_t>(k) != d) inside.push_back(k);
      }
      separate += PlaneBytes({d}, inside);
    }
    return PlaneBytes(slides_, others_) >
           chips::WholePolicy("reshape_gain") * separate;
  }

  // The slices that are saved take longer than another kernel.
  bool TakesManySlices() const {
    int64_t together = 1, apart = 0;
    for (const int64_t d : slides_) {
      together *= window_.dims[d].size;
      apart += window_.dims[d].size;
    }
    const int64_t registers =
        CeilOfRatio(i_->operand(0)->shape().ElementCount(), kTileRows * kLanes);
    return together > static_cast<int64_t>(chips::WholePolicy("reshape_gain")) *
                          apart &&
           registers * (together - apart) > kOperationsOfKernel;
  }

  Instruction* i_;
  const bool with_convolutions_;
  const int generation_;
  const Window& window_;
  DimVector slides_, others_;
};

}  // namespace

Instruction* SeparatedWindow(Instruction* i, bool with_convolutions,
                             int generation) {
  if (i->opcode() != Opcode::kReduceWindow || i->operand_count() != 2 ||
      !i->shape().IsArray() || !MonoidOf(*i->to_apply()).has_value() ||
      IsComplex(i->shape().type())) {
    return nullptr;
  }
  const Window& window = i->attrs<WindowAttrs>().window;
  for (const WindowDim& w : window.dims) {
    if (w.reversal) return nullptr;
  }
  const WindowSeparator separator(i, with_convolutions, generation);
  return separator.Gains() ? separator.Separated() : nullptr;
}

}  // namespace ptxla::hlo
