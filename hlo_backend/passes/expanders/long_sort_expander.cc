#include "hlo_backend/passes/expanders/long_sort_expander.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/counting_indices.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

using Arrays = std::vector<Instruction*>;

constexpr int64_t kWord = 4;  // bytes of an element in VMEM
// Parts, best first, ASSUMED: 64 and more fill the lanes of the turned array.
constexpr int64_t kParts[] = {64, 128, 256, 512, 32, 16, 8, 4, 2};

// What `s` parts are a multiple of: turned, each is s whole parts, and its rows
// are whole lanes.
int64_t UnitOf(int64_t s) { return s * std::max(s, kLanes); }

// Bytes that sorts of `length` elements take with so many operands
// (lowering/sorting/sort_kernel.cc): what is sorted, and one more array for
// results that are cut or for positions. One alone comes and goes by transfers.
int64_t SortedBytes(int64_t rows, int64_t length, int operands,
                    bool positions) {
  const int64_t padded = int64_t{1} << CeilLog2(std::max(length, kLanes));
  const bool pads = padded > length;
  const int arrays = operands + (positions || pads ? 1 : 0);
  const bool staged = rows == 1 ? !positions && !pads : pads;
  return (arrays + (staged ? 1 : 0)) * padded * kWord;
}

// The same with windows of eight of `rows` rows, in and out.
int64_t BytesOf(int64_t rows, int64_t length, int operands, bool positions) {
  const int64_t sorted = SortedBytes(rows, length, operands, positions);
  if (rows == 1) return sorted;
  const int64_t together = std::min(kTileRows, int64_t{1} << CeilLog2(rows));
  return sorted + 2 * operands * together * RoundUpTo(length, kLanes) * kWord;
}

class LongSort {
 public:
  LongSort(Instruction* sort, int64_t room, bool windows)
      : sort_(sort),
        room_(room),
        windows_(windows),
        shape_(sort->operand(0)->shape()),
        dim_(static_cast<int>(sort->attrs<SortAttrs>().dimension)),
        b_(sort->parent()) {
    b_.set_metadata(sort->shared_metadata());
    for (int d = 0; d < shape_.rank(); ++d) {
      (d < dim_ ? before_ : d > dim_ ? after_ : length_) *= shape_.dim(d);
    }
    rows_ = before_ * after_;
  }

  Instruction* Expand() {
    const int operands = sort_->operand_count();
    const bool stable = sort_->attrs<SortAttrs>().is_stable;
    for (int k = 0; k < operands; ++k) {
      const Shape& x = sort_->operand(k)->shape();
      if (IsComplex(x.type()) || BitWidth(x.type()) > 32) return nullptr;
      if (BitWidth(x.type()) == 32 && CountsAlong(*sort_->operand(k), dim_)) {
        position_ = k;
      }
    }
    const bool positions = stable && position_ < 0;
    const int64_t bytes =
        windows_ ? BytesOf(rows_, length_, operands, positions)
                 : SortedBytes(rows_, length_, operands, positions);
    if (bytes <= room_) return nullptr;
    const auto parts = PartsOf(rows_, length_, operands + 1);
    if (!parts.has_value()) return nullptr;
    padded_ = RoundUpTo(length_, UnitOf(*parts));
    Arrays xs;
    for (int k = 0; k < operands; ++k) xs.push_back(In(sort_->operand(k)));
    if (!stable && padded_ == length_) {
      position_ = -1;
      compare_ = sort_->to_apply();
    } else {
      Instruction* positions =
          b_.Iota(Shape::Array(position_ < 0
                                   ? PrimitiveType::kS32
                                   : sort_->operand(position_)->shape().type(),
                               RowsOf(rows_, padded_)),
                  rows_ == 1 ? 0 : 1);
      if (position_ < 0) {
        position_ = operands;
        xs.push_back(positions);
      } else {
        xs[position_] = positions;
      }
      compare_ = WithPositions();
    }
    xs = Sorted(std::move(xs), rows_, *parts);
    Arrays results;
    for (int k = 0; k < operands; ++k) results.push_back(Out(xs[k]));
    return operands == 1 ? results[0] : b_.Tuple(results);
  }

