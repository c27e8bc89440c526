// The type at which the MXUs run a kernel's products, for peaks: a type that
// the chip's MXU lacks was converted before, and its code shows to what.
//
//   FlopsPerSecond peak = chip.PeakMatmul(MatmulTypeOf(kernel));
#ifndef PTXLA_ISA_MATMUL_TYPE_H_
#define PTXLA_ISA_MATMUL_TYPE_H_

#include "chips/chip_spec.h"
#include "isa/kernel.h"

namespace ptxla::isa {

// Of the kernel's first matmul: the products of one kernel (attention's two)
// have one type. bf16 where there is none: products on the VPU, estimates.
chips::MatmulType MatmulTypeOf(const Kernel& kernel);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_MATMUL_TYPE_H_
