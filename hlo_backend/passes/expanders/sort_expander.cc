#include "hlo_backend/passes/expanders/sort_expander.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/sort_config.h"
#include "hlo_backend/passes/expanders/counting_indices.h"

namespace ptxla::hlo {
namespace {

// What a value of this type is in a register.
PrimitiveType WordType(PrimitiveType type) {
  if (IsComplex(type) || BitWidth(type) >= 32) return type;
  if (IsFloat(type)) return PrimitiveType::kF32;
  return PrimitiveType::kS32;
}

int64_t PowerOfTwo(int64_t n, int64_t least) {
  return int64_t{1} << CeilLog2(std::max(n, least));
}

class SortExpander {
 public:
  // `room`: VMEM of a kernel.
  SortExpander(Instruction* sort, int64_t room)
      : sort_(sort),
        room_(room),
        shape_(sort->operand(0)->shape()),
        dim_(sort->attrs<SortAttrs>().dimension),
        b_(sort->parent()) {
    b_.set_metadata(sort->shared_metadata());
    for (int d = 0; d < shape_.rank(); ++d) {
      (d < dim_ ? before_ : d > dim_ ? after_ : length_) *= shape_.dim(d);
    }
  }

  // Null: nothing to do.
  Instruction* Expand() {
    const std::vector<Instruction*> operands(sort_->operands().begin(),
                                             sort_->operands().end());
    if (length_ <= 1 || shape_.ElementCount() == 0) return Together(operands);
    PlaceDimension();
    bool types = false;
    int tie = -1;
    for (size_t k = 0; k < operands.size(); ++k) {
      const PrimitiveType type = operands[k]->shape().type();
      types |= WordType(type) != type;
      const bool counts =
          type == PrimitiveType::kS32 || type == PrimitiveType::kU32;
      if (tie < 0 && counts && CountsAlong(*operands[k], dim_)) {
        tie = static_cast<int>(k);
      }
    }
    const bool marks = tie >= 0 && SortTieOperand(*sort_) != tie;
    if (!types && !transposes_ && !reshapes_) {
      if (marks) SetSortTieOperand(sort_, tie);
      marked_ = marks;
      return nullptr;
    }
    std::vector<Instruction*> words;
    words.reserve(operands.size());
    for (Instruction* x : operands) words.push_back(In(x));
    Instruction* sorted =
        b_.Sort(words, new_dim_, sort_->attrs<SortAttrs>().is_stable,
                types ? WordComparator() : sort_->to_apply());
    if (tie >= 0) SetSortTieOperand(sorted, tie);
    std::vector<Instruction*> results;
    for (size_t k = 0; k < operands.size(); ++k) {
      Instruction* r = operands.size() == 1
                           ? sorted
                           : b_.GetTupleElement(sorted, static_cast<int>(k));
      results.push_back(Out(r, operands[k]->shape().type()));
    }
    return Together(results);
  }
  bool marked() const { return marked_; }

 private:
  Instruction* Together(const std::vector<Instruction*>& values) {
    return values.size() == 1 ? values[0] : b_.Tuple(values);
  }

  // Registers of a sort in lanes and of a row of its own, both per stage.
  void PlaceDimension() {
    if (shape_.rank() == 1) return;  // a row
    const int64_t sorts = before_ * after_;
    const int64_t side_by_side =
        CeilOfRatio<int64_t>(sorts, 128) * PowerOfTwo(length_, 64) / 8;
    const int64_t padded = PowerOfTwo(length_, 128);
    const int64_t apart = sorts * 2 * (padded < 16384 ? 16 : padded / 1024);
    // In, out and while they are sorted: 128 side by side may be too many.
    const int64_t bytes =
        PowerOfTwo(length_, 64) * kTileRowBytes * 3 * sort_->operand_count();
    if (apart < side_by_side || bytes > room_) {
      // [sorts, n]
      transposes_ = after_ > 1;
      reshapes_ = transposes_ || dim_ + 1 != shape_.rank();
      new_dim_ = reshapes_ ? 1 : dim_;
      return;
    }
    if (after_ > 1 && (after_ >= 64 || before_ == 1)) {
      // [before, n, after]
      reshapes_ = dim_ + 2 != shape_.rank();
      new_dim_ = reshapes_ ? 1 : dim_;
      planes_ = true;
      return;
    }
    // [n, sorts]
    transposes_ = reshapes_ = dim_ > 0 || shape_.rank() > 2;
    new_dim_ = 0;
  }

