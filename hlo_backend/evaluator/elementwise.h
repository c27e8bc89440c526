// One elementwise instruction as a loop over contiguous elements of any type:
// a kernel (kernels.h), and for narrow types the conversions around it.
//
//   ASSIGN_OR_RETURN(ElementwiseOp op, ElementwiseOp::Create(*add, 0));
//   op.Run({a, b}, {false, true}, out, n);
//
// bf16, f16, f8, f6 and f4 are computed in f32 and rounded once; s1 to s4 and
// u1 to u4 in bytes, wrapped. Blocks of elements are converted, so that the
// wide copies stay in the cache.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_ELEMENTWISE_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_ELEMENTWISE_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/kernels.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Widens n elements of a narrow type; nullptr for types with kernels of their
// own. WideType is what it widens to: f32, s8 or u8.
using Decoder = void (*)(const void* in, void* out, int64_t n);
using Encoder = void (*)(const void* in, void* out, int64_t n);
PrimitiveType WideType(PrimitiveType type);
Decoder DecoderOf(PrimitiveType type);
Encoder EncoderOf(PrimitiveType type);
// Integers of 1 to 4 bits as a byte: their bits without copies of the sign; at
// the top of the byte, where a product's high half is that of the integers; and
// there above a one, so that leading zeros are those of the integer.
enum class BitsForm { kAlone, kAtTop, kAtTopAboveOne };
Decoder BitsDecoderOf(PrimitiveType type, BitsForm form);
// As EncoderOf, but what is too large for an integer becomes the largest one.
Encoder SaturatingEncoderOf(PrimitiveType type);
// From f64, rounding once; for narrow floats only.
Encoder EncoderFromDouble(PrimitiveType type);

class ElementwiseOp {
 public:
  // Unimplemented names opcode and type. compare, select, clamp, convert,
  // reduce-precision and all of IsElementwise() but those with no kernel.
  static absl::StatusOr<ElementwiseOp> Create(const Instruction& instruction,
                                              int tpu_generation);
  // A binary operation of a type with itself, without an instruction.
  static absl::StatusOr<ElementwiseOp> CreateBinary(Opcode opcode,
                                                    PrimitiveType type);
  static absl::StatusOr<ElementwiseOp> CreateConvert(PrimitiveType from,
                                                     PrimitiveType to);

  int arity() const { return arity_; }
  // `out` may be one of `in`.
  void Run(const std::array<const void*, 3>& in,
           const std::array<bool, 3>& splat, void* out, int64_t n) const;

 private:
  static constexpr int kBlock = 512;

  absl::Status Choose(Opcode opcode, PrimitiveType type,
                      const KernelConfig& config);
  void RunBlock(const std::array<const void*, 3>& in,
                const std::array<bool, 3>& splat, void* out, int64_t n) const;

  Kernel kernel_ = nullptr;
  int arity_ = 0;
  std::array<Decoder, 3> decoders_ = {};
  Encoder encoder_ = nullptr;
  std::array<int, 3> in_bytes_ = {};
  int out_bytes_ = 0;
  int exponent_bits_ = 0, mantissa_bits_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_ELEMENTWISE_H_
