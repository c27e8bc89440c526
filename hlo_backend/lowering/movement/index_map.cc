#include "hlo_backend/lowering/movement/index_map.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::lowering {
namespace {

using hlo::DimVector;
using hlo::Instruction;

int64_t Linear(const hlo::Shape& shape, const DimVector& index) {
  int64_t linear = 0;
  for (int d = 0; d < shape.rank(); ++d)
    linear = linear * shape.dim(d) + index[d];
  return linear;
}

DimVector Delinear(const hlo::Shape& shape, int64_t linear) {
  DimVector index(shape.rank(), 0);
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = linear % shape.dim(d);
    linear /= shape.dim(d);
  }
  return index;
}

// A pad's element at `x` of its dimension `d` is padding; otherwise `*x`
// becomes where it comes from.
bool IsPadding(const Instruction& pad, size_t d, int64_t* x) {
  const auto& dim = pad.attrs<hlo::PadAttrs>().dims[d];
  const int64_t at = *x - dim.low;
  if (at < 0 || at % (dim.interior + 1) != 0) return true;
  *x = at / (dim.interior + 1);
  return *x >= pad.operand(0)->shape().dim(static_cast<int>(d));
}

// One step towards the operands: the operand taken and the index in it; false:
// the padding value.
bool Step(const Instruction& i, DimVector* index, int* operand) {
  *operand = 0;
  DimVector& x = *index;
  switch (i.opcode()) {
    case hlo::Opcode::kCopy:
      return true;
    case hlo::Opcode::kReshape:
    case hlo::Opcode::kBitcast:
      x = Delinear(i.operand(0)->shape(), Linear(i.shape(), x));
      return true;
    case hlo::Opcode::kTranspose: {
      const auto dims = i.dimensions();
      DimVector from(x.size(), 0);
      for (size_t d = 0; d < dims.size(); ++d) from[dims[d]] = x[d];
      x = from;
      return true;
    }
    case hlo::Opcode::kBroadcast: {
      DimVector from;
      for (int64_t d : i.dimensions()) from.push_back(x[d]);
      x = from;
      return true;
    }
    case hlo::Opcode::kSlice: {
      const auto& a = i.attrs<hlo::SliceAttrs>();
      for (size_t d = 0; d < x.size(); ++d) {
        x[d] = a.starts[d] + x[d] * a.strides[d];
      }
      return true;
    }
    case hlo::Opcode::kReverse:
      for (int64_t d : i.dimensions()) {
        x[d] = i.shape().dim(static_cast<int>(d)) - 1 - x[d];
      }
      return true;
    case hlo::Opcode::kConcatenate: {
      const int64_t d = i.dimensions()[0];
      while (x[d] >= i.operand(*operand)->shape().dim(static_cast<int>(d))) {
        x[d] -= i.operand(*operand)->shape().dim(static_cast<int>(d));
        ++*operand;
      }
      return true;
    }
    case hlo::Opcode::kPad:
      for (size_t d = 0; d < x.size(); ++d) {
        if (IsPadding(i, d, &x[d])) return false;
      }
      return true;
    default:
      CHECK(false) << "not a movement: " << i.name();
  }
  return false;
}

// Which dimensions of the operand `dim` of the result reaches, of those that it
// reaches in the result of `i`.
std::vector<bool> Reached(const Instruction& i, const std::vector<bool>& of) {
  switch (i.opcode()) {
    case hlo::Opcode::kReshape:
    case hlo::Opcode::kBitcast: {
      const bool any = std::find(of.begin(), of.end(), true) != of.end();
      return std::vector<bool>(i.operand(0)->shape().rank(), any);
    }
    case hlo::Opcode::kTranspose: {
      std::vector<bool> from(of.size());
      const auto dims = i.dimensions();
      for (size_t d = 0; d < dims.size(); ++d) from[dims[d]] = of[d];
      return from;
    }
    case hlo::Opcode::kBroadcast: {
      std::vector<bool> from;
      for (int64_t d : i.dimensions()) from.push_back(of[d]);
      return from;
    }
    default:
      return of;
  }
}

// Of a pad's elements from that at `x` of its dimension `d` on, which is
// padding: how many are, up to the next one that may not be.
int64_t PaddingAlong(const Instruction& pad, size_t d, int64_t x) {
  const auto& dim = pad.attrs<hlo::PadAttrs>().dims[d];
  const int64_t at = x - dim.low;
  if (at < 0) return -at;
  const int64_t between = dim.interior + 1;
  const int64_t size = pad.operand(0)->shape().dim(static_cast<int>(d));
  if (at >= size * between) return INT64_MAX;
  return between - at % between;
}

