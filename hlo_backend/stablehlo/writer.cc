// Functions, blocks, values and lines of the text.
#include "hlo_backend/stablehlo/writer.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/ir/shape_inference.h"
#include "hlo_backend/stablehlo/mlir_text.h"

namespace ptxla::hlo {
namespace mlir {
namespace {

// Deeper texts are not read either.
constexpr int kMaxWrittenNesting = 90;

absl::Status AtInstruction(const Instruction& i, const absl::Status& status) {
  // An instruction of a called computation has said where.
  if (status.ok() || status.GetPayload("at").has_value()) return status;
  std::string where;
  if (i.source_line() > 0) {
    const std::string& file = i.module()->file_name();
    where = absl::StrCat(file, file.empty() ? "" : ":", i.source_line(), ":",
                         i.source_column(), ": ");
  }
  absl::Status placed = AddContext(status, absl::StrCat(where, i.name()));
  placed.SetPayload("at", absl::Cord());
  return placed;
}

// Has no line of its own: its value is that of others.
bool IsSilent(Opcode opcode) {
  return opcode == Opcode::kTuple || opcode == Opcode::kGetTupleElement ||
         opcode == Opcode::kConstant || opcode == Opcode::kParameter;
}

void ConstantLeaves(const Instruction& i, const Literal& literal, Values* out) {
  if (!literal.IsTuple()) {
    out->emplace_back("", &literal.shape());
    out->back().constant = &literal;
    out->back().constant_of = &i;
    return;
  }
  for (const Literal& e : literal.elements()) ConstantLeaves(i, e, out);
}

int64_t FirstLeaf(const Shape& tuple, int64_t element) {
  int64_t leaf = 0;
  for (int64_t e = 0; e < element; ++e) {
    leaf += tuple.element(static_cast<int>(e)).LeafCount();
  }
  return leaf;
}

// What tuples and constants stand for.
Values SilentValues(const Instruction& i, const Writer& w) {
  switch (i.opcode()) {
    case Opcode::kConstant: {
      Values values;
      ConstantLeaves(i, i.literal(), &values);
      return values;
    }
    case Opcode::kTuple:
      return w.OperandValues(i);
    default: {
      const Values& all = w.ValuesOf(i.operand(0));
      const int64_t first = FirstLeaf(i.operand(0)->shape(), i.tuple_index());
      return Values(all.begin() + first,
                    all.begin() + first + i.shape().LeafCount());
    }
  }
}

}  // namespace

std::vector<const Shape*> LeavesOf(const Shape& shape) {
  if (!shape.IsTuple()) return {&shape};
  std::vector<const Shape*> leaves;
  for (const Shape& e : shape.elements()) {
    for (const Shape* leaf : LeavesOf(e)) leaves.push_back(leaf);
  }
  return leaves;
}

const Values& Writer::ValuesOf(const Instruction* i) const {
  auto it = scope_->values.find(i);
  CHECK(it != scope_->values.end()) << i->name() << " comes later";
  return it->second;
}

Values Writer::OperandValues(const Instruction& i) const {
  Values all;
  for (const Instruction* operand : i.operands()) {
    const Values& values = ValuesOf(operand);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

absl::StatusOr<std::string> Writer::UseAll(const Values& values) {
  std::string text;
  for (const Value& value : values) {
    ASSIGN_OR_RETURN(const std::string name, Use(value));
    absl::StrAppend(&text, text.empty() ? "" : ", ", name);
  }
  return text;
}

absl::StatusOr<std::string> Writer::Types(const Values& values, bool bare) {
  std::string text;
  for (const Value& value : values) {
    std::string type = value.type;
    if (type.empty()) {
      ASSIGN_OR_RETURN(type, TypeText(*value.shape));
    }
    absl::StrAppend(&text, text.empty() ? "" : ", ", type);
  }
  return bare && values.size() == 1 ? text : absl::StrCat("(", text, ")");
}

absl::StatusOr<std::string> Writer::Signature(
    const Values& operands, absl::Span<const Shape* const> results) {
  Values after;
  for (const Shape* shape : results) after.push_back({"", shape});
  ASSIGN_OR_RETURN(const std::string before, Types(operands));
  ASSIGN_OR_RETURN(const std::string behind, Types(after, true));
  return absl::StrCat(before, " -> ", behind);
}

void Writer::Line(absl::string_view text) {
  absl::StrAppend(&out_, indent_, text, "\n");
}

absl::StatusOr<Values> Writer::Emit(const Instruction* i, OpText op,
                                    absl::Span<const Shape* const> results) {
  std::string name;
  Values values;
  if (!results.empty()) {
    name = absl::StrCat("%", next_result_++);
    if (results.size() == 1) {
      values.push_back({name, results[0]});
    } else {
      for (size_t r = 0; r < results.size(); ++r) {
        values.push_back({absl::StrCat(name, "#", r), results[r]});
      }
      absl::StrAppend(&name, ":", results.size());
    }
    name.append(" = ");
  }
  const std::string attributes = op.attributes_in_head ? "" : Attributes(i, op);
  absl::StrAppend(&out_, indent_, name, op.head);
  if (!op.attributes_behind) out_.append(attributes);
  if (!op.types.empty()) absl::StrAppend(&out_, " : ", op.types);
  if (op.attributes_behind && !attributes.empty()) {
    absl::StrAppend(&out_, " attributes", attributes);
  }
  absl::StrAppend(&out_, op.tail, Location(i), "\n");
  return values;
}

absl::StatusOr<Values> Writer::EmitGeneric(
    const Instruction* i, absl::string_view name, const Values& operands,
    const std::vector<std::string>& properties,
    const std::vector<std::string>& regions,
    absl::Span<const Shape* const> results) {
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, UseAll(operands));
  op.head = absl::StrCat("\"", name, "\"(", names, ")");
  if (!properties.empty()) {
    absl::StrAppend(&op.head, " <{", absl::StrJoin(properties, ", "), "}>");
  }
  if (!regions.empty()) {
    absl::StrAppend(&op.head, " (", absl::StrJoin(regions, ", "), ")");
  }
  ASSIGN_OR_RETURN(op.types, Signature(operands, results));
  return Emit(i, std::move(op), results);
}

Value Writer::NewArgument(const Shape& shape) {
  return {absl::StrCat("%arg", next_argument_++), &shape};
}

namespace {

bool SameTypes(const Shape& a, const Shape& b) {
  if (!a.IsTuple() || !b.IsTuple()) return a.type() == b.type();
  const auto x = a.elements(), y = b.elements();
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), SameTypes);
}

// In StableHLO these have the very type of what they call, carry or name; other
// results may say the size of a dimension that operands leave open.
bool TakesTypeAsItIs(Opcode opcode) {
  return IsSilent(opcode) || opcode == Opcode::kCall ||
         opcode == Opcode::kFusion || opcode == Opcode::kWhile;
}

// HLO lets an addition of s32 give s16, or a call another float than its
// computation; StableHLO's types follow from the operands'.
absl::Status CheckResultType(const Instruction& i) {
  absl::StatusOr<Shape> own = absl::UnimplementedError("");
  if (IsElementwise(i.opcode())) {
    std::vector<const Shape*> operands;
    for (const Instruction* operand : i.operands()) {
      operands.push_back(&operand->shape());
    }
    own = InferShape(i.opcode(), operands, i.attributes());
  }
  // Where what is written decides, as in a convert.
  if (!own.ok()) own = InferShape(i);
  if (!own.ok() ||
      (TakesTypeAsItIs(i.opcode()) ? own->SameDimsAndType(i.shape())
                                   : SameTypes(*own, i.shape()))) {
    return absl::OkStatus();
  }
  return absl::UnimplementedError(
      absl::StrCat("StableHLO's ", OpcodeName(i.opcode()), " gives ",
                   own->ToString(), " here, not ", i.shape().ToString()));
}

}  // namespace

// What one instruction becomes.
absl::Status Writer::Write(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) return absl::OkStatus();
  RETURN_IF_ERROR(CheckResultType(i));
  if (!IsAsyncDone(i.opcode()) && i.opcode() != Opcode::kAsyncUpdate) {
    for (const Instruction* operand : i.operands()) {
      if (scope_->pending.contains(operand)) {
        return absl::UnimplementedError(absl::StrCat(
            "StableHLO cannot take apart what ", operand->name(), " started"));
      }
    }
  }
  if (IsSilent(i.opcode())) {
    Define(i, SilentValues(i, *this));
    return absl::OkStatus();
  }
  Emitter emitter = FindEmitter(i.opcode());
  if (emitter != nullptr) return emitter(i, *this);
  return absl::UnimplementedError(
      absl::StrCat("StableHLO has no form of ", OpcodeName(i.opcode())));
}

