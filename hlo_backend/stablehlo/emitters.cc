// The table of all opcodes, and what several emitters need.
#include <array>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {

Emitter FindEmitter(Opcode opcode) {
  using Table = std::array<Emitter, kOpcodeCount>;
  static const Table table = [] {
    Table t{};
    for (auto rows : {ElementwiseEmitters(), MovementEmitters(),
                      ProductEmitters(), ReductionEmitters(), ControlEmitters(),
                      CollectiveEmitters(), AsyncEmitters()}) {
      for (const auto& [key, emitter] : rows) {
        t[static_cast<size_t>(key)] = emitter;
      }
    }
    return t;
  }();
  return table[static_cast<size_t>(opcode)];
}

absl::StatusOr<Value> EmitStep(Writer& w, const Instruction* source,
                               absl::string_view name, const Values& operands,
                               absl::string_view middle, const Shape* result) {
  const std::vector<const Shape*> results = {result};
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat(name, " ", names, middle);
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(const Values made, w.Emit(source, std::move(op), results));
  return made[0];
}

absl::Status EmitPretty(const Instruction& i, Writer& w, absl::string_view name,
                        absl::string_view middle, bool short_types) {
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat(name, names.empty() ? "" : " ", names, middle);
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  if (short_types) {
    ASSIGN_OR_RETURN(const std::string result, TypeText(i.shape()));
    bool same = true;
    for (const Value& v : operands) {
      ASSIGN_OR_RETURN(const std::string type, TypeText(*v.shape));
      same &= type == result;
    }
    if (same) op.types = result;
  }
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status EmitSame(const Instruction& i, Writer& w, absl::string_view name,
                      const std::vector<std::string>& properties,
                      const std::vector<std::string>& regions) {
  ASSIGN_OR_RETURN(Values made,
                   w.EmitGeneric(&i, name, w.OperandValues(i), properties,
                                 regions, LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

std::string BoolEntry(absl::string_view key, bool value) {
  return absl::StrCat(key, " = ", value ? "true" : "false");
}

std::string IntEntry(absl::string_view key, int64_t value,
                     absl::string_view type) {
  return absl::StrCat(key, " = ", value, " : ", type);
}

}  // namespace ptxla::hlo::mlir
