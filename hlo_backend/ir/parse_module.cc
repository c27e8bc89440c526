// The header of a module, its tables, and the frames of its computations.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/module_parser.h"

namespace ptxla::hlo {

std::unique_ptr<Module> ModuleParser::Parse() {
  if (!Header()) return nullptr;
  while (!AtEnd()) {
    if (IsName("FileNames") || IsName("FunctionNames") ||
        IsName("FileLocations") || IsName("StackFrames")) {
      const absl::string_view title = token().text;
      lex_.Next();
      if (!StackFrameTable(title)) return nullptr;
    } else if (!ComputationText()) {
      return nullptr;
    }
  }
  const std::vector<Computation*> all = module_->computations();
  if (all.empty()) {
    Fail(at(), "the module has no computation");
    return nullptr;
  }
  // Without ENTRY the last one is it.
  if (module_->entry() == nullptr) module_->SetEntry(all.back());
  if (!ResolveCallees()) return nullptr;
  if (module_->name().empty()) {
    module_->set_name("module_" + module_->entry()->name());
  }
  return std::move(module_);
}

bool ModuleParser::Header() {
  // Computations alone are a module too: `e { ... }`. Its name is made later.
  const Token next = lex_.Peek();
  const bool headless =
      token().kind == TokenKind::kName && !IsName("HloModule") &&
      (IsName("ENTRY") || (next.kind == TokenKind::kPunct &&
                           (next.text[0] == '{' || next.text[0] == '(')));
  if (headless) {
    module_ = std::make_unique<Module>("");
    return true;
  }
  if (!ExpectName("HloModule")) return false;
  // Names may hold characters that no other name has ("jit(f)").
  std::string name;
  if (token().kind == TokenKind::kString) {
    if (!String(&name)) return false;
  } else {
    if (token().kind != TokenKind::kName &&
        token().kind != TokenKind::kDigits &&
        token().kind != TokenKind::kInteger) {
      return Expected("the name of the module");
    }
    const char* begin = at();
    const char* end = lex_.text().data() + lex_.text().size();
    const char* p = begin;
    while (p != end && absl::ascii_isgraph(*p) && *p != ',' && *p != '"') ++p;
    name = std::string(begin + (token().percent ? 1 : 0), p);
    lex_.Seek(p);
  }
  module_ = std::make_unique<Module>(std::move(name));
  while (Accept(',')) {
    const char* begin = at();
    absl::string_view key;
    if (!Name(&key) || !Expect('=')) return false;
    if (!HeaderAttribute(key)) {
      if (status().ok()) {
        return Fail(begin,
                    absl::StrCat("unknown module attribute \"", key, "\""));
      }
      return false;
    }
  }
  return true;
}

bool ModuleParser::HeaderAttribute(absl::string_view name) {
  ModuleConfig* c = module_->mutable_config();
  if (name == "is_scheduled") return Bool(&c->is_scheduled);
  if (name == "replica_count") return Int(&c->replica_count);
  if (name == "num_partitions") return Int(&c->num_partitions);
  if (name == "input_output_alias") return InputOutputAliases();
  if (name == "buffer_donor") return BufferDonors();
  if (name == "alias_passthrough_params") {
    return Bool(&c->alias_passthrough_params);
  }
  if (name == "entry_computation_layout") return EntryLayout();
  if (name == "frontend_attributes") {
    return FrontendValue(&c->frontend_attributes);
  }
  if (name == "allow_spmd_sharding_propagation_to_parameters") {
    return BoolList(&c->allow_spmd_sharding_propagation_to_parameters);
  }
  if (name == "allow_spmd_sharding_propagation_to_output") {
    if (Is('{')) return BoolList(&c->allow_spmd_sharding_propagation_to_output);
    bool one;
    if (!Bool(&one)) return false;
    c->allow_spmd_sharding_propagation_to_output = {one};
    return true;
  }
  if (name == "origin_recovery_table") return Raw(&c->origin_recovery_table);
  if (name == "debug_attributes") return Raw(&c->debug_attributes);
  return false;
}

bool ModuleParser::InputOutputAliases() {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    InputOutputAlias a;
    if (!ShapeIndexValue(&a.output) || !Expect(':')) return false;
    // Older texts name the parameter alone.
    if (Is('(')) {
      if (!Expect('(') || !Int(&a.parameter) || !Expect(',') ||
          !ShapeIndexValue(&a.parameter_index)) {
        return false;
      }
      if (Accept(',')) {
        if (AcceptName("must-alias")) {
          a.kind = AliasKind::kMust;
        } else if (!AcceptName("may-alias")) {
          return Expected("may-alias or must-alias");
        }
      }
      if (!Expect(')')) return false;
    } else if (!Int(&a.parameter)) {
      return false;
    }
    module_->mutable_config()->input_output_alias.push_back(std::move(a));
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool ModuleParser::BufferDonors() {
  if (!Expect('{')) return false;
  while (!Is('}')) {
    BufferDonor d;
    if (!Expect('(') || !Int(&d.parameter) || !Expect(',') ||
        !ShapeIndexValue(&d.parameter_index) || !Expect(')')) {
      return false;
    }
    module_->mutable_config()->buffer_donors.push_back(std::move(d));
    if (!Accept(',')) break;
  }
  return Expect('}');
}

bool ModuleParser::EntryLayout() {
  ProgramShape shape;
  if (!Expect('{') || !Expect('(')) return false;
  while (!Is(')')) {
    shape.parameters.emplace_back();
    if (!ShapeValue(&shape.parameters.back())) return false;
    if (!Accept(',')) break;
  }
  if (!Expect(')')) return false;
  if (token().kind != TokenKind::kArrow) return Expected("->");
  lex_.Next();
  if (!ShapeValue(&shape.result) || !Expect('}')) return false;
  module_->mutable_config()->entry_layout = std::move(shape);
  return true;
}

// Rows `1 "a.py"` or `1 {file_name_id=1 line=3}`, numbered from 1.
bool ModuleParser::StackFrameTable(absl::string_view title) {
  StackFrameTables* tables = module_->mutable_stack_frames();
  while (token().kind == TokenKind::kInteger) {
    lex_.Next();
    if (title == "FileNames" || title == "FunctionNames") {
      auto& list = title == "FileNames" ? tables->files : tables->functions;
      list.emplace_back();
      if (!String(&list.back())) return false;
      continue;
    }
    if (!Expect('{')) return false;
    StackFrameTables::Location location;
    StackFrameTables::Frame frame;
    while (!Is('}')) {
      absl::string_view key;
      int64_t value;
      if (!Name(&key) || !Expect('=') || !Int(&value)) return false;
      if (key == "file_name_id") location.file = value;
      if (key == "function_name_id") location.function = value;
      if (key == "line") location.line = value;
      if (key == "end_line") location.end_line = value;
      if (key == "column") location.column = value;
      if (key == "end_column") location.end_column = value;
      if (key == "file_location_id") frame.location = value;
      // Counted from one with the root as its own parent; 0 in older texts.
      if (key == "parent_frame_id")
        frame.parent = std::max<int64_t>(value - 1, 0);
      Accept(',');
    }
    if (!Expect('}')) return false;
    if (title == "FileLocations") {
      tables->locations.push_back(location);
    } else {
      tables->frames.push_back(frame);
    }
  }
  return true;
}

bool ModuleParser::ComputationText() {
  const bool is_entry = AcceptName("ENTRY");
  const char* begin = at();
  absl::string_view name;
  if (token().kind != TokenKind::kName) {
    return Expected("a computation or the end of the text");
  }
  if (!Name(&name)) return false;
  if (computations_.contains(name)) {
    return Fail(begin, absl::StrCat("computation ", name, " exists already"));
  }
  // The signature says again what the parameters say.
  if (Is('(')) {
    const char* open = at();
    if (lex_.TakeBraced().empty()) {
      return Fail(open, "this '(' is not closed");
    }
    if (token().kind != TokenKind::kArrow) return Expected("->");
    lex_.Next();
    Shape result;
    if (!ShapeValue(&result)) return false;
  }
  if (!Expect('{')) return false;
  current_ = module_->AddComputationWithExactName(std::string(name));
  computations_.emplace(name, current_);
  names_.clear();
  last_ = nullptr;
  while (!Is('}')) {
    if (AtEnd()) return Expected("'}'");
    if (!InstructionText(AcceptName("ROOT"))) return false;
  }
  lex_.Next();
  if (last_ == nullptr) return Fail(begin, "the computation is empty");
  if (current_->root() == nullptr) current_->SetRoot(last_);
  for (int i = 0; i < current_->parameter_count(); ++i) {
    if (current_->parameter(i) == nullptr) {
      return Fail(begin,
                  absl::StrCat("parameter ", i, " of ", name, " is missing"));
    }
  }
  if (is_entry) {
    if (module_->entry() != nullptr) {
      return Fail(begin, "a module has one ENTRY");
    }
    module_->SetEntry(current_);
  }
  return ComputationAttributes(current_);
}

bool ModuleParser::ComputationAttributes(Computation* computation) {
  while (Accept(',')) {
    std::string thread;
    if (!ExpectName("execution_thread") || !Expect('=') || !String(&thread)) {
      return false;
    }
    if (thread != "main") computation->set_execution_thread(thread);
  }
  return true;
}

bool ModuleParser::ResolveCallees() {
  for (const Unresolved& u : unresolved_) {
    std::vector<Computation*> called;
    for (const PendingInstruction::Callee& callee : u.called) {
      auto it = computations_.find(callee.name);
      if (it == computations_.end()) {
        return Fail(callee.at,
                    absl::StrCat("unknown computation ", callee.name));
      }
      called.push_back(it->second);
    }
    u.instruction->SetCalled(called);
  }
  return true;
}

}  // namespace ptxla::hlo
