// FillBorders: zeros around a convolution's input.
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
Beyond BeyondOf(const WindowAxis& axis, const AxisBlock& cut, int64_t plane) {
  const int64_t bound = cut.grid * cut.tap_grid;
  const int64_t at = cut.origin + plane;  // in the first step
  Beyond b;
  b.low = at >= 0 ? 0
                  : std::min<int64_t>(bound,
                                      CeilOfRatio<int64_t>(-at, cut.advance));
  b.high = at >= axis.in
               ? 0
               : std::min<int64_t>(
                     bound, CeilOfRatio<int64_t>(axis.in - at, cut.advance));
  return b;
}

// Zeros from base + offset on; `guard` may be invalid.
void FillZeros(CodeBuilder* b, Sca base, int64_t offset, int64_t bytes,
               Pred guard) {
  const int64_t registers = bytes / isa::kVregBytes;
  const int rest = static_cast<int>(bytes % isa::kVregBytes / isa::kRowBytes);
  int64_t done = 0;
  if (registers >= 2 * kStores) {
    const Sca from = b->GlobalSca();
    b->SMove(from, b->SAddImm(base, static_cast<int32_t>(offset)));
    const Sca i = b->BeginLoop(registers / kStores, kStores * isa::kVregBytes);
    const Sca at = b->SAdd(from, i);
    b->SetStoreGuard(guard);
    for (int64_t s = 0; s < kStores; ++s) {
      b->Store(ConvolutionOperands::kInput, at,
               static_cast<int32_t>(s * isa::kVregBytes), b->Imm(0));
    }
    b->SetStoreGuard({});
    b->EndLoop();
    b->NewBlock("zeros");
    done = registers / kStores * kStores;
  }
  b->SetStoreGuard(guard);
  for (; done < registers; ++done) {
    b->Store(ConvolutionOperands::kInput, base,
             static_cast<int32_t>(offset + done * isa::kVregBytes), b->Imm(0));
  }
  if (rest > 0) {
    b->StoreMasked(ConvolutionOperands::kInput, base,
                   static_cast<int32_t>(offset + registers * isa::kVregBytes),
                   b->Imm(0), b->Range(0, isa::kLanes, 0, rest));
  }
  b->SetStoreGuard({});
}

class Filler {
 public:
  Filler(const ConvolutionForm& form, const ConvolutionBlock& block,
         const ConvolutionGrid& grid, const isa::Window& input, CodeBuilder* b)
      : form_(form), block_(block), grid_(grid), input_(input), b_(*b) {}

  void Fill(Sca base) {
    for (size_t a = 0; a < form_.axes.size(); ++a) {
      const AxisBlock& cut = block_.axes[a];
      if (!cut.Moves()) continue;
      const int dim = cut.grid > 1 ? grid_.axis[a] : grid_.tap_axis[a];
      const int64_t bound = cut.grid * cut.tap_grid;
      std::vector<int64_t> first, last, others;
      for (int64_t p = 0; p < cut.planes; ++p) {
        const Beyond at = BeyondOf(form_.axes[a], cut, p);
        if (at.low == 0 && at.high == bound) continue;
        if (at.low == 1 && at.high == bound) {
          first.push_back(p);
        } else if (at.low == 0 && at.high == bound - 1) {
          last.push_back(p);
        } else {
          others.push_back(p);
        }
      }
      FillWhen(base, a, dim, When::Kind::kFirst, first);
      FillWhen(base, a, dim, When::Kind::kLast, last);
      for (const int64_t p : others) FillGuarded(base, a, dim, p);
    }
  }

 private:
  void FillWhen(Sca base, size_t a, int dim, When::Kind kind,
                const std::vector<int64_t>& planes) {
    if (planes.empty()) return;
    b_.BeginWhen(dim, kind);
    b_.NewBlock("zeros");
    for (const int64_t p : planes) FillPlane(base, a, p, {});
    b_.EndWhen();
  }

  void FillGuarded(Sca base, size_t a, int dim, int64_t plane) {
    const Beyond at = BeyondOf(form_.axes[a], block_.axes[a], plane);
    const int64_t bound = block_.axes[a].grid * block_.axes[a].tap_grid;
    b_.BeginScope();
    for (const bool low : {true, false}) {
      if (low ? at.low == 0 : at.high >= bound) continue;
      b_.NewBlock("zeros");
      const Sca index = b_.NewSca();
      b_.GridIndex(index, dim);
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
    for (size_t o = 0; o < a; ++o) outside *= input_.dims[o].block;
    for (int64_t n = 0; n < outside; ++n) {
      int64_t rest = n, offset = p * input_.dims[a].vmem_stride;
      for (size_t o = a; o-- > 0;) {
        offset += rest % input_.dims[o].block * input_.dims[o].vmem_stride;
        rest /= input_.dims[o].block;
      }
      FillZeros(&b_, base, offset, input_.dims[a].vmem_stride, guard);
    }
  }

  const ConvolutionForm& form_;
  const ConvolutionBlock& block_;
  const ConvolutionGrid& grid_;
  const isa::Window& input_;
  CodeBuilder& b_;
};

}  // namespace

bool HasBorders(const ConvolutionForm& form, const ConvolutionBlock& block) {
  for (size_t a = 0; a < form.axes.size(); ++a) {
    const AxisBlock& cut = block.axes[a];
    if (!cut.Moves()) continue;
    for (int64_t p = 0; p < cut.planes; ++p) {
      const Beyond at = BeyondOf(form.axes[a], cut, p);
      if (at.low > 0 || at.high < cut.grid * cut.tap_grid) return true;
    }
  }
  return false;
}

void FillBorders(const ConvolutionForm& form, const ConvolutionBlock& block,
                 const ConvolutionGrid& grid, const isa::Window& input,
                 int input_number, CodeBuilder* b) {
  if (!HasBorders(form, block)) return;
  b->BeginScope();
  b->NewBlock("addresses");
  const Sca base = b->GlobalSca();
  b->WindowAddress(base, input_number);
  b->SetBank(base, CodeBuilder::kAbsoluteBanks, 0);
  Filler(form, block, grid, input, b).Fill(base);
  b->EndScope();
}

}  // namespace ptxla::lowering