 private:
  // Spilled registers have their share, ASSUMED.
  int64_t MostOfRoom() const { return room_ / 16 * 15; }

  // Null: no number of parts is right; the best that fits, or else the most.
  std::optional<int64_t> PartsOf(int64_t rows, int64_t length,
                                 int operands) const {
    std::optional<int64_t> most;
    for (const int64_t s : kParts) {
      const int64_t r = RoundUpTo(length, UnitOf(s)) / s;
      if (r < 2 * (s - 1) * (s - 1)) continue;
      if (BytesOf(rows * s, r, operands, false) <= MostOfRoom()) return s;
      if (!most.has_value() || s > *most) most = s;
    }
    return most;
  }

  // One row is a line.
  static DimVector RowsOf(int64_t rows, int64_t length) {
    return rows == 1 ? DimVector{length} : DimVector{rows, length};
  }

  // Rows of the padded length.
  Instruction* In(Instruction* x) {
    if (after_ > 1) {
      x = b_.Transpose(b_.Reshape(x, {before_, length_, after_}), {0, 2, 1});
    }
    x = b_.Reshape(x, RowsOf(rows_, length_));
    if (padded_ == length_) return x;
    std::vector<PaddingDim> pads(x->shape().rank());
    pads.back().high = padded_ - length_;
    return b_.Pad(x, b_.Zero(x->shape().type()), pads);
  }
  Instruction* Out(Instruction* x) {
    if (padded_ > length_) x = Cut(x, 0, length_);
    if (after_ > 1) {
      x = b_.Transpose(b_.Reshape(x, {before_, after_, length_}), {0, 2, 1});
    }
    return b_.Reshape(x, shape_.dims());
  }

  // Elements [from, to) of every row.
  Instruction* Cut(Instruction* x, int64_t from, int64_t to) {
    DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
    starts.back() = from;
    limits.back() = to;
    return b_.Slice(x, starts, limits);
  }

  template <class Fn>
  static Arrays Each(const Arrays& xs, Fn fn) {
    Arrays made;
    for (Instruction* x : xs) made.push_back(fn(x));
    return made;
  }

  // `rows` rows of the arrays, each sorted: at once, or in parts again.
  Arrays Rows(Arrays xs, int64_t rows) {
    const int operands = static_cast<int>(xs.size());
    const int64_t length = xs[0]->shape().dims().back();
    if (BytesOf(rows, length, operands, false) > MostOfRoom()) {
      const auto parts = PartsOf(rows, length, operands);
      // (Whole parts only: there are no more positions to add.)
      if (parts.has_value() && length % UnitOf(*parts) == 0) {
        return Sorted(std::move(xs), rows, *parts);
      }
    }
    Instruction* sorted = b_.Sort(xs, xs[0]->shape().rank() - 1,
                                  /*is_stable=*/false, compare_);
    if (operands == 1) return {sorted};
    for (int k = 0; k < operands; ++k) xs[k] = b_.GetTupleElement(sorted, k);
    return xs;
  }

  Arrays Sorted(Arrays xs, int64_t rows, int64_t s) {
    const int64_t length = xs[0]->shape().dims().back();
    const int64_t r = length / s, half = r / 2;
    const auto in_parts = [&](Instruction* x) {
      return b_.Reshape(x, {rows * s, r});
    };
    const auto turned = [&](Instruction* x, int64_t down, int64_t across) {
      x = b_.Reshape(x, {rows, down, across});
      return in_parts(b_.Transpose(x, {0, 2, 1}));
    };
    xs = Rows(Each(xs, in_parts), rows * s);
    xs = Rows(Each(xs, [&](auto* x) { return turned(x, r, s); }), rows * s);
    xs = Rows(Each(xs, [&](auto* x) { return turned(x, s, r); }), rows * s);
    xs = Each(xs, [&](auto* x) { return b_.Reshape(x, RowsOf(rows, length)); });
    const Arrays middle =
        Rows(Each(xs,
                  [&](auto* x) {
                    return b_.Reshape(Cut(x, half, length - r + half),
                                      {rows * (s - 1), r});
                  }),
             rows * (s - 1));
    for (size_t k = 0; k < xs.size(); ++k) {
      Instruction* x = xs[k];
      xs[k] = b_.Concatenate(
          {Cut(x, 0, half), b_.Reshape(middle[k], RowsOf(rows, length - r)),
           Cut(x, length - r + half, length)},
          x->shape().rank() - 1);
    }
    return xs;
  }

