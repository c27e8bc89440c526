#include "hlo_backend/passes/layout/update_parts.h"

#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// Rows of the highest tile, of bytes; elements of a tile of a line.
constexpr int64_t kWholeRows = 32, kWholeLine = 4096;
// A line is blended in rows of 128 on either side of its place.
constexpr int64_t kLineShare = 2;

class Parts {
 public:
  explicit Parts(Instruction* update)
      : i_(update),
        b_(update->parent()),
        u_(update->operand(1)),
        dim_(u_->shape().rank() == 1 ? 0 : u_->shape().rank() - 2),
        count_(u_->shape().dim(dim_)) {
    b_.set_metadata(update->shared_metadata());
  }

  Instruction* Make(int64_t most) {
    const Shape &from = u_->shape(), &to = i_->shape();
    const bool line = from.rank() == 1;
    if (line) most /= kLineShare;
    const int64_t bytes = CeilOfRatio(BitWidth(from.type()), 8);
    const int64_t row =
        line ? bytes : RoundUpTo(from.dims().back(), kLanes) * bytes;
    if (count_ * row <= most || !Partial()) return nullptr;
    const int64_t unit = line ? kWholeLine : kWholeRows;
    const int64_t part = most / row / unit * unit;
    if (part == 0) return nullptr;
    std::vector<int64_t> ends;
    if (line) {
      for (int64_t end = part; end < count_; end += part) ends.push_back(end);
    } else if (count_ % part != 0) {
      ends.push_back(count_ / part * part);
    }
    if (ends.empty()) return nullptr;
    ends.push_back(count_);
    starts_.assign(i_->operands().begin() + 2, i_->operands().end());
    if (BitWidth(starts_[0]->shape().type()) < 32) {
      // Where later parts begin may be more than it holds.
      for (Instruction*& s : starts_) s = b_.Convert(s, PrimitiveType::kS32);
    }
    Instruction* start = Clamped(to.dim(dim_) - count_);
    Instruction* result = i_->operand(0);
    int64_t begin = 0;
    for (const int64_t end : ends) {
      result = Part(result, begin, end, start);
      begin = end;
    }
    return result;
  }

 private:
  // Rows or columns end inside of the result's: others are whole planes.
  bool Partial() const {
    for (int d = dim_; d < u_->shape().rank(); ++d) {
      if (u_->shape().dim(d) != i_->shape().dim(d)) return true;
    }
    return false;
  }

  // Where the update begins, as a whole.
  Instruction* Clamped(int64_t last) {
    Instruction* start = starts_[dim_];
    const PrimitiveType type = start->shape().type();
    return b_.Clamp(b_.Zero(type), start,
                    b_.ConstantScalar(type, static_cast<double>(last)));
  }

  Instruction* Part(Instruction* x, int64_t begin, int64_t end,
                    Instruction* start) {
    DimVector from(u_->shape().rank(), 0), to = u_->shape().dims();
    from[dim_] = begin;
    to[dim_] = end;
    std::vector<Instruction*> starts = starts_;
    starts[dim_] =
        begin == 0
            ? start
            : b_.Add(start, b_.ConstantScalar(start->shape().type(),
                                              static_cast<double>(begin)));
    return b_.DynamicUpdateSlice(x, b_.Slice(u_, from, to), starts);
  }

  Instruction* i_;
  Builder b_;
  Instruction* u_;
  const int dim_;  // that is cut
  const int64_t count_;
  std::vector<Instruction*> starts_;
};

}  // namespace

Instruction* UpdateInParts(Instruction* update, int64_t most) {
  if (update->opcode() != Opcode::kDynamicUpdateSlice ||
      update->shape().rank() == 0 ||
      update->operand_count() != 2 + update->shape().rank() ||
      IsComplex(update->shape().type()) ||
      update->operand(1)->shape().ElementCount() == 0) {
    return nullptr;
  }
  return Parts(update).Make(most);
}

}  // namespace ptxla::hlo
