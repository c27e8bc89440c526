// Writes Code: arithmetic over virtual registers, loops, and the scopes of
// global registers.
//
//   CodeBuilder b(model);
//   Sca in = b.GlobalSca(), out = b.GlobalSca();
//   b.WindowAddress(in, 0);
//   b.WindowAddress(out, 1);
//   Sca i = b.BeginLoop(/*trips=*/16, /*increment=*/4096);
//   Sca from = b.SAdd(in, i), to = b.SAdd(out, i);
//   Vec x = b.Load(/*space=*/0, from, 0);
//   b.Store(/*space=*/1, to, 0, b.Eup(Opcode::kVtanhF32, x));
//   b.EndLoop();
//   Code code = b.Finish();
//
// Methods that make a value return a new local of the open block, valid until
// the block ends (NewBlock, BeginLoop, EndLoop ...). Globals made between
// BeginLoop (BeginScope) and EndLoop (EndScope) give their registers back
// there.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUILDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUILDER_H_

#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

// A part of a kernel that numbers windows and scratch on its own, and which of
// the kernel's they are.
struct PartPlaces {
  struct Place {
    int window = -1;  // of the kernel; -1: a block in its scratch
    int32_t scratch = 0;
  };
  std::vector<Place> windows;  // by the part's numbers
  int32_t scratch = 0;         // where the part's own begins
};

class CodeBuilder {
 public:
  using Opcode = isa::Opcode;

  explicit CodeBuilder(const isa::MachineModel& model);
  const isa::MachineModel& model() const { return model_; }

  // --- Structure ---
  // Ends the open block; what follows goes into a new one.
  void NewBlock(const char* label = "", BlockMode mode = BlockMode::kFree);
  // The counter is a global: 0, increment, 2 * increment, ...
  Sca BeginLoop(int64_t trips, int32_t increment);
  // As often as the global `count` says when it begins (below 1: not at all);
  // timing assumes `trips`.
  Sca BeginLoopOf(Sca count, int64_t trips, int32_t increment);
  void EndLoop();
  void BeginWhen(int dim, isa::When::Kind kind);
  void EndWhen();
  void BeginScope();
  void EndScope();
  // Takes the open block out again: for measuring it.
  VNode TakeBlock();
  // Adds a block that the caller has made (kPlaced) after the open one.
  void Append(VNode block);
  absl::Span<const VRegister> registers() const { return code_.registers; }
  Code Finish();
  // Globals did not fit into the registers (the code is not usable).
  bool overflow() const { return overflow_; }
  // From here on globals may lie in memory, and crowded blocks spill: from
  // byte `offset` of the kernel's scratch on.
  void AllowSpills(int32_t offset);
  bool spills_allowed() const { return code_.spill.allowed; }
  // Grows with every block: locals of another number are gone.
  int64_t block_number() const { return blocks_begun_; }

  // --- Registers ---
  Vec NewVec() { return {New(isa::RegClass::kVector, false)}; }
  Sca NewSca() { return {New(isa::RegClass::kScalar, false)}; }
  Mask NewMask() { return {New(isa::RegClass::kMask, false)}; }
  Pred NewPred() { return {New(isa::RegClass::kPredicate, false)}; }
  Vec GlobalVec() { return {New(isa::RegClass::kVector, true)}; }
  Sca GlobalSca() { return {New(isa::RegClass::kScalar, true)}; }
  Mask GlobalMask() { return {New(isa::RegClass::kMask, true)}; }
  // A local of the open block becomes a global of the open scope.
  template <class R>
  R Promote(R local) {
    MakeGlobal(local.id);
    return local;
  }
  // The last instruction of the open block, which made `local`, writes `dst`
  // instead.
  void Redirect(Vec local, Vec dst);
  // Globals of the class that are still free.
  int FreeGlobals(isa::RegClass cls) const;
  // Says that the address in `reg` is `offset` beyond what `group` stands for,
  // modulo the VMEM banks. kAbsoluteBanks: beyond address 0, as the slots of
  // windows are (isa::LayoutVmem begins each at a whole number of bank cycles).
  static constexpr int32_t kAbsoluteBanks = 0;
  void SetBank(Sca reg, int32_t group, int32_t offset);
  int32_t NewBankGroup() { return next_bank_group_++; }

  // --- Instructions: the raw way ---
  VInstr& Emit(const VInstr& instr);
  VInstr& Emit(Opcode op) {
    VInstr v;
    v.op = op;
    return Emit(v);
  }

  // --- Vectors ---
  Vec Unary(Opcode op, Vec a);
  Vec Binary(Opcode op, Vec a, Vec b);
  Vec BinaryImm(Opcode op, Vec a, uint32_t imm);
  Vec BinaryF(Opcode op, Vec a, float imm);
  void UnaryTo(Vec dst, Opcode op, Vec a);
  void BinaryTo(Vec dst, Opcode op, Vec a, Vec b);
  void Move(Vec dst, Vec a) { UnaryTo(dst, Opcode::kVmov, a); }
  Vec Imm(uint32_t bits);
  Vec ImmF(float value);
  // The same register wherever the open block asks for it: not to be written.
  Vec SharedImm(uint32_t bits);
  void ImmTo(Vec dst, uint32_t bits);
  Vec Splat(Sca s);
  void SplatTo(Vec dst, Sca s);
  Vec LaneSequence();
  Vec Select(Mask m, Vec if_set, Vec if_not);
  Vec SelectImm(Mask m, Vec if_set, uint32_t if_not);
  // Sublane s of the result is sublane (s - amount) mod 8.
  Vec RotateSublanes(Vec a, int amount);

