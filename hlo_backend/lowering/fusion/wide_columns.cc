#include "hlo_backend/lowering/fusion/wide_columns.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// Bodies that read a value, where storing it unpacked (a load, an operation and
// a store) is worth it: each saves the operation. ASSUMED.
constexpr int64_t kLeastBodies = 4;
// Registers unpacked in one block of code: what fills it and drains it, some 5
// cycles, is little beside them. ASSUMED.
constexpr int64_t kColumnsTogether = 16;

bool IsPackedColumn(const Geometry& g, const Stream& s) {
  if (s.access != Access::kRowOfLanes || s.node < 0 || s.shifted ||
      s.array.rank() != 1 || s.array.packing == 1 || s.lane_axis >= 0 ||
      s.row_axis >= 0) {
    return false;
  }
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (static_cast<int>(a) != g.column_axis && s.strides[a] != 0) return false;
  }
  return true;
}

}  // namespace

bool WorthWidening(const Geometry& g, const NestPlan& plan, const Stream& s,
                   int registers) {
  if (g.linear || g.packed_bf16 || !IsPackedColumn(g, s)) return false;
  int64_t bodies = 1, of_columns = 0;
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (static_cast<int>(a) == g.column_axis) continue;
    bodies *= CeilOfRatio(plan.block[a], plan.unroll[a]);
  }
  for (const Stream& other : g.streams) {
    of_columns += other.access == Access::kRowOfLanes;
  }
  const int64_t in_body = plan.unroll[g.column_axis];
  const bool stay = plan.block[g.column_axis] <= in_body &&
                    of_columns * in_body < registers / 2;
  return !stay && bodies >= kLeastBodies;
}

absl::Status NestCode::WidenColumns() {
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    const Stream& s = g_.streams[k];
    const Place& place = places_[k];
    if (s.access != Access::kRowOfLanes ||
        place.kind != Place::Kind::kScratch) {
      continue;
    }
    const int number = static_cast<int>(k);
    const int column = g_.column_axis;
    const int64_t stride = place.source_strides[column];
    b_.BeginScope();
    b_.NewBlock("widen columns");
    const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
    b_.WindowAddress(from, place.window);
    b_.ScratchAddress(to, static_cast<int32_t>(place.scratch));
    if (!place.moves && plan_.grid_dim[column] >= 0) {
      const Sca step = b_.NewSca();
      b_.GridIndex(step, plan_.grid_dim[column]);
      b_.SBinaryTo(
          from, Opcode::kSadd, from,
          b_.SMulImm(step, static_cast<int32_t>(stride * plan_.block[column])));
    }
    const auto widen = [&](int64_t columns) {
      for (int64_t c = 0; c < columns; ++c) {
        const int64_t at = c * stride / isa::kRowBytes * isa::kRowBytes;
        const Vec words =
            SelectRowPart(s, b_.LoadRow(number, from, static_cast<int32_t>(at)),
                          Sca(), static_cast<int>(c % s.array.packing));
        b_.Store(codegen::kExpandedRowSpace + number, to,
                 static_cast<int32_t>(c * isa::kVregBytes), words);
      }
    };
    const int64_t columns = extent_[column];
    const int64_t loops = columns / kColumnsTogether;
    if (loops > 1) {
      b_.BeginLoop(loops, 1);
      b_.NewBlock("widen columns");
      widen(kColumnsTogether);
      b_.SBinaryImmTo(from, Opcode::kSadd, from,
                      static_cast<int32_t>(kColumnsTogether * stride));
      b_.SBinaryImmTo(to, Opcode::kSadd, to,
                      static_cast<int32_t>(kColumnsTogether * isa::kVregBytes));
      b_.EndLoop();
      b_.NewBlock("widen columns");
      widen(columns % kColumnsTogether);
    } else {
      widen(columns);
    }
    b_.EndScope();
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
