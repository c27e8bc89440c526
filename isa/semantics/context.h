// What an instruction's semantics function sees of a core: registers as they
// were before the bundle, the results of the bundle, memories, FIFOs, MXUs, and
// the running kernel.
#ifndef PTXLA_ISA_SEMANTICS_CONTEXT_H_
#define PTXLA_ISA_SEMANTICS_CONTEXT_H_

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "isa/instruction.h"
#include "isa/machine_model.h"
#include "isa/mxu.h"

namespace ptxla::isa {

using Words = Mxu::Words;

// The kernel that runs, for instructions that ask about it or move its data.
class KernelEnvironment {
 public:
  virtual ~KernelEnvironment() = default;
  virtual int64_t GridIndex(int dim) = 0;
  virtual int64_t WindowAddress(int window) = 0;
  virtual int64_t WindowLength(int window, int dim) = 0;
  virtual int64_t ArgAddress(int arg) = 0;
  virtual int64_t ScratchAddress() = 0;
  virtual absl::Status StartWindow(int window) = 0;
  virtual absl::Status WaitWindow(int window) = 0;
  virtual absl::Status StartDescriptor(int descriptor, int64_t source,
                                       int64_t destination) = 0;
  virtual absl::Status WaitSemaphore(int semaphore, int64_t bytes) = 0;
  virtual absl::Status Signal(int semaphore, int64_t bytes) = 0;
};

// Rows of one transpose stream, pushed so far.
using TransposeStream = std::vector<Words>;

struct RandomState {
  uint64_t key_lo = 0;
  uint64_t key_hi = 0;
  uint64_t position = 0;  // in registers
};

class ExecContext {
 public:
  explicit ExecContext(const MachineModel& machine);

  // Registers and FIFOs to their state at a kernel's start; memories stay.
  void Reset();

  // --- Registers: reads see the values before the bundle.
  const Words& V(uint8_t index) const { return *vregs_[index]; }
  const Words& M(uint8_t index) const { return *masks_[index]; }
  uint32_t S(uint8_t index) const { return sregs_[index]; }
  bool P(uint8_t index) const { return predicates_[index]; }
  // Writes arrive at Commit(). OutV's words are unspecified until filled.
  Words& OutV(uint8_t index);
  Words& OutM(uint8_t index);
  void SetS(uint8_t index, uint32_t value);
  void SetP(uint8_t index, bool value);
  void Commit();
  void CommitNow(uint8_t sreg, uint32_t value) { sregs_[sreg] = value; }

  // Makes wrong what was written or pushed since `before`: vectors change sign
  // and lowest bits, masks, scalars and predicates all bits. False if nothing
  // was. For tests that change one opcode (isa/semantics/mutant.h).
  struct OutputMark {
    size_t words = 0;
    size_t sregs = 0;
    size_t predicates = 0;
    size_t pushed = 0;
  };
  OutputMark Mark() const;
  bool CorruptSince(const OutputMark& before);

  // --- Operands that may be immediates.
  uint32_t SB(const Instr& i) const {
    return i.b == kNoReg ? static_cast<uint32_t>(i.imm) : S(i.b);
  }
  // Address operand: sA + imm.
  int64_t Address(const Instr& i) const {
    return (i.a == kNoReg ? 0 : static_cast<int64_t>(S(i.a))) + i.imm;
  }

  // --- Memories. Null after Fail() if [address, address + size) is outside or
  // not aligned.
  uint8_t* Vmem(int64_t address, int64_t size);
  uint8_t* Smem(int64_t address);
  std::vector<uint8_t>& vmem() { return vmem_; }
  std::vector<uint8_t>& smem() { return smem_; }

  // --- FIFOs.
  Words& PushWords(Fifo fifo, int unit);
  // Takes the oldest; an empty FIFO fails and gives zeros.
  void PopWords(Fifo fifo, int unit, Words* out);
  void PushScalar(Fifo fifo, uint32_t value);
  uint32_t PopScalar(Fifo fifo);

  // --- Units.
  Mxu& mxu(int unit) { return *mxus_[unit]; }
  TransposeStream& stream(int unit) { return streams_[unit]; }
  RandomState& random() { return random_; }
  KernelEnvironment* kernel = nullptr;

  void Fail(absl::string_view message);
  const absl::Status& status() const { return status_; }
  const MachineModel& machine() const { return machine_; }

 private:
  using WordsPtr = std::unique_ptr<Words>;
  struct PendingWords {
    std::vector<WordsPtr>* bank;
    uint8_t index;
    WordsPtr value;
  };
  WordsPtr Spare();
  Words& Out(std::vector<WordsPtr>* bank, uint8_t index);

  const MachineModel& machine_;
  std::vector<WordsPtr> vregs_;
  std::vector<WordsPtr> masks_;
  std::array<uint32_t, 64> sregs_{};
  std::array<bool, 64> predicates_{};
  std::vector<PendingWords> pending_words_;
  std::vector<std::pair<uint8_t, uint32_t>> pending_sregs_;
  std::vector<std::pair<uint8_t, bool>> pending_predicates_;
  std::vector<WordsPtr> spare_;
  // Results pushed so far, and the queue of the last.
  size_t pushed_ = 0;
  std::deque<WordsPtr>* last_words_ = nullptr;
  std::deque<uint32_t>* last_scalars_ = nullptr;

  std::vector<uint8_t> vmem_;
  std::vector<uint8_t> smem_;
  std::array<std::deque<WordsPtr>, kNumFifos * kMaxUnits> fifos_;
  std::array<std::deque<uint32_t>, kNumFifos> scalar_fifos_;
  std::vector<std::unique_ptr<Mxu>> mxus_;
  std::array<TransposeStream, kMaxUnits> streams_;
  RandomState random_;
  absl::Status status_;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_SEMANTICS_CONTEXT_H_
