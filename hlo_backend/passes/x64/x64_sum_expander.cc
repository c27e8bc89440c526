#include "hlo_backend/passes/x64/x64_sum_expander.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/expanders/window_expander.h"
#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kF64 = PrimitiveType::kF64;
constexpr PrimitiveType kU64 = PrimitiveType::kU64;

bool IsWideInteger(const Shape& shape) {
  return shape.IsArray() && IsInteger(shape.type()) &&
         BitWidth(shape.type()) == 64;
}

bool Adds(const Instruction& i) {
  return MonoidOf(*i.to_apply()) == Opcode::kAdd;
}

// Bits of a digit of which `count` fit into 32 bits together; 0: too many.
int DigitBits(int64_t count) {
  if (count <= int64_t{1} << 16) return 16;
  return count <= int64_t{1} << 24 ? 8 : 0;
}

class X64SumExpander {
 public:
  explicit X64SumExpander(Instruction* i) : i_(i), b_(i->parent()) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Expand() {
    switch (i_->opcode()) {
      case Opcode::kReduceWindow:
        return Windows();
      case Opcode::kScatter:
        return Updates();
      case Opcode::kDot:
        return Products();
      default:
        return nullptr;
    }
  }

 private:
  Instruction* Spread(Instruction* scalar, const Shape& shape) {
    return shape.IsScalar() ? scalar : b_.BroadcastScalar(scalar, shape.dims());
  }
  Instruction* Number(PrimitiveType type, double value, const Shape& shape) {
    return Spread(b_.ConstantScalar(type, value), shape);
  }

  // u32, the lowest first.
  std::vector<Instruction*> Digits(Instruction* x, int bits) {
    const Shape& shape = x->shape();
    if (shape.type() != kU64) x = b_.Convert(x, kU64);
    Instruction* words[] = {
        b_.Convert(x, kU32),
        b_.Convert(b_.ShiftRightLogical(x, Number(kU64, 32, shape)), kU32)};
    std::vector<Instruction*> digits;
    for (Instruction* word : words) {
      for (int low = 0; low < 32; low += bits) {
        Instruction* shifted =
            low == 0 ? word
                     : b_.ShiftRightLogical(word, Number(kU32, low, shape));
        digits.push_back(
            b_.And(shifted, Number(kU32, (1u << bits) - 1, shape)));
      }
    }
    return digits;
  }

  // start + the sums of digits, each at its place.
  Instruction* Joined(Instruction* start, const std::vector<Instruction*>& sums,
                      int bits) {
    const PrimitiveType type = i_->shape().type();
    Instruction* value = nullptr;
    for (size_t k = 0; k < sums.size(); ++k) {
      Instruction* sum = b_.Convert(sums[k], kU64);
      if (k > 0) {
        const auto low = static_cast<double>(k) * bits;
        sum = b_.ShiftLeft(sum, Number(kU64, low, i_->shape()));
      }
      value = value == nullptr ? sum : b_.Add(value, sum);
    }
    if (type != kU64) value = b_.Convert(value, type);
    return b_.Add(start, value);
  }

  // Sums of integers by digits, others as slices of whole numbers.
  Instruction* Windows() {
    if (!IsWideInteger(i_->shape()) || !Adds(*i_)) {
      return HasX64(i_->shape()) ? ExpandedWindow(i_) : nullptr;
    }
    const Window& window = i_->attrs<WindowAttrs>().window;
    int64_t count = 1;
    for (const WindowDim& d : window.dims) count *= d.size;
    const int bits = DigitBits(count);
    if (bits == 0) return nullptr;
    std::vector<Instruction*> sums;
    for (Instruction* digit : Digits(i_->operand(0), bits)) {
      sums.push_back(b_.ReduceWindow({digit}, {b_.Zero(kU32)}, window,
                                     b_.Scalar2(Opcode::kAdd, kU32)));
    }
    return Joined(Spread(i_->operand(1), i_->shape()), sums, bits);
  }

  Instruction* Updates() {
    if (!IsWideInteger(i_->shape()) || !Adds(*i_)) return nullptr;
    // At most every update goes to one place.
    const int bits = DigitBits(i_->operand(2)->shape().ElementCount());
    if (bits == 0) return nullptr;
    Shape words = i_->shape();
    words.set_type(kU32);
    std::vector<Instruction*> sums;
    for (Instruction* digit : Digits(i_->operand(2), bits)) {
      sums.push_back(b_.Scatter({Number(kU32, 0, words)}, i_->operand(1),
                                {digit}, b_.Scalar2(Opcode::kAdd, kU32),
                                i_->attrs<ScatterAttrs>()));
    }
    return Joined(i_->operand(0), sums, bits);
  }

  // The dimensions of an operand in those of [batch, left, right, depth].
  Instruction* Spread(Instruction* x, absl::Span<const int64_t> batch,
                      absl::Span<const int64_t> contracting, int first_free,
                      const DimVector& all) {
    DimVector map(x->shape().rank());
    for (size_t k = 0; k < batch.size(); ++k) {
      map[batch[k]] = static_cast<int64_t>(k);
    }
    for (size_t k = 0; k < contracting.size(); ++k) {
      map[contracting[k]] =
          static_cast<int64_t>(all.size() - contracting.size() + k);
    }
    int free = first_free;
    for (int64_t d : Others(x->shape().rank(), batch, contracting)) {
      map[d] = free++;
    }
    if (x->shape().type() != kF64) x = b_.Convert(x, kF64);
    // A broadcast keeps the order of dimensions: first a transpose into it.
    DimVector order(map.size());
    for (size_t d = 0; d < order.size(); ++d) order[d] = static_cast<int>(d);
    std::sort(order.begin(), order.end(),
              [&](int64_t p, int64_t q) { return map[p] < map[q]; });
    std::sort(map.begin(), map.end());
    return b_.Broadcast(b_.Transpose(x, order), all, map);
  }

  Instruction* Products() {
    if (!i_->shape().IsArray() || i_->shape().type() != kF64 ||
        !IsFloat(i_->operand(0)->shape().type()) ||
        !IsFloat(i_->operand(1)->shape().type()) ||
        !i_->attrs<DotAttrs>().sparsity.empty()) {
      return nullptr;
    }
    const DotAttrs& a = i_->attrs<DotAttrs>();
    DimVector all(i_->shape().dims().begin(), i_->shape().dims().end());
    const size_t result_rank = all.size();
    DimVector depth;
    for (int64_t d : a.lhs_contracting) {
      depth.push_back(static_cast<int64_t>(all.size()));
      all.push_back(i_->operand(0)->shape().dim(static_cast<int>(d)));
    }
    const auto batch = static_cast<int>(a.lhs_batch.size());
    const int left_free = i_->operand(0)->shape().rank() - batch -
                          static_cast<int>(a.lhs_contracting.size());
    Instruction* left =
        Spread(i_->operand(0), a.lhs_batch, a.lhs_contracting, batch, all);
    Instruction* right = Spread(i_->operand(1), a.rhs_batch, a.rhs_contracting,
                                batch + left_free, all);
    Instruction* products = b_.Multiply(left, right);
    if (all.size() == result_rank) return products;
    return b_.Reduce(products, b_.Zero(kF64), depth,
                     b_.Scalar2(Opcode::kAdd, kF64));
  }

  Instruction* i_;
  Builder b_;
};

}  // namespace

absl::StatusOr<bool> X64SumExpanderPass::Run(Module* module,
                                             const PassContext&) {
  return ExpandEach(module,
                    [](Instruction* i) { return X64SumExpander(i).Expand(); });
}

}  // namespace ptxla::hlo
