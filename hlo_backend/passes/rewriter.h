// Drives peephole rewrites over a computation: a worklist of instructions, each
// offered to a rule until no rule wants any.
//
//   Rewriter r(computation, options);
//   bool changed = r.Run([](Instruction* i, Rewriter& r) -> Instruction* {
//     if (i->opcode() == Opcode::kCopy) return i->operand(0);
//     return nullptr;                       // nothing to do
//   });
//
// A rule returns the value that stands for the instruction, made with
// builder() or found; it changes nothing else. What dies is removed at once,
// so that user counts are true; a new value of the same opcode takes its name.
#ifndef PTXLA_HLO_BACKEND_PASSES_REWRITER_H_
#define PTXLA_HLO_BACKEND_PASSES_REWRITER_H_

#include <deque>
#include <functional>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class Rewriter {
 public:
  using Rule = std::function<Instruction*(Instruction*, Rewriter&)>;

  Rewriter(Computation* computation, const PassOptions& options)
      : computation_(computation), builder_(computation), options_(options) {}

  // Returns whether anything changed. Stops after a bounded number of
  // rewrites per instruction, so that rules that undo one another cannot hang.
  bool Run(const Rule& rule);

  Builder& builder() { return builder_; }
  const PassOptions& options() const { return options_; }

 private:
  void Enqueue(Instruction* instruction);
  // What a rule made: the value and new operands below it.
  void EnqueueNew(Instruction* instruction);
  void RemoveDead(Instruction* instruction);

  Computation* computation_;
  Builder builder_;
  const PassOptions& options_;
  enum State : uint8_t { kQueued = 1, kRemoved = 2 };
  struct Entry {
    Instruction* instruction;
    int id;  // a removed instruction may no longer be asked
  };
  std::deque<Entry> queue_;
  std::vector<uint8_t> state_;  // by instruction id
  int newest_id_ = -1;
};

// The scalar constant that `value` is a broadcast of, or is; else nullptr.
const Literal* ScalarConstantOf(const Instruction& value);
// Is every element of `value` this constant?
bool IsAll(const Instruction& value, double constant);
// The scalar that `value` broadcasts, or nullptr.
Instruction* BroadcastScalarOf(const Instruction& value);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_REWRITER_H_
