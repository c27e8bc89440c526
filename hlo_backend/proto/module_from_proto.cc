#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/proto/attribute_proto.h"
#include "hlo_backend/proto/header_from_proto.h"
#include "hlo_backend/proto/kept_fields.h"
#include "hlo_backend/proto/metadata_proto.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/proto/shape_proto.h"
#include "hlo_backend/proto/sharding_proto.h"
#include "hlo_backend/proto/text_checks.h"

namespace ptxla::hlo {
namespace {

// Parameters of one computation; more would be a broken file.
constexpr int64_t kMaxParameters = 1 << 20;

class ModuleReader {
 public:
  ModuleReader(const proto::HloModuleProto& in, absl::string_view file_name)
      : in_(in), module_(std::make_unique<Module>(in.name())) {
    module_->set_file_name(std::string(file_name));
  }

  absl::StatusOr<std::unique_ptr<Module>> Read();

 private:
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
    i->set_backend_config(in.backend_config(), IsInBraces(in.backend_config()));
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
  const std::string name = ReadableName(in.name());
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
  const std::string name = ReadableName(in.name());
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
  RETURN_IF_ERROR(HeaderFromProto(in_, module_.get()));
  for (const proto::HloComputationProto& c : in_.computations()) {
    RETURN_IF_ERROR(ReadComputation(c)) << "computation \"" << c.name() << '"';
  }
  if (computations_.empty()) {
    return absl::InvalidArgumentError("the module has no computation");
  }
  // Files made by hand leave the id out; the name then says it, or the place.
  auto entry = computations_.find(in_.entry_computation_id());
  Computation* named =
      module_->FindComputation(ReadableName(in_.entry_computation_name()));
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
