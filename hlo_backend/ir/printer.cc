#include "hlo_backend/ir/printer.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/ir/print_attributes.h"

namespace ptxla::hlo {
namespace {

// Elements above which XLA elides a constant.
constexpr int64_t kLargeConstant = 10;

// One pair of braces around balanced text: the lexer takes it whole.
bool IsBraced(const std::string& value) {
  if (value.empty() || value[0] != '{') return false;
  Lexer lexer(value);
  return lexer.TakeBraced().size() == value.size();
}

class Printer {
 public:
  Printer(const PrintOptions& options, std::string* out)
      : o_(options), out_(*out) {}

  void PrintModule(const Module& m);
  void PrintComputation(const Computation& c);
  void PrintInstruction(const Instruction& i);

 private:
  template <class... Parts>
  void Append(const Parts&... parts) {
    absl::StrAppend(&out_, parts...);
  }
  void Name(absl::string_view name) {
    if (o_.percent) out_.push_back('%');
    if (!o_.ids) {
      const size_t dot = name.find('.');
      if (dot != absl::string_view::npos && dot > 0) name = name.substr(0, dot);
    }
    out_.append(name.data(), name.size());
  }
  void Frontend(const FrontendAttributes& attributes);
  void Header(const Module& m);
  void StackFrames(const StackFrameTables& t);
  void Operands(const Instruction& i);
  void Extras(const Instruction& i);

