#include "hlo_backend/ir/verifier.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/shape_inference.h"
#include "hlo_backend/ir/verify_callees.h"

namespace ptxla::hlo {
namespace {

absl::Status Broken(const Instruction& i, absl::string_view rule) {
  return absl::InvalidArgumentError(absl::StrCat(Describe(i), ": ", rule));
}

// Dimensions and kinds equal; float widths may differ where XLA's own passes
// let them (a dot of bf16 that gives f32).
bool Agrees(const Shape& written, const Shape& inferred) {
  if (written.IsTuple() || inferred.IsTuple()) {
    const auto a = written.elements(), b = inferred.elements();
    return written.IsTuple() == inferred.IsTuple() &&
           std::equal(a.begin(), a.end(), b.begin(), b.end(), Agrees);
  }
  if (written.IsBuffer() || inferred.IsBuffer()) return true;
  if (written.type() != inferred.type() &&
      !(IsFloat(written.type()) && IsFloat(inferred.type()))) {
    return false;
  }
  if (written.rank() != inferred.rank()) return false;
  for (int i = 0; i < written.rank(); ++i) {
    if (written.dim(i) != inferred.dim(i) &&
        written.dim(i) != Shape::kUnbounded &&
        inferred.dim(i) != Shape::kUnbounded) {
      return false;
    }
  }
  return true;
}

absl::Status CheckLayouts(const Instruction& i, bool required) {
  absl::Status status;
  ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex&) {
    if (!status.ok() || !leaf.IsArray()) return;
    if (!leaf.has_layout()) {
      if (required) {
        status = Broken(i, absl::StrCat("no layout in ", leaf.ToString()));
      }
      return;
    }
    DimVector seen = leaf.layout().minor_to_major;
    std::sort(seen.begin(), seen.end());
    for (int d = 0; d < leaf.rank(); ++d) {
      if (static_cast<int>(seen.size()) != leaf.rank() || seen[d] != d) {
        status = Broken(i, absl::StrCat("the layout is no permutation: ",
                                        leaf.ToStringWithLayout()));
        return;
      }
    }
  });
  return status;
}

