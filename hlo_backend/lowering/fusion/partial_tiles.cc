#include "hlo_backend/lowering/fusion/partial_tiles.h"

#include "hlo_backend/lowering/codegen/spaces.h"

namespace ptxla::lowering {
namespace {

using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

}  // namespace

int64_t PartialTiles::count() const {
  int64_t tiles = 1;
  for (size_t a = 0; a < g_.axes.size(); ++a) {
    if (!g_.axes[a].reduced) tiles *= t_.cut.plan.block[a];
  }
  return tiles;
}

void PartialTiles::Fill() {
  constexpr int kTogether = 16;
  for (int dim : t_.reduced_grid) {
    b_.BeginWhen(t_.WhenDim(dim), isa::When::Kind::kFirst);
  }
  const int64_t tiles = count();
  for (const Reduction& r : t_.reductions) {
    b_.BeginScope();
    b_.NewBlock("partials");
    const Sca at = b_.GlobalSca();
    b_.ScratchAddress(at, static_cast<int32_t>(r.scratch));
    const Vec value = b_.GlobalVec();
    Start(r, value);
    const auto some = [&](int64_t stores) {
      for (int64_t k = 0; k < stores; ++k) {
        b_.Store(codegen::kPartialTileSpace, at,
                 static_cast<int32_t>(k * isa::kVregBytes), value);
      }
    };
    const int64_t loops = tiles / kTogether;
    if (loops > 0) {
      b_.BeginLoop(loops, 1);
      some(kTogether);
      b_.SBinaryImmTo(at, Opcode::kSadd, at, kTogether * isa::kVregBytes);
      b_.EndLoop();
    }
    some(tiles % kTogether);
    b_.EndScope();
  }
  for (size_t k = 0; k < t_.reduced_grid.size(); ++k) b_.EndWhen();
}

void PartialTiles::Start(const Reduction& r, Vec to) {
  if (r.extremum < 0) {
    b_.ImmTo(to, MonoidIdentity(r.op, r.type));
    return;
  }
  // Of positions the first that a chain of operations meets: where all are as
  // low as the identity, it is theirs.
  const int axis = g_.axis_of_dim[e_.nodes[e_.roots[r.root]].iota_dim];
  const Axis::Kind kind = axis < 0 ? Axis::Kind::kMajor : g_.axes[axis].kind;
  if (kind == Axis::Kind::kMajor) {
    b_.ImmTo(to, 0);
  } else if (g_.linear) {
    b_.Redirect(b_.LaneSequence(), to);
  } else if (kind == Axis::Kind::kColumn) {
    b_.Redirect(b_.BinaryImm(Opcode::kVand, b_.LaneSequence(), 127), to);
  } else {
    b_.Redirect(b_.BinaryImm(Opcode::kVshrl, b_.LaneSequence(), 7), to);
  }
}

void PartialTiles::AddPointer(NestCode& n, int k) {
  const Reduction& r = t_.reductions[k];
  const auto scratch = static_cast<int32_t>(r.scratch);
  pointers_[k] = n.AddPointer(r.strides, [this, scratch](Sca to) {
    const Sca reg = to.valid() ? to : b_.NewSca();
    b_.ScratchAddress(reg, scratch);
    return reg;
  });
}

int32_t PartialTiles::Offset(const NestCode& n, int k, int row,
                             int column) const {
  const NestCode::Pointer& p = n.pointer(pointers_[k]);
  const int64_t of_row =
      g_.row_axis >= 0 ? row * p.strides[g_.row_axis] : int64_t{0};
  return static_cast<int32_t>(p.offset + of_row +
                              column * p.strides[g_.column_axis]);
}

Vec PartialTiles::Load(NestCode& n, int k, int row, int column) {
  return b_.Load(codegen::kPartialTileSpace, n.ValueOf(pointers_[k]),
                 Offset(n, k, row, column));
}

void PartialTiles::Store(NestCode& n, int k, int row, int column, Vec v) {
  b_.Store(codegen::kPartialTileSpace, n.ValueOf(pointers_[k]),
           Offset(n, k, row, column), v);
}

}  // namespace ptxla::lowering