  const PrintOptions& o_;
  std::string& out_;
};

void Printer::Frontend(const FrontendAttributes& attributes) {
  Append("frontend_attributes={");
  bool first = true;
  for (const auto& [key, value] : attributes) {
    if (!first) out_.push_back(',');
    first = false;
    // A value in braces is text of its own and not quoted.
    if (IsBraced(value)) {
      Append(key, "=", value);
    } else {
      Append(key, "=\"", absl::CEscape(value), "\"");
    }
  }
  out_.push_back('}');
}

void Printer::Header(const Module& m) {
  const ModuleConfig& c = m.config();
  Append("HloModule ", m.name());
  if (c.is_scheduled) Append(", is_scheduled=true");
  if (!c.input_output_alias.empty()) {
    Append(", input_output_alias={ ");
    bool first = true;
    for (const InputOutputAlias& a : c.input_output_alias) {
      if (!first) Append(", ");
      first = false;
      AppendShapeIndex(a.output, &out_);
      Append(": (", a.parameter, ", ");
      AppendShapeIndex(a.parameter_index, &out_);
      Append(a.kind == AliasKind::kMust ? ", must-alias)" : ", may-alias)");
    }
    Append(" }");
  }
  if (!c.buffer_donors.empty()) {
    Append(", buffer_donor={ ");
    bool first = true;
    for (const BufferDonor& d : c.buffer_donors) {
      if (!first) Append(", ");
      first = false;
      Append("(", d.parameter, ", ");
      AppendShapeIndex(d.parameter_index, &out_);
      Append(")");
    }
    Append(" }");
  }
  if (c.alias_passthrough_params) Append(", alias_passthrough_params=true");
  if (c.entry_layout) {
    Append(", entry_computation_layout={(");
    for (size_t i = 0; i < c.entry_layout->parameters.size(); ++i) {
      if (i > 0) Append(", ");
      // Numbered as in a tuple shape.
      if (i > 0 && i % 5 == 0) Append("/*index=", i, "*/");
      c.entry_layout->parameters[i].AppendTo(&out_, o_.layouts);
    }
    Append(")->");
    c.entry_layout->result.AppendTo(&out_, o_.layouts);
    Append("}");
  }
  auto flags = [this](const char* key, const std::vector<bool>& list) {
    if (list.empty()) return;
    Append(", ", key, "={",
           absl::StrJoin(
               list, ",",
               [](std::string* o, bool b) { o->append(b ? "true" : "false"); }),
           "}");
  };
  flags("allow_spmd_sharding_propagation_to_parameters",
        c.allow_spmd_sharding_propagation_to_parameters);
  flags("allow_spmd_sharding_propagation_to_output",
        c.allow_spmd_sharding_propagation_to_output);
  if (c.replica_count > 0) Append(", replica_count=", c.replica_count);
  if (c.num_partitions > 0) Append(", num_partitions=", c.num_partitions);
  if (o_.frontend_attributes && !c.frontend_attributes.empty()) {
    Append(", ");
    Frontend(c.frontend_attributes);
  }
  if (!c.origin_recovery_table.empty()) {
    Append(", origin_recovery_table=", c.origin_recovery_table);
  }
  if (!c.debug_attributes.empty()) {
    Append(", debug_attributes=", c.debug_attributes);
  }
  Append("\n");
}

void Printer::StackFrames(const StackFrameTables& t) {
  if (t.empty()) return;
  auto texts = [this](const char* title, const std::vector<std::string>& list) {
    Append("\n", title, "\n");
    for (size_t i = 0; i < list.size(); ++i) {
      Append(i + 1, " \"", absl::CEscape(list[i]), "\"\n");
    }
  };
  texts("FileNames", t.files);
  texts("FunctionNames", t.functions);
  Append("\nFileLocations\n");
  for (size_t i = 0; i < t.locations.size(); ++i) {
    const auto& l = t.locations[i];
    Append(i + 1, " {file_name_id=", l.file, " function_name_id=", l.function,
           " line=", l.line);
    if (l.end_line != 0) Append(" end_line=", l.end_line);
    if (l.column != 0) Append(" column=", l.column);
    if (l.end_column != 0) Append(" end_column=", l.end_column);
    Append("}\n");
  }
  Append("\nStackFrames\n");
  for (size_t i = 0; i < t.frames.size(); ++i) {
    const auto& f = t.frames[i];
    Append(i + 1, " {file_location_id=", f.location,
           " parent_frame_id=", f.parent + 1, "}\n");
  }
  Append("\n");
}

void Printer::PrintModule(const Module& m) {
  Header(m);
  if (o_.metadata) StackFrames(m.stack_frames());
  for (const Computation* c : m.ComputationPostOrder()) {
    Append("\n");
    PrintComputation(*c);
  }
}

void Printer::PrintComputation(const Computation& c) {
  if (c.IsEntry()) Append("ENTRY ");
  Name(c.name());
  Append(" (");
  for (int i = 0; i < c.parameter_count(); ++i) {
    const Instruction* p = c.parameter(i);
    if (p == nullptr) continue;
    Append(i > 0 ? ", " : "", p->name(), ": ");
    p->shape().AppendTo(&out_, /*with_layout=*/false);
  }
  Append(") -> ");
  if (c.root() != nullptr) {
    c.root()->shape().AppendTo(&out_, /*with_layout=*/false);
  }
  Append(" {\n");
  const bool scheduled = c.module()->config().is_scheduled;
  auto line = [this](const Instruction* i) {
    Append("  ");
    if (i->IsRoot()) Append("ROOT ");
    PrintInstruction(*i);
    Append("\n");
  };
  if (scheduled) {
    for (const Instruction* i : c.instructions()) line(i);
  } else {
    for (const Instruction* i : c.PostOrder()) line(i);
  }
  Append("}");
  if (!c.execution_thread().empty()) {
    Append(", execution_thread=\"", c.execution_thread(), "\"");
  }
  Append("\n");
}

void Printer::Operands(const Instruction& i) {
  if (i.opcode() == Opcode::kParameter) {
    Append(i.parameter_number());
    return;
  }
  if (i.opcode() == Opcode::kConstant) {
    const Literal& literal = i.literal();
    const Shape& shape = literal.shape();
    if (!o_.large_constants &&
        (shape.IsTuple() || shape.ElementCount() > kLargeConstant)) {
      Append("{...}");
    } else {
      literal.AppendTo(&out_);
    }
    return;
  }
  for (int n = 0; n < i.operand_count(); ++n) {
    if (n > 0) Append(", ");
    if (n > 0 && n % 5 == 0) Append("/*index=", n, "*/");
    if (o_.operand_shapes) {
      i.operand(n)->shape().AppendTo(&out_, o_.layouts);
      out_.push_back(' ');
    }
    Name(i.operand(n)->name());
  }
}

void Printer::Extras(const Instruction& i) {
  const InstructionExtras& e = i.extras();
  if (o_.sharding && e.sharding) {
    Append(", sharding=", e.sharding->ToString(o_.metadata));
  }
  if (o_.frontend_attributes && !e.frontend_attributes.empty()) {
    Append(", ");
    Frontend(e.frontend_attributes);
  }
  if (!i.control_predecessors().empty()) {
    Append(", control-predecessors={");
    bool first = true;
    for (const Instruction* p : i.control_predecessors()) {
      if (!first) Append(", ");
      first = false;
      Name(p->name());
    }
    Append("}");
  }
  if (!e.statistics.empty()) Append(", statistics=", e.statistics);
  AppendResultAccuracy(i, &out_);
  if (!e.origin.empty()) Append(", origin=", e.origin);
  if (o_.metadata && i.shared_metadata() && !i.metadata().empty()) {
    Append(", metadata=", i.metadata().ToString());
  }
  if (o_.backend_config && !e.backend_config.empty()) {
    // What reads as a dictionary needs no quotes.
    if (e.backend_config_is_json || IsBraced(e.backend_config)) {
      Append(", backend_config=", e.backend_config);
    } else {
      Append(", backend_config=\"", absl::CEscape(e.backend_config), "\"");
    }
  }
}

void Printer::PrintInstruction(const Instruction& i) {
  Name(i.name());
  Append(" = ");
  i.shape().AppendTo(&out_, o_.layouts);
  Append(" ", OpcodeName(i.opcode()), "(");
  Operands(i);
  Append(")");
  AppendAttributes(i, o_, &out_);
  Extras(i);
}

}  // namespace

PrintOptions PrintOptions::Short() {
  PrintOptions o;
  o.layouts = o.metadata = o.backend_config = o.sharding = false;
  o.frontend_attributes = o.percent = o.large_constants = false;
  return o;
}

std::string Print(const Module& module, const PrintOptions& options) {
  std::string out;
  Printer(options, &out).PrintModule(module);
  return out;
}

std::string Print(const Computation& computation, const PrintOptions& options) {
  std::string out;
  Printer(options, &out).PrintComputation(computation);
  return out;
}

std::string Print(const Instruction& instruction, const PrintOptions& options) {
  std::string out;
  Printer(options, &out).PrintInstruction(instruction);
  return out;
}

}  // namespace ptxla::hlo
