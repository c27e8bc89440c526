#include "hlo_backend/lowering/convolutions/fill_borders.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Pred;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;
using isa::When;

// Stores that are written one after another; more are a loop.
constexpr int64_t kStores = 16;

// Grid indices at which a plane of the window is beyond a border:
// [0, low) and [high, bound).
struct Beyond {
  int64_t low = 0, high = 0;
};
Beyond BeyondOf(const BorderAxis& axis, int64_t plane) {
  const int64_t at = axis.origin + plane;  // in the first step
  Beyond b;
  b.low = at >= 0 ? 0
                  : std::min<int64_t>(axis.steps,
                                      CeilOfRatio<int64_t>(-at, axis.advance));
  b.high = at >= axis.extent
               ? 0
               : std::min<int64_t>(
                     axis.steps,
                     CeilOfRatio<int64_t>(axis.extent - at, axis.advance));
  return b;
}

BorderFill FillOf(const ConvolutionForm& form, const ConvolutionBlock& block,
                  const ConvolutionGrid& grid) {
  BorderFill fill;
  fill.space = ConvolutionOperands::kInput;
  for (size_t a = 0; a < form.axes.size(); ++a) {
    const AxisBlock& cut = block.axes[a];
    BorderAxis axis;
    axis.extent = form.axes[a].in;
    axis.origin = cut.origin;
    axis.advance = cut.advance;
    // Borders of an axis that lies whole are not met.
    axis.planes = cut.Moves() ? cut.planes : 0;
    axis.steps = cut.grid * cut.tap_grid;
    if (!grid.axis.empty()) {
      axis.grid_dim = cut.grid > 1 ? grid.axis[a] : grid.tap_axis[a];
    }
    fill.axes.push_back(axis);
  }
  return fill;
}

class Filler {
 public:
  Filler(const BorderFill& fill, const isa::Window& window, CodeBuilder* b)
      : fill_(fill), window_(window), b_(*b) {}

  void Fill(Sca base) {
    for (size_t a = 0; a < fill_.axes.size(); ++a) {
      if (HasBorders(fill_.axes[a]) && IsLong(window_.dims[a].vmem_stride)) {
        from_ = b_.GlobalSca();  // one for the loops of all planes
        break;
      }
    }
    for (size_t a = 0; a < fill_.axes.size(); ++a) {
      const BorderAxis& axis = fill_.axes[a];
      std::vector<int64_t> first, last, others;
      for (int64_t p = 0; p < axis.planes; ++p) {
        const Beyond at = BeyondOf(axis, p);
        if (at.low == 0 && at.high == axis.steps) continue;
        if (at.low == 1 && at.high == axis.steps) {
          first.push_back(p);
        } else if (at.low == 0 && at.high == axis.steps - 1) {
          last.push_back(p);
        } else {
          others.push_back(p);
        }
      }
      FillWhen(base, a, When::Kind::kFirst, first);
      FillWhen(base, a, When::Kind::kLast, last);
      for (const int64_t p : others) FillGuarded(base, a, p);
    }
  }

 private:
  void FillWhen(Sca base, size_t a, When::Kind kind,
                const std::vector<int64_t>& planes) {
    if (planes.empty()) return;
    b_.BeginWhen(fill_.axes[a].grid_dim, kind);
    b_.NewBlock("borders");
    for (const int64_t p : planes) FillPlane(base, a, p, {});
    b_.EndWhen();
  }

  void FillGuarded(Sca base, size_t a, int64_t plane) {
    const BorderAxis& axis = fill_.axes[a];
    const Beyond at = BeyondOf(axis, plane);
    b_.BeginScope();
    for (const bool low : {true, false}) {
      if (low ? at.low == 0 : at.high >= axis.steps) continue;
      b_.NewBlock("borders");
      const Sca index = b_.NewSca();
      b_.GridIndex(index, axis.grid_dim);
      const Pred guard = b_.Promote(
          b_.SCompareImm(low ? Opcode::kScmpLt : Opcode::kScmpGe, index,
                         static_cast<int32_t>(low ? at.low : at.high)));
      FillPlane(base, a, plane, guard);
    }
    b_.EndScope();
  }

  // Plane `p` of axis `a`, for all indices of the axes outside of it.
  void FillPlane(Sca base, size_t a, int64_t p, Pred guard) {
    int64_t outside = 1;
    for (size_t o = 0; o < a; ++o) outside *= window_.dims[o].block;
    for (int64_t n = 0; n < outside; ++n) {
      int64_t rest = n, offset = p * window_.dims[a].vmem_stride;
      for (size_t o = a; o-- > 0;) {
        offset += rest % window_.dims[o].block * window_.dims[o].vmem_stride;
        rest /= window_.dims[o].block;
      }
      FillWords(base, offset, window_.dims[a].vmem_stride, guard);
    }
  }

