#include "hlo_backend/lowering/movement/box_map.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

// The map of logical result dimension `d`, of `size` elements, for operand `o`.
AxisMap MapOf(const Instruction& i, int o, int d, int64_t size) {
  AxisMap m;
  m.hi = size;
  switch (i.opcode()) {
    case hlo::Opcode::kSlice: {
      const auto& a = i.attrs<hlo::SliceAttrs>();
      m.start = a.starts[d];
      m.stride = size == 1 ? 1 : a.strides[d];
      break;
    }
    case hlo::Opcode::kReverse: {
      const auto dims = i.dimensions();
      if (std::find(dims.begin(), dims.end(), d) != dims.end() && size > 1) {
        m.start = size - 1;
        m.stride = -1;
      }
      break;
    }
    case hlo::Opcode::kPad: {
      const hlo::PaddingDim& p = i.attrs<hlo::PadAttrs>().dims[d];
      const int64_t from = i.operand(0)->shape().dim(d);
      m.start = -p.low;
      m.dilation = from == 1 ? 1 : p.interior + 1;
      const int64_t last = p.low + (from - 1) * (p.interior + 1);
      m.lo = std::clamp<int64_t>(p.low, 0, size);
      m.hi = std::clamp<int64_t>(last + 1, m.lo, size);
      // A negative low padding may begin inside of an element's gap.
      break;
    }
    case hlo::Opcode::kConcatenate:
      if (d == i.dimensions()[0]) {
        for (int k = 0; k < o; ++k) m.start -= i.operand(k)->shape().dim(d);
        m.lo = -m.start;
        m.hi = m.lo + i.operand(o)->shape().dim(d);
      }
      break;
    case hlo::Opcode::kDynamicSlice:
      if (i.operand(0)->shape().dim(d) != size) m.dynamic = 1 + d;
      break;
    default:
      break;
  }
  return m;
}

bool Moves(const Instruction& i) {
  switch (i.opcode()) {
    case hlo::Opcode::kCopy:
    case hlo::Opcode::kTranspose:
    case hlo::Opcode::kSlice:
    case hlo::Opcode::kReverse:
    case hlo::Opcode::kPad:
    case hlo::Opcode::kConcatenate:
    case hlo::Opcode::kDynamicSlice:
      return true;
    default:
      return false;
  }
}

}  // namespace

absl::StatusOr<BoxMap> BoxMap::Of(const Instruction& i) {
  const auto refuse = [&](absl::string_view what) {
    return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
  };
  if (!Moves(i)) return refuse("its dimensions do not move by themselves");
  BoxMap map;
  ASSIGN_OR_RETURN(map.out, PhysicalArray::Of(i.shape()));
  const int rank = map.out.rank();
  const int sources =
      i.opcode() == hlo::Opcode::kConcatenate ? i.operand_count() : 1;
  if (i.opcode() == hlo::Opcode::kPad) map.fill = 1;
  for (int o = 0; o < sources; ++o) {
    BoxSource s;
    s.operand = o;
    ASSIGN_OR_RETURN(s.array, PhysicalArray::Of(i.operand(o)->shape()));
    for (int q = 0; q < rank; ++q) {
      const int d = static_cast<int>(map.out.dims[q]);
      AxisMap m = MapOf(i, o, d, map.out.sizes[q]);
      const int64_t from =
          i.opcode() == hlo::Opcode::kTranspose ? i.dimensions()[d] : d;
      m.from = static_cast<int>(
          std::find(s.array.dims.begin(), s.array.dims.end(), from) -
          s.array.dims.begin());
      if (q + 2 >= rank) {
        if (m.from != q) return refuse("other rows or lanes");
        if (!m.Shifts()) return refuse("rows or lanes that are far apart");
      }
      s.axes.push_back(m);
    }
    map.sources.push_back(std::move(s));
  }
  return map;
}

}  // namespace ptxla::lowering
