// Attributes that every instruction may have, and those that name other
// computations.
#include <memory>
#include <utility>

#include "hlo_backend/ir/attribute_handlers.h"

namespace ptxla::hlo {
namespace {

Found ShardingOf(P& p, I& i) {
  Sharding sharding;
  if (!p.ShardingValue(&sharding)) return Found::kError;
  i.extras.sharding = std::make_shared<const Sharding>(std::move(sharding));
  i.has_extras = true;
  return Found::kOk;
}

Found MetadataOf(P& p, I& i) {
  i.has_metadata = true;
  return From(p.MetadataValue(&i.metadata));
}

Found Frontend(P& p, I& i) {
  i.has_extras = true;
  return From(p.FrontendValue(&i.extras.frontend_attributes));
}

Found BackendConfig(P& p, I& i) {
  i.has_extras = true;
  i.extras.backend_config_is_json = p.Is('{');
  return From(i.extras.backend_config_is_json
                  ? p.Raw(&i.extras.backend_config)
                  : p.String(&i.extras.backend_config));
}

Found ControlPredecessors(P& p, I& i) {
  return From(p.InstructionList(&i.control_predecessors));
}

Found Origin(P& p, I& i) {
  i.has_extras = true;
  return From(p.Raw(&i.extras.origin));
}

Found Statistics(P& p, I& i) {
  i.has_extras = true;
  return From(p.Raw(&i.extras.statistics));
}

// Which callee a keyword names, by the opcode.
template <Opcode first, int slot>
Found CalleeOf(P& p, I& i) {
  if (i.opcode != first) return Found::kNotHere;
  return From(p.CalleeName(i.callee(slot)));
}

Found Calls(P& p, I& i) {
  switch (i.opcode) {
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kSelectAndScatter:
      return Found::kNotHere;
    default:
      return From(p.CalleeList(&i));
  }
}

Found BranchComputations(P& p, I& i) {
  if (i.opcode != Opcode::kConditional) return Found::kNotHere;
  return From(p.CalleeList(&i));
}

}  // namespace

void AddCommonAttributes(AttributeTable* table) {
  static const std::pair<absl::string_view, AttributeHandler> kCommon[] = {
      {"sharding", ShardingOf},
      {"metadata", MetadataOf},
      {"frontend_attributes", Frontend},
      {"backend_config", BackendConfig},
      {"control-predecessors", ControlPredecessors},
      {"origin", Origin},
      {"statistics", Statistics},
      {"body", CalleeOf<Opcode::kWhile, 0>},
      {"condition", CalleeOf<Opcode::kWhile, 1>},
      {"select", CalleeOf<Opcode::kSelectAndScatter, 0>},
      {"scatter", CalleeOf<Opcode::kSelectAndScatter, 1>},
      {"true_computation", CalleeOf<Opcode::kConditional, 0>},
      {"false_computation", CalleeOf<Opcode::kConditional, 1>},
      {"branch_computations", BranchComputations},
      {"calls", Calls},
      {"to_apply", Calls},
      {"called_computations", Calls},
  };
  table->insert(std::begin(kCommon), std::end(kCommon));
}

}  // namespace ptxla::hlo