  // Of so many bytes a loop fills most.
  static bool IsLong(int64_t bytes) {
    return bytes / isa::kVregBytes >= 2 * kStores;
  }

  // The fill's value from base + offset on; `guard` may be invalid.
  void FillWords(Sca base, int64_t offset, int64_t bytes, Pred guard) {
    const int64_t registers = bytes / isa::kVregBytes;
    const int rest = static_cast<int>(bytes % isa::kVregBytes / isa::kRowBytes);
    int64_t done = 0;
    if (IsLong(bytes)) {
      b_.SMove(from_, b_.SAddImm(base, static_cast<int32_t>(offset)));
      const Sca i =
          b_.BeginLoop(registers / kStores, kStores * isa::kVregBytes);
      const Sca at = b_.SAdd(from_, i);
      b_.SetStoreGuard(guard);
      for (int64_t s = 0; s < kStores; ++s) {
        b_.Store(fill_.space, at, static_cast<int32_t>(s * isa::kVregBytes),
                 b_.Imm(fill_.value));
      }
      b_.SetStoreGuard({});
      b_.EndLoop();
      b_.NewBlock("zeros");
      done = registers / kStores * kStores;
    }
    b_.SetStoreGuard(guard);
    for (; done < registers; ++done) {
      b_.Store(fill_.space, base,
               static_cast<int32_t>(offset + done * isa::kVregBytes),
               b_.Imm(fill_.value));
    }
    if (rest > 0) {
      b_.StoreMasked(fill_.space, base,
                     static_cast<int32_t>(offset + registers * isa::kVregBytes),
                     b_.Imm(fill_.value), b_.Range(0, isa::kLanes, 0, rest));
    }
    b_.SetStoreGuard({});
  }

  const BorderFill& fill_;
  const isa::Window& window_;
  CodeBuilder& b_;
  Sca from_;
};

}  // namespace

bool HasBorders(const BorderAxis& axis) {
  for (int64_t p = 0; p < axis.planes; ++p) {
    const Beyond at = BeyondOf(axis, p);
    if (at.low > 0 || at.high < axis.steps) return true;
  }
  return false;
}

namespace {

bool HasBorders(const BorderFill& fill) {
  return std::any_of(fill.axes.begin(), fill.axes.end(),
                     [](const BorderAxis& axis) { return HasBorders(axis); });
}

}  // namespace

void FillBorders(const BorderFill& fill, const isa::Window& planes, Sca base,
                 CodeBuilder* b) {
  if (HasBorders(fill)) Filler(fill, planes, b).Fill(base);
}

void FillBorders(const BorderFill& fill, const isa::Window& window,
                 int window_number, CodeBuilder* b) {
  if (!HasBorders(fill)) return;
  b->BeginScope();
  b->NewBlock("addresses");
  const Sca base = b->GlobalSca();
  b->WindowAddress(base, window_number);
  b->SetBank(base, CodeBuilder::kAbsoluteBanks, 0);
  Filler(fill, window, b).Fill(base);
  b->EndScope();
}

bool HasBorders(const ConvolutionForm& form, const ConvolutionBlock& block) {
  return HasBorders(FillOf(form, block, ConvolutionGrid()));
}

std::optional<int> EdgeAxis(const ConvolutionForm& form,
                            const ConvolutionBlock& block) {
  int edge = -1;
  const BorderFill fill = FillOf(form, block, ConvolutionGrid());
  for (size_t a = 0; a < fill.axes.size(); ++a) {
    const BorderAxis& axis = fill.axes[a];
    if (!HasBorders(axis)) continue;
    if (edge >= 0) return {};
    for (int64_t p = 0; p < axis.planes; ++p) {
      const Beyond at = BeyondOf(axis, p);
      if (at.low > 1 || at.high < axis.steps - 1) return {};
    }
    edge = static_cast<int>(a);
  }
  return edge;
}

void FillBorders(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionGrid& grid, const isa::Window& input,
                 int input_number, CodeBuilder* b) {
  FillBorders(FillOf(form, block, grid), input, input_number, b);
}

void FillBorders(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionGrid& grid, const isa::Window& planes,
                 const BlockPlace& place, CodeBuilder* b) {
  BorderFill fill = FillOf(form, block, grid);
  fill.space = place.space;
  FillBorders(fill, planes, place.base, b);
}

}  // namespace ptxla::lowering
