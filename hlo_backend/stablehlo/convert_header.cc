// What the module and its main function say about the whole program.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"
#include "hlo_backend/stablehlo/shardy.h"

namespace ptxla::hlo::mlir {

absl::Status Converter::Header(const Op& module) {
  const Attr* name = module.Find("sym_name");
  std::string text =
      name == nullptr || name->text.empty() ? "module" : name->text;
  for (char& c : text) {
    if (!absl::ascii_isgraph(c) || c == ',' || c == '"') c = '_';
  }
  if (!absl::ascii_isalnum(text[0])) text[0] = '_';
  module_ = std::make_unique<Module>(text);
  module_->set_file_name(file_name_);
  ModuleConfig* config = module_->mutable_config();
  config->replica_count = IntOr(module.attributes, {"mhlo.num_replicas"}, 0);
  config->num_partitions = IntOr(module.attributes, {"mhlo.num_partitions"}, 0);
  // XLA does not write ones.
  if (config->replica_count == 1) config->replica_count = 0;
  if (config->num_partitions == 1) config->num_partitions = 0;
  if (config->replica_count < 0 || config->num_partitions < 0) {
    return absl::InvalidArgumentError("a negative number of devices");
  }
  for (const Op& op : module.regions[0].ops) {
    if (op.name != "sdy.mesh") continue;
    const Attr* mesh_name = op.Find("sym_name");
    const Attr* body = op.Find("mesh");
    if (mesh_name == nullptr || body == nullptr) {
      return absl::InvalidArgumentError("a mesh has a name and axes");
    }
    ASSIGN_OR_RETURN(
        Mesh mesh,
        ReadShardyMesh(body->kind == Attr::Kind::kDialect ? body->text
                                                          : AttrText(*body)),
        _ << op.position.line << ":" << op.position.column << ": " << op.name);
    meshes_[mesh_name->text] = std::move(mesh);
  }
  return absl::OkStatus();
}

absl::StatusOr<Sharding> Converter::ShardySharding(const std::string& text) {
  return ReadShardySharding(text, meshes_);
}

absl::StatusOr<std::vector<Sharding>> Converter::ShardyShardings(
    const std::string& text) {
  return ReadShardyShardings(text, meshes_);
}

absl::StatusOr<std::shared_ptr<const Sharding>> Converter::ShardingOf(
    const AttrDict& attributes, int results) {
  std::shared_ptr<const Sharding> none;
  if (const Attr* attr = FindIn(attributes, "mhlo.sharding")) {
    ASSIGN_OR_RETURN(Sharding sharding, ParseShardingText(attr->text),
                     _ << "mhlo.sharding");
    return std::make_shared<const Sharding>(std::move(sharding));
  }
  const Attr* attr = FindIn(attributes, "sdy.sharding");
  if (attr == nullptr) return none;
  ASSIGN_OR_RETURN(std::vector<Sharding> list,
                   ReadShardyShardings(attr->text, meshes_));
  if (list.empty() || (results > 1 && static_cast<int>(list.size()) != results))
    return none;
  if (results == 1) return std::make_shared<const Sharding>(list[0]);
  return std::make_shared<const Sharding>(Sharding::Tuple(std::move(list)));
}

// Donated and aliased arguments.
absl::Status Converter::EntryAttributes(const Op& function) {
  ModuleConfig* config = module_->mutable_config();
  const bool is_tuple = function.result_types.size() != 1;
  const Region& region = function.regions[0];
  for (size_t i = 0; i < region.arguments.size(); ++i) {
    const AttrDict& attributes = region.arguments[i].attributes;
    if (FindIn(attributes, "tf.aliasing_output") != nullptr) {
      ASSIGN_OR_RETURN(const int64_t output,
                       Int(attributes, {"tf.aliasing_output"}));
      InputOutputAlias alias;
      if (is_tuple) alias.output = {output};
      alias.parameter = static_cast<int64_t>(i);
      config->input_output_alias.push_back(std::move(alias));
    }
    if (BoolOr(attributes, {"jax.buffer_donor"}, false)) {
      config->buffer_donors.push_back({static_cast<int64_t>(i), {}});
    }
  }
  return absl::OkStatus();
}

}  // namespace ptxla::hlo::mlir
