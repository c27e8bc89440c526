// The parser of modules and instructions, over Reader. Internal; parser.h is
// the way in.
#ifndef PTXLA_HLO_BACKEND_IR_MODULE_PARSER_H_
#define PTXLA_HLO_BACKEND_IR_MODULE_PARSER_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/reader.h"

namespace ptxla::hlo {

// An instruction while it is read.
struct PendingInstruction {
  Opcode opcode = Opcode::kTuple;
  // "-start" and the like behind an opcode that has no such form of its own:
  // what the printed async instruction wraps.
  bool is_async_sugar = false;
  std::string async_thread;
  Attributes attributes;
  std::vector<Instruction*> operands;
  struct Callee {
    absl::string_view name;
    const char* at;
  };
  // In the order of Instruction::called().
  std::vector<Callee> called;
  Metadata metadata;
  bool has_metadata = false;
  InstructionExtras extras;
  bool has_extras = false;
  std::vector<Instruction*> control_predecessors;
  absl::InlinedVector<absl::string_view, 8> seen;  // attribute names

  template <class T>
  T* get() {
    return GetMutableAttrs<T>(&attributes);
  }
  // Callee number `i`, whatever the order of the text.
  Callee* callee(size_t i) {
    if (called.size() <= i) called.resize(i + 1);
    return &called[i];
  }
};

class ModuleParser : public Reader {
 public:
  explicit ModuleParser(absl::string_view text) : Reader(text) {}

  // Null after an error; status() says which.
  std::unique_ptr<Module> Parse();

  // Used by the attribute table (parse_attributes.cc).
  bool CalleeName(PendingInstruction::Callee* callee);
  bool CalleeList(PendingInstruction* pending);  // {a, b} or a
  bool InstructionList(std::vector<Instruction*>* list);

 private:
  bool Header();
  bool HeaderAttribute(absl::string_view name);
  bool StackFrameTable(absl::string_view title);
  bool EntryLayout();
  bool InputOutputAliases();
  bool BufferDonors();

  bool ComputationText();
  bool ComputationAttributes(Computation* computation);
  bool InstructionText(bool is_root);
  bool ParseInstruction(bool has_shape, Shape shape, std::string name,
                        const char* name_at, Instruction** result);
  bool OpcodeText(PendingInstruction* pending);
  bool Operands(PendingInstruction* pending, const Shape* shape);
  bool Operand(Instruction** operand);
  bool AttributeList(PendingInstruction* pending);
  bool CheckRequired(const PendingInstruction& pending, const char* at);
  bool Finish(PendingInstruction* pending, bool has_shape, Shape shape,
              std::string name, const char* name_at, Instruction** result);
  bool WrapAsync(PendingInstruction* pending, std::vector<Computation*>* called,
                 const Shape& shape);
  bool ResolveCallees();
  std::string AnonymousName(Opcode opcode);

  std::unique_ptr<Module> module_;
  Computation* current_ = nullptr;
  Instruction* last_ = nullptr;
  absl::flat_hash_map<absl::string_view, Instruction*> names_;
  absl::flat_hash_map<absl::string_view, Computation*> computations_;
  // Calls of computations that come later in the text.
  struct Unresolved {
    Instruction* instruction;
    std::vector<PendingInstruction::Callee> called;
  };
  std::vector<Unresolved> unresolved_;
  int depth_ = 0;  // of nested operands
};

// Reads the value of attribute `name` into `pending`. Sets *known to false if
// the opcode has no such attribute.
bool ReadAttribute(ModuleParser* parser, absl::string_view name,
                   PendingInstruction* pending, bool* known);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_MODULE_PARSER_H_
