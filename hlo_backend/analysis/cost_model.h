// What passes may ask about time, and no more. The compiler injects an
// implementation that knows the chip (its tile search, HBM and links); tests
// inject a simple one.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_COST_MODEL_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_COST_MODEL_H_

#include "base/units.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

class CostModel {
 public:
  virtual ~CostModel() = default;

  // Device time of one instruction run alone, operands where their layouts
  // say (HBM or VMEM). Collectives: the whole transfer.
  virtual Picoseconds OpTime(const Instruction& instruction) const = 0;
  // Reading or writing so many bytes of HBM in one stream.
  virtual Picoseconds HbmTime(Bytes bytes) const = 0;
  // Time from the issue of an async start until its done may run; the same
  // as OpTime for those without a cost of their own.
  virtual Picoseconds AsyncTime(const Instruction& start) const = 0;
  // Bytes that the value takes on this chip, padding included.
  virtual Bytes SizeOf(const Shape& shape) const = 0;
  // VMEM that fused kernels and resident buffers may use.
  virtual Bytes VmemCapacity() const = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_COST_MODEL_H_
