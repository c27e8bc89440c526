#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/kept_fields.h"
#include "hlo_backend/proto/metadata_proto.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/sharding_proto.h"

namespace ptxla::hlo {
namespace {

// Parameters of one computation; more would be a broken file.
constexpr int64_t kMaxParameters = 1 << 20;

// Names with characters that no text has ("gradients/add", "body$1") get
// underscores there, as XLA gives them.
std::string Readable(const std::string& name) {
  std::string readable = name;
  for (char& c : readable) {
    if (absl::ascii_ispunct(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  return readable;
}

// Text that may stand without quotes: one pair of braces.
bool IsBraced(const std::string& text) {
  if (text.empty() || text[0] != '{') return false;
  Lexer lexer(text);
  return lexer.TakeBraced().size() == text.size();
}

class ModuleReader {
 public:
  ModuleReader(const proto::HloModuleProto& in, absl::string_view file_name)
      : in_(in), module_(std::make_unique<Module>(in.name())) {
    module_->set_file_name(std::string(file_name));
  }

  absl::StatusOr<std::unique_ptr<Module>> Read();

 private:
  absl::Status Header();
  absl::Status ReadComputation(const proto::HloComputationProto& in);
  absl::Status ReadInstruction(const proto::HloInstructionProto& in);
  absl::Status Parameter(const Attributes& attributes);
  absl::Status Extras(const proto::HloInstructionProto& in, Instruction* i);
  absl::Status Schedule(Computation* c, int64_t id);

  const proto::HloModuleProto& in_;
  std::unique_ptr<Module> module_;
  absl::flat_hash_map<int64_t, Computation*> computations_;
  absl::flat_hash_set<std::string> computation_names_;
  // Of the computation that is read.
  Computation* current_ = nullptr;
  absl::flat_hash_map<int64_t, Instruction*> instructions_;
  absl::flat_hash_set<std::string> names_;
};

// What stands in the text as it is must be readable there.
absl::Status CheckWord(const std::string& word, absl::string_view what) {
  if (word.empty() || IsName(word)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " \"", absl::CHexEscape(word), "\" is no name"));
}
// The key of `key="value"`.
absl::Status CheckKey(const std::string& key, absl::string_view what) {
  if (!key.empty()) return CheckWord(key, what);
  return absl::InvalidArgumentError(absl::StrCat("a ", what, " has no name"));
}
absl::Status CheckBraced(const std::string& text, absl::string_view what) {
  if (text.empty() || IsBraced(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is not in braces"));
}

absl::Status ModuleReader::Header() {
  if (in_.name().empty()) module_->set_name("module");
  const std::string& name = module_->name();
  const bool readable = (absl::ascii_isalnum(name[0]) || name[0] == '_') &&
                        std::all_of(name.begin(), name.end(), [](char c) {
                          return absl::ascii_isgraph(c) && c != ',' && c != '"';
                        });
  if (!readable) {
    return absl::InvalidArgumentError(absl::StrCat(
        "the module's name \"", absl::CHexEscape(in_.name()), "\" is no name"));
  }
  ModuleConfig* c = module_->mutable_config();
  c->is_scheduled = in_.has_schedule() && !in_.schedule().sequences().empty();
  for (const auto& e : in_.input_output_alias().entries()) {
    InputOutputAlias a;
    a.output.assign(e.output_shape_index().begin(),
                    e.output_shape_index().end());
    a.parameter = e.parameter_number();
    a.parameter_index.assign(e.parameter_shape_index().begin(),
                             e.parameter_shape_index().end());
    a.kind = e.kind() == proto::MUST_ALIAS ? AliasKind::kMust : AliasKind::kMay;
    c->input_output_alias.push_back(std::move(a));
  }
  for (const auto& e : in_.buffer_donor().entries()) {
    BufferDonor d;
    d.parameter = e.parameter_number();
    d.parameter_index.assign(e.parameter_shape_index().begin(),
                             e.parameter_shape_index().end());
    c->buffer_donors.push_back(std::move(d));
  }
  for (const auto& p : in_.cross_program_prefetches()) {
    CrossProgramPrefetch prefetch;
    prefetch.parameter = p.parameter();
    prefetch.index.assign(p.index().begin(), p.index().end());
    prefetch.offset = p.offset();
    c->cross_program_prefetches.push_back(std::move(prefetch));
  }
  for (const auto& [key, value] : in_.frontend_attributes().map()) {
    RETURN_IF_ERROR(CheckKey(key, "frontend attribute"));
    c->frontend_attributes[key] = value;
  }
  *module_->mutable_stack_frames() = FromProto(in_.stack_frame_index());
  const proto::HeaderProto& h = in_.header();
  c->replica_count = h.replica_count();
  c->num_partitions = h.num_partitions();
  c->alias_passthrough_params = h.alias_passthrough_params();
  c->allow_spmd_sharding_propagation_to_parameters.assign(
      h.allow_spmd_sharding_propagation_to_parameters().begin(),
      h.allow_spmd_sharding_propagation_to_parameters().end());
  c->allow_spmd_sharding_propagation_to_output.assign(
      h.allow_spmd_sharding_propagation_to_output().begin(),
      h.allow_spmd_sharding_propagation_to_output().end());
  RETURN_IF_ERROR(
      CheckBraced(h.origin_recovery_table(), "origin_recovery_table"));
  RETURN_IF_ERROR(CheckBraced(h.debug_attributes(), "debug_attributes"));
  c->origin_recovery_table = h.origin_recovery_table();
  c->debug_attributes = h.debug_attributes();
  c->proto_rest = KeptFields(in_);
  if (!in_.has_host_program_shape() || h.free_layouts()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(c->entry_layout, FromProto(in_.host_program_shape()),
                   _ << "the program shape of the module");
  c->entry_layout->parameter_names.clear();
  return absl::OkStatus();
}

absl::Status ModuleReader::Extras(const proto::HloInstructionProto& in,
                                  Instruction* i) {
  if (in.has_metadata()) {
    Metadata metadata = FromProto(in.metadata());
    if (!metadata.empty()) i->set_metadata(std::move(metadata));
  }
  if (in.has_sharding()) {
    ASSIGN_OR_RETURN(Sharding sharding, FromProto(in.sharding()));
    i->set_sharding(std::move(sharding));
  }
  for (const auto& [key, value] : in.frontend_attributes().map()) {
    RETURN_IF_ERROR(CheckKey(key, "frontend attribute"));
    i->mutable_extras()->frontend_attributes[key] = value;
  }
  if (!in.backend_config().empty()) {
    i->set_backend_config(in.backend_config(), IsBraced(in.backend_config()));
  }
  for (const auto& s : in.statistics_viz().statistics()) {
    RETURN_IF_ERROR(CheckWord(s.stat_name(), "statistic"));
  }
  for (const auto& e : in.original_value().elements()) {
    RETURN_IF_ERROR(
        CheckWord(e.original_array().instruction_name(), "original value"));
  }
  if (in.has_original_value()) {
    i->mutable_extras()->origin =
        OriginFromProto(in.original_value(), i->shape());
  }
  std::string statistics = StatisticsFromProto(in.statistics_viz());
  if (!statistics.empty()) {
    i->mutable_extras()->statistics = std::move(statistics);
  }
  std::string rest = KeptFields(in);
  if (!rest.empty()) i->mutable_extras()->proto_rest = std::move(rest);
  return absl::OkStatus();
}

absl::Status ModuleReader::Parameter(const Attributes& attributes) {
  const auto* parameter = GetAttrs<ParameterAttrs>(attributes);
  if (parameter == nullptr) return absl::OkStatus();
  const int64_t n = parameter->number;
  if (n < 0 || n >= kMaxParameters) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter number ", n, " is out of range"));
  }
  if (n < current_->parameter_count() &&
      current_->parameter(static_cast<int>(n)) != nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("parameter ", n, " exists already"));
  }
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadInstruction(
    const proto::HloInstructionProto& in) {
  const std::string name = Readable(in.name());
  if (!IsName(name)) {
    return absl::InvalidArgumentError("this is no name of an instruction");
  }
  if (!names_.insert(name).second) {
    return absl::InvalidArgumentError("its name exists already");
  }
  const std::optional<Opcode> opcode = OpcodeFromName(in.opcode());
  if (!opcode) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown opcode \"", in.opcode(), "\""));
  }
  ASSIGN_OR_RETURN(Shape shape, FromProto(in.shape()));
  auto find = [this](int64_t id) -> absl::StatusOr<Instruction*> {
    auto it = instructions_.find(id);
    if (it != instructions_.end()) return it->second;
    return absl::InvalidArgumentError(absl::StrCat(
        "no instruction before it in its computation has the id ", id));
  };
  std::vector<Instruction*> operands;
  for (int64_t id : in.operand_ids()) {
    ASSIGN_OR_RETURN(Instruction * operand, find(id));
    operands.push_back(operand);
  }
  std::vector<Computation*> called;
  for (int64_t id : in.called_computation_ids()) {
    auto it = computations_.find(id);
    if (it == computations_.end()) {
      return absl::InvalidArgumentError(
          absl::StrCat("no computation before its own has the id ", id));
    }
    called.push_back(it->second);
  }
  RETURN_IF_ERROR(CheckWord(in.async_execution_thread(), "execution thread"));
  Attributes attributes;
  RETURN_IF_ERROR(AttributesFromProto(in, *opcode, operands, &attributes));
  RETURN_IF_ERROR(Parameter(attributes));
  if (auto* constant = GetMutableAttrs<ConstantAttrs>(&attributes)) {
    if (!constant->literal->shape().SameDimsAndType(shape)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "its literal is a ", constant->literal->shape().ToString(),
          ", not a ", shape.ToString()));
    }
    Literal literal = *constant->literal;
    literal.set_shape_layout(shape);
    constant->literal = std::make_shared<const Literal>(std::move(literal));
  }
  Instruction* i = current_->AddWithExactName(
      *opcode, std::move(shape), operands, std::move(attributes), called, name);
  module_->ReserveName(i->name());
  if (!instructions_.emplace(in.id(), i).second) {
    return absl::InvalidArgumentError("its id exists already");
  }
  for (int64_t id : in.control_predecessor_ids()) {
    ASSIGN_OR_RETURN(Instruction * predecessor, find(id));
    if (predecessor != i) i->AddControlPredecessor(predecessor);
  }
  return Extras(in, i);
}

absl::Status ModuleReader::Schedule(Computation* c, int64_t id) {
  const auto& sequences = in_.schedule().sequences();
  auto it = sequences.find(id);
  if (it == sequences.end()) return absl::OkStatus();
  std::vector<Instruction*> order;
  absl::flat_hash_set<const Instruction*> seen;
  for (int64_t i : it->second.instruction_ids()) {
    auto found = instructions_.find(i);
    if (found == instructions_.end() || !seen.insert(found->second).second) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the schedule names the instruction ", i, " that is not there"));
    }
    order.push_back(found->second);
  }
  if (static_cast<int>(order.size()) != c->instruction_count()) {
    return absl::InvalidArgumentError("the schedule leaves out instructions");
  }
  c->Reorder(order);
  return absl::OkStatus();
}