// Operands live here and know this user; users name this as an operand.
absl::Status CheckEdges(const Instruction& i) {
  for (const Instruction* o : i.operands()) {
    if (o->parent() != i.parent()) {
      return Broken(i, absl::StrCat("operand %", o->name(),
                                    " lives in another computation"));
    }
    if (!o->IsUsedBy(&i)) {
      return Broken(
          i, absl::StrCat("operand %", o->name(), " does not know this user"));
    }
  }
  for (const Instruction* u : i.users()) {
    if (u->OperandIndex(&i) < 0) {
      return Broken(i, absl::StrCat("its user %", u->name(),
                                    " does not have it as an operand"));
    }
  }
  for (const Instruction* p : i.control_predecessors()) {
    if (p->parent() != i.parent()) {
      return Broken(i, absl::StrCat("control predecessor %", p->name(),
                                    " lives in another computation"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckParameters(const Computation& c) {
  for (int n = 0; n < c.parameter_count(); ++n) {
    const Instruction* p = c.parameter(n);
    if (p == nullptr) {
      return absl::InvalidArgumentError(absl::StrCat(
          "computation ", c.name(), ": parameter ", n, " is missing"));
    }
    if (p->parameter_number() != n) {
      return Broken(*p, absl::StrCat("stands at position ", n));
    }
  }
  return absl::OkStatus();
}

// In post order every operand comes first, unless there is a cycle.
absl::Status CheckOrder(const Computation& c, bool scheduled) {
  absl::flat_hash_map<const Instruction*, int> position;
  std::vector<Instruction*> order;
  if (scheduled) {
    for (Instruction* i : c.instructions()) order.push_back(i);
  } else {
    order = c.PostOrder();
  }
  position.reserve(order.size());
  for (size_t n = 0; n < order.size(); ++n) {
    position[order[n]] = static_cast<int>(n);
  }
  for (const Instruction* i : order) {
    const int own = position.at(i);
    auto check = [&](const Instruction* before) -> absl::Status {
      auto it = position.find(before);
      if (it != position.end() && it->second < own) return absl::OkStatus();
      return Broken(*i, absl::StrCat(scheduled ? "scheduled before %"
                                               : "part of a cycle through %",
                                     before->name()));
    };
    for (const Instruction* o : i->operands()) RETURN_IF_ERROR(check(o));
    for (const Instruction* p : i->control_predecessors()) {
      RETURN_IF_ERROR(check(p));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckComputation(const Computation& c,
                              const VerifierOptions& options) {
  if (c.root() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("computation ", c.name(), " has no root"));
  }
  RETURN_IF_ERROR(CheckParameters(c));
  absl::flat_hash_map<absl::string_view, const Instruction*> names;
  names.reserve(c.instruction_count());
  for (const Instruction* i : c.instructions()) {
    if (!names.emplace(i->name(), i).second) {
      return Broken(*i, "another instruction of this computation has its name");
    }
    RETURN_IF_ERROR(CheckEdges(*i));
    RETURN_IF_ERROR(VerifyInstruction(*i));
    RETURN_IF_ERROR(CheckLayouts(*i, options.require_layouts));
    // The root's own fused body has layouts of its own choice.
  }
  return CheckOrder(c, c.module()->config().is_scheduled);
}

// No computation calls itself, by whatever way.
absl::Status CheckRecursion(const Module& m) {
  absl::flat_hash_map<const Computation*, int> position;
  const std::vector<Computation*> order = m.ComputationPostOrder();
  for (size_t n = 0; n < order.size(); ++n) {
    position[order[n]] = static_cast<int>(n);
  }
  for (const Computation* c : order) {
    for (const Instruction* i : c->instructions()) {
      for (const Computation* callee : i->called()) {
        auto it = position.find(callee);
        if (it == position.end()) {
          return Broken(*i, absl::StrCat("calls ", callee->name(),
                                         ", which is not in this module"));
        }
        if (it->second >= position.at(c)) {
          return Broken(*i, absl::StrCat("calls ", callee->name(),
                                         ", which calls it back"));
        }
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckConfig(const Module& m) {
  const Computation& entry = *m.entry();
  auto bad = [&m](const std::string& rule) {
    return absl::InvalidArgumentError(absl::StrCat(
        m.file_name().empty() ? m.name() : m.file_name(), ": ", rule));
  };
  auto parameter_has = [&](int64_t number, const ShapeIndex& index) {
    return number >= 0 && number < entry.parameter_count() &&
           entry.parameter(static_cast<int>(number))->shape().HasIndex(index);
  };
  for (const InputOutputAlias& a : m.config().input_output_alias) {
    if (!parameter_has(a.parameter, a.parameter_index)) {
      return bad(absl::StrCat("input_output_alias names parameter ",
                              a.parameter, ", which does not exist"));
    }
    if (!entry.root()->shape().HasIndex(a.output)) {
      return bad("input_output_alias names an output that does not exist");
    }
    const Shape& in = entry.parameter(static_cast<int>(a.parameter))
                          ->shape()
                          .At(a.parameter_index);
    const Shape& out = entry.root()->shape().At(a.output);
    // Tiled arrays are as large as their padding makes them.
    const bool tiled = in.has_layout() && out.has_layout() &&
                       !in.layout().tiles.empty() &&
                       !out.layout().tiles.empty();
    if (in.IsArray() && out.IsArray() && !tiled &&
        in.ByteSize() != out.ByteSize()) {
      return bad(absl::StrCat("input_output_alias joins ", in.ToString(),
                              " and ", out.ToString()));
    }
  }
  for (const BufferDonor& d : m.config().buffer_donors) {
    if (!parameter_has(d.parameter, d.parameter_index)) {
      return bad(absl::StrCat("buffer_donor names parameter ", d.parameter,
                              ", which does not exist"));
    }
  }
  if (const auto& layout = m.config().entry_layout) {
    const ProgramShape shape = entry.program_shape();
    bool same = layout->parameters.size() == shape.parameters.size() &&
                layout->result.SameDimsAndType(shape.result);
    for (size_t n = 0; same && n < shape.parameters.size(); ++n) {
      same = layout->parameters[n].SameDimsAndType(shape.parameters[n]);
    }
    if (!same) {
      return bad(absl::StrCat("entry_computation_layout ", layout->ToString(),
                              " is not that of the entry ", shape.ToString()));
    }
  }
  return absl::OkStatus();
}

// Bytes with padding must fit 64 bits.
constexpr int64_t kMostBytes = int64_t{1} << 50;

bool IsBeyondMemories(const Shape& shape) {
  if (!shape.IsArray()) return false;
  const auto dims = shape.dims();
  return std::find(dims.begin(), dims.end(), Shape::kUnbounded) == dims.end() &&
         shape.ByteSize() > kMostBytes;
}

}  // namespace

std::string Describe(const Instruction& i) {
  if (i.source_line() > 0) {
    const std::string& file = i.module()->file_name();
    return absl::StrCat(file, file.empty() ? "" : ":", i.source_line(), ":",
                        i.source_column(), ": %", i.name(), " = ",
                        OpcodeName(i.opcode()));
  }
  return absl::StrCat("%", i.name(), " = ", OpcodeName(i.opcode()), " in ",
                      i.parent()->name());
}

absl::Status VerifyInstruction(const Instruction& i) {
  const Attributes& attributes = i.attributes();
  if (attributes.index() != DefaultAttributes(i.opcode()).index()) {
    return Broken(i, "it carries the attributes of another opcode");
  }
  const absl::StatusOr<Shape> inferred = InferShape(i);
  if (!inferred.ok()) return Broken(i, inferred.status().message());
  if (!Agrees(i.shape(), *inferred)) {
    return Broken(i,
                  absl::StrCat("its shape is written as ", i.shape().ToString(),
                               " but must be ", inferred->ToString()));
  }
  if (IsBeyondMemories(i.shape())) {
    return Broken(i, absl::StrCat("an array of ", i.shape().ToString(),
                                  " is more than 1 PiB"));
  }
  const absl::Status callees = VerifyCallees(i);
  if (!callees.ok()) return Broken(i, callees.message());
  return absl::OkStatus();
}

absl::Status VerifyModule(const Module& module,
                          const VerifierOptions& options) {
  if (module.entry() == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("module ", module.name(), " has no entry"));
  }
  absl::flat_hash_map<absl::string_view, int> names;
  for (const Computation* c : module.computations()) {
    if (++names[c->name()] > 1) {
      return absl::InvalidArgumentError(
          absl::StrCat("two computations are called ", c->name()));
    }
  }
  RETURN_IF_ERROR(CheckRecursion(module));
  for (const Computation* c : module.computations()) {
    RETURN_IF_ERROR(CheckComputation(*c, options));
  }
  return CheckConfig(module);
}

}  // namespace ptxla::hlo
