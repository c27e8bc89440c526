#include "hlo_backend/passes/topk_expander.h"

#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::hlo {
namespace {

// The number behind `key` in "{..., key = 3 : i64, ...}" or "key": 3.
bool NumberOf(absl::string_view config, absl::string_view key,
              int64_t* number) {
  const size_t at = config.find(key);
  if (at == absl::string_view::npos) return false;
  config.remove_prefix(at + key.size());
  const size_t begin = config.find_first_of("-0123456789");
  if (begin == absl::string_view::npos) return false;
  config.remove_prefix(begin);
  return absl::SimpleAtoi(
      config.substr(0, config.find_first_not_of("-0123456789")), number);
}

// Values before which those with a larger (smaller) total order come.
Computation* Comparator(Module* module, PrimitiveType type, bool largest) {
  Builder b(module->AddComputation(largest ? "topk_gt" : "topk_lt"));
  Instruction* x = b.Parameter(0, Shape::Scalar(type));
  Instruction* y = b.Parameter(1, Shape::Scalar(type));
  b.Parameter(2, Shape::Scalar(PrimitiveType::kS32));
  b.Parameter(3, Shape::Scalar(PrimitiveType::kS32));
  CompareAttrs attrs;
  attrs.direction = largest ? CompareDirection::kGt : CompareDirection::kLt;
  if (IsFloat(type)) attrs.type = CompareType::kTotalOrder;
  b.computation()->SetRoot(b.Emit(Opcode::kCompare, {x, y}, attrs));
  return b.computation();
}

class Expander {
 public:
  explicit Expander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  absl::StatusOr<Instruction*> TopK() {
    Instruction* x = i_->operand(0);
    if (!TakesTheFirst({x, x}, x->shape().rank() - 1)) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(*i_), ": its results ", i_->shape().ToString(),
                       " are not the largest of ", x->shape().ToString()));
    }
    const int last = x->shape().rank() - 1;
    const bool largest =
        i_->opcode() != Opcode::kTopK || i_->attrs<TopKAttrs>().largest;
    Instruction* position =
        b_.Iota(Shape::Array(PrimitiveType::kS32, x->shape().dims()), last);
    return First({x, position}, last,
                 Comparator(i_->parent()->module(), x->shape().type(), largest),
                 true);
  }

  // Operands: arrays, then a start value each.
  absl::StatusOr<Instruction*> Approximate() {
    int64_t dim;
    if (!NumberOf(i_->backend_config(), "reduction_dim", &dim) ||
        i_->called().empty() || !i_->shape().IsTuple()) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(*i_),
                       ": an approximate top-k without a "
                       "reduction_dim or a comparator"));
    }
    const int arrays = i_->operand_count() / 2;
    std::vector<Instruction*> x;
    for (int k = 0; k < arrays; ++k) x.push_back(i_->operand(k));
    return First(x, dim, i_->called()[0], false);
  }

 private:
  // A custom call may declare anything.
  bool TakesTheFirst(const std::vector<Instruction*>& x, int64_t dim) const {
    if (!i_->shape().IsTuple() || x.empty() ||
        i_->shape().element_count_of_tuple() != static_cast<int>(x.size())) {
      return false;
    }
    for (size_t k = 0; k < x.size(); ++k) {
      const Shape& from = x[k]->shape();
      const Shape& to = i_->shape().element(static_cast<int>(k));
      if (!from.IsArray() || !to.IsArray() || !from.SameDims(x[0]->shape()) ||
          to.rank() != from.rank() || dim < 0 || dim >= from.rank()) {
        return false;
      }
      for (int d = 0; d < from.rank(); ++d) {
        if (to.dim(d) > from.dim(d)) return false;
      }
    }
    return true;
  }

  absl::StatusOr<Instruction*> First(std::vector<Instruction*> x, int64_t dim,
                                     Computation* comparator, bool stable) {
    if (!TakesTheFirst(x, dim)) {
      return absl::UnimplementedError(
          absl::StrCat(Describe(*i_), ": its results ", i_->shape().ToString(),
                       " are not the first of its operands along a dimension"));
    }
    Instruction* sorted = b_.Sort(x, dim, stable, comparator);
    std::vector<Instruction*> results;
    for (size_t k = 0; k < x.size(); ++k) {
      const Shape& shape = i_->shape().element(static_cast<int>(k));
      DimVector starts(shape.rank(), 0), limits = shape.dims();
      Instruction* first = b_.Slice(
          x.size() == 1 ? sorted
                        : b_.GetTupleElement(sorted, static_cast<int>(k)),
          starts, limits);
      results.push_back(first->shape().type() == shape.type()
                            ? first
                            : b_.Convert(first, shape.type()));
    }
    return b_.Tuple(results);
  }

  Instruction* i_;
  Builder b_;
};

bool IsCall(const Instruction& i, absl::string_view target) {
  return i.opcode() == Opcode::kCustomCall &&
         i.attrs<CustomCallAttrs>().target == target;
}

}  // namespace

absl::StatusOr<bool> TopkExpanderPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* expanded = nullptr;
      if (i->opcode() == Opcode::kTopK ||
          (IsCall(*i, "TopK") && i->operand_count() == 1)) {
        ASSIGN_OR_RETURN(expanded, Expander(i).TopK());
      } else if (IsCall(*i, "ApproxTopK") || IsCall(*i, "PartialReduce")) {
        ASSIGN_OR_RETURN(expanded, Expander(i).Approximate());
      }
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
