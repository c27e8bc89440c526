#include "hlo_backend/lowering/convolutions/convolution_operands.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/packed_weights.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

ConvolutionInput ConvolutionInput::InWindow(const ConvolutionForm& form,
                                            const isa::Window& window,
                                            int number, CodeBuilder* b) {
  ConvolutionInput input;
  b->NewBlock("addresses");
  input.place =
      PlaceOf(form.product.lhs, window, number, ConvolutionOperands::kInput, b);
  for (size_t a = 0; a < form.axes.size(); ++a) {
    input.plane_pitch.push_back(PitchOf(window, a, form.product.lhs.resident));
  }
  return input;
}

ConvolutionOperands::ConvolutionOperands(
    const ConvolutionForm& form, const ConvolutionBlock& block,
    int64_t features, const ConvolutionEdge& edge, const ArrayShape& arrays,
    ConvolutionInput input, const isa::Window& weights, int weights_number,
    CodeBuilder* b)
    : form_(form),
      block_(block),
      arrays_(arrays),
      b_(*b),
      loader_(arrays, features, b),
      input_(std::move(input)),
      features_(features),
      slices_(block.Slices()),
      tiles_of_tap_(CeilOfRatio<int64_t>(features, 128)) {
  b->NewBlock("addresses");
  weights_ = PlaceOf(form.product.rhs, weights, weights_number, kWeights, b);
  bool halves = false;
  for (size_t a = 0; a < form.axes.size(); ++a) {
    tap_pitch_.push_back(PitchOf(weights, a, form.product.rhs.resident));
    const AxisBlock& cut = block.axes[a];
    std::vector<int64_t>& planes = plane_of_.emplace_back();
    for (int64_t o = 0; o < cut.outputs; ++o) {
      for (int64_t t = 0; t < cut.taps; ++t) {
        planes.push_back(PlaneAt(form, block, edge, a, o, t));
        halves |= planes.back() < 0;
      }
    }
  }
  if (!arrays.bf16 || (!halves && slices_ % 2 == 0)) return;
  for (int h = 0; h < 2; ++h) {
    half_[h] = b->GlobalVec();
    const codegen::Mask m = b->Range(0, isa::kLanes, 4 * h, 4 * h + 4);
    b->Move(half_[h], b->SelectImm(m, b->Imm(0xFFFFFFFFu), 0));
  }
}

int64_t ConvolutionOperands::OffsetOf(int64_t slice, int64_t tap) const {
  if (slice >= slices_) return -1;
  int64_t offset = slice % block_.row_tiles * input_.place.row_pitch;
  slice /= block_.row_tiles;
  for (size_t a = block_.axes.size(); a-- > 0;) {
    const AxisBlock& cut = block_.axes[a];
    const int64_t plane =
        plane_of_[a][slice % cut.outputs * cut.taps + tap % cut.taps];
    if (plane < 0) return -1;
    offset += plane * input_.plane_pitch[a];
    slice /= cut.outputs;
    tap /= cut.taps;
  }
  return offset;
}

int64_t ConvolutionOperands::RowsOfK(int64_t k) const {
  return std::min<int64_t>(128, features_ - k / 128 % tiles_of_tap_ * 128);
}

bool ConvolutionOperands::Meets(int64_t /*batch*/, int64_t row,
                                int64_t k) const {
  const int64_t tap = k / 128 / tiles_of_tap_;
  return OffsetOf(row / 8, tap) >= 0 || OffsetOf(row / 8 + 1, tap) >= 0;
}

std::vector<Vec> ConvolutionOperands::Lhs(int64_t /*batch*/, int64_t row,
                                          int64_t k) {
  const int64_t tap = k / 128 / tiles_of_tap_;
  const int64_t feature = k / 128 % tiles_of_tap_ * 128;
  const int64_t first = OffsetOf(row / 8, tap);
  const int64_t second = OffsetOf(row / 8 + 1, tap);
  const size_t registers = arrays_.bf16 ? 1 : 2;
  if (first < 0 && second < 0) {
    return std::vector<Vec>(registers, b_.Imm(0));
  }
  // A half that meets nothing is loaded twice and cut off.
  const int64_t from = first < 0 ? second : first;
  const int64_t to = second < 0 ? first : second;
  std::vector<Vec> regs = loader_.Load(
      PlaceWithRows(input_.place, to - from),
      from + feature / 128 * input_.place.lane_pitch, 0, 0, feature, true);
  for (int h = 0; h < 2; ++h) {
    if ((h == 0 ? first : second) >= 0) continue;
    if (arrays_.bf16) {
      regs[0] = b_.Binary(Opcode::kVand, regs[0], half_[1 - h]);
    } else {
      regs[h] = b_.Imm(0);
    }
  }
  return regs;
}

std::vector<Vec> ConvolutionOperands::Weights(int64_t /*batch*/, int64_t row,
                                              int64_t col, int64_t k) {
  int64_t tap = k / 128 / tiles_of_tap_;
  const int64_t feature = k / 128 % tiles_of_tap_ * 128;
  int64_t offset = 0;
  for (size_t a = block_.axes.size(); a-- > 0;) {
    offset += tap % block_.axes[a].taps * tap_pitch_[a];
    tap /= block_.axes[a].taps;
  }
  const bool transposed = form_.product.problem.rhs.transposed;
  const int64_t down = transposed ? col + row : feature + row;
  const int64_t across = transposed ? feature : col;
  offset += weights_.Offset(0, down, across);
  return loader_.Load(PlaceWithRows(weights_, weights_.row_pitch), offset, 0, 0,
                      transposed ? feature : down, transposed);
}

}  // namespace ptxla::lowering
