// TileFormula: what members of the batch share: planes of tiles (a bias of each
// head), and rows of values per column (a mask of each sequence).
#include <optional>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

namespace {

// One for each MXU that takes rows in turns.
constexpr size_t kMostInverses = 4;
// Registers that hold columns of one tile for a whole step: 1 of so many.
constexpr int kShareOfColumns = 8;

bool IsPower(int64_t x) { return (x & (x - 1)) == 0; }

// Quotients of scalars are products with 2^shift / divisor, rounded up: exact
// for all numbers below `end`, the product of which a word must hold.
int ShiftOf(int64_t end, int64_t divisor) {
  return CeilLog2(end * divisor + 1);
}

int64_t InverseOf(int64_t end, int64_t divisor) {
  return CeilOfRatio(int64_t{1} << ShiftOf(end, divisor), divisor);
}

bool Divides(int64_t end, int64_t divisor) {
  return IsPower(divisor) || end * InverseOf(end, divisor) < (int64_t{1} << 31);
}

Sca Quotient(CodeBuilder& b, Sca x, int64_t end, int64_t divisor) {
  if (divisor == 1) return x;
  if (IsPower(divisor)) {
    return b.SBinaryImm(Opcode::kSshrl, x, CeilLog2(divisor));
  }
  const Sca product =
      b.SMulImm(x, static_cast<int32_t>(InverseOf(end, divisor)));
  return b.SBinaryImm(Opcode::kSshrl, product, ShiftOf(end, divisor));
}

// x modulo `count`.
Sca Remainder(CodeBuilder& b, Sca x, int64_t end, int64_t count) {
  if (end <= count) return x;
  if (IsPower(count)) {
    return b.SBinaryImm(Opcode::kSand, x, static_cast<int32_t>(count - 1));
  }
  return b.SAdd(
      x, b.SMulImm(Quotient(b, x, end, count), static_cast<int32_t>(-count)));
}

}  // namespace

absl::StatusOr<bool> TileFormula::DescribeShared(const ExprNode& node,
                                                 const PhysicalArray& array,
                                                 Leaf* leaf) const {
  const int minor = e_.space.rank() - 1;
  const int rank = array.rank();
  if (folded_ || windowed_ || minor < 2 || rank < 2 ||
      static_cast<int>(node.map.size()) != rank) {
    return false;
  }
  const auto in_place = [&](int dim, int of_space) {
    return array.dims[dim] == dim &&
           (node.map[dim] == of_space || array.sizes[dim] == 1) &&
           array.sizes[dim] == e_.space.sizes[of_space];
  };
  // Neighbouring dimensions of the batch from `first` on.
  const auto members = [&](int dims, int first) {
    SharedMembers shared;
    for (int k = 0; k < dims; ++k) shared.count *= array.sizes[k];
    for (int d = first + dims; d < minor - 1; ++d) {
      shared.inner *= e_.space.sizes[d];
    }
    return shared;
  };
  if (!in_place(rank - 1, minor)) return false;
  if (rank < e_.space.rank() && in_place(rank - 2, minor - 1)) {
    const int dims = rank - 2;
    const auto first = dims == 0 ? 0 : static_cast<int>(node.map[0]);
    for (int k = 0; k < dims; ++k) {
      if (first + k >= minor - 1 || !in_place(k, first + k)) return false;
    }
    leaf->form = Form::kTile;
    leaf->members =
        dims > 0 ? members(dims, first) : SharedMembers{Members(), 1};
    return true;
  }
  if (rank > 2) {
    // A row of columns for each member.
    if (rank != e_.space.rank() - 1 || array.bits != 32) return false;
    for (int d = 0; d + 1 < rank; ++d) {
      if (!in_place(d, d)) return false;
    }
    leaf->form = Form::kBatchColumns;
    leaf->array = array;
    leaf->members = members(rank - 1, 0);
    return Divides(leaf->members.count, array.rows);
  }
  const bool one_row = array.sizes[0] == 1;
  if (rank != 2 || array.dims[0] != 0 ||
      (!one_row && node.map[0] >= minor - 1)) {
    return false;
  }
  leaf->form = Form::kBatchColumns;
  leaf->array = array;
  leaf->members =
      one_row ? members(0, 0) : members(1, static_cast<int>(node.map[0]));
  const int64_t batch = Members();
  return Divides(batch, leaf->members.inner) &&
         Divides(batch / leaf->members.inner, leaf->members.count);
}

int64_t TileFormula::Members() const {
  int64_t members = 1;
  for (int d = 0; d < e_.space.rank() - 2; ++d) members *= e_.space.sizes[d];
  return members;
}

bool TileFormula::DividesByColumns(const ExprNode& node) const {
  if (!GoesDownColumns() || node.kind != ExprNode::Kind::kOp ||
      node.instr->opcode() != hlo::Opcode::kDivide ||
      node.type != hlo::PrimitiveType::kF32) {
    return false;
  }
  const int leaf = leaf_of_node_[node.inputs[1]];
  return leaf >= 0 && (leaves_[leaf].form == Form::kBatchColumns ||
                       InvertsOnce(leaves_[leaf]));
}

bool TileFormula::InvertsOnce(const Leaf& leaf) const {
  return leaf.form == Form::kColumns && KeepsColumns() &&
         leaf.view.type == hlo::PrimitiveType::kF32;
}

