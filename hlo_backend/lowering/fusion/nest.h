// Loops over the axes of a fusion, with pointers that run along the streams and
// values computed at the loop level that they vary with.
//
// One NestCode writes the code of one grid step. Streams have one scalar
// register each: within a body addresses are immediates, at the end of an
// iteration the register moves on. Where a block ends before a unit of the
// unrolled body is full, a shorter body follows the loop, so every body knows
// at compile time which tiles it has.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_NEST_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_NEST_H_

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/fusion/geometry.h"
#include "hlo_backend/lowering/fusion/turned_angles.h"
#include "hlo_backend/lowering/fusion/vector_math.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// How the axes are walked and cut into grid steps.
struct NestPlan {
  std::vector<int> order;       // axes, outer to inner
  int reduced_from = 0;         // position of the first reduced axis in `order`
  std::vector<int64_t> block;   // base tiles per step, per axis
  std::vector<int64_t> unroll;  // base tiles per body, per axis
  std::vector<int> grid_dim;    // per axis, -1: whole in every step
  int64_t step_bytes = 0;       // that a step loads tile by tile
};

// Where a stream is in VMEM during a step.
struct Place {
  enum class Kind : uint8_t { kSmem, kWindow, kScratch } kind = Kind::kWindow;
  int window = -1;  // kWindow: -1 of a shifted stream, in scratch as it lies
  // Byte offset of that, and of kScratch's expanded rows or columns.
  int64_t scratch = 0;
  // The window moves with the grid; else the whole array is there.
  bool moves = false;
  bool resident = false;   // an argument in VMEM, walked in place
  int64_t first_byte = 0;  // of it that the window begins with
  // Bytes between tiles of rows, where an axis chooses the row (Stream::
  // row_axis); of a window that moves along it, grid steps per tile.
  int64_t row_stride = 0;
  int64_t row_divisor = 1;
  std::vector<int64_t> strides;  // as Stream::strides, in the slot
  // kScratch: the same of the values to be expanded, where they lie.
  std::vector<int64_t> source_strides;

  // Bytes from one tile of the axis to the next; 0: no axis.
  int64_t StrideOf(int axis) const { return axis < 0 ? 0 : strides[axis]; }
};

// The tiles of one body.
struct Region {
  int rows = 1, columns = 1;
  bool row_end = false, column_end = false;  // holds the array's last tiles
};

class NestCode {
 public:
  struct Hooks {
    // Writes the results of a region. Default: stores of all result streams.
    std::function<absl::Status(NestCode&, const Region&)> body;
    // Around the reduced axes; the region holds what is fixed outside. Where
    // nothing loops inside, all are one block (joined()).
    std::function<absl::Status(NestCode&, const Region&)> enter, leave;
    // When addresses are set up (AddPointer), and after the loops.
    std::function<void(NestCode&)> start;
    std::function<absl::Status(NestCode&)> finish;
  };

  NestCode(const Expression& e, const Geometry& g, const NestPlan& plan,
           const std::vector<Place>& places, codegen::CodeBuilder& b,
           int stage = 0);

  absl::Status Run(const Hooks& hooks);

  codegen::CodeBuilder& b() { return b_; }
  // Value of a node at a tile of the open region.
  absl::StatusOr<Value> Eval(int node, int row, int column);
  absl::Status StoreResults(const Region& region);
  // Of the rows [first, end) of it.
  absl::Status StoreRows(const Region& region, int first, int end);
  // The open block holds several bodies, or all between enter and leave.
  bool joined() const { return joined_ > 0; }

