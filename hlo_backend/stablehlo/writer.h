// A Module to StableHLO text. Internal; stablehlo_writer.h is the way in.
//
// One emitter per opcode, in a table (emitters.cc); each takes the instruction
// and gives the writer its operations and the names of its results.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_WRITER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_WRITER_H_

#include <deque>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"

namespace ptxla::hlo::mlir {

// An array or token that has a name in the text, or a constant, which is
// written where it is used first in each block.
struct Value {
  Value() = default;
  Value(std::string its_name, const Shape* its_shape)
      : name(std::move(its_name)), shape(its_shape) {}

  std::string name;  // "%3#1"
  const Shape* shape = nullptr;
  const Literal* constant = nullptr;
  const Instruction* constant_of = nullptr;
  std::string type;  // of what has no shape: "!stablehlo.future<...>"
};
// The leaves of an instruction's shape in order: one if it is no tuple.
using Values = std::vector<Value>;

// `RESULTS = HEAD {ATTRIBUTES} : TYPES TAIL`.
struct OpText {
  OpText() = default;
  explicit OpText(std::string its_head, std::string its_types = "")
      : head(std::move(its_head)), types(std::move(its_types)) {}

  std::string head;
  std::vector<std::string> attributes;  // "a = 1 : i32", before the others
  std::string types;
  bool attributes_behind = false;   // `: TYPES attributes {...}`
  bool attributes_in_head = false;  // they are written already
  std::string tail;                 // regions in pretty form
};

class Writer {
 public:
  Writer(const Module& module, const StableHloWriteOptions& options)
      : module_(module), options_(options) {}

  absl::StatusOr<std::string> Write();

  // --- For emitters ---
  const Module& module() const { return module_; }
  // All leaves of an instruction that came before, or of all operands.
  const Values& ValuesOf(const Instruction* i) const;
  Values OperandValues(const Instruction& i) const;
  // The name of a value in this block. Constants are written first.
  absl::StatusOr<std::string> Use(const Value& value);
  // "%0, %1"
  absl::StatusOr<std::string> UseAll(const Values& values);
  // "(tensor<2xf32>, tensor<f32>)"; one without brackets if `bare`.
  absl::StatusOr<std::string> Types(const Values& values, bool bare = false);
  // "(A, B) -> C"
  absl::StatusOr<std::string> Signature(const Values& operands,
                                        absl::Span<const Shape* const> results);
  // Writes an operation and gives its results; `i` is where its sharding and
  // location come from (nullptr: it has none).
  absl::StatusOr<Values> Emit(const Instruction* i, OpText op,
                              absl::Span<const Shape* const> results);
  // The same in generic form: `"NAME"(operands) <{PROPERTIES}> (REGIONS)`.
  absl::StatusOr<Values> EmitGeneric(const Instruction* i,
                                     absl::string_view name,
                                     const Values& operands,
                                     const std::vector<std::string>& properties,
                                     const std::vector<std::string>& regions,
                                     absl::Span<const Shape* const> results);
  // The instruction's results. Sizes must be those of its leaves.
  void Define(const Instruction& i, Values values) {
    scope_->values[&i] = std::move(values);
  }
  // The result of a -start: only the -done that ends it may take it.
  void DefinePending(const Instruction& i, Values values) {
    scope_->pending.insert(&i);
    Define(i, std::move(values));
  }

  // A computation as a region "{\n ^bb0(...): ... }" with arguments of its own,
  // or without a header on those that are given.
  absl::StatusOr<std::string> Region(const Computation& computation,
                                     const Values* given = nullptr);
  // A region on these arguments; `body` writes its lines.
  absl::StatusOr<std::string> RegionOn(
      const Values& arguments, bool header,
      const std::function<absl::Status()>& body);
  // `return` of a block.
  absl::Status Return(absl::string_view word, const Values& values);
  // A value that does not exist yet: "%arg3".
  Value NewArgument(const Shape& shape);
  // "@f"; it will be written.
  std::string FunctionName(const Computation& computation);
  // A shape of the writer's own that lives as long as it.
  const Shape* Keep(Shape shape) {
    kept_.push_back(std::move(shape));
    return &kept_.back();
  }
  // A line of the block, indented.
  void Line(absl::string_view text);
  const std::string& indent() const { return indent_; }

