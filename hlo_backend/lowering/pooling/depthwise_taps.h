// Weights of a depthwise convolution for the kernel of windows: each tap has a
// number per lane, which all rows share. They are spread over registers in
// scratch once per step, as f32, in the order of a plane's content.
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_TAPS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_TAPS_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/pooling/pool_form.h"

namespace ptxla::lowering {

class DepthwiseTaps {
 public:
  static constexpr int kWeights = 2, kSpread = 3;  // codegen spaces

  // `form.weights` is the kernel's argument. Unimplemented: a layout of the
  // weights without one row of features per tap.
  static absl::StatusOr<DepthwiseTaps> Of(const PoolForm& form);

  // Registers of content after which the weights come again.
  int64_t Period() const { return period_; }
  int64_t ScratchBytes() const;
  // The window of the weights, the tiling's next one.
  void AddWindow(Tiling* tiling);

  // Spreads the weights, from the beginning of the scratch on.
  void Spread(codegen::CodeBuilder* b);
  // Those of the tap for a piece of content (plane_walk.h) at this byte.
  codegen::Vec Load(codegen::CodeBuilder& b, int64_t tap, int64_t content,
                    int rows) const;

 private:
  PhysicalArray weights_;
  int arg_ = 1, window_ = -1;
  int64_t taps_ = 1, period_ = 1;
  int64_t column_tiles_ = 1;        // of a row of the content
  int64_t tiles_per_register_ = 1;  // of the content
  codegen::Sca spread_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_TAPS_H_
