// The elementwise work of an output fusion, evaluated on two tiles of 8 rows x
// 128 columns at a time while they are in registers: behind the product on its
// sums (fusion_epilogue.h), or before it on an operand (operand_prologue.h).
//
// What a formula reads beside the sums are arrays of its own shape and layout,
// or with some of its batch dimensions only (shared_members.h); 1-D arrays
// along its columns (a bias), one for all or one for each member of one batch
// dimension (a mask); values per row (a
// softmax's sum, a bias of features in rows), which are put on all lanes once
// per step (tile_rows.cc); and scalars. Iotas count rows or columns.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_FORMULA_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_FORMULA_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/expression.h"
#include "hlo_backend/lowering/fusion/vector_math.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/shared_members.h"

namespace ptxla::lowering {

// The most vector registers alive at once in straight code.
int PeakVectors(const std::vector<codegen::VInstr>& code);
// Those that take a vector slot.
int64_t VectorOperations(const std::vector<codegen::VInstr>& code);
// And those of the EUP: one register a cycle.
int64_t FunctionOperations(const std::vector<codegen::VInstr>& code);

class TileFormula {
 public:
  virtual ~TileFormula() = default;

 protected:
  enum class Form { kTile, kColumns, kBatchColumns, kRows, kScalar };
  struct Leaf {
    int node = 0;
    Form form = Form::kTile;
    MatrixView view;
    int window = 0;
    BlockPlace place;
    codegen::Vec scalar;   // kScalar, or kColumns of one tile, as a global
    codegen::Vec inverse;  // of a scalar that is divided by, as one too
    // kBatchColumns, and planes of kTile: what each member of the batch reads.
    SharedMembers members = {1, kOwn};
    PhysicalArray array;

    // Each member has its own plane.
    static constexpr int64_t kOwn = int64_t{1} << 40;
    bool shared() const { return members.count != kOwn; }
  };
  // Where tile, row and column of the open values are.
  struct Position {
    int64_t batch, row, col;
    const std::vector<codegen::Vec>* sums;
  };

  explicit TileFormula(Expression e) : e_(std::move(e)) {}

  // Unimplemented names the operand of another form. `folded`: several
  // dimensions make the rows, one after another. `windowed`: of a convolution,
  // whose planes lie in boxes; they are members if not folded.
  absl::Status DescribeLeaves(bool folded, bool windowed);
  absl::StatusOr<Leaf> DescribeLeaf(int node) const;
  // True: members of the batch share it, and the leaf says how.
  absl::StatusOr<bool> DescribeShared(const ExprNode& node,
                                      const PhysicalArray& array,
                                      Leaf* leaf) const;
  // Of the batch, all dimensions together.
  int64_t Members() const;
  // Limits on the members of a step.
  void AddShared(ProductProblem* problem) const;
  // Bytes of HBM for each element of the formula's shape; VMEM of what is read
  // whole.
  int64_t LeafBytesPerElement() const;
  // Those among them that members of the batch share.
  std::vector<SharedTiles> TilesOfSharedLeaves() const;
  int64_t WholeLeafBytes() const;
  bool HasByteLeaf() const;
  // Columns that a step must be a multiple of, if there are several.
  int64_t ColumnUnit() const;

  void AddLeafWindows(const ProductTile& tile, const GridDims& grid,
                      int first_space, Tiling* tiling);
  int SpaceOf(int window) const {
    return first_space_ + window - first_window_;
  }
  // Once per step: addresses, values that do not change within it. `uses`: of
  // NarrowTiles, beside those of the leaves.
  absl::Status StartLeaves(codegen::CodeBuilder& b, int uses);
  // Fills the table of values per row, of the whole step at once.
  absl::Status FillRows(codegen::CodeBuilder& b);
  // The same for 16 rows, into the open block.
  absl::Status FillBand(int64_t batch, int64_t row);

