// Loops over contiguous elements, one per (opcode, element type): the bottom
// of the evaluator. Narrow types (bf16, f16, f8, s4 ...) have no kernels of
// their own; elementwise.h decodes blocks of them to a wide type and back.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_KERNELS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_KERNELS_H_

#include <cstdint>

#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {

struct KernelArgs {
  const void* in[3] = {};
  bool splat[3] = {};  // in[i] is one element for all
  void* out = nullptr;
  int64_t n = 0;
  int exponent_bits = 0, mantissa_bits = 0;  // reduce-precision
};
using Kernel = void (*)(const KernelArgs&);

// What besides opcode and type chooses a kernel.
struct KernelConfig {
  CompareDirection direction = CompareDirection::kEq;
  bool total_order = false;
  int tpu_generation = 0;  // 0: no TPU, the plain functions
};

// The kernels of f32 and f64; of pred and the integers of 8 to 64 bits; of c64
// and c128. `type` is that of operand 0. nullptr: there is none.
Kernel FloatKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c);
Kernel IntegerKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c);
Kernel ComplexKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c);
// f32 functions composed as the TPU's compiler composes them; nullptr where
// the plain kernel is what the TPU does.
Kernel TpuFloatKernel(Opcode opcode, int generation);
// Between any two of the types above, as HLO's convert: floats saturate and
// NaN becomes 0, integers wrap, anything but 0 is true.
Kernel ConvertKernel(PrimitiveType from, PrimitiveType to);
// pred, then two arrays of elements of this many bytes.
Kernel SelectKernel(int element_bytes);
// complex(real, imaginary) of f32 or f64 parts.
Kernel ComplexFromPartsKernel(PrimitiveType part);
// u8, u16, u32, u64 or (16 bytes) c128: a type to copy elements with.
PrimitiveType UnsignedOfBytes(int bytes);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_KERNELS_H_
