// Names that an instruction's cost goes by. The instruction table uses the
// names; a chip file gives each one its cycles (isa/machine_model.h). A latency
// that a chip does not give means that the chip lacks the instructions using
// it.
#ifndef PTXLA_ISA_KEYS_H_
#define PTXLA_ISA_KEYS_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ptxla::isa {

// Issue slots of a bundle. A bundle holds at most MachineModel::slots[s]
// instructions of each. kVpu* names as in reference/tpu_slots.md section 1.
#define PTXLA_ISA_SLOTS(X) \
  X(kScalar, "salu")       \
  X(kVector, "valu")       \
  X(kEup, "eup")           \
  X(kXlu, "xlu")           \
  X(kLoad, "vload")        \
  X(kStore, "vstore")      \
  X(kMxu, "mxu")           \
  X(kPop, "vpop")          \
  X(kMisc, "vmisc")        \
  X(kDma, "dma")

enum class Slot : uint8_t {
#define X(name, text) name,
  PTXLA_ISA_SLOTS(X)
#undef X
      kCount
};
inline constexpr int kNumSlots = static_cast<int>(Slot::kCount);

using SlotMask = uint16_t;
constexpr SlotMask Bit(Slot s) { return SlotMask{1} << static_cast<int>(s); }

// Cycles from the issue of a producer to the earliest issue of a consumer.
#define PTXLA_ISA_LATENCIES(X)                \
  X(kNone, "none")                            \
  X(kFixed1, "fixed1") /* 1 on all chips */   \
  X(kScalarAlu, "salu")                       \
  X(kScalarMul, "smul")                       \
  X(kScalarSelect, "scalar_select")           \
  X(kScalarCompare, "scmp")                   \
  X(kScalarDivide, "sdivrem")                 \
  X(kScalarLoad, "sld")                       \
  X(kVectorLoad, "vld")                       \
  X(kVectorLoadShuffle, "vld_sshfl")          \
  X(kVectorLoadPairs, "vld_even_odd")         \
  X(kValuF32, "valu_f32")                     \
  X(kValuMinMax, "valu_minmax")               \
  X(kValuBf16, "valu_bf16")                   \
  X(kValuInt, "valu_int")                     \
  X(kValuLogic, "valu_logic")                 \
  X(kValuMulInt, "valu_mul_int")              \
  X(kValuMulhi, "valu_mulhi")                 \
  X(kValuMul16, "valu_mul_16")                \
  X(kValuRound, "valu_round")                 \
  X(kValuTrunc, "valu_trunc")                 \
  X(kValuRoundEven, "valu_round_even")        \
  X(kValuUnsigned, "valu_unsigned")           \
  X(kVectorCompare, "vcmp")                   \
  X(kVectorSelect, "vsel")                    \
  X(kVectorMove, "vmov")                      \
  X(kVectorPack, "vpack")                     \
  X(kVectorUnpack, "vunpack")                 \
  X(kVectorUnpack8, "vunpack_8")              \
  X(kVectorPack8, "vpack_8")                  \
  X(kVectorUnpackS4, "vunpack_s4")            \
  X(kVectorConvert, "vconvert")               \
  X(kVectorCombine, "vcombine")               \
  X(kSublaneRotate, "vrot_slane")             \
  X(kScalarToVector, "vstv")                  \
  X(kMaskLogic, "vmask")                      \
  X(kRandom, "vrng")                          \
  X(kVectorToScalar, "vpush")                 \
  X(kEupF32, "eup_f32")                       \
  X(kEupSigmoidF32, "eup_sigmoid_f32")        \
  X(kEupTrigF32, "eup_trig_f32")              \
  X(kEupBf16, "eup_bf16")                     \
  X(kXluRotate, "xlu_rotate")                 \
  X(kXluBroadcast, "xlu_broadcast")           \
  X(kXluPermute, "xlu_permute")               \
  X(kXluSum, "xlu_sum")                       \
  X(kXluMax, "xlu_max")                       \
  X(kXluMaxBf16, "xlu_max_bf16")              \
  X(kXluTransposeB32, "xlu_transpose_b32")    \
  X(kXluTransposeB16, "xlu_transpose_b16")    \
  X(kMatmulF32, "matmul_f32")                 \
  X(kMatmulBf16, "matmul_bf16")               \
  X(kMatmulS8, "matmul_s8")                   \
  X(kMatmulF32Low, "matmul_f32_low")          \
  X(kMatmulF8E5M2, "matmul_f8e5m2")           \
  X(kMatmulF8E4M3Fn, "matmul_f8e4m3fn")       \
  X(kMatmulF8E4M3B11, "matmul_f8e4m3b11")     \
  X(kMatprep, "matprep")                      \
  X(kPushToLatch, "push_to_latch")            \
  X(kPushXposeToLatch, "push_xpose_to_latch") \
  X(kLatchToPush, "latch_to_push")