  // Values per row that are kept for a step, an f32 tile for each 8 rows.
  int64_t RowEntries() const { return static_cast<int64_t>(rows_.size()); }
  bool IsOfRows(int node) const { return of_rows_[node]; }
  int64_t RowTableBytes(const ProductTile& tile) const;
  // All members of a batch have the same values per row: one table is theirs.
  bool RowsAreShared() const;
  void SetRowTable(int64_t offset) { rows_offset_ = offset; }

  // A value that need not be computed: kept from an earlier pass over the block
  // (row_epilogue.h). Neither register nor mask valid: compute it.
  virtual Value Known(int node, int tile, const Position& at);
  // Value of a node for one 8 x 128 tile.
  absl::StatusOr<Value> Eval(int node, int tile, const Position& at);
  // False of an 8-bit float that is stored alone: the store rounds it.
  bool RoundsInRegisters(const ExprNode& node) const;
  absl::StatusOr<Value> EvalOp(const ExprNode& node, int tile,
                               const Position& at);
  // Does it vary along the lanes?
  bool VariesInRow(int node) const {
    return e_.nodes[node].depends >> (e_.space.rank() - 1) & 1;
  }
  // A division by one value per row: multiplied by its inverse.
  bool IsRowQuotient(const ExprNode& node) const {
    return node.instr->opcode() == hlo::Opcode::kDivide &&
           (node.type == hlo::PrimitiveType::kF32 ||
            node.type == hlo::PrimitiveType::kBf16) &&
           !VariesInRow(node.inputs[1]);
  }
  // One by a value per column of each member: by its inverse, made once.
  bool DividesByColumns(const ExprNode& node) const;
  // Those of one tile for all members: at the begin of a step.
  bool InvertsOnce(const Leaf& leaf) const;
  // Loads them, and inverts those, as far as registers go.
  void KeepColumns();
  // The part that each register of 8 rows has in making those inverses, in
  // instructions of the vector slots.
  int64_t ShareOfInverses(const isa::MachineModel& model) const;
  bool IsDivisor(int node) const;
  codegen::Vec Inverted(codegen::Vec scalar);
  // Nodes that are evaluated for each tile, not once per row and step.
  std::vector<int> NodesOfTiles() const;
  // The code of these nodes on one register, to be counted; nothing if one of
  // them cannot be written.
  std::vector<codegen::VInstr> CodeOf(const isa::MachineModel& model,
                                      const std::vector<int>& nodes) const;
  // Vector operations that bring what it reads to 32 bits, per register: not
  // in CodeOf.
  int64_t LeafOperations(const isa::MachineModel& model) const;
  absl::StatusOr<Value> Load(const Leaf& leaf, int tile, const Position& at);
  // Do registers of columns stay while rows come by?
  virtual bool KeepsColumns() const { return false; }
  // Are rows of the same columns computed one after another?
  virtual bool GoesDownColumns() const { return false; }
  Value LoadBatchColumns(const Leaf& leaf, const Position& at);
  // Of a member's columns, by all values of which is divided.
  codegen::Vec InverseOfColumns(const Leaf& leaf, const Position& at);
  // Of a leaf's node: a batch member, and its column of tiles.
  using MemberKey = std::pair<int, int64_t>;
  using ColumnKey = std::tuple<int, int64_t, int64_t>;
  static ColumnKey KeyOf(const Leaf& leaf, const Position& at) {
    return {leaf.node, at.batch, at.col / isa::kLanes};
  }
  // The lowest element of packed words, as 32 bits.
  codegen::Vec FirstOfWords(hlo::PrimitiveType type, codegen::Vec words) const;
  // 32 bits as the formula has them: pred is a mask.
  Value FromWords(hlo::PrimitiveType type, codegen::Vec words) const;
  absl::StatusOr<Value> Iota(const ExprNode& node, int tile,
                             const Position& at);
  // Locals of earlier blocks are gone.
  void StartIotas(codegen::CodeBuilder& b);
  void BeginBlock() {
    batch_rows_.clear();
    batch_shifts_.clear();
    batch_columns_.clear();
    column_inverses_.clear();
  }
  // Registers of the tiles before are gone.
  void ClearTiles();
  void ClearRows();

