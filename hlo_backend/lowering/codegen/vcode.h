// Code before registers are assigned: instructions over virtual registers, in
// straight-line blocks inside a tree of counted loops.
//
// A virtual register is *local* or *global*. A local is written once and lives
// inside one block. A global has a physical register from Define to the end of
// the code; it carries values across blocks and iterations (addresses,
// accumulators, hoisted constants) and may be written any number of times,
// also in place. Where spilling is allowed (SpillArea), a global may be given a
// slot in memory instead: spill.h says how blocks use it.
//
// Blocks are drained: everything that a block starts has landed when it ends,
// so blocks follow one another without knowing each other.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_VCODE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_VCODE_H_

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "isa/code.h"
#include "isa/instruction.h"

namespace ptxla::codegen {

inline constexpr int32_t kNone = -1;

// Typed names of virtual registers: the id is an index into Code::registers.
template <isa::RegClass kClass>
struct Reg {
  static constexpr isa::RegClass kRegClass = kClass;
  int32_t id = kNone;
  bool valid() const { return id != kNone; }
  bool operator==(Reg o) const { return id == o.id; }
};
using Vec = Reg<isa::RegClass::kVector>;
using Sca = Reg<isa::RegClass::kScalar>;
using Mask = Reg<isa::RegClass::kMask>;
using Pred = Reg<isa::RegClass::kPredicate>;

// isa::Instr with virtual registers. Fields that are not registers (group,
// stage, latch, block) keep their number in b or c. Instructions of one
// `space` may touch the same memory; those of different spaces never do
// (spaces.h). Instructions with space < 0 do not touch VMEM or SMEM.
struct VInstr {
  isa::Opcode op{};
  uint8_t unit = 0;
  bool guard_not = false;
  int16_t space = -1;
  int32_t guard = kNone;
  int32_t dst = kNone, a = kNone, b = kNone, c = kNone;
  int32_t imm = 0, imm2 = 0;
};

// How the scheduler may order a block.
enum class BlockMode : uint8_t {
  kFree,     // any order that the dependences allow
  kInOrder,  // no instruction before the one that is written before it
  // One stage of a software pipeline: pops take what earlier iterations
  // pushed. Pushes and pops of a FIFO keep their order, each for itself.
  kPipelined,
  kPlaced,  // the caller has given every instruction its cycle
};

// Bank groups (VRegister::bank_group) that say what is not known.
inline constexpr int32_t kForeignBanks = -1;  // address of an argument, or none
inline constexpr int32_t kUnknownBanks = -2;  // in a slot or scratch, somewhere

struct VRegister {
  isa::RegClass cls = isa::RegClass::kVector;
  bool global = false;
  uint8_t physical = isa::kNoReg;  // of a global
  // Addresses of one bank group differ by known amounts modulo the banks:
  // register value = unknown of the group + bank_offset. -1: nothing known.
  int32_t bank_group = -1;
  int32_t bank_offset = 0;
  int16_t slot = -1;  // of a global without a register: its place in memory
};

// A block, a counted loop, or code of some grid steps only (isa/code.h has the
// meaning of the last two).
struct VNode {
  enum class Kind : uint8_t { kBlock, kLoop, kWhen };
  Kind kind = Kind::kBlock;
  const char* label = "";
  std::vector<VInstr> instrs;  // kBlock
  int64_t trips = 0;           // kLoop
  int32_t increment = 1;       // kLoop
  int32_t counter = kNone;     // kLoop: a global scalar register
  int32_t count = kNone;       // kLoop: a global with the trips on data
  int when_dim = 0;            // kWhen
  isa::When::Kind when = isa::When::Kind::kFirst;
  // kLoop, kWhen: what it contains. Indexes into Code::nodes would save the
  // copies, but trees here are small.
  std::vector<VNode> body;
  BlockMode mode = BlockMode::kFree;  // kBlock
  // kBlock with kPlaced: cycle of each instruction, ascending, and the length
  // of the block.
  std::vector<int32_t> at;
  int64_t length = 0;
  // kBlock: physical registers that globals hold while it runs, as bit sets;
  // locals use the others.
  std::array<uint64_t, isa::kNumRegClasses> globals{};
};

// Scratch memory for values that do not fit the registers.
struct SpillArea {
  bool allowed = false;
  int32_t offset = 0;  // in the kernel's scratch, bytes
  int slots = 0;       // that globals take, of isa::kVregBytes each
};

struct Code {
  std::vector<VRegister> registers;
  std::vector<VNode> nodes;
  SpillArea spill;
};

// Which register class the fields of an opcode name; -1: no register.
struct FieldClasses {
  int8_t dst = -1, a = -1, b = -1, c = -1;
  bool dst_is_read = false;  // a mask operand that lies in the dst field
};
using FieldTable = std::array<FieldClasses, isa::kNumOpcodes>;
const FieldTable& FieldClassTable();
// Schedulers ask it of every instruction, many times: not a call.
inline const FieldClasses& FieldsOf(isa::Opcode op) {
  static const FieldTable& table = FieldClassTable();
  return table[static_cast<int>(op)];
}

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_VCODE_H_
