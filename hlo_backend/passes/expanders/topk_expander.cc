#include "hlo_backend/passes/expanders/topk_expander.h"

#include <algorithm>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/expanders/partial_reduce.h"

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

// The same, and of equal ones the lower position.
Computation* ComparatorOfBoth(Module* module, PrimitiveType type,
                              bool largest) {
  Builder b(module->AddComputation(largest ? "topk_gt_at" : "topk_lt_at"));
  Instruction* x = b.Parameter(0, Shape::Scalar(type));
  Instruction* y = b.Parameter(1, Shape::Scalar(type));
  Instruction* at_x = b.Parameter(2, Shape::Scalar(PrimitiveType::kS32));
  Instruction* at_y = b.Parameter(3, Shape::Scalar(PrimitiveType::kS32));
  CompareAttrs before;
  before.direction = largest ? CompareDirection::kGt : CompareDirection::kLt;
  if (IsFloat(type)) before.type = CompareType::kTotalOrder;
  CompareAttrs equal = before;
  equal.direction = CompareDirection::kEq;
  Instruction* first = b.Compare(at_x, at_y, CompareDirection::kLt);
  b.computation()->SetRoot(b.Emit(
      Opcode::kOr, {b.Emit(Opcode::kCompare, {x, y}, before),
                    b.Emit(Opcode::kAnd,
                           {b.Emit(Opcode::kCompare, {x, y}, equal), first})}));
  return b.computation();
}

// What no value comes behind, in the total order.
Literal Last(PrimitiveType type, bool largest) {
  const int bytes = BitWidth(type) / 8;
  const bool is_unsigned = type == PrimitiveType::kU32;
  // Floats: NaN of either sign. Integers: the least or the greatest.
  std::vector<uint8_t> bits(bytes, IsFloat(type) || !largest ? 0xFF : 0);
  if (is_unsigned) return Literal::SplatBytes(Shape::Scalar(type), bits);
  const bool negative = largest;
  bits.back() =
      static_cast<uint8_t>((bits.back() & 0x7F) | (negative ? 0x80 : 0));
  return Literal::SplatBytes(Shape::Scalar(type), bits);
}

// Registers times stages of a network that sorts n elements `sorts` times.
double NetworkCost(int64_t sorts, int64_t n) {
  const int levels = CeilLog2(n);
  const double registers = static_cast<double>(sorts << levels) / (8 * 128);
  return registers * levels * (levels + 1) / 2;
}

class TopkExpander {
 public:
  explicit TopkExpander(Instruction* i) : i_(i), b_(i->parent()) {
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
    if (IsWorthTwo()) return InTwo(largest);
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
    if (i_->attrs<CustomCallAttrs>().target == "PartialReduce") {
      if (Instruction* part = ReducedInPart(i_, dim)) return part;
    }
    const int arrays = i_->operand_count() / 2;
    const std::vector<Instruction*> x(i_->operands().begin(),
                                      i_->operands().begin() + arrays);
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

  // Elements of a row that are sorted with one another first: those of a lane.
  static constexpr int64_t kColumns = 128;

  // Of one of the results only later ones are read: the k-th value, a threshold
  // below which scores are masked.
  bool OnlyLaterOnesAreRead() const {
    const auto is_later = [](const Instruction* user) {
      return user->opcode() == Opcode::kSlice &&
             user->attrs<SliceAttrs>().starts.back() > 0;
    };
    return std::any_of(i_->users().begin(), i_->users().end(),
                       [&](const Instruction* part) {
                         return part->opcode() == Opcode::kGetTupleElement &&
                                !part->IsRoot() && part->user_count() > 0 &&
                                std::all_of(part->users().begin(),
                                            part->users().end(), is_later);
                       });
  }

  // Sorting few of each lane's elements after all of them is less work than
  // sorting a row at once, and compares no lanes. An array of one dimension the
  // TPU compiler sorts whole all the same, and any whose first result is cut
  // off (libtpu 0.0.42.1, 5 programs of 5): it does not see the top-k then.
  bool IsWorthTwo() const {
    const Shape& x = i_->operand(0)->shape();
    if (x.rank() == 1 || OnlyLaterOnesAreRead()) return false;
    switch (x.type()) {
      case PrimitiveType::kF32:
      case PrimitiveType::kBf16:
      case PrimitiveType::kF16:
      case PrimitiveType::kS32:
      case PrimitiveType::kU32:
        break;
      default:
        return false;
    }
    const int last = x.rank() - 1;
    const int64_t n = x.dim(last), k = i_->shape().element(0).dim(last);
    const int64_t rows = CeilOfRatio(n, kColumns);
    if (i_->shape().element_count_of_tuple() != 2 || n == 0 || rows < 2 * k) {
      return false;
    }
    const int64_t sorts = x.ElementCount() / n;
    const double two = NetworkCost(sorts * kColumns, rows) +
                       NetworkCost(sorts, k * kColumns) +
                       chips::CompilerPolicy("topk_between");
    return two < chips::CompilerPolicy("topk_gain") * NetworkCost(sorts, n);
  }

  // The first k of each lane, and of those the first k.
  absl::StatusOr<Instruction*> InTwo(bool largest) {
    Instruction* x = i_->operand(0);
    const PrimitiveType type = x->shape().type();
    const int last = x->shape().rank() - 1;
    const int64_t n = x->shape().dim(last);
    const int64_t k = i_->shape().element(0).dim(last);
    const int64_t rows = CeilOfRatio(n, kColumns);
    if (rows * kColumns > n) {
      PadAttrs pad;
      pad.dims.resize(last + 1);
      pad.dims[last].high = rows * kColumns - n;
      x = b_.Pad(x, b_.Constant(Last(type, largest)), pad.dims);
    }
    DimVector dims = x->shape().dims();
    dims[last] = rows;
    dims.push_back(kColumns);
    const Shape counts = Shape::Array(PrimitiveType::kS32, dims);
    Module* module = i_->parent()->module();
    Instruction* sorted =
        b_.Sort({b_.Reshape(x, dims), b_.Iota(counts, last)}, last, true,
                Comparator(module, type, largest));
    DimVector starts(last + 2, 0);
    dims[last] = k;
    Instruction* values = b_.Slice(b_.GetTupleElement(sorted, 0), starts, dims);
    Instruction* row = b_.Slice(b_.GetTupleElement(sorted, 1), starts, dims);
    // The position in x: rows of lanes follow one another there.
    Instruction* lane =
        b_.Iota(Shape::Array(PrimitiveType::kS32, dims), last + 1);
    Instruction* width = b_.BroadcastScalar(
        b_.ConstantScalar(PrimitiveType::kS32, kColumns), dims);
    Instruction* position = b_.Add(b_.Multiply(row, width), lane);
    dims.pop_back();
    dims[last] = k * kColumns;
    return First({b_.Reshape(values, dims), b_.Reshape(position, dims)}, last,
                 ComparatorOfBoth(module, type, largest), false);
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
        ASSIGN_OR_RETURN(expanded, TopkExpander(i).TopK());
      } else if (IsCall(*i, "ApproxTopK") || IsCall(*i, "PartialReduce")) {
        ASSIGN_OR_RETURN(expanded, TopkExpander(i).Approximate());
      }
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
