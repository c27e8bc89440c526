// The module, its functions, and what stands around an operation: attributes
// and locations.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// Of leaf `leaf` of a value of this shape.
const Sharding* LeafSharding(const Sharding* sharding, const Shape& shape,
                             int64_t leaf) {
  if (sharding == nullptr || sharding->kind != ShardingKind::kTuple) {
    return sharding;
  }
  // A tuple's sharding has one element for each leaf.
  if (!shape.IsTuple() ||
      leaf >= static_cast<int64_t>(sharding->tuple.size())) {
    return nullptr;
  }
  return &sharding->tuple[leaf];
}

std::string ShardingEntry(const Sharding& sharding) {
  return absl::StrCat("mhlo.sharding = ", Quoted(sharding.ToString()));
}

// " {a, b}", sorted as MLIR has them.
std::string Dictionary(std::vector<std::string> entries) {
  if (entries.empty()) return "";
  std::sort(entries.begin(), entries.end());
  return absl::StrCat(" {", absl::StrJoin(entries, ", "), "}");
}

// Keys that are no bare words are quoted.
std::string Key(const std::string& key) { return SymbolText(key).substr(1); }

std::string FrontendEntry(const FrontendAttributes& attributes,
                          bool is_composite) {
  std::string list;
  for (const auto& [key, value] : attributes) {
    if (is_composite && key.rfind("composite.", 0) == 0) continue;
    absl::StrAppend(&list, list.empty() ? "" : ", ", Key(key), " = ",
                    Quoted(value));
  }
  if (list.empty()) return "";
  return absl::StrCat("mhlo.frontend_attributes = {", list, "}");
}

// The innermost call, where only its number in the tables is known.
void SourceFromFrames(const StackFrameTables& tables, Metadata* m) {
  const int64_t frame = m->stack_frame_id;
  if (!m->source_file.empty() || frame <= 0 ||
      frame > static_cast<int64_t>(tables.frames.size())) {
    return;
  }
  const int64_t at = tables.frames[frame - 1].location;
  if (at <= 0 || at > static_cast<int64_t>(tables.locations.size())) return;
  const StackFrameTables::Location& location = tables.locations[at - 1];
  if (location.file <= 0 ||
      location.file > static_cast<int64_t>(tables.files.size())) {
    return;
  }
  m->source_file = tables.files[location.file - 1];
  m->source_line = location.line;
  m->source_column = location.column;
}

std::string LocationText(Metadata m, const StackFrameTables& tables) {
  SourceFromFrames(tables, &m);
  std::string text;
  if (!m.source_file.empty()) {
    text = absl::StrCat(Quoted(m.source_file), ":", m.source_line, ":",
                        m.source_column);
  }
  auto wrap = [&text](const std::string& name) {
    text = text.empty() ? Quoted(name)
                        : absl::StrCat(Quoted(name), "(", text, ")");
  };
  // A first name that ends in a colon is the type.
  if (!m.op_name.empty()) wrap(m.op_name);
  if (!m.op_type.empty()) wrap(absl::StrCat(m.op_type, ":"));
  return text;
}

}  // namespace

std::string Writer::Location(const Instruction* i) {
  if (i == nullptr || !options_.locations || i->metadata().empty()) return "";
  const std::string text = LocationText(i->metadata(), module_.stack_frames());
  if (text.empty()) return "";
  const auto [it, is_new] = location_numbers_.try_emplace(
      text, static_cast<int>(locations_.size()) + 1);
  if (is_new) locations_.push_back(text);
  return absl::StrCat(" loc(#loc", it->second, ")");
}

std::string Writer::Attributes(const Instruction* i, const OpText& op) const {
  std::vector<std::string> entries = op.attributes;
  if (i != nullptr && i->has_extras()) {
    if (i->sharding() != nullptr) {
      entries.push_back(ShardingEntry(*i->sharding()));
    }
    const auto* call = i->attrs_if<CallAttrs>();
    const std::string frontend = FrontendEntry(
        i->frontend_attributes(), call != nullptr && call->is_composite);
    if (!frontend.empty()) entries.push_back(frontend);
  }
  return Dictionary(std::move(entries));
}

std::string Writer::EntryAttributes(int64_t parameter,
                                    const ShapeIndex& index) const {
  const ModuleConfig& config = module_.config();
  std::vector<std::string> entries;
  const Shape& result = module_.entry()->root()->shape();
  for (const InputOutputAlias& alias : config.input_output_alias) {
    if (alias.parameter != parameter || alias.parameter_index != index) {
      continue;
    }
    // The number of the output's leaf.
    int64_t number = 0, found = -1;
    ForEachLeaf(result, [&](const Shape&, const ShapeIndex& at) {
      if (at == alias.output) found = number;
      ++number;
    });
    if (found >= 0) {
      entries.push_back(absl::StrCat("tf.aliasing_output = ", found, " : i32"));
      break;
    }
  }
  for (const BufferDonor& donor : config.buffer_donors) {
    if (donor.parameter == parameter && donor.parameter_index == index) {
      entries.push_back("jax.buffer_donor = true");
      break;
    }
  }
  return absl::StrJoin(entries, ", ");
}