  // Something that moves along the axes: an address, an index. It has a scalar
  // register of its own; where code may spill, those with equal strides share
  // one, and the start is added where it is used.
  struct Pointer {
    codegen::Sca reg;
    int64_t offset = 0;            // compile-time part
    std::vector<int64_t> strides;  // per axis and base tile
    const Place* place = nullptr;  // of a stream: for its banks
  };
  // Writes the start into `to`, or into new locals if that is not valid; what
  // holds it.
  using Start = std::function<codegen::Sca(codegen::Sca to)>;
  // A pointer of the hooks' own; returns its number.
  int AddPointer(std::vector<int64_t> strides, Start start,
                 const Place* place = nullptr);
  const Pointer& pointer(int number) const { return pointers_[number]; }
  // The register with its value in the open block, less the compile-time part.
  codegen::Sca ValueOf(int pointer);
  // Register image as f32 or integer words, masks made numbers.
  codegen::Vec AsWords(int node, Value v);
  // Base tiles of the axis in this step.
  int64_t extent(int axis) const { return extent_[axis]; }
  const Expression& expression() const { return e_; }

 private:
  bool EndsInRegister() const;
  absl::Status ForGridEdges(size_t k);
  absl::Status Step();
  void StartPointers();
  void StartStreams();
  void StartCoordinates();
  codegen::Sca BeforeRows(const Stream& s, const Place& place, codegen::Sca at,
                          codegen::Sca to);
  void SetBank(codegen::Sca reg, const Place& place);
  // Values per row that the body itself puts on all lanes (inline_rows.cc).
  bool ExpandsInline(const Stream& s) const;
  std::vector<int64_t> InlineStrides(const Stream& s) const;
  codegen::Vec InlineRow(int stream, int row);
  codegen::Vec PermutedRow(int stream, int row);
  absl::Status ExpandRows();
  class RowExpander;            // of one stream
  absl::Status WidenColumns();  // wide_columns.h
  absl::Status Walk(int position);
  absl::Status Hoist(int position);
  // Values of the block so far: the next makes its own.
  void Forget();
  bool LoopsFrom(int position) const;
  bool EndsInAMask(const Axis& a) const;
  void Join();
  void Advance(int axis, int64_t tiles);
  // Where the register that holds this tile begins.
  int64_t RegisterOffset(int stream, int row, int column) const;
  codegen::Vec FromFirstLane(const Stream& s, codegen::Vec words);
  codegen::Vec LoadRegister(int stream, int row, int column);
  // Of a packed formula: the register that holds this tile.
  absl::StatusOr<codegen::Vec> EvalPacked(int node, int row, int column);
  absl::StatusOr<Value> MakeLeaf(const ExprNode& node, int row, int column);
  absl::StatusOr<codegen::Vec> LeafWords(const ExprNode& node, int row,
                                         int column);
  bool HasMaskWords(int node) const;
  absl::StatusOr<codegen::Vec> MaskWords(int node, int row, int column);
  absl::StatusOr<Value> MaskAsNumber(const ExprNode& convert, int row,
                                     int column);
  codegen::Vec MakeScalar(int stream);
  // Of streams whose access is no tile; `start`: their pointer's value.
  codegen::Vec MakeRow(int stream, codegen::Sca start, int column);
  codegen::Vec MakeElements(int stream, codegen::Sca start, int column);
  codegen::Vec Unpack(const Stream& s, codegen::Vec packed, int part);
  void PrepareNarrowTiles();
  // One tile of a stream that goes tile by tile.
  codegen::Sca Coordinate(int axis, int tiles);
  // Whether the register of an axis's coordinate is always 0, or a multiple of
  // `rows`: what its compile-time part adds is then known within a tile.
  bool StaysAtZero(int axis) const;
  bool BeginsTiles(int axis, int64_t rows) const;
  codegen::Vec LoadTile(const Stream& s, codegen::Sca base, int64_t offset);
  codegen::Vec LoadPart(int stream, int row, int column);
  codegen::Mask Sublanes(int number);  // the first ones
  codegen::Vec PackToBytes(const Stream& s, codegen::Vec words);
  absl::Status StoreTile(const Stream& s, codegen::Sca base, int64_t offset,
                         codegen::Vec words, int rows);
  absl::Status StoreParts(const Stream& s, codegen::Sca base, int64_t offset,
                          absl::Span<const codegen::Vec> parts, int sublanes);
  Value FromMemory(const Stream& s, codegen::Vec words);
  // Of a register's elements along the dimension of an iota.
  codegen::Vec PositionsOf(const ExprNode& node, int row, int column);
  absl::Status StoreResult(const Stream& s, const Place& place, int row,
                           int column, const Region& region);
  codegen::Vec Pack(const Stream& s, absl::Span<const codegen::Vec> parts);
  codegen::Vec SelectRowPart(const Stream& s, codegen::Vec words,
                             codegen::Sca row, int static_part);
  // Tile `row`, `column` of the region, or one of what `of` numbers: a node, a
  // stream.
  struct TileKey {
    int of = 0;
    int64_t row = 0, column = 0;
    bool operator==(const TileKey& o) const {
      return of == o.of && row == o.row && column == o.column;
    }
    template <class H>
    friend H AbslHashValue(H h, const TileKey& k) {
      return H::combine(std::move(h), k.of, k.row, k.column);
    }
  };
  template <class T>
  using OfTiles = absl::flat_hash_map<TileKey, T>;
  // Of a node; 0 for what it does not vary along.
  TileKey Key(int node, int row, int column) const;

