// The steps that a gradient of weights (gradient_kernel.cc) may take, and what
// each costs. A step adds up some planes of taps of the first axis and, where
// these alone are too much, part of the batch or of the taps of the second one.
// Where the result itself is too much (a forward pass whose batch lies in the
// lanes), it makes some planes of the first axis, or a box of the first two.
//
//   GradientSteps steps(context, form);
//   for (const SecondCut& second : steps.SecondCuts()) {
//     for (const GradientStep& s : steps.Of(second, {1, grid_k}, packed)) ...
//   }
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_STEPS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_STEPS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/convolutions/packed_gradient.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/product_visits.h"

namespace ptxla::lowering {

// What a step takes less of than all, beside taps of the first axis: rows of
// the batch, or taps of the second axis. One of the two is 1.
struct SecondCut {
  int64_t rows = 1, taps = 1;  // parts
  int64_t grid() const { return rows * taps; }
};

// Into how many parts the first axis is cut: its outputs, or its taps; and the
// outputs of the second one beside those of the first.
struct FirstCut {
  int64_t outputs = 1, taps = 1, inner = 1;
};

// What one grid step does.
struct GradientStep {
  AxisBlock cut;  // of the first axis
  SecondCut second;
  int64_t inner = 1;    // parts of the second axis's outputs
  ProductTile tile;     // of the result
  bool packed = false;  // results share tiles
};

class GradientSteps {
 public:
  // Both must outlive it.
  GradientSteps(const KernelContext& context, const ConvolutionForm& form);

  const GradientPacking& packing() const { return packing_; }
  const ArrayShape& arrays() const { return arrays_; }

  // From no second cut on to the smallest steps.
  std::vector<SecondCut> SecondCuts() const;
  // Of the first axis: parts of its taps, from one on; of its outputs, equal
  // ones, from two on.
  std::vector<FirstCut> TapCuts() const;
  std::vector<FirstCut> OutputCuts() const;
  // Boxes of outputs: empty where epilogues want planes one after another.
  std::vector<FirstCut> BoxCuts() const;
  // Cuts of rows and columns, with the best share of the arrays for each.
  // Empty: there are none.
  std::vector<GradientStep> Of(const SecondCut& second, const FirstCut& first,
                               bool packed) const;
  // Can operands that lie in VMEM be read there?
  bool CanReadInPlace(const GradientStep& step) const;

  // Of a step's body, by its resources.
  int64_t Cycles(const GradientStep& step) const;
  // K of a step: rows of all the planes of taps that it takes.
  int64_t KOf(const GradientStep& step) const;
  ConvolutionBlock BlockOf(const GradientStep& step) const;
  // The block and the product that the stream works on: where results are
  // packed, one member with their tiles as its columns.
  ProductTile StreamTile(const GradientStep& step) const;
  ProductProblem StreamProblem(const GradientStep& step) const;

 private:
  bool IsOneRun(const GradientStep& step) const;
  bool MeetsBordersAtEnds(const GradientStep& step) const;
  // The share of the arrays that takes `step` the fewest cycles.
  void ShareArrays(GradientStep* step) const;

  const KernelContext& context_;
  const ConvolutionForm& form_;
  ArrayShape arrays_;
  GradientPacking packing_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_STEPS_H_