enum class LatencyKey : uint8_t {
#define X(name, text) name,
  PTXLA_ISA_LATENCIES(X)
#undef X
      kCount
};
inline constexpr int kNumLatencies = static_cast<int>(LatencyKey::kCount);

// Cycles between two issues on one unit.
#define PTXLA_ISA_INTERVALS(X)                \
  X(kOne, "one") /* 1 on all chips */         \
  X(kEup, "eup")                              \
  X(kXlu, "xlu")                              \
  X(kXluTransposeB16, "xlu_transpose_b16")    \
  X(kRandom, "vrng")                          \
  X(kMatmulF32, "matmul_f32")   /* 8 rows */  \
  X(kMatmulBf16, "matmul_bf16") /* 16 rows */ \
  X(kMatmulS8, "matmul_s8")     /* 32 rows */ \
  X(kMatmulFp8, "matmul_fp8")   /* 32 rows */ \
  X(kPushF32, "push_f32")       /* 8 rows */  \
  X(kPushF32Xpose, "push_f32_xpose")          \
  X(kPushBf16, "push_bf16") /* 16 rows */     \
  X(kPushBf16Xpose, "push_bf16_xpose")        \
  X(kPushS8, "push_s8") /* 32 rows */         \
  X(kPushS8Xpose, "push_s8_xpose")            \
  X(kPushFp8, "push_fp8") /* 32 rows */       \
  X(kPushFp8Xpose, "push_fp8_xpose")          \
  X(kPopF32, "pop_f32")                       \
  X(kPopS32, "pop_s32")

enum class IntervalKey : uint8_t {
#define X(name, text) name,
  PTXLA_ISA_INTERVALS(X)
#undef X
      kCount
};
inline constexpr int kNumIntervals = static_cast<int>(IntervalKey::kCount);

// Execution resources with an issue interval. kMatmul, kPush and kMrfPop exist
// once per MXU, kXlu once per XLU, the others once per core.
#define PTXLA_ISA_UNITS(X) \
  X(kNone, "none")         \
  X(kEup, "eup")           \
  X(kXlu, "xlu")           \
  X(kRng, "rng")           \
  X(kMatmul, "matmul")     \
  X(kPush, "push")         \
  X(kPrep, "prep")         \
  X(kMrfPop, "mrf_pop")    \
  X(kXluPop, "xlu_pop")

enum class ExecUnit : uint8_t {
#define X(name, text) name,
  PTXLA_ISA_UNITS(X)
#undef X
      kCount
};
inline constexpr int kNumUnits = static_cast<int>(ExecUnit::kCount);
// MXUs or XLUs of one core, at most.
inline constexpr int kMaxUnits = 4;

// Queues between an instruction that starts work and the pop that takes its
// result. kMrf: one per MXU. kPermute, kXlane, kTranspose: one per XLU.
#define PTXLA_ISA_FIFOS(X)  \
  X(kNone, "none")          \
  X(kEup, "eup")            \
  X(kPermute, "permute")    \
  X(kXlane, "xlane")        \
  X(kTranspose, "trf")      \
  X(kMrf, "mrf")            \
  X(kVectorToScalar, "v2s") \
  X(kDivide, "drf")

enum class Fifo : uint8_t {
#define X(name, text) name,
  PTXLA_ISA_FIFOS(X)
#undef X
      kCount
};
inline constexpr int kNumFifos = static_cast<int>(Fifo::kCount);

absl::string_view Name(Slot key);
absl::string_view Name(LatencyKey key);
absl::string_view Name(IntervalKey key);
absl::string_view Name(ExecUnit key);
absl::string_view Name(Fifo key);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_KEYS_H_