 private:
  struct Scope {
    absl::flat_hash_map<const Instruction*, Values> values;
    absl::flat_hash_map<const Literal*, std::string> constants;
    absl::flat_hash_set<const Instruction*> pending;
  };

  absl::Status Function(const Computation& computation, bool is_entry);
  absl::StatusOr<std::string> Arguments(const Computation& computation,
                                        bool is_entry);
  absl::Status Instructions(const Computation& computation);
  absl::Status Write(const Instruction& i);
  absl::StatusOr<std::string> WriteConstant(const Value& value);
  std::string EntryAttributes(int64_t parameter, const ShapeIndex& index) const;
  std::string Attributes(const Instruction* i, const OpText& op) const;
  // " loc(#loc3)" or nothing.
  std::string Location(const Instruction* i);

  const Module& module_;
  const StableHloWriteOptions options_;
  std::string out_, indent_;
  std::deque<Shape> kept_;
  Scope* scope_ = nullptr;
  int depth_ = 0;
  int next_result_ = 0, next_argument_ = 0;  // of this function
  absl::flat_hash_map<const Computation*, std::string> function_names_;
  absl::flat_hash_set<std::string> taken_names_;
  std::vector<const Computation*> functions_;  // in the order of their mention
  absl::flat_hash_map<std::string, int> location_numbers_;
  std::vector<std::string> locations_;
};

using Emitter = absl::Status (*)(const Instruction& i, Writer& w);
// nullptr: StableHLO has no form of it.
Emitter FindEmitter(Opcode opcode);

// The tables that emitters.cc joins.
using EmitterRow = std::pair<Opcode, Emitter>;
absl::Span<const EmitterRow> ElementwiseEmitters();
absl::Span<const EmitterRow> MovementEmitters();
absl::Span<const EmitterRow> ProductEmitters();
absl::Span<const EmitterRow> ReductionEmitters();
absl::Span<const EmitterRow> ControlEmitters();
absl::Span<const EmitterRow> CollectiveEmitters();
absl::Span<const EmitterRow> AsyncEmitters();

// --- Emitters that several tables name ---

absl::Status EmitCustomCall(const Instruction& i, Writer& w);
absl::Status EmitAsyncStart(const Instruction& i, Writer& w);
// The end of an asynchronous pair.
absl::Status EmitDone(const Instruction& i, Writer& w);

// --- Helpers of emitters ---

// The leaves of a shape; they live as long as it.
std::vector<const Shape*> LeavesOf(const Shape& shape);
// One operation in pretty form, not of an instruction of its own: `NAME
// operands MIDDLE : (A) -> B`.
absl::StatusOr<Value> EmitStep(Writer& w, const Instruction* source,
                               absl::string_view name, const Values& operands,
                               absl::string_view middle, const Shape* result);
// `NAME operands MIDDLE : TYPES` with the signature of the instruction, or one
// type if all are the same and `short_types`.
absl::Status EmitPretty(const Instruction& i, Writer& w, absl::string_view name,
                        absl::string_view middle = "",
                        bool short_types = false);
// Generic, with all operands, results defined.
absl::Status EmitSame(const Instruction& i, Writer& w, absl::string_view name,
                      const std::vector<std::string>& properties,
                      const std::vector<std::string>& regions = {});
// "key = true"
std::string BoolEntry(absl::string_view key, bool value);
std::string IntEntry(absl::string_view key, int64_t value,
                     absl::string_view type = "i64");

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_WRITER_H_
