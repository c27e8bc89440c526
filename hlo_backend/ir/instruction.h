// One HLO operation: opcode, result shape, operands, attributes, and the
// computations that it calls. Made and owned by a Computation; its address is
// stable until it is removed.
//
//   Instruction* dot = ...;
//   for (Instruction* user : dot->users()) ...
//   int64_t k = dot->operand(0)->shape().dim(
//       dot->attrs<DotAttrs>().lhs_contracting[0]);
//
// Operands and users are kept in step by the functions that change them. Where
// one value is several operands of a user, users() names that user once.
#ifndef PTXLA_HLO_BACKEND_IR_INSTRUCTION_H_
#define PTXLA_HLO_BACKEND_IR_INSTRUCTION_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "base/check.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/metadata.h"
#include "hlo_backend/ir/opcode.h"
#include "hlo_backend/ir/shape.h"
#include "hlo_backend/ir/user_list.h"

namespace ptxla::hlo {

class Computation;
class Module;

// Keys in the order of their first appearance do not matter: they are sorted.
using FrontendAttributes = std::map<std::string, std::string>;

// What few instructions have.
struct InstructionExtras {
  std::shared_ptr<const Sharding> sharding;
  FrontendAttributes frontend_attributes;
  // The text between the braces (JSON) or quotes, unescaped when quoted.
  std::string backend_config;
  bool backend_config_is_json = false;  // printed as {...}, not as a string
  std::string origin;                   // origin={...}, as it was read
  std::string statistics;               // statistics={...}, as it was read
  // Of an HloInstructionProto it was read from: the fields that nothing here
  // holds, serialized; they are written back.
  std::string proto_rest;
};

class Instruction {
 public:
  Instruction(const Instruction&) = delete;
  Instruction& operator=(const Instruction&) = delete;
  ~Instruction();

  Opcode opcode() const { return opcode_; }
  int id() const { return id_; }  // unique in the module, rises with age
  const std::string& name() const { return name_; }  // without '%'
  void set_name(std::string name) { name_ = std::move(name); }
  Computation* parent() const { return parent_; }
  Module* module() const;

  const Shape& shape() const { return shape_; }
  Shape* mutable_shape() { return &shape_; }

  // Operands and users.
  absl::Span<Instruction* const> operands() const { return operands_; }
  int operand_count() const { return static_cast<int>(operands_.size()); }
  Instruction* operand(int i) const { return operands_[i]; }
  absl::Span<Instruction* const> users() const { return users_.list(); }
  int user_count() const { return static_cast<int>(users_.list().size()); }
  bool IsUsedBy(const Instruction* user) const { return users_.Contains(user); }
  // First position of `value` among the operands, or -1.
  int OperandIndex(const Instruction* value) const;
  // How many operand slots hold `value`.
  int OperandUses(const Instruction* value) const;
  void ReplaceOperand(int i, Instruction* value);
  void AppendOperand(Instruction* value);
  // Every user, and the root if it is this one, takes `value` instead. The
  // shapes must have the same dimensions and type.
  void ReplaceAllUsesWith(Instruction* value);
  // Only this user.
  void ReplaceUseIn(Instruction* user, Instruction* value);

  // Attributes. attrs<T>() CHECK-fails when the opcode carries another struct.
  template <class T>
  const T& attrs() const {
    const T* attrs = GetAttrs<T>(attributes_);
    CHECK(attrs != nullptr) << "wrong attributes asked of " << name_;
    return *attrs;
  }
  template <class T>
  T* mutable_attrs() {
    T* attrs = GetMutableAttrs<T>(&attributes_);
    CHECK(attrs != nullptr) << "wrong attributes asked of " << name_;
    return attrs;
  }
  template <class T>
  const T* attrs_if() const {
    return GetAttrs<T>(attributes_);
  }
  const Attributes& attributes() const { return attributes_; }
  void set_attributes(Attributes a);

