#include "hlo_backend/lowering/movement/box_map.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

// The map of logical result dimension `d`, of `size` elements, for operand `o`.
AxisMap MapOf(const Instruction& i, int o, int d, int64_t size) {
  AxisMap m;
  m.from = d;
  m.hi = size;
  switch (i.opcode()) {
    case hlo::Opcode::kTranspose:
      m.from = static_cast<int>(i.dimensions()[d]);
      break;
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

absl::Status Refuse(const Instruction& i, absl::string_view what) {
  return absl::UnimplementedError(absl::StrCat("%", i.name(), ": ", what));
}

// Where elements come from, by logical dimension of the result; `from` is one
// of the operand's.
struct LogicalSource {
  int operand = 0;
  std::vector<AxisMap> axes;
};

// `outer` of what `inner` moves, of `size` elements: one map; none: it takes no
// element of it. Unimplemented: no such map has both.
absl::StatusOr<std::optional<AxisMap>> Compose(const Instruction& i,
                                               const AxisMap& outer,
                                               const AxisMap& inner,
                                               int64_t size) {
  AxisMap m = outer;
  m.from = inner.from;
  if (outer.Shifts() && inner.Shifts()) {
    m.start += inner.start;
    m.lo = std::max(m.lo, inner.lo - outer.start);
    m.hi = std::min(m.hi, inner.hi - outer.start);
    if (m.lo >= m.hi) return std::optional<AxisMap>();
    return std::optional<AxisMap>(m);
  }
  const bool whole =
      inner.start == 0 && inner.Shifts() && inner.lo == 0 && inner.hi == size;
  if (!whole) return Refuse(i, "steps of steps");
  return std::optional<AxisMap>(m);
}

// Of an instruction inside of a fusion, by parameter.
absl::StatusOr<std::vector<LogicalSource>> SourcesOf(const Instruction& i,
                                                     bool is_root = false) {
  const hlo::Shape& shape = i.shape();
  std::vector<LogicalSource> sources;
  if (i.opcode() == hlo::Opcode::kParameter) {
    LogicalSource& s = sources.emplace_back();
    s.operand = static_cast<int>(i.parameter_number());
    for (int d = 0; d < shape.rank(); ++d) {
      AxisMap m;
      m.from = d;
      m.hi = shape.dim(d);
      s.axes.push_back(m);
    }
    return sources;
  }
  const bool pads = i.opcode() == hlo::Opcode::kPad;
  if (!Moves(i) || (pads && !is_root)) {
    return Refuse(i, "its dimensions do not move by themselves");
  }
  for (int o = 0; o < (pads ? 1 : i.operand_count()); ++o) {
    const hlo::Shape& of = i.operand(o)->shape();
    ASSIGN_OR_RETURN(const std::vector<LogicalSource> inner,
                     SourcesOf(*i.operand(o)));
    for (const LogicalSource& from : inner) {
      LogicalSource s;
      s.operand = from.operand;
      for (int d = 0; d < shape.rank(); ++d) {
        const AxisMap m = MapOf(i, o, d, shape.dim(d));
        ASSIGN_OR_RETURN(std::optional<AxisMap> both,
                         Compose(i, m, from.axes[m.from], of.dim(m.from)));
        if (!both.has_value()) break;
        s.axes.push_back(*both);
      }
      if (static_cast<int>(s.axes.size()) == shape.rank()) {
        sources.push_back(std::move(s));
      }
    }
  }
  return sources;
}

// Of a lone instruction, by operand.
absl::StatusOr<std::vector<LogicalSource>> SourcesOfOperands(
    const Instruction& i) {
  if (!Moves(i)) return Refuse(i, "its dimensions do not move by themselves");
  const int count =
      i.opcode() == hlo::Opcode::kConcatenate ? i.operand_count() : 1;
  std::vector<LogicalSource> sources(count);
  for (int o = 0; o < count; ++o) {
    sources[o].operand = o;
    for (int d = 0; d < i.shape().rank(); ++d) {
      sources[o].axes.push_back(MapOf(i, o, d, i.shape().dim(d)));
    }
  }
  return sources;
}

// `sources` of `value`, which are operands of `i`.
absl::StatusOr<BoxMap> PhysicalMap(const Instruction& i,
                                   const Instruction& value,
                                   absl::Span<const LogicalSource> sources) {
  BoxMap map;
  ASSIGN_OR_RETURN(map.out, PhysicalArray::Of(value.shape()));
  const int rank = map.out.rank();
  for (const LogicalSource& source : sources) {
    BoxSource s;
    s.operand = source.operand;
    ASSIGN_OR_RETURN(s.array, PhysicalArray::Of(i.operand(s.operand)->shape()));
    for (int q = 0; q < rank; ++q) {
      AxisMap m = source.axes[map.out.dims[q]];
      m.from = static_cast<int>(
          std::find(s.array.dims.begin(), s.array.dims.end(), m.from) -
          s.array.dims.begin());
      if (q + 2 >= rank && m.from != q) return Refuse(i, "other rows or lanes");
      if (!m.Shifts() && (q + 2 >= rank || sources.size() > 1)) {
        return Refuse(i, "rows or lanes that are far apart");
      }
      s.axes.push_back(m);
    }
    map.sources.push_back(std::move(s));
  }
  return map;
}

}  // namespace

absl::StatusOr<BoxMap> BoxMap::Of(const Instruction& i) {
  if (i.opcode() == hlo::Opcode::kFusion) {
    const Instruction& root = *i.fused()->root();
    if (root.opcode() == hlo::Opcode::kPad) return Refuse(i, "a fused pad");
    return OfValue(i, root);
  }
  ASSIGN_OR_RETURN(const std::vector<LogicalSource> sources,
                   SourcesOfOperands(i));
  ASSIGN_OR_RETURN(BoxMap map, PhysicalMap(i, i, sources));
  if (i.opcode() == hlo::Opcode::kPad) map.fill = 1;
  return map;
}

absl::StatusOr<BoxMap> BoxMap::OfValue(const Instruction& fusion,
                                       const Instruction& value) {
  ASSIGN_OR_RETURN(const std::vector<LogicalSource> sources,
                   SourcesOf(value, /*is_root=*/true));
  ASSIGN_OR_RETURN(BoxMap map, PhysicalMap(fusion, value, sources));
  if (value.opcode() != hlo::Opcode::kPad) return map;
  if (map.sources.size() != 1) return Refuse(value, "a pad of several arrays");
  map.fill = 1;
  return map;
}

}  // namespace ptxla::lowering
