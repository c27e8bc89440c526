// The tree of a StableHLO text to a Module. Internal; stablehlo.h is the way
// in.
//
// One handler per operation, in a table by name (handlers.cc); each takes the
// operation and the scope of its computation and gives the instruction, a
// tuple if the operation has several results.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_CONVERTER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_CONVERTER_H_

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/stablehlo/mlir.h"
#include "hlo_backend/stablehlo/op_attributes.h"

namespace ptxla::hlo::mlir {

using ValueKey = std::pair<absl::string_view, int>;

// The values of one computation while it is made.
struct Scope {
  Scope(Computation* computation, Scope* outer_scope)
      : builder(computation), outer(outer_scope) {}
  Builder builder;
  Scope* outer;
  absl::flat_hash_map<ValueKey, Instruction*> values;
};

class Converter {
 public:
  using LocationAliases = absl::flat_hash_map<std::string, std::string>;
  Converter(absl::string_view file_name, const LocationAliases& locations)
      : file_name_(file_name), locations_(locations) {}

  // The sizes of the dimensions that the types of @main's arguments leave open
  // (tensor<?x16xf32>), in order. All that follows from them is computed then.
  void set_sizes(absl::Span<const int64_t> sizes) {
    sizes_.assign(sizes.begin(), sizes.end());
  }

  absl::StatusOr<std::unique_ptr<Module>> Convert(const Op& module);

  // --- For handlers ---
  absl::StatusOr<Instruction*> Operand(const Op& op, int i, Scope* scope);
  absl::StatusOr<std::vector<Instruction*>> Operands(const Op& op,
                                                     Scope* scope);
  // The shape of result i, or of all of them as a tuple.
  absl::StatusOr<Shape> ResultShape(const Op& op, int i = 0);
  absl::StatusOr<Shape> AllResults(const Op& op);
  // The computation of a region on its arguments as parameters.
  absl::StatusOr<Computation*> RegionOf(const Op& op, int i, Scope* scope,
                                        absl::string_view name);
  // The values that regions use and do not define, but for constants.
  absl::StatusOr<std::vector<std::pair<ValueKey, Instruction*>>> Captured(
      const Op& op, Scope* scope);
  // A region whose arguments, and then the captured values, are elements of
  // one tuple (the parameter itself if it is one value).
  absl::StatusOr<Computation*> TupleRegion(
      const Region& region, const std::vector<Shape>& arguments,
      const std::vector<std::pair<ValueKey, Instruction*>>& captured,
      bool return_captured, Scope* scope, absl::string_view name);
  absl::Status Body(const Region& region, Scope* scope,
                    std::vector<Instruction*>* results);
  absl::StatusOr<Computation*> Function(const std::string& name);
  // Whether open dimensions get sizes; calls are inlined then, so that every
  // call has the shapes of its own arguments.
  bool refining() const { return !sizes_.empty(); }
  absl::StatusOr<Instruction*> Inline(const std::string& name,
                                      const std::vector<Instruction*>& operands,
                                      Scope* scope);
  // The sharding that the attributes say, in either dialect; nullptr: none.
  absl::StatusOr<std::shared_ptr<const Sharding>> ShardingOf(
      const AttrDict& attributes, int results);
  absl::StatusOr<Sharding> ShardySharding(const std::string& text);
  absl::StatusOr<std::vector<Sharding>> ShardyShardings(
      const std::string& text);
  Module* module() { return module_.get(); }

 private:
  absl::Status Header(const Op& module);
  absl::Status EntryAttributes(const Op& function);
  absl::Status ConvertFunction(const Op& function, Computation* computation);
  absl::Status ConvertOp(const Op& op, Scope* scope);
  absl::StatusOr<Instruction*> Made(const Op& op, Scope* scope);
  absl::Status SetSizes(const Op& main);
  void Refine(const Op& op, Scope* scope);
  absl::Status CheckAssertion(const Op& op, Scope* scope);
  absl::StatusOr<Instruction*> Lookup(ValueRef ref, Scope* scope);
  // What is made from here on has this location.
  void SetLocation(const std::string& location, Scope* scope) const;

  std::string file_name_;
  const LocationAliases& locations_;
  std::unique_ptr<Module> module_;
  std::vector<int64_t> sizes_;
  // While refining: the shapes of arguments of @main, and of results.
  std::vector<Shape> main_arguments_;
  const Op* main_ = nullptr;
  absl::flat_hash_map<const Op*, std::vector<Shape>> refined_;
  absl::flat_hash_set<std::string> inlining_;
  struct FunctionState {
    const Op* op = nullptr;
    std::string hlo_name;
    Computation* computation = nullptr;  // nullptr: not made yet
    bool in_progress = false;
  };
  absl::flat_hash_map<std::string, FunctionState> functions_;
  absl::flat_hash_map<std::string, Mesh> meshes_;
};

using Handler = absl::StatusOr<Instruction*> (*)(const Op& op, Converter& c,
                                                 Scope* scope);
// By canonical name; nullptr: no such operation.
Handler FindHandler(absl::string_view name);

// The tables that handlers.cc joins.
using HandlerRow = std::pair<absl::string_view, Handler>;
absl::Span<const HandlerRow> ElementwiseHandlers();
absl::Span<const HandlerRow> MovementHandlers();
absl::Span<const HandlerRow> ProductHandlers();
absl::Span<const HandlerRow> ReductionHandlers();
absl::Span<const HandlerRow> ControlHandlers();
absl::Span<const HandlerRow> CollectiveHandlers();
absl::Span<const HandlerRow> TransferHandlers();
absl::Span<const HandlerRow> ChloHandlers();
absl::Span<const HandlerRow> OtherDialectHandlers();
absl::Span<const HandlerRow> QuantizedHandlers();

// The shape of a value that is made as one and typed as the other, where each
// may say a size that the other leaves open: f32[4,?] and f32[?,5] give
// f32[4,5]. Nothing where they contradict each other.
std::optional<Shape> Joined(const Shape& made, const Shape& type);

// Unimplemented if it computes with quantised tensors; moving them is fine.
absl::Status CheckQuantized(const Op& op);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_CONVERTER_H_