  Instruction* In(Instruction* x) {
    const PrimitiveType word = WordType(x->shape().type());
    if (word != x->shape().type()) x = b_.Convert(x, word);
    if (!reshapes_) return x;
    if (planes_) return b_.Reshape(x, {before_, length_, after_});
    if (new_dim_ == 0) {
      if (shape_.rank() == 2) return b_.Transpose(x, {1, 0});
      if (after_ == 1) {
        return b_.Transpose(b_.Reshape(x, {before_, length_}), {1, 0});
      }
      return b_.Reshape(
          b_.Transpose(b_.Reshape(x, {before_, length_, after_}), {1, 0, 2}),
          {length_, before_ * after_});
    }
    if (transposes_) {
      x = b_.Transpose(b_.Reshape(x, {before_, length_, after_}), {0, 2, 1});
    }
    return b_.Reshape(x, {before_ * after_, length_});
  }

  Instruction* Out(Instruction* x, PrimitiveType type) {
    if (reshapes_) {
      if (!planes_ && new_dim_ == 0) {
        x = after_ == 1
                ? b_.Transpose(x, {1, 0})
                : b_.Transpose(b_.Reshape(x, {length_, before_, after_}),
                               {1, 0, 2});
      } else if (transposes_) {
        x = b_.Transpose(b_.Reshape(x, {before_, after_, length_}), {0, 2, 1});
      }
      if (x->shape().dims() != shape_.dims()) x = b_.Reshape(x, shape_.dims());
    }
    return type == x->shape().type() ? x : b_.Convert(x, type);
  }

  // Of floats: which is greater shows in words, too, and a value that came with
  // more digits than its type has is placed by them.
  static bool ComparesFloats(const Instruction& i) {
    return i.opcode() == Opcode::kCompare &&
           IsFloat(i.operand(0)->shape().type()) &&
           i.operand(0)->opcode() == Opcode::kParameter &&
           i.operand(1)->opcode() == Opcode::kParameter;
  }

  // The comparator on words: other parameters are converted to what they were.
  Computation* WordComparator() {
    const Computation& from = *sort_->to_apply();
    Computation* to = sort_->parent()->module()->AddComputation(
        absl::StrCat(from.name(), "_words"));
    Builder b(to);
    absl::flat_hash_map<const Instruction*, Instruction*> made;
    for (int p = 0; p < from.parameter_count(); ++p) {
      const Instruction* parameter = from.parameter(p);
      const PrimitiveType type = parameter->shape().type();
      Instruction* x = b.Parameter(p, Shape::Scalar(WordType(type)));
      made[parameter] = WordType(type) == type ? x : b.Convert(x, type);
    }
    for (const Instruction* i : from.PostOrder()) {
      if (i->opcode() == Opcode::kParameter) continue;
      std::vector<Instruction*> operands;
      for (const Instruction* o : i->operands()) {
        operands.push_back(ComparesFloats(*i) ? to->parameter(static_cast<int>(
                                                    o->parameter_number()))
                                              : made.at(o));
      }
      made[i] = to->AddLike(*i, i->shape(), operands);
    }
    to->SetRoot(made.at(from.root()));
    return to;
  }

  static constexpr int64_t kTileRowBytes = 512;

  Instruction* sort_;
  const int64_t room_;
  const Shape shape_;
  const int64_t dim_;
  Builder b_;
  int64_t before_ = 1, length_ = 1, after_ = 1;
  int64_t new_dim_ = 0;
  bool transposes_ = false, reshapes_ = false, planes_ = false;
  bool marked_ = false;
};

}  // namespace

absl::StatusOr<bool> SortExpanderPass::Run(Module* module,
                                           const PassContext& context) {
  const int64_t room = context.chip == nullptr
                           ? std::numeric_limits<int64_t>::max()
                           : context.chip->vmem().scoped_limit.count();
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kSort) continue;
      SortExpander expander(i, room);
      Instruction* expanded = expander.Expand();
      changed |= expanded != nullptr || expander.marked();
      if (expanded != nullptr) c->Replace(i, expanded);
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