absl::StatusOr<std::string> Writer::Arguments(const Computation& computation,
                                              bool is_entry) {
  std::string list;
  for (const Instruction* p : computation.parameters()) {
    Values& values = scope_->values[p];
    // NewArgument keeps the address of each leaf's shape.
    const std::vector<const Shape*> leaves = LeavesOf(p->shape());
    std::vector<ShapeIndex> indices;
    ForEachLeaf(p->shape(), [&indices](const Shape&, const ShapeIndex& at) {
      indices.push_back(at);
    });
    for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      values.push_back(NewArgument(*leaves[leaf]));
      ASSIGN_OR_RETURN(const std::string type, TypeText(*leaves[leaf]));
      std::vector<std::string> entries;
      const Sharding* sharding =
          LeafSharding(p->sharding(), p->shape(), static_cast<int64_t>(leaf));
      if (sharding != nullptr) entries.push_back(ShardingEntry(*sharding));
      if (is_entry) {
        const std::string more =
            EntryAttributes(p->parameter_number(), indices[leaf]);
        if (!more.empty()) entries.push_back(more);
      }
      absl::StrAppend(&list, list.empty() ? "" : ", ", values.back().name, ": ",
                      type, Dictionary(std::move(entries)), Location(p));
    }
  }
  return list;
}

absl::Status Writer::Function(const Computation& computation, bool is_entry) {
  Scope scope;
  scope_ = &scope;
  next_result_ = next_argument_ = 0;
  ASSIGN_OR_RETURN(const std::string arguments,
                   Arguments(computation, is_entry));
  const Instruction* root = computation.root();
  std::string results;
  bool plain = true;
  const std::vector<const Shape*> leaves = LeavesOf(root->shape());
  for (size_t leaf = 0; leaf < leaves.size(); ++leaf) {
    ASSIGN_OR_RETURN(const std::string type, TypeText(*leaves[leaf]));
    // Other roots have their sharding on their operation.
    const Sharding* sharding =
        root->opcode() == Opcode::kTuple
            ? LeafSharding(root->sharding(), root->shape(),
                           static_cast<int64_t>(leaf))
            : nullptr;
    absl::StrAppend(&results, leaf == 0 ? "" : ", ", type);
    if (sharding != nullptr) {
      plain = false;
      absl::StrAppend(&results, " {", ShardingEntry(*sharding), "}");
    }
  }
  if (leaves.size() != 1 || !plain) {
    results = absl::StrCat("(", results, ")");
  }
  Line(absl::StrCat("func.func ", is_entry ? "public " : "private ",
                    FunctionName(computation), "(", arguments, ")",
                    leaves.empty() ? "" : " -> ", leaves.empty() ? "" : results,
                    " {"));
  indent_.append("  ");
  RETURN_IF_ERROR(Instructions(computation));
  RETURN_IF_ERROR(Return("return", ValuesOf(root)));
  indent_.resize(indent_.size() - 2);
  Line("}");
  return absl::OkStatus();
}

absl::StatusOr<std::string> Writer::Write() {
  const ModuleConfig& config = module_.config();
  std::vector<std::string> entries;
  if (config.num_partitions > 1) {
    entries.push_back(
        IntEntry("mhlo.num_partitions", config.num_partitions, "i32"));
  }
  if (config.replica_count > 1) {
    entries.push_back(
        IntEntry("mhlo.num_replicas", config.replica_count, "i32"));
  }
  const std::string frontend = FrontendEntry(config.frontend_attributes, false);
  if (!frontend.empty()) entries.push_back(frontend);
  const std::string attributes = Dictionary(std::move(entries));
  Line(absl::StrCat("module ", SymbolText(module_.name()),
                    attributes.empty() ? "" : " attributes", attributes, " {"));
  indent_ = "  ";
  const Computation* entry = module_.entry();
  taken_names_.insert("main");
  function_names_[entry] = "@main";
  functions_.push_back(entry);
  for (size_t f = 0; f < functions_.size(); ++f) {
    RETURN_IF_ERROR(Function(*functions_[f], functions_[f] == entry));
  }
  indent_.clear();
  Line("}");
  for (size_t l = 0; l < locations_.size(); ++l) {
    Line(absl::StrCat("#loc", l + 1, " = loc(", locations_[l], ")"));
  }
  return std::move(out_);
}

}  // namespace ptxla::hlo::mlir
