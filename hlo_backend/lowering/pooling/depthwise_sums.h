// Code of a kernel that makes gradients of depthwise weights: what each
// register of the gradient, times those of the input that its taps met, adds to
// the sums. A group of taps has its sums in registers while the planes go by,
// and adds them to scratch: tap by tap for each register of columns, whose rows
// are added up later.
//
//   DepthwiseSums(form, values, cuts, planes, period, 16, &b)
//       .Add(GroupTaps(form.axes), content_bytes);
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_SUMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_SUMS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_form.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/tap_groups.h"
#include "hlo_backend/lowering/pooling/tap_runs.h"

namespace ptxla::lowering {

class DepthwiseSums {
 public:
  static constexpr int kIn = 0, kGradient = 1, kSums = 3;  // codegen spaces

  // Where the planes of a step begin, bytes from one to the next along each
  // axis, and the sums: [register of a period, tap].
  struct Planes {
    codegen::Sca x, dy, sums;
    std::vector<int64_t> x_pitch, dy_pitch;
  };

  // `period`: registers of a plane after which the columns of tiles come again;
  // `unroll`: planes that the same code handles. All must outlive it.
  DepthwiseSums(const PoolForm& form, const PoolValues& values,
                const std::vector<AxisBlock>& cuts, const Planes& planes,
                int64_t period, int64_t unroll, codegen::CodeBuilder* b)
      : form_(form),
        values_(values),
        cuts_(cuts),
        planes_(planes),
        period_(period),
        unroll_(unroll),
        b_(*b) {}

  // Of all taps and all planes of `content` bytes.
  void Add(const std::vector<TapGroup>& groups, int64_t content);

 private:
  // Registers of the content that the same code walks through: `columns` of
  // them, one after the other, and for each `apart` that lie a period apart.
  struct Registers {
    int64_t first = 0, columns = 0, apart = 1;
    int rows = 8;  // of each
  };

  void Sum(const TapGroup& group, const Registers& registers);
  void Walk(const TapGroup& group, codegen::Sca x, codegen::Sca dy, int rows);
  void Products(const TapGroup& group, const PlaneBody& body, int rows);

  const PoolForm& form_;
  const PoolValues& values_;
  const std::vector<AxisBlock>& cuts_;
  const Planes& planes_;
  const int64_t period_, unroll_;
  codegen::CodeBuilder& b_;
  std::vector<std::vector<TapRun>> taps_;
  std::map<int64_t, codegen::Vec> sum_;  // by the tap's number
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_DEPTHWISE_SUMS_H_