  const Expression& e_;
  const Geometry& g_;
  const NestPlan& plan_;
  const std::vector<Place>& places_;
  codegen::CodeBuilder& b_;
  const int stage_;
  const Hooks* hooks_ = nullptr;

  std::vector<int64_t> extent_;  // base tiles of this step, per axis
  std::vector<bool> at_end_;     // the step holds the end of the axis
  Region region_;
  std::vector<bool> fixed_;  // axes whose tiles the region has fixed
  int joined_ = 0;           // levels that share one block
  std::vector<Pointer> pointers_;
  std::vector<Start> starts_;  // per pointer
  // Per pointer that shares its register: its value in a block.
  struct BlockValue {
    int64_t block = -1;
    codegen::Sca reg;
  };
  std::vector<BlockValue> block_values_;
  // Where a row is that an index chooses, in a block: by stream, and by what of
  // the index is known.
  struct RowStart {
    int64_t block = -1;
    int start = -1;
    codegen::Sca base, row;
  };
  const RowStart& StartOfRow(int stream, codegen::Sca start);
  codegen::Sca StartOfTile(int stream, codegen::Sca start);
  absl::flat_hash_map<std::pair<int, int64_t>, RowStart> row_starts_;
  absl::flat_hash_map<int, RowStart> tile_starts_;
  std::vector<int> stream_pointer_;      // per stream, -1: none
  std::vector<int> coordinate_pointer_;  // per axis: element index, -1: none
  std::vector<int> stream_of_node_;
  std::vector<uint32_t> node_axes_;
  std::map<std::vector<int64_t>, int32_t> bank_groups_;
  std::vector<bool> frontier_;
  std::vector<bool> only_stored_;  // per node: nothing but a result reads it
  std::optional<codegen::NarrowTiles> narrow_;
  codegen::Vec lane_, sublane_;  // index patterns, if asked for
  codegen::Vec row_of_sublane_;  // for values per row
  // Of the body: rows of 128 values per row, and which of them to take.
  OfTiles<codegen::Vec> row_words_, row_values_;
  absl::flat_hash_map<int64_t, codegen::Vec> row_index_;
  std::deque<Place> inline_places_;  // where InlineRow reads
  OfTiles<Value> local_, global_;
  OfTiles<codegen::Vec> reciprocals_;                 // of local_'s
  TurnedAngles angles_;                               // of the body
  OfTiles<codegen::Vec> mask_words_;                  // of the body
  OfTiles<codegen::Vec> loads_;                       // packed, of the body
  OfTiles<codegen::Vec> packed_;                      // of EvalPacked
  absl::flat_hash_map<int, codegen::Mask> sublanes_;  // of the body
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_NEST_H_
