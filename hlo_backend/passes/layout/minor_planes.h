// Elementwise work on a few numbers of each point (coordinates of pairs of
// atoms, corners of pairs of boxes) is done with these numbers as planes: in
// the lanes they would fill 2 or 3 of 128.
//
//   %a = f32[1024,1024,3] broadcast(f32[1024,3] %x), dimensions={0,2}
//   %b = f32[1024,1024,3] broadcast(f32[1024,3] %x), dimensions={1,2}
//   %d = f32[1024,1024,3] subtract(%a, %b)
//   ROOT f32[1024,1024] reduce(multiply(%d, %d), 0), dimensions={2}
//   ==>
//   %t = f32[3,1024] transpose(%x), dimensions={1,0}
//   %a = f32[3,1024,1024] broadcast(%t), dimensions={0,1} ...
//   ROOT f32[1024,1024] reduce(multiply(%d, %d), 0), dimensions={0}
//
// Blocks of neighbouring lanes that share a scale are such points, too:
// reduces of f32[2048,512,8] reshape(f32[2048,4096]) and work on it.
//
// Numbers may be put together, cut and padded in between (two sides of a box
// out of four corners); they are planes that come and go.
//
// Points may be cut, padded and put together in between (an associative scan
// over states of 16 numbers); their numbers come before the last dimension then
// where that fills tiles as well: f32[1,512,512,16] becomes f32[1,512,16,512].
//
// State of a loop that an iteration only makes the next one of lies as its work
// does (loops/loop_transposes.h): 16 numbers of each channel of a selective
// scan, heads of 64 that an attention in chunks sums up. A product that such
// sums take has its rows in the lanes.
//
// What is connected changes its order together, where half as many bytes move
// then, with their padding and the transposes at the borders. Where nothing of
// that size is read or stored (distances of all pairs), fuller tiles are
// enough: up to 127 numbers, which are then added without the XLUs. The TPU
// compiler finds the same by its layouts.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_MINOR_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_MINOR_PLANES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class MinorPlanesPass : public Pass {
 public:
  absl::string_view name() const override { return "minor-planes"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_MINOR_PLANES_H_