  Expression e_;
  std::vector<Leaf> leaves_;
  std::vector<int> leaf_of_node_;
  std::vector<isa::Window> windows_;
  std::vector<int64_t> grid_;
  int first_space_ = 0;
  int first_window_ = 0;
  int column_grid_ = 0;  // grid dimension, block and bound of the columns
  int64_t column_block_ = 0, column_steps_ = 1;
  int row_grid_ = 0, batch_grid_ = 0;  // the same of rows and batch members
  int64_t row_block_ = 0, batch_block_ = 0;
  codegen::Sca first_member_;  // of the step; invalid: 0
  // Addresses of rows of leaves.
  absl::flat_hash_map<MemberKey, codegen::Sca> batch_rows_;
  // Values of 8 and 16 bits of a member's columns, as 32 bits: for all rows.
  absl::flat_hash_map<ColumnKey, codegen::Vec> batch_columns_;
  // Those of the columns that were divided by last.
  std::deque<std::pair<ColumnKey, codegen::Vec>> column_inverses_;
  // And the bits of a word in front of their values.
  absl::flat_hash_map<MemberKey, codegen::Sca> batch_shifts_;
  // Rows of an array of the product's shape: those of windows (convolutions)
  // run through all of its planes, each of whole tiles.
  int64_t RowsOf(const MatrixView& view) const {
    return folded_ && member_rows_ == 0
               ? RoundUpTo<int64_t>(view.rows, isa::kSublanes) * view.planes
               : view.rows;
  }

  bool folded_ = false;      // several dimensions make the product's rows
  bool windowed_ = false;    // of a convolution: planes are tiles of 8 rows
  int64_t member_rows_ = 0;  // the innermost of them; 0: windows (convolutions)
  codegen::Vec row_numbers_, column_numbers_;  // of the step's first tile
  codegen::CodeBuilder* b_ = nullptr;
  std::optional<codegen::NarrowTiles> narrow_;
  // A node, and the first or second register of 16 rows.
  using TileKey = std::pair<int, int>;
  // Values of the open group, and packed registers of leaves.
  absl::flat_hash_map<TileKey, Value> values_;
  // Those of whole rows, and inverted divisors: until the rows change.
  absl::flat_hash_map<TileKey, Value> row_values_;
  absl::flat_hash_map<TileKey, codegen::Vec> reciprocals_;
  absl::flat_hash_map<int, codegen::Vec> packed_;
  codegen::Sca rows_base_;  // of the table of values per row

 private:
  struct RowEntry {
    int node = 0;
    bool reciprocal = false;
  };
  absl::Status PlanRows();
  absl::StatusOr<Leaf> DescribeRows(int node, const PhysicalArray& array) const;
  // One line of bf16 values for all members.
  static bool IsNarrowLine(const PhysicalArray& array);
  // In the whole array, of one in this step.
  codegen::Sca GroupOf(codegen::Sca group);
  codegen::Vec LoadNarrowLine(const Leaf& leaf, codegen::Sca group);
  codegen::Sca LineOf(const Leaf& leaf, codegen::Sca member,
                      codegen::Sca group);
  // One register of the table from rows of 128 values, by leaf.
  absl::Status FillTile(const std::vector<codegen::Vec>& words, int64_t tile,
                        codegen::Sca table, int64_t batch, int64_t row);
  codegen::Vec RowValue(size_t entry, int tile, const Position& at);
  int32_t RowTableOffset(size_t entry, int64_t batch, int64_t row) const;

  std::vector<RowEntry> rows_;
  std::vector<bool> of_rows_;  // by node: made of values per row alone
  int64_t rows_offset_ = 0;
  codegen::Vec sublanes_;  // each element's sublane, while there are rows
  absl::flat_hash_map<int, codegen::Vec> row_leaves_;  // while rows are filled
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_TILE_FORMULA_H_