  // Shorthands; each CHECK-fails on other opcodes.
  const Literal& literal() const;                // constant
  int64_t parameter_number() const;              // parameter
  int64_t tuple_index() const;                   // get-tuple-element
  absl::Span<const int64_t> dimensions() const;  // DimensionsAttrs
  FusionKind fusion_kind() const;                // fusion

  // Called computations: fusion {body}; call, map, reduce, all-reduce ...
  // {to_apply}; while {body, condition}; conditional {branches};
  // select-and-scatter {select, scatter}; async-start {wrapped}; custom-call.
  absl::Span<Computation* const> called() const { return called_; }
  void SetCalled(absl::Span<Computation* const> computations);
  void ReplaceCalled(int i, Computation* computation);
  Computation* to_apply() const { return called_at(0); }
  Computation* fused() const { return called_at(0); }
  Computation* while_body() const { return called_at(0); }
  Computation* while_condition() const { return called_at(1); }
  Computation* select() const { return called_at(0); }
  Computation* scatter() const { return called_at(1); }

  // Must run before this one without being an operand.
  absl::Span<Instruction* const> control_predecessors() const {
    return control_predecessors_;
  }
  absl::Span<Instruction* const> control_successors() const {
    return control_successors_;
  }
  void AddControlPredecessor(Instruction* predecessor);
  void DropControlDependencies();
  // Other instructions' control edges to this one move to `to`.
  void MoveControlDependenciesTo(Instruction* to);

  // Metadata is shared between clones: replace it, never change it in place.
  const Metadata& metadata() const;  // empty if there is none
  const std::shared_ptr<const Metadata>& shared_metadata() const {
    return metadata_;
  }
  void set_metadata(Metadata metadata);
  void set_metadata(std::shared_ptr<const Metadata> metadata) {
    metadata_ = std::move(metadata);
  }
  const Sharding* sharding() const;  // nullptr: none
  void set_sharding(Sharding sharding);
  void clear_sharding();
  const FrontendAttributes& frontend_attributes() const;
  const std::string& backend_config() const;  // "" if there is none
  void set_backend_config(std::string text, bool is_json = true);
  bool has_extras() const { return extras_ != nullptr; }
  const InstructionExtras& extras() const;
  InstructionExtras* mutable_extras();

  // Line (1-based) of the text it was parsed from; 0: not parsed. Column of
  // its name.
  int source_line() const { return line_; }
  int source_column() const { return column_; }
  void set_source_position(int line, int column) {
    line_ = line;
    column_ = column;
  }

  bool IsRoot() const;
  bool IsConstant() const { return opcode_ == Opcode::kConstant; }
  bool IsFused() const;  // lives in a fusion computation
  bool IsElementwise() const { return hlo::IsElementwise(opcode_); }
  // May not be removed without users: by opcode, or a custom call or a called
  // computation says so.
  bool HasSideEffect() const;

  // Same opcode, shape, attributes, operands (by identity) and called
  // computations (by identity): one can stand for the other. False for
  // instructions with side effects and rng.
  bool Identical(const Instruction& o) const;

  // "%x.1 = f32[2]{0} add(%a, %b), metadata={...}": one line, see printer.h.
  std::string ToString() const;

 private:
  friend class Computation;
  friend class Module;
  Instruction(Opcode opcode, Shape shape);
  Computation* called_at(int i) const {
    CHECK_LT(i, static_cast<int>(called_.size())) << name_;
    return called_[i];
  }
  void DetachFromOperands();

  // What every walk over a graph asks for comes first, side by side: such walks
  // wait for memory.
  Opcode opcode_;
  int id_ = 0;
  int position_ = 0;  // in the parent's list
  absl::InlinedVector<Instruction*, 3> operands_;
  absl::InlinedVector<Instruction*, 1> control_predecessors_,
      control_successors_;
  absl::InlinedVector<Computation*, 1> called_;
  UserList users_;
  Computation* parent_ = nullptr;
  Shape shape_;
  Attributes attributes_;
  std::shared_ptr<const Metadata> metadata_;
  std::unique_ptr<InstructionExtras> extras_;
  std::string name_;
  int line_ = 0, column_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_INSTRUCTION_H_