void TileFormula::KeepColumns() {
  CodeBuilder& b = *b_;
  for (const ExprNode& node : e_.nodes) {
    if (!DividesByColumns(node)) continue;
    Leaf& leaf = leaves_[leaf_of_node_[node.inputs[1]]];
    if (!InvertsOnce(leaf)) continue;
    leaf.inverse = Inverted(b.LoadRow(leaf.place.space, leaf.place.base, 0));
  }
  int left = b.model().vregs / kShareOfColumns;
  for (Leaf& leaf : leaves_) {
    if (!InvertsOnce(leaf) || leaf.inverse.valid() || left-- <= 0) continue;
    leaf.scalar = b.GlobalVec();
    b.Move(leaf.scalar, b.LoadRow(leaf.place.space, leaf.place.base, 0));
  }
}

int64_t TileFormula::ShareOfInverses(const isa::MachineModel& model) const {
  CodeBuilder b(model);
  b.NewBlock();
  for (const ExprNode& node : e_.nodes) {
    if (DividesByColumns(node) &&
        !InvertsOnce(leaves_[leaf_of_node_[node.inputs[1]]])) {
      EmitReciprocal(b, b.NewVec());
    }
  }
  const int64_t rows = e_.space.sizes[e_.space.rank() - 2];
  return CeilOfRatio(VectorOperations(b.TakeBlock().instrs) * isa::kSublanes,
                     rows);
}

Vec TileFormula::InverseOfColumns(const Leaf& leaf, const Position& at) {
  const ColumnKey key = KeyOf(leaf, at);
  for (const auto& [columns, inverse] : column_inverses_) {
    if (columns == key) return inverse;
  }
  const Vec inverse = EmitReciprocal(*b_, LoadBatchColumns(leaf, at).vec);
  column_inverses_.emplace_back(key, inverse);
  if (column_inverses_.size() > kMostInverses) column_inverses_.pop_front();
  return inverse;
}

Value TileFormula::LoadBatchColumns(const Leaf& leaf, const Position& at) {
  CodeBuilder& b = *b_;
  // Before a product the rows of one member follow one another; unpacked once,
  // a register holds its columns for all of them.
  const ColumnKey column_key = KeyOf(leaf, at);
  const bool keeps = KeepsColumns() && leaf.array.bits < 32;
  if (keeps) {
    const auto kept = batch_columns_.find(column_key);
    if (kept != batch_columns_.end()) {
      return FromWords(leaf.view.type, kept->second);
    }
  }
  const PhysicalArray& a = leaf.array;
  // A word holds so many rows that follow one another.
  const int64_t packing = 32 / a.bits;
  const auto column =
      static_cast<int32_t>(at.col / isa::kLanes * a.tile_bytes());
  const auto values = [&](Vec words) {
    const Vec first = FirstOfWords(leaf.view.type, words);
    if (keeps) batch_columns_[column_key] = first;
    return FromWords(leaf.view.type, first);
  };
  if (!first_member_.valid()) {
    const int64_t line = leaf.members.Of(at.batch), row = line % a.rows;
    const Vec words = b.LoadRow(
        leaf.place.space, leaf.place.base,
        static_cast<int32_t>(line / a.rows * a.plane_stride() +
                             row / a.tile_rows * a.row_stride() +
                             row % a.tile_rows / packing * isa::kRowBytes) +
            column);
    const auto shift = static_cast<uint32_t>(row % packing * a.bits);
    return values(shift == 0 ? words
                             : b.BinaryImm(Opcode::kVshrl, words, shift));
  }
  const MemberKey key = {leaf.node, at.batch};
  Sca& address = batch_rows_[key];
  Sca& shift = batch_shifts_[key];
  if (!address.valid()) {
    const Sca member = b.SAddImm(first_member_, static_cast<int32_t>(at.batch));
    const int64_t members = Members(), inner = leaf.members.inner;
    Sca row = Remainder(b, Quotient(b, member, members, inner), members / inner,
                        leaf.members.count);
    Sca plane;
    if (leaf.members.count > a.rows) {
      plane = b.SMulImm(Quotient(b, row, leaf.members.count, a.rows),
                        static_cast<int32_t>(a.plane_stride()));
      row = Remainder(b, row, leaf.members.count, a.rows);
    }
    const Sca tile =
        b.SMulImm(b.SBinaryImm(Opcode::kSshrl, row, CeilLog2(a.tile_rows)),
                  static_cast<int32_t>(a.row_stride()));
    const Sca in_tile =
        b.SBinaryImm(Opcode::kSand, row, static_cast<int32_t>(a.tile_rows - 1));
    const Sca line =
        b.SMulImm(Quotient(b, in_tile, a.tile_rows, packing), isa::kRowBytes);
    address = b.SAdd(leaf.place.base, b.SAdd(tile, line));
    if (plane.valid()) address = b.SAdd(address, plane);
    b.SetBank(address, codegen::kUnknownBanks, 0);
    if (packing > 1)
      shift = b.SMulImm(Remainder(b, row, a.rows, packing), a.bits);
  }
  const Vec words = b.LoadRow(leaf.place.space, address, column);
  return values(packing == 1 ? words
                             : b.Binary(Opcode::kVshrl, words, b.Splat(shift)));
}

}  // namespace ptxla::lowering