  // The comparator's code on parameters of the new one; `swapped`: the second
  // elements as first.
  static Instruction* Inlined(const Computation& from, Computation* to,
                              bool swapped) {
    absl::flat_hash_map<const Instruction*, Instruction*> made;
    for (const Instruction* i : from.PostOrder()) {
      if (i->opcode() == Opcode::kParameter) {
        const int p = static_cast<int>(i->parameter_number());
        made[i] = to->parameter(swapped ? p ^ 1 : p);
        continue;
      }
      Arrays operands;
      for (const Instruction* o : i->operands()) operands.push_back(made.at(o));
      made[i] = to->AddLike(*i, i->shape(), operands);
    }
    return made.at(from.root());
  }

  // Elements behind the last one come last; of equal ones the first is first.
  Computation* WithPositions() {
    const Computation& from = *sort_->to_apply();
    Computation* to = sort_->parent()->module()->AddComputation(
        absl::StrCat(from.name(), "_at"));
    Builder b(to);
    for (int p = 0; p < from.parameter_count(); ++p) {
      b.Parameter(p, from.parameter(p)->shape());
    }
    for (int p = from.parameter_count(); p < 2 * position_ + 2; ++p) {
      b.Parameter(p, Shape::Scalar(PrimitiveType::kS32));
    }
    Instruction* x = to->parameter(2 * position_);
    Instruction* y = to->parameter(2 * position_ + 1);
    Instruction* first = b.Compare(x, y, CompareDirection::kLt);
    Instruction* less = Inlined(from, to, false);
    less = b.Or(less, b.And(b.Not(Inlined(from, to, true)), first));
    if (padded_ > length_) {
      Instruction* end =
          b.ConstantScalar(x->shape().type(), static_cast<double>(length_));
      less = b.Select(b.Or(b.Compare(x, end, CompareDirection::kGe),
                           b.Compare(y, end, CompareDirection::kGe)),
                      first, less);
    }
    to->SetRoot(less);
    return to;
  }

  Instruction* sort_;
  const int64_t room_;
  const bool windows_;
  const Shape shape_;
  const int dim_;
  Builder b_;
  int64_t before_ = 1, length_ = 1, after_ = 1, rows_ = 1, padded_ = 1;
  int position_ = -1;  // operand that counts
  Computation* compare_ = nullptr;
};

absl::StatusOr<bool> ExpandSorts(Module* module, const PassContext& context,
                                 bool windows) {
  if (context.chip == nullptr) return false;
  const int64_t room = context.chip->vmem().scoped_limit.count();
  return ExpandEach(
      module, [&](Instruction* i) { return SortInParts(i, room, windows); });
}

}  // namespace

Instruction* SortInParts(Instruction* sort, int64_t room, bool windows) {
  if (sort->opcode() != Opcode::kSort ||
      sort->operand(0)->shape().ElementCount() == 0) {
    return nullptr;
  }
  return LongSort(sort, room, windows).Expand();
}

absl::StatusOr<bool> LongSortExpanderPass::Run(Module* module,
                                               const PassContext& context) {
  return ExpandSorts(module, context, /*windows=*/false);
}

absl::StatusOr<bool> WindowedSortExpanderPass::Run(Module* module,
                                                   const PassContext& context) {
  return ExpandSorts(module, context, /*windows=*/true);
}

}  // namespace ptxla::hlo
