// One instruction of a bundle, and what the table says about its opcode.
//
// The table is isa/instructions.def (a list of .def files, one per unit). Each
// row gives: enumerator, mnemonic, issue slots, unit, latency key, interval
// key, FIFO that it pushes, FIFO that it pops, operands, one line of doc. The
// semantics function has the enumerator's name (isa/semantics/).
// docs/generated/ isa.md, the assembler, the printer, the verifier, timing and
// the interpreter all read this table and nothing else.
//
//   Instr add = {Opcode::kVaddF32};
//   add.dst = 3; add.a = 1; add.b = 2;             // v3 = vadd.f32 v1, v2
//   Info(add.op).latency == LatencyKey::kValuF32
#ifndef PTXLA_ISA_INSTRUCTION_H_
#define PTXLA_ISA_INSTRUCTION_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "isa/keys.h"

namespace ptxla::isa {

enum class Opcode : uint16_t {
#define PTXLA_ISA_ROW(name, ...) k##name,
#include "isa/instructions.def"
#undef PTXLA_ISA_ROW
  kCount
};
inline constexpr int kNumOpcodes = static_cast<int>(Opcode::kCount);

// "No register here": the immediate takes the operand's place, or an optional
// operand is absent.
inline constexpr uint8_t kNoReg = 0xFF;

inline constexpr int kLanes = 128;
inline constexpr int kSublanes = 8;
inline constexpr int kVregWords = kLanes * kSublanes;
inline constexpr int kVregBytes = kVregWords * 4;
inline constexpr int kRowBytes = kLanes * 4;  // one sublane row of VMEM

// Where an operand lives in Instr and how it is written. Dst writes, the
// others read.
#define PTXLA_ISA_OPERANDS(X)                               \
  X(kNone)                                                  \
  X(kVd)                                                    \
  X(kVa)                                                    \
  X(kVb)                                                    \
  X(kVc)    /* vector registers v0..  */                    \
  X(kVbImm) /* v in b, or imm splat if b==kNoReg */         \
  X(kSd)                                                    \
  X(kSa)                                                    \
  X(kSb)    /* scalar registers s0..  */                    \
  X(kSbImm) /* s in b, or imm if b==kNoReg */               \
  X(kMd)                                                    \
  X(kMa)                                                    \
  X(kMb)                                                    \
  X(kMc)     /* vector masks m0..      */                   \
  X(kMdRead) /* a mask read, in dst */                      \
  X(kPd)                                                    \
  X(kPa)                                                    \
  X(kPb)                                                    \
  X(kPc)           /* predicates p0..        */             \
  X(kImm)          /* imm, decimal */                       \
  X(kHex)          /* imm, hexadecimal, 32 bits */          \
  X(kImm2)         /* imm2, decimal */                      \
  X(kAddr)         /* [sA+imm], sA optional; bytes */       \
  X(kStride)       /* stride=imm2, bytes */                 \
  X(kGroup)        /* group=c: sublanes per stride */       \
  X(kLaneRange)    /* lanes=lo:hi, imm = lo | hi<<16 */     \
  X(kSublaneRange) /* sublanes=lo:hi in imm2 */             \
  X(kRow)          /* row=imm: first weight row */          \
  X(kBlock)        /* block=b: 1, 2 or 3 */                 \
  X(kStage)        /* msra (c=0) or msrb (c=1) */           \
  X(kLatch)        /* c: 1 latch=msra, 2 msrb, kNoReg no */ \
  X(kWindow)       /* wN, imm = window index */             \
  X(kDescriptor)   /* dN, imm = descriptor index */         \
  X(kArg)          /* argN, imm = kernel argument */        \
  X(kSemaphore)    /* semN, imm = semaphore */

enum class Operand : uint8_t {
#define X(name) name,
  PTXLA_ISA_OPERANDS(X)
#undef X
};
inline constexpr int kMaxOperands = 5;

struct Instr {
  Opcode op = Opcode{0};
  uint8_t unit = 0;   // which MXU or XLU
  uint8_t guard = 0;  // 0 always; 1+p if predicate p; bit 7: if not
  uint8_t dst = kNoReg;
  uint8_t a = kNoReg;
  uint8_t b = kNoReg;
  uint8_t c = kNoReg;
  int32_t imm = 0;
  int32_t imm2 = 0;

  friend bool operator==(const Instr& x, const Instr& y) {
    return x.op == y.op && x.unit == y.unit && x.guard == y.guard &&
           x.dst == y.dst && x.a == y.a && x.b == y.b && x.c == y.c &&
           x.imm == y.imm && x.imm2 == y.imm2;
  }
};
static_assert(sizeof(Instr) == 16, "a bundle is a small vector of these");

constexpr uint8_t GuardIf(int predicate) {
  return static_cast<uint8_t>(1 + predicate);
}
constexpr uint8_t GuardIfNot(int predicate) {
  return static_cast<uint8_t>(0x80 | (1 + predicate));
}

struct InstrInfo {
  absl::string_view name;      // enumerator without k
  absl::string_view mnemonic;  // "vadd.f32"
  SlotMask slots;              // takes one of each named slot
  ExecUnit unit;
  LatencyKey latency;
  IntervalKey interval;
  Fifo pushes;
  Fifo pops;
  Operand operands[kMaxOperands];
  absl::string_view doc;
};

// All rows, by opcode.
extern const InstrInfo kInstructions[kNumOpcodes];
// Schedulers ask it of every instruction, many times: not a call.
inline const InstrInfo& Info(Opcode op) {
  return kInstructions[static_cast<int>(op)];
}
// All rows in table order.
absl::Span<const InstrInfo> InstructionTable();
// "vadd.f32" -> kVaddF32.
std::optional<Opcode> FindOpcode(absl::string_view mnemonic);

enum class RegClass : uint8_t { kVector, kScalar, kMask, kPredicate };
inline constexpr int kNumRegClasses = 4;

struct RegRef {
  RegClass cls;
  uint8_t index;
};
// Registers read (guard included) and written. At most 5 and 1.
struct RegUses {
  RegRef reads[6];
  int num_reads = 0;
  RegRef write{};
  bool has_write = false;
};
RegUses UsesOf(const Instr& instr);

// Facts about families that are not in the table's columns.
inline bool IsMatmul(Opcode op) { return Info(op).unit == ExecUnit::kMatmul; }
inline bool IsMatpush(Opcode op) { return Info(op).unit == ExecUnit::kPush; }
bool IsTransposePush(Opcode op);  // matpush with .xpose
bool IsXposeStart(Opcode op);     // vxpose.*.start
bool IsXposePush(Opcode op);      // vxpose.*.{start,cont,end}
bool IsXposeEnd(Opcode op);
inline bool IsVectorLoad(Opcode op) {
  return (Info(op).slots & Bit(Slot::kLoad)) != 0;
}
inline bool IsVectorStore(Opcode op) {
  return (Info(op).slots & Bit(Slot::kStore)) != 0;
}
inline bool IsDma(Opcode op) {  // dma.* and sem.*
  return (Info(op).slots & Bit(Slot::kDma)) != 0;
}
// LHS rows of a matmul or weight rows of a push: 8, 16 or 32.
int MxuRows(Opcode op);
// Cycles that a bundle holding `bundle` takes: n for a lone `nop n`, else 1.
int64_t BundleCycles(absl::Span<const Instr> bundle);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_INSTRUCTION_H_