// Where one more along dimension `dim` of the result is one more in the
// operand: that dimension of it, or -1.
int CountedIn(const Instruction& i, int dim) {
  if (dim < 0) return -1;
  switch (i.opcode()) {
    case hlo::Opcode::kCopy:
    case hlo::Opcode::kPad:
    case hlo::Opcode::kConcatenate:
      return dim;
    case hlo::Opcode::kTranspose:
      return static_cast<int>(i.dimensions()[dim]);
    case hlo::Opcode::kSlice:
      return i.attrs<hlo::SliceAttrs>().strides[dim] == 1 ? dim : -1;
    default:
      return -1;
  }
}

}  // namespace

absl::StatusOr<IndexMap> IndexMap::Of(const Instruction& instruction) {
  const auto refuse = [](const Instruction& i) {
    return absl::UnimplementedError(absl::StrCat(
        "%", i.name(), " (", hlo::OpcodeName(i.opcode()), ") is not lowered"));
  };
  if (instruction.opcode() == hlo::Opcode::kFusion) {
    for (const Instruction* i : instruction.fused()->instructions()) {
      if (i->opcode() != hlo::Opcode::kParameter && !hlo::IsDataMovement(*i)) {
        return refuse(*i);
      }
    }
  } else if (!hlo::IsDataMovement(instruction)) {
    return refuse(instruction);
  }
  return IndexMap(instruction);
}

bool IndexMap::Pads() const {
  if (instruction_->opcode() != hlo::Opcode::kFusion) {
    return instruction_->opcode() == hlo::Opcode::kPad;
  }
  for (const Instruction* i : instruction_->fused()->instructions()) {
    if (i->opcode() == hlo::Opcode::kPad) return true;
  }
  return false;
}

int64_t IndexMap::RowsApart(int64_t rows) const {
  if (instruction_->opcode() != hlo::Opcode::kPad) return 0;
  const auto& dims = instruction_->attrs<hlo::PadAttrs>().dims;
  for (size_t d = 0; d < dims.size(); ++d) {
    const hlo::PaddingDim& p = dims[d];
    const bool even = static_cast<int64_t>(d) == rows
                          ? p.low == 0 && p.high >= 0 && p.high <= p.interior
                          : p == hlo::PaddingDim();
    if (!even) return 0;
  }
  return dims[rows].interior + 1;
}

int64_t IndexMap::PaddingFrom(const DimVector& index, int dim) const {
  constexpr int64_t kAll = INT64_MAX;
  const bool fusion = instruction_->opcode() == hlo::Opcode::kFusion;
  const Instruction* i = fusion ? instruction_->fused()->root() : instruction_;
  // Dimensions that `dim` reaches, and the one where it still counts one by
  // one; -1: none.
  std::vector<bool> reached(index.size(), false);
  reached[dim] = true;
  int counted = dim;
  DimVector x = index;
  while (i->opcode() != hlo::Opcode::kParameter) {
    if (i->opcode() == hlo::Opcode::kPad) {
      int64_t most = 0;
      for (size_t d = 0; d < x.size(); ++d) {
        int64_t at = x[d];
        if (!IsPadding(*i, d, &at)) continue;
        if (!reached[d]) return kAll;
        if (static_cast<int>(d) == counted) {
          most = std::max(most, PaddingAlong(*i, d, x[d]));
        }
      }
      if (most > 0) return most;
      if (counted >= 0 &&
          i->attrs<hlo::PadAttrs>().dims[counted].interior > 0) {
        counted = -1;
      }
    }
    // Which operand an element comes from may depend on `dim`.
    const bool chooses =
        i->opcode() == hlo::Opcode::kConcatenate && reached[i->dimensions()[0]];
    int operand = 0;
    if (chooses || !Step(*i, &x, &operand) || !fusion) return 1;
    counted = CountedIn(*i, counted);
    reached = Reached(*i, reached);
    i = i->operand(operand);
  }
  return 1;
}

Source IndexMap::At(const DimVector& index) const {
  Source s;
  s.index = index;
  const bool fusion = instruction_->opcode() == hlo::Opcode::kFusion;
  const Instruction* i = fusion ? instruction_->fused()->root() : instruction_;
  while (true) {
    if (fusion && i->opcode() == hlo::Opcode::kParameter) {
      s.operand = static_cast<int>(i->parameter_number());
      return s;
    }
    int operand = 0;
    if (!Step(*i, &s.index, &operand)) {
      s.operand = -1;
      return s;
    }
    if (!fusion) {
      s.operand = operand;
      return s;
    }
    i = i->operand(operand);
  }
}

}  // namespace ptxla::lowering