absl::Status Writer::Instructions(const Computation& computation) {
  for (const Instruction* i : computation.PostOrder()) {
    RETURN_IF_ERROR(AtInstruction(*i, Write(*i)));
  }
  if (!scope_->pending.contains(computation.root())) return absl::OkStatus();
  return AtInstruction(*computation.root(),
                       absl::UnimplementedError(
                           "an asynchronous start is no result in StableHLO"));
}

absl::Status Writer::Return(absl::string_view word, const Values& values) {
  if (values.empty()) {
    Line(word);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string names, UseAll(values));
  ASSIGN_OR_RETURN(const std::string types, Types(values));
  Line(
      absl::StrCat(word, " ", names, " : ", types.substr(1, types.size() - 2)));
  return absl::OkStatus();
}

absl::StatusOr<std::string> Writer::RegionOn(
    const Values& arguments, bool header,
    const std::function<absl::Status()>& body) {
  if (++depth_ > kMaxWrittenNesting) {
    return absl::UnimplementedError("computations nest too deep");
  }
  std::string text = "{\n";
  if (header && !arguments.empty()) {
    std::string list;
    for (const Value& a : arguments) {
      ASSIGN_OR_RETURN(const std::string type, TypeText(*a.shape));
      absl::StrAppend(&list, list.empty() ? "" : ", ", a.name, ": ", type);
    }
    absl::StrAppend(&text, indent_, "^bb0(", list, "):\n");
  }
  Scope scope;
  Scope* outer = scope_;
  std::swap(out_, text);
  scope_ = &scope;
  indent_.append("  ");
  const absl::Status status = body();
  indent_.resize(indent_.size() - 2);
  scope_ = outer;
  std::swap(out_, text);
  --depth_;
  if (!status.ok()) return status;
  return absl::StrCat(text, indent_, "}");
}

