#include "hlo_backend/lowering/convolutions/packed_weights.h"

#include <algorithm>
#include <utility>

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;

BlockPlace PlaceWithRows(const BlockPlace& block, int64_t second) {
  BlockPlace place = block;
  place.batch_pitch = 1;
  place.row_pitch = second;
  return place;
}

PackedWeights::PackedWeights(const ConvolutionForm& form,
                             const ConvolutionBlock& block,
                             const TapPacking& packing,
                             const isa::Window& window, int number,
                             OperandLoader* raw, OperandLoader* whole,
                             CodeBuilder* b)
    : form_(form),
      block_(block),
      packing_(packing),
      raw_(raw),
      whole_(whole),
      b_(*b) {
  weights_ = PlaceOf(form.product.rhs, window, number,
                     ConvolutionOperands::kWeights, b);
  for (size_t a = 0; a < form.axes.size(); ++a) {
    tap_pitch_.push_back(PitchOf(window, a, form.product.rhs.resident));
  }
  if (form.product.problem.rhs.transposed) return;
  weights_at_ = weights_.Offset(0, packing.WholeFeatures(), 0);
  for (size_t t = 0; t < packing.tiles.size(); ++t) {
    for (int64_t row = 0; row < packing.TileLanes(t); row += 16) {
      RowMask(row, packing.TileLanes(t));
    }
  }
}

// Values that are zero beyond their own lanes, each moved to its place.
Vec PackedWeights::Join(const std::vector<Vec>& values,
                        const std::vector<int64_t>& lanes) {
  std::vector<Vec> moved;
  for (size_t n = 0; n < values.size(); ++n) {
    moved.push_back(
        lanes[n] == 0 ? values[n]
                      : b_.RotateLanes(values[n], static_cast<int>(lanes[n])));
  }
  while (moved.size() > 1) {
    std::vector<Vec> next;
    for (size_t n = 0; n + 1 < moved.size(); n += 2) {
      next.push_back(b_.Binary(Opcode::kVor, moved[n], moved[n + 1]));
    }
    if (moved.size() % 2 != 0) next.push_back(moved.back());
    moved = std::move(next);
  }
  return moved[0];
}

int64_t PackedWeights::TapOffset(int64_t tap) const {
  int64_t offset = weights_at_;
  for (size_t a = form_.axes.size(); a-- > 0;) {
    offset += tap % block_.axes[a].taps * tap_pitch_[a];
    tap /= block_.axes[a].taps;
  }
  return offset;
}

std::vector<Vec> PackedWeights::Load(int64_t row, int64_t col, int64_t k) {
  const size_t tile = k / 128;
  const TapPacking::Tile& t = packing_.tiles[tile];
  const TapPacking::Run& run = packing_.runs[t.run];
  const int64_t lanes = packing_.tap_lanes, last = form_.axes.back().taps;
  const auto tap_at = [&](int64_t number) {  // in the order of lanes
    return (t.first + number / run.taps) * last + run.first + number % run.taps;
  };
  const int64_t taps = t.count * run.taps;
  if (form_.product.problem.rhs.transposed) {
    std::vector<Vec> values;
    std::vector<int64_t> places;
    for (int64_t n = 0; n < taps; ++n) {
      values.push_back(
          raw_->Load(PlaceWithRows(weights_, weights_.row_pitch),
                     TapOffset(tap_at(n)) + weights_.Offset(0, col + row, 0), 0,
                     0, 0, true)[0]);
      places.push_back(n * lanes);
    }
    return {Join(values, places)};
  }
  const int64_t width = taps * lanes;
  const int64_t across = weights_.Offset(0, 0, col);
  if (row >= width) return {b_.Imm(0)};
  if (lanes < 8) {
    return {Masked(NarrowRows(tap_at(row / lanes), across), row, width)};
  }
  // Two tiles of 8 rows, each of one tap.
  int64_t at[2];
  for (int h = 0; h < 2; ++h) {
    const int64_t r = std::min(row + 8 * h, width - 8);
    at[h] = TapOffset(tap_at(r / lanes)) + across +
            weights_.Offset(0, r % lanes, 0);
  }
  return {Masked(whole_->Load(PlaceWithRows(weights_, at[1] - at[0]), at[0], 0,
                              0, 0, true)[0],
                 row, width)};
}

// Four taps of four rows each.
Vec PackedWeights::NarrowRows(int64_t tap, int64_t across) {
  const auto at = static_cast<int32_t>(TapOffset(tap) + across);
  const auto pitch = static_cast<int32_t>(tap_pitch_.back());
  if (weights_.type == hlo::PrimitiveType::kBf16) {
    return b_.LoadStrided(weights_.space, weights_.base, at, pitch, 2);
  }
  const Vec low = b_.LoadStrided(weights_.space, weights_.base, at, pitch, 4);
  const Vec high =
      b_.LoadStrided(weights_.space, weights_.base, at + 2 * pitch, pitch, 4);
  return b_.Binary(Opcode::kVpackCBf16, low, high);
}

// Rows of weights from `row` on that belong to a feature of a tap: bits of the
// words that hold them.
Vec PackedWeights::RowMask(int64_t row, int64_t lanes) {
  uint32_t rows = 0;
  for (int r = 0; r < 16; ++r) {
    const bool inside = row + r < lanes &&
                        (row + r) % packing_.tap_lanes <
                            form_.product.problem.k - packing_.WholeFeatures();
    rows |= (inside ? 1u : 0u) << r;
  }
  if (rows == 0xFFFFu) return {};
  Vec& mask = masks_[rows];
  if (mask.valid()) return mask;
  mask = b_.GlobalVec();
  b_.ImmTo(mask, 0);
  for (int s = 0; s < 8; ++s) {
    const uint32_t word = (rows >> (2 * s) & 1 ? 0xFFFFu : 0u) |
                          (rows >> (2 * s + 1) & 1 ? 0xFFFF0000u : 0u);
    if (word == 0) continue;
    const Vec bits =
        b_.SelectImm(b_.Range(0, isa::kLanes, s, s + 1), b_.Imm(word), 0);
    b_.BinaryTo(mask, Opcode::kVor, mask, bits);
  }
  return mask;
}

Vec PackedWeights::Masked(Vec rows, int64_t row, int64_t lanes) {
  const Vec mask = RowMask(row, lanes);
  return mask.valid() ? b_.Binary(Opcode::kVand, rows, mask) : rows;
}

}  // namespace ptxla::lowering