absl::Status ModuleReader::ReadComputation(
    const proto::HloComputationProto& in) {
  const std::string name = Readable(in.name());
  if (!IsName(name)) {
    return absl::InvalidArgumentError("this is no name of a computation");
  }
  if (!computation_names_.insert(name).second) {
    return absl::InvalidArgumentError("its name exists already");
  }
  RETURN_IF_ERROR(CheckWord(in.execution_thread(), "execution thread"));
  instructions_.clear();
  names_.clear();
  current_ = module_->AddComputationWithExactName(name);
  if (in.execution_thread() != "main") {
    current_->set_execution_thread(in.execution_thread());
  }
  for (const proto::HloInstructionProto& i : in.instructions()) {
    RETURN_IF_ERROR(ReadInstruction(i)) << "instruction \"" << i.name() << '"';
  }
  for (int n = 0; n < current_->parameter_count(); ++n) {
    if (current_->parameter(n) == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat("parameter ", n, " is missing"));
    }
  }
  auto root = instructions_.find(in.root_id());
  if (root == instructions_.end()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "no instruction has the id ", in.root_id(), " of its root"));
  }
  current_->SetRoot(root->second);
  if (!computations_.emplace(in.id(), current_).second) {
    return absl::InvalidArgumentError("its id exists already");
  }
  return Schedule(current_, in.id());
}

absl::StatusOr<std::unique_ptr<Module>> ModuleReader::Read() {
  RETURN_IF_ERROR(Header());
  for (const proto::HloComputationProto& c : in_.computations()) {
    RETURN_IF_ERROR(ReadComputation(c)) << "computation \"" << c.name() << '"';
  }
  if (computations_.empty()) {
    return absl::InvalidArgumentError("the module has no computation");
  }
  // Files made by hand leave the id out; the name then says it, or the place.
  auto entry = computations_.find(in_.entry_computation_id());
  Computation* named =
      module_->FindComputation(Readable(in_.entry_computation_name()));
  if (named != nullptr) {
    module_->SetEntry(named);
  } else if (entry != computations_.end()) {
    module_->SetEntry(entry->second);
  } else {
    module_->SetEntry(current_);
  }
  return std::move(module_);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Module>> FromProto(
    const proto::HloModuleProto& in, absl::string_view file_name) {
  return ModuleReader(in, file_name).Read();
}

}  // namespace ptxla::hlo