absl::StatusOr<std::string> Writer::Region(const Computation& computation,
                                           const Values* given) {
  Values arguments;
  if (given != nullptr) {
    arguments = *given;
  } else {
    for (const Instruction* p : computation.parameters()) {
      for (const Shape* leaf : LeavesOf(p->shape())) {
        arguments.push_back(NewArgument(*leaf));
      }
    }
  }
  return RegionOn(arguments, given == nullptr, [&]() -> absl::Status {
    size_t next = 0;
    for (const Instruction* p : computation.parameters()) {
      const size_t count = LeavesOf(p->shape()).size();
      Define(*p, Values(arguments.begin() + next,
                        arguments.begin() + next + count));
      next += count;
    }
    RETURN_IF_ERROR(Instructions(computation));
    return Return("stablehlo.return", ValuesOf(computation.root()));
  });
}

std::string Writer::FunctionName(const Computation& computation) {
  auto [it, is_new] = function_names_.try_emplace(&computation);
  if (is_new) {
    std::string name = computation.name();
    for (int n = 0; !taken_names_.insert(name).second; ++n) {
      name = absl::StrCat(computation.name(), "_", n);
    }
    functions_.push_back(&computation);
    it->second = SymbolText(name);
  }
  return it->second;
}

}  // namespace mlir

absl::StatusOr<std::string> WriteStableHlo(
    const Module& module, const StableHloWriteOptions& options) {
  auto text = mlir::Writer(module, options).Write();
  if (text.ok()) return text;
  // Without the mark of who has said where.
  return absl::Status(text.status().code(), text.status().message());
}

}  // namespace ptxla::hlo
