// One instruction: name, shape, opcode, operands, attributes.
#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "hlo_backend/ir/module_parser.h"
#include "hlo_backend/ir/required_attributes.h"
#include "hlo_backend/ir/shape_inference.h"

namespace ptxla::hlo {
namespace {

// Parameters of one computation; more would be a typo.
constexpr int64_t kMaxParameters = 1 << 20;
constexpr int kMaxNesting = 200;

}  // namespace

bool ModuleParser::InstructionText(bool is_root) {
  const char* name_at = at();
  absl::string_view name;
  if (token().kind != TokenKind::kName) return Expected("an instruction");
  if (!Name(&name) || !Expect('=')) return false;
  Shape shape;
  const bool has_shape = AtShape();
  if (has_shape && !ShapeValue(&shape)) return false;
  Instruction* instruction;
  if (!ParseInstruction(has_shape, std::move(shape), std::string(name), name_at,
                        &instruction)) {
    return false;
  }
  if (!names_.emplace(name, instruction).second) {
    return Fail(name_at, absl::StrCat("instruction ", name,
                                      " exists already in this computation"));
  }
  last_ = instruction;
  if (is_root) {
    if (current_->root() != nullptr) {
      return Fail(name_at, "a computation has one ROOT");
    }
    current_->SetRoot(instruction);
  }
  return true;
}

bool ModuleParser::OpcodeText(PendingInstruction* pending) {
  if (token().kind != TokenKind::kName || token().percent) {
    return Expected("an opcode");
  }
  const absl::string_view text = token().text;
  auto opcode = OpcodeFromName(text);
  if (!opcode) {
    // "custom-call-start" is an async-start of a wrapped custom-call.
    absl::string_view base = text;
    if (absl::ConsumeSuffix(&base, "-start")) {
      opcode = OpcodeFromName(base);
      pending->is_async_sugar = opcode.has_value();
    } else if (absl::ConsumeSuffix(&base, "-update") && OpcodeFromName(base)) {
      opcode = Opcode::kAsyncUpdate;
    } else if (absl::ConsumeSuffix(&base, "-done") && OpcodeFromName(base)) {
      opcode = Opcode::kAsyncDone;
    }
  }
  if (!opcode) return Fail(at(), absl::StrCat("unknown opcode \"", text, "\""));
  pending->opcode = *opcode;
  pending->attributes = DefaultAttributes(*opcode);
  lex_.Next();
  return true;
}

bool ModuleParser::ParseInstruction(bool has_shape, Shape shape,
                                    std::string name, const char* name_at,
                                    Instruction** result) {
  if (++depth_ > kMaxNesting) return Fail(at(), "operands nest too deep");
  PendingInstruction pending;
  if (!OpcodeText(&pending)) return false;
  if (!Operands(&pending, has_shape ? &shape : nullptr)) return false;
  // The attributes of a nested operand end where the next operand begins:
  // it has none that follow a comma.
  if (depth_ == 1 && !AttributeList(&pending)) return false;
  --depth_;
  return Finish(&pending, has_shape, std::move(shape), std::move(name), name_at,
                result);
}

bool ModuleParser::Operands(PendingInstruction* pending, const Shape* shape) {
  if (!Expect('(')) return false;
  if (pending->opcode == Opcode::kParameter) {
    const char* number_at = at();
    int64_t number;
    if (!Int(&number)) return false;
    if (number < 0 || number >= kMaxParameters) {
      return Fail(number_at, absl::StrCat("parameter number ", number,
                                          " is out of range"));
    }
    if (number < current_->parameter_count() &&
        current_->parameter(static_cast<int>(number)) != nullptr) {
      return Fail(number_at,
                  absl::StrCat("parameter ", number, " exists already"));
    }
    pending->get<ParameterAttrs>()->number = number;
    return Expect(')');
  }
  if (pending->opcode == Opcode::kConstant) {
    if (shape == nullptr) return Fail(at(), "a constant needs a shape");
    Literal literal;
    // Constants of one element were once printed with their shape.
    if (AtShape() && !Is('(')) {
      Shape again;
      if (!ShapeValue(&again)) return false;
    }
    if (!LiteralValue(*shape, &literal)) return false;
    pending->get<ConstantAttrs>()->literal =
        std::make_shared<const Literal>(std::move(literal));
    return Expect(')');
  }
  while (!Is(')')) {
    Instruction* operand;
    if (!Operand(&operand)) return false;
    pending->operands.push_back(operand);
    if (!Accept(',')) break;
  }
  return Expect(')');
}

bool ModuleParser::Operand(Instruction** operand) {
  Shape shape;
  const bool has_shape = AtShape();
  if (has_shape && !ShapeValue(&shape)) return false;
  if (token().kind != TokenKind::kName) return Expected("an operand");
  const char* name_at = at();
  const absl::string_view name = token().text;
  const Token next = lex_.Peek();
  const bool nested =
      !token().percent && next.kind == TokenKind::kPunct && next.text[0] == '(';
  if (nested) {
    if (!OpcodeFromName(name)) {
      return Fail(name_at, absl::StrCat("unknown opcode \"", name, "\""));
    }
    return ParseInstruction(has_shape, std::move(shape),
                            AnonymousName(*OpcodeFromName(name)), name_at,
                            operand);
  }
  auto it = names_.find(name);
  if (it == names_.end()) {
    return Fail(name_at, absl::StrCat("unknown instruction \"", name, "\""));
  }
  *operand = it->second;
  lex_.Next();
  // x#1 is element 1 of x.
  while (Is('#')) {
    const char* index_at = at();
    lex_.Next();
    int64_t index;
    if (!Int(&index)) return false;
    const Shape& tuple = (*operand)->shape();
    if (!tuple.IsTuple() || index < 0 ||
        index >= tuple.element_count_of_tuple()) {
      return Fail(index_at,
                  absl::StrCat("element ", index, " of ", tuple.ToString()));
    }
    Instruction* element = current_->AddWithExactName(
        Opcode::kGetTupleElement, tuple.element(static_cast<int>(index)),
        {*operand}, TupleIndexAttrs{index}, {},
        AnonymousName(Opcode::kGetTupleElement));
    element->set_source_position(lex_.LineOf(name_at), lex_.ColumnOf(name_at));
    *operand = element;
  }
  return true;
}

std::string ModuleParser::AnonymousName(Opcode opcode) {
  return module_->UniqueName(absl::StrCat(OpcodeName(opcode), ".anon"));
}

bool ModuleParser::AttributeList(PendingInstruction* pending) {
  while (Is(',')) {
    lex_.Next();
    const char* name_at = at();
    absl::string_view name;
    if (token().kind != TokenKind::kName) return Expected("an attribute");
    if (!Name(&name) || !Expect('=')) return false;
    if (std::find(pending->seen.begin(), pending->seen.end(), name) !=
        pending->seen.end()) {
      return Fail(name_at, absl::StrCat("attribute ", name, " is given twice"));
    }
    pending->seen.push_back(name);
    bool known;
    if (ReadAttribute(this, name, pending, &known)) continue;
    if (known) return false;
    return Fail(name_at, absl::StrCat("unexpected attribute \"", name, "\" of ",
                                      OpcodeName(pending->opcode)));
  }
  return true;
}

bool ModuleParser::CheckRequired(const PendingInstruction& pending,
                                 const char* at) {
  for (absl::string_view name : RequiredAttributes(pending.opcode)) {
    if (std::find(pending.seen.begin(), pending.seen.end(), name) !=
        pending.seen.end()) {
      continue;
    }
    return Fail(at, absl::StrCat(OpcodeName(pending.opcode),
                                 " needs the attribute ", name, "="));
  }
  return true;
}

bool ModuleParser::CalleeName(PendingInstruction::Callee* callee) {
  callee->at = at();
  return Name(&callee->name);
}

bool ModuleParser::CalleeList(PendingInstruction* pending) {
  pending->called.clear();
  if (!Accept('{')) return CalleeName(pending->callee(0));
  while (!Is('}')) {
    if (!CalleeName(pending->callee(pending->called.size()))) return false;
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool ModuleParser::InstructionList(std::vector<Instruction*>* list) {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    const char* begin = at();
    absl::string_view name;
    if (!Name(&name)) return false;
    auto it = names_.find(name);
    if (it == names_.end()) {
      return Fail(begin, absl::StrCat("unknown instruction \"", name, "\""));
    }
    list->push_back(it->second);
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool ModuleParser::Finish(PendingInstruction* pending, bool has_shape,
                          Shape shape, std::string name, const char* name_at,
                          Instruction** result) {
  if (!CheckRequired(*pending, name_at)) return false;
  std::vector<Computation*> called;
  for (const PendingInstruction::Callee& callee : pending->called) {
    auto it = computations_.find(callee.name);
    if (it == computations_.end()) {
      called.clear();
      break;
    }
    called.push_back(it->second);
  }
  const bool resolved = called.size() == pending->called.size();
  if (!has_shape) {
    absl::InlinedVector<const Shape*, 4> operands;
    for (const Instruction* o : pending->operands) {
      operands.push_back(&o->shape());
    }
    auto inferred =
        InferShape(pending->opcode, operands, pending->attributes, called);
    if (!inferred.ok()) {
      return Fail(name_at,
                  absl::StrCat("%", name, " = ", OpcodeName(pending->opcode),
                               ": ", inferred.status().message()));
    }
    shape = *std::move(inferred);
  }
  if (pending->is_async_sugar) {
    if (!has_shape) return Fail(name_at, "an async start needs a shape");
    if (!resolved) {
      return Fail(pending->called[0].at,
                  "an async start calls an unknown computation");
    }
    if (!WrapAsync(pending, &called, shape))
      return Fail(name_at,
                  "the shape of an async start is ((operands), result, ...)");
  }
  Instruction* i = current_->AddWithExactName(
      pending->opcode, std::move(shape), pending->operands,
      std::move(pending->attributes), called, std::move(name));
  module_->ReserveName(i->name());
  i->set_source_position(lex_.LineOf(name_at), lex_.ColumnOf(name_at));
  if (!resolved) unresolved_.push_back({i, std::move(pending->called)});
  if (pending->has_metadata) i->set_metadata(std::move(pending->metadata));
  if (pending->has_extras) *i->mutable_extras() = std::move(pending->extras);
  for (Instruction* p : pending->control_predecessors) {
    i->AddControlPredecessor(p);
  }
  *result = i;
  return true;
}

// Makes the computation that an async instruction in its short form wraps,
// and turns `pending` into the async-start that calls it.
bool ModuleParser::WrapAsync(PendingInstruction* pending,
                             std::vector<Computation*>* called,
                             const Shape& shape) {
  if (!shape.IsTuple() || shape.element_count_of_tuple() < 2) return false;
  Computation* body = module_->AddComputation(
      absl::StrCat("wrapped_", OpcodeName(pending->opcode)));
  std::vector<Instruction*> parameters;
  for (size_t n = 0; n < pending->operands.size(); ++n) {
    parameters.push_back(body->AddParameter(static_cast<int64_t>(n),
                                            pending->operands[n]->shape()));
  }
  body->SetRoot(body->Add(pending->opcode, shape.element(1), parameters,
                          std::move(pending->attributes), *called));
  if (pending->async_thread != "main") {
    body->set_execution_thread(pending->async_thread);
  }
  *called = {body};
  AsyncAttrs async;
  async.execution_thread = pending->async_thread;
  pending->opcode = Opcode::kAsyncStart;
  pending->attributes = Boxed<AsyncAttrs>(std::move(async));
  pending->called.clear();
  return true;
}

}  // namespace ptxla::hlo
