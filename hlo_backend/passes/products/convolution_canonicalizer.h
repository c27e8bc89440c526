// Every convolution in the one form that kernels know:
//
//   dim_labels=01bf_01io->01bf (or 01oi), no groups
//
// or, of gradients of weights, whose taps are more than their results and whose
// batch is contracted,
//
//   dim_labels=01fb_01io->01fb
//
// (which is also that of a pass whose batch lies in the lanes,
// layout/lane_batches.h), planes outside, the batch in rows, features in lanes:
// as the TPU compiler lays them out (its kernels have the batch in sublanes),
// so that no window crosses the rows of a tile.
//
// - Types that the arrays do not multiply become ones that they do
//   (convolution_types.h).
// - Transposes of operands go into the dimension numbers, a reverse of the
//   kernel into the window's reversal, zeros around the input into its padding.
// - Groups of 128 features or more: planes (group_planes.h); so are groups of
//   the batch whose contracted features fill tiles.
// - An axis along which each meets its own: groups, if they are smaller
//   (group_axis.h).
// - feature_group_count of smaller groups: the kernel of a dense convolution
//   with zeros between the groups (grouped_features.h). An infinity in one
//   group makes NaN in others then; the TPU compiler's do not meet. Groups of
//   one feature stay, for the vector units; of f32 where the arrays would
//   multiply more than one column of tiles.
// - batch_group_count of smaller groups: a dense convolution of all of the
//   batch, of whose result each group keeps its part; of groups of one feature,
//   the gradient of depthwise weights, sums (depthwise_gradient.h).
// - What remains to be moved are transposes before and behind.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_CANONICALIZER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_CANONICALIZER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// A gradient of weights, rather than a pass: of all results, `result` their
// dimensions.
bool HasMoreTapsThanResults(const ConvAttrs& convolution,
                            const DimVector& result);

// A gradient of weights whose contracted batch lies in the lanes and fills only
// part of them: a form that kernels know, in which the arrays idle.
// `convolution` has layouts.
bool ContractsFewLanes(const Instruction& convolution);

class ConvolutionCanonicalizerPass : public Pass {
 public:
  absl::string_view name() const override {
    return "convolution-canonicalizer";
  }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_CANONICALIZER_H_
