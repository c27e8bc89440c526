// A function of HLO: parameters, instructions, a root. Made and owned by a
// Module.
//
//   for (Instruction* i : computation->instructions()) ...   // insertion order
//   for (Instruction* i : computation->PostOrder()) ...      // operands first
//
// instructions() may be iterated while instructions are added (they are seen)
// and removed.
#ifndef PTXLA_HLO_BACKEND_IR_COMPUTATION_H_
#define PTXLA_HLO_BACKEND_IR_COMPUTATION_H_

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

class Computation {
 public:
  // Forward range over the live instructions.
  class InstructionRange {
   public:
    class iterator {
     public:
      iterator(const Computation* c, size_t i) : c_(c), i_(i) { Skip(); }
      Instruction* operator*() const { return c_->instructions_[i_].get(); }
      iterator& operator++() {
        ++i_;
        Skip();
        return *this;
      }
      bool operator!=(const iterator&) const {
        return i_ < c_->instructions_.size();
      }

     private:
      void Skip() {
        while (i_ < c_->instructions_.size() && !c_->instructions_[i_]) ++i_;
      }
      const Computation* c_;
      size_t i_;
    };
    explicit InstructionRange(const Computation* c) : c_(c) {}
    iterator begin() const { return iterator(c_, 0); }
    iterator end() const { return iterator(c_, SIZE_MAX); }

   private:
    const Computation* c_;
  };

  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
  ~Computation();

  const std::string& name() const { return name_; }
  void set_name(std::string name) { name_ = std::move(name); }
  int id() const { return id_; }
  Module* module() const { return module_; }
  bool IsEntry() const;

  InstructionRange instructions() const { return InstructionRange(this); }
  int instruction_count() const { return live_; }
  // nullptr before SetRoot, unless a Builder made the instructions.
  Instruction* root() const { return root_; }
  // Shapes may differ from the old root's.
  void SetRoot(Instruction* root);

  int parameter_count() const { return static_cast<int>(parameters_.size()); }
  Instruction* parameter(int i) const { return parameters_[i]; }
  absl::Span<Instruction* const> parameters() const { return parameters_; }
  ProgramShape program_shape() const;

  // Operands (and control predecessors) before users, in linear time, all
  // instructions included; the insertion order where that is one already.
  // In a scheduled module the insertion order is the schedule, and this too.
  // A large computation keeps it until it changes: most passes find nothing to
  // do, and walks over many instructions wait for memory.
  std::vector<Instruction*> PostOrder() const;

  // Instructions that call this computation.
  absl::Span<Instruction* const> callers() const { return callers_.list(); }
  // Body of a fusion: the fusion instruction, else nullptr.
  Instruction* fusion_instruction() const;
  bool IsFusionComputation() const { return fusion_instruction() != nullptr; }
  const std::string& execution_thread() const { return execution_thread_; }
  void set_execution_thread(std::string t) { execution_thread_ = std::move(t); }

  // --- Changing it ---

  // The general maker. `name` is a wish: "" means the opcode's name; the
  // module makes it unique. Attributes must be those of the opcode. A
  // parameter must carry the next free number or fill a gap.
  Instruction* Add(Opcode opcode, Shape shape,
                   absl::Span<Instruction* const> operands,
                   Attributes attributes = {},
                   absl::Span<Computation* const> called = {},
                   absl::string_view name = "");
  // The same with a name taken as it is: the caller knows that it is free.
  Instruction* AddWithExactName(Opcode opcode, Shape shape,
                                absl::Span<Instruction* const> operands,
                                Attributes attributes,
                                absl::Span<Computation* const> called,
                                std::string name);
  // Like `like` in opcode, attributes, called computations, metadata,
  // sharding, frontend attributes and backend config; new shape and operands.
  // `like` may live elsewhere in the same module.
  Instruction* AddLike(const Instruction& like, Shape shape,
                       absl::Span<Instruction* const> operands);
  Instruction* AddParameter(int64_t number, Shape shape);
  Instruction* AddConstant(Literal literal);

  // It must have no users, not be the root, and have no control successors.
  // Parameters of the entry may not go; other parameters renumber the later
  // ones (callers are not changed).
  void Remove(Instruction* instruction);
  // `old`'s uses, root, control edges, and (if `value` has none) metadata and
  // sharding go to `value`; `old` is removed.
  void Replace(Instruction* old, Instruction* value);
  // Removes what the root does not need and has no side effect; parameters
  // stay. Returns how many.
  int RemoveDead();

  // Wraps `group` (closed under paths between its members; any order) into
  // one fusion instruction. Values used outside become its results: one gives
  // its shape, several a tuple with get-tuple-elements. Operands appear in
  // the order of first use. Constants that only the group uses belong into
  // it if the caller lists them.
  Instruction* CreateFusion(absl::Span<Instruction* const> group,
                            FusionKind kind, absl::string_view name = "fusion");

  // The insertion order becomes `order`: all live instructions, each once
  // (CHECK-fails otherwise).
  void Reorder(absl::Span<Instruction* const> order);
  // Drops the holes that removals left. Invalidates iteration.
  void Compact();

 private:
  friend class Builder;
  friend class Module;
  friend class Instruction;
  Computation(Module* module, std::string name, int id);

  std::vector<Instruction*> FindPostOrder() const;
  // To be called by whatever changes operands, control edges or the list.
  void ForgetOrder() {
    if (order_.load(std::memory_order_relaxed) != nullptr) {
      delete order_.exchange(nullptr);
    }
  }

  std::vector<std::unique_ptr<Instruction>> instructions_;
  // Atomic for those who only read, in several threads; null: not known.
  mutable std::atomic<const std::vector<Instruction*>*> order_{nullptr};
  std::vector<Instruction*> parameters_;
  UserList callers_;
  std::string name_, execution_thread_;
  Module* module_;
  Instruction* root_ = nullptr;
  bool root_is_set_ = false;  // else a Builder moves it along
  int id_;
  int live_ = 0;
  int position_ = 0;  // in the module's list
};

// Replaces `call` (call or fusion) by the instructions of its computation and
// removes it. The computation stays.
void InlineCall(Instruction* call);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_COMPUTATION_H_