  // --- Masks ---
  // Unsigned where the chip compares signed numbers alone (before v6e): one
  // more operation for each operand that is no constant.
  Mask Compare(Opcode op, Vec a, Vec b);
  Mask CompareImm(Opcode op, Vec a, uint32_t imm);
  Mask IsWeird(Vec a);  // infinite or NaN
  Mask MaskBinary(Opcode op, Mask a, Mask b);
  Mask MaskNot(Mask a);
  // Set where lane_lo <= lane < lane_hi and sublane_lo <= sublane < sublane_hi.
  Mask Range(int lane_lo, int lane_hi, int sublane_lo, int sublane_hi);

  // --- FIFO instructions: push and pop ---
  Vec Eup(Opcode op, Vec a);
  // XLU instructions take the units in turn.
  Vec Xlane(Opcode op, Vec a);         // vadd.xlane ...
  Vec RotateLanes(Vec a, int amount);  // lane l gets l - amount
  Vec RotateLanes(Vec a, Sca amount);
  Vec BroadcastLane(Vec a, int lane);
  Vec BroadcastLane(Vec a, Sca lane);
  Vec Permute(Vec a, Vec lanes);
  // Transposes `rows` (8 rows each, at most 16 of them, 128 lanes) and returns
  // `results` registers of 8 columns each.
  std::vector<Vec> Transpose(const std::vector<Vec>& rows, int results,
                             bool b16 = false);
  // The same, each register taken as it comes: few need be alive.
  void Transpose(const std::vector<Vec>& rows, int results,
                 absl::FunctionRef<void(int, Vec)> take, bool b16 = false);

  // --- VMEM ---
  Vec Load(int space, Sca base, int32_t offset);
  Vec LoadRow(int space, Sca base, int32_t offset);  // on all sublanes
  // Four rows, each on two sublanes.
  Vec LoadPairs(int space, Sca base, int32_t offset);
  Vec LoadStrided(int space, Sca base, int32_t offset, int32_t stride,
                  int group);
  void Store(int space, Sca base, int32_t offset, Vec value);
  void StoreMasked(int space, Sca base, int32_t offset, Vec value, Mask mask);
  void StoreStrided(int space, Sca base, int32_t offset, int32_t stride,
                    int group, Vec value);
  void StoreStridedMasked(int space, Sca base, int32_t offset, int32_t stride,
                          int group, Vec value, Mask mask);

  // Vector stores from here on run only if `p` holds; invalid: always.
  void SetStoreGuard(Pred p) { store_guard_ = p; }

  // --- Scalars ---
  Sca SImm(int32_t value);
  void SImmTo(Sca dst, int32_t value);
  Sca SBinary(Opcode op, Sca a, Sca b);
  Sca SBinaryImm(Opcode op, Sca a, int32_t imm);
  void SBinaryTo(Sca dst, Opcode op, Sca a, Sca b);
  void SBinaryImmTo(Sca dst, Opcode op, Sca a, int32_t imm);
  Sca SAdd(Sca a, Sca b) { return SBinary(Opcode::kSadd, a, b); }
  Sca SAddImm(Sca a, int32_t b) { return SBinaryImm(Opcode::kSadd, a, b); }
  Sca SMulImm(Sca a, int32_t b);
  void SMove(Sca dst, Sca a);
  Sca SLoad(int space, Sca base, int32_t offset);  // SMEM
  void SStore(int space, Sca base, int32_t offset, Sca value);
  Sca SSelectImm(Pred p, Sca if_set, int32_t if_not);
  Pred SCompareImm(Opcode op, Sca a, int32_t imm);

  // --- Kernel state and DMA ---
  // Windows and scratch from here on are those of a part (which outlives its
  // code), or of the kernel again (null).
  void SetPart(const PartPlaces* part) { part_ = part; }
  void WindowAddress(Sca dst, int window);
  void GridIndex(Sca dst, int dim);
  void ScratchAddress(Sca dst, int32_t offset);
  void ArgAddress(Sca dst, int arg);
  Sca WindowLength(int window, int dim);
  void DmaStart(int window);
  void DmaWait(int window);
  void Nop(int cycles);

 private:
  int32_t New(isa::RegClass cls, bool global);
  void MakeGlobal(int32_t id);
  bool BelongsInMemory(isa::RegClass cls) const;
  void Derive(Sca dst, Sca from);
  VNode& Open();
  int NextXlu();
  // One instruction of the common form.
  void EmitOp(Opcode op, int32_t dst, int32_t a, int32_t b = kNone,
              int32_t imm = 0);
  // The same, into a new local.
  template <class R>
  R Made(Opcode op, int32_t a, int32_t b = kNone, int32_t imm = 0) {
    const R d{New(R::kRegClass, false)};
    EmitOp(op, d.id, a, b, imm);
    return d;
  }

  const isa::MachineModel& model_;
  Code code_;
  // Path to the open list: node lists of the enclosing loops.
  struct Level {
    std::vector<VNode> nodes;
    VNode parent;
  };
  std::vector<Level> levels_;
  struct Scope {
    std::array<uint64_t, isa::kNumRegClasses> globals;
    int slots;
  };
  std::vector<Scope> scopes_;
  std::array<uint64_t, isa::kNumRegClasses> globals_{};
  int slots_ = 0;  // of globals in memory
  int64_t blocks_begun_ = 0;
  // SharedImm's of block `shared_block_`.
  int64_t shared_block_ = -1;
  std::vector<std::pair<uint32_t, Vec>> shared_;
  bool block_open_ = false;
  bool overflow_ = false;
  int next_xlu_ = 0;
  int32_t next_bank_group_ = 1;
  Pred store_guard_;
  const PartPlaces* part_ = nullptr;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BUILDER_H_
