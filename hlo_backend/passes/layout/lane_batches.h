// Networks of few features have their batch in the lanes, where that takes
// fewer bytes: bf16[32,32,256,64] fills half of its lanes, [32,32,64,256] all.
//
//   c = convolution(x, w), dim_labels=01bf_01io->01bf
//   ==>  transpose(convolution(transpose(x), w), 01fb_01io->01fb)
//
// and gradients of weights contract lanes (01bf_01oi->01bf) instead of rows,
// if these are at least half full.
// The transposes meet those of the convolutions before and behind, and of the
// entry's arrays (transpose_mover.h).
//
// libtpu 0.0.42.1 lays out every result by its own padded bytes (17 pairs of
// features and batches on v5e) and has kernels for each mixture. Here all
// arrays between convolutions lie in one way, which is the batch in the lanes
// where what is saved by all that reads and writes them is more than the
// transposes cost that others need: products, convolutions of one tap, and
// those whose planes do not fit into VMEM, or would be read too often. (The
// gradient of f32 weights reads planes that do not fit as bf16, as the MXU does
// at the default precision.) One of a
// schedule that does not fit so has its batch in rows.
//
// Features that a pass then has in rows and that fill part of a tile (the three
// of an image) are filled up with zeros, which a kernel does before; in libtpu
// the kernel of the convolution does.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_BATCHES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_BATCHES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LaneBatchesPass : public Pass {
 public:
  absl::string_view name() const override { return "lane-batches"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_BATCHES_H_
