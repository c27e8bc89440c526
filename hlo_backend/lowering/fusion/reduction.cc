#include "hlo_backend/lowering/fusion/reduction.h"

#include <algorithm>
#include <functional>

#include "absl/strings/str_cat.h"
#include "base/numerics/bits.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

absl::Status Unsupported(const hlo::Instruction& i, absl::string_view why) {
  return absl::UnimplementedError(
      absl::StrCat(i.name(), " (", hlo::OpcodeName(i.opcode()), "): ", why));
}

int Log2(int64_t n) {
  int k = 0;
  while ((int64_t{1} << k) < n) ++k;
  return k;
}

class Finisher {
 public:
  Finisher(const Reduction& r, const Geometry& g, const NestPlan& plan,
           const std::vector<int64_t>& extent, CodeBuilder& b)
      : r_(r), g_(g), plan_(plan), extent_(extent), b_(b) {}

  absl::Status Expand(int64_t tiles) {
    SetReduced();
    b_.BeginScope();
    b_.NewBlock("expand");
    from_ = b_.GlobalSca();
    b_.ScratchAddress(from_, static_cast<int32_t>(r_.scratch));
    constexpr int kTogether = 16;
    const auto some = [&](int64_t count) -> absl::Status {
      for (int64_t k = 0; k < count; ++k) {
        const int32_t at = static_cast<int32_t>(k * isa::kVregBytes);
        Vec v = b_.Load(kScratchSpace, from_, at);
        if (rows_reduced_) {
          ASSIGN_OR_RETURN(v, FoldSublanes(v));
        }
        if (columns_reduced_) {
          ASSIGN_OR_RETURN(v, FoldLanes(v));
        }
        ASSIGN_OR_RETURN(v, WithInit(v));
        b_.Store(kScratchSpace, from_, at, v);
      }
      return absl::OkStatus();
    };
    const int64_t loops = tiles / kTogether;
    if (loops > 0) {
      b_.BeginLoop(loops, 1);
      b_.NewBlock("expand");
      RETURN_IF_ERROR(some(kTogether));
      b_.SBinaryImmTo(from_, Opcode::kSadd, from_, kTogether * isa::kVregBytes);
      b_.EndLoop();
    }
    b_.NewBlock("expand");
    RETURN_IF_ERROR(some(tiles % kTogether));
    b_.EndScope();
    return absl::OkStatus();
  }

  absl::Status Run() {
    SetReduced();
    for (size_t a = 0; a < g_.axes.size(); ++a) {
      if (g_.axes[a].kind == Axis::Kind::kMajor && !g_.axes[a].reduced) {
        majors_.push_back(static_cast<int>(a));
      }
    }
    b_.BeginScope();
    b_.NewBlock("finish");
    from_ = b_.GlobalSca();
    b_.ScratchAddress(from_, static_cast<int32_t>(r_.scratch));
    to_ = b_.GlobalSca();
    if (r_.window >= 0) {
      b_.WindowAddress(to_, r_.window);
      b_.SetBank(to_, codegen::kUnknownBanks, 0);
    } else {
      b_.ScratchAddress(to_, static_cast<int32_t>(r_.result_scratch));
    }
    // Index of the innermost kept major, and the plane of the result.
    index_ = b_.GlobalSca();
    b_.SImmTo(index_, 0);
    if (!majors_.empty()) {
      const int last = majors_.back();
      if (plan_.grid_dim[last] >= 0) {
        const Sca step = b_.NewSca();
        b_.GridIndex(step, plan_.grid_dim[last]);
        b_.SMove(index_,
                 b_.SMulImm(step, static_cast<int32_t>(plan_.block[last])));
      }
      // Outer majors are planes of the result, except beside whole tiles
      // (nothing but majors reduced), where the last one is a plane too.
      const PhysicalArray& a = r_.result;
      const bool row_is_major = a.rank() >= 2 && a.sizes[a.rank() - 2] > 1;
      const bool one_element = rows_reduced_ && columns_reduced_;
      const size_t planes =
          majors_.size() -
          (!WholeTiles() && (row_is_major || one_element) ? 1 : 0);
      int64_t stride = r_.result.plane_stride();
      for (size_t k = planes; k-- > 0;) {
        const int axis = majors_[k];
        plane_stride_.insert(plane_stride_.begin(), stride);
        if (plan_.grid_dim[axis] >= 0) {
          const Sca step = b_.NewSca();
          b_.GridIndex(step, plan_.grid_dim[axis]);
          b_.SBinaryTo(to_, Opcode::kSadd, to_,
                       b_.SMulImm(step, static_cast<int32_t>(
                                            stride * plan_.block[axis])));
        }
        stride *= g_.axes[axis].tiles;
      }
    }
    RETURN_IF_ERROR(Majors(0));
    b_.EndScope();
    return absl::OkStatus();
  }

 private:
  void SetReduced() {
    rows_reduced_ = g_.row_axis >= 0 && g_.axes[g_.row_axis].reduced;
    columns_reduced_ = g_.axes[g_.column_axis].reduced;
    if (g_.linear) rows_reduced_ = columns_reduced_;
  }

  bool WholeTiles() const { return !rows_reduced_ && !columns_reduced_; }

  // Loops over the kept majors of the step.
  absl::Status Majors(size_t k) {
    if (k == majors_.size()) return Tiles();
    const int axis = majors_[k];
    const int64_t n = extent_[axis];
    const bool loop = n > 1;
    const int64_t together = k + 1 == majors_.size() ? PlanesTogether(n) : 1;
    if (loop) b_.BeginLoop(n / together, 1);
    if (together > 1) {
      RETURN_IF_ERROR(Planes(axis, k < plane_stride_.size(), together));
    } else {
      RETURN_IF_ERROR(Majors(k + 1));
    }
    if (loop) {
      b_.NewBlock("next plane");
      // Inner loops have come back to their start.
      b_.SBinaryImmTo(from_, Opcode::kSadd, from_,
                      static_cast<int32_t>(r_.strides[axis] * together));
      if (k < plane_stride_.size()) {
        b_.SBinaryImmTo(to_, Opcode::kSadd, to_,
                        static_cast<int32_t>(plane_stride_[k] * together));
      } else {
        b_.SBinaryImmTo(index_, Opcode::kSadd, index_,
                        static_cast<int32_t>(together));
      }
      b_.EndLoop();
      b_.NewBlock("first plane");
      b_.SBinaryImmTo(from_, Opcode::kSadd, from_,
                      static_cast<int32_t>(-r_.strides[axis] * n));
      if (k < plane_stride_.size()) {
        b_.SBinaryImmTo(to_, Opcode::kSadd, to_,
                        static_cast<int32_t>(-plane_stride_[k] * n));
      } else {
        b_.SBinaryImmTo(index_, Opcode::kSadd, index_,
                        static_cast<int32_t>(-n));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Tiles() {
    if (WholeTiles()) return CopyTiles();
    if (rows_reduced_ && columns_reduced_) return OneElement();
    return rows_reduced_ ? Rows(g_.column_axis, 1, &Finisher::FoldTile)
                         : Rows(g_.row_axis, 16, &Finisher::TransposeTiles);
  }

  // Planes of a row or two each are finished several at a time: the XLUs are
  // filled and drained once for all. As many of `n` as the units can use.
  int64_t PlanesTogether(int64_t n) const {
    if (WholeTiles() || (rows_reduced_ && columns_reduced_)) return 1;
    const int64_t rows = rows_reduced_
                             ? extent_[g_.column_axis]
                             : CeilOfRatio<int64_t>(extent_[g_.row_axis], 16);
    const int64_t most = 2 * b_.model().xlus / rows;
    for (int64_t together = std::min(most, n); together > 1; --together) {
      if (n % together == 0) return together;
    }
    return 1;
  }

  // The rows of `together` planes along a major in one block.
  absl::Status Planes(int axis, bool planes_of_result, int64_t together) {
    const int along = rows_reduced_ ? g_.column_axis : g_.row_axis;
    const int per_row = rows_reduced_ ? 1 : 16;
    const int64_t tiles = extent_[along];
    b_.NewBlock("rows of planes");
    Sca row = b_.SImm(0);
    if (plan_.grid_dim[along] >= 0) {
      const Sca step = b_.NewSca();
      b_.GridIndex(step, plan_.grid_dim[along]);
      row =
          b_.SMulImm(step, static_cast<int32_t>(plan_.block[along] / per_row));
    }
    for (int64_t u = 0; u < together; ++u) {
      const Sca index = planes_of_result || u == 0
                            ? index_
                            : b_.SAddImm(index_, static_cast<int32_t>(u));
      const int64_t beyond = planes_of_result ? u * plane_stride_.back() : 0;
      for (int64_t k = 0; k * per_row < tiles; ++k) {
        const int64_t from =
            u * r_.strides[axis] + k * per_row * isa::kVregBytes;
        const auto count =
            static_cast<int>(std::min<int64_t>(per_row, tiles - k * per_row));
        ASSIGN_OR_RETURN(const Vec v, rows_reduced_
                                          ? FoldTile(from_, from, count)
                                          : TransposeTiles(from_, from, count));
        PlaceRow(v, row, static_cast<int>(k), index, beyond);
      }
    }
    return absl::OkStatus();
  }

  using MakeRow = absl::StatusOr<Vec> (Finisher::*)(Sca from, int64_t offset,
                                                    int count);

  // One row of 128 results from every `per_row` tiles along `axis`.
  absl::Status Rows(int axis, int per_row, MakeRow make) {
    const int64_t tiles = extent_[axis];
    const int64_t rows = CeilOfRatio<int64_t>(tiles, per_row);
    const int64_t in_row = int64_t{per_row} * isa::kVregBytes;
    // Column tiles of the result that this step begins with.
    Sca first;
    if (plan_.grid_dim[axis] >= 0) {
      const Sca step = b_.NewSca();
      b_.GridIndex(step, plan_.grid_dim[axis]);
      first = b_.GlobalSca();
      b_.SMove(first, b_.SMulImm(step, static_cast<int32_t>(plan_.block[axis] /
                                                            per_row)));
    }
    const int64_t unroll =
        r_.result.packing == 1 ? 4 : 4 / r_.result.packing * r_.result.packing;
    const Sca from = b_.GlobalSca(), row = b_.GlobalSca();
    b_.SMove(from, from_);
    if (first.valid()) {
      b_.SMove(row, first);
    } else {
      b_.SImmTo(row, 0);
    }
    const auto body = [&](int64_t begin, int64_t count) -> absl::Status {
      for (int64_t k = 0; k < count; ++k) {
        const int64_t left = tiles - (begin + k) * per_row;
        ASSIGN_OR_RETURN(
            Vec v,
            (this->*make)(from, k * in_row,
                          static_cast<int>(std::min<int64_t>(per_row, left))));
        PlaceRow(v, row, static_cast<int>(k), index_, 0);
      }
      return absl::OkStatus();
    };
    const int64_t loops = (rows - 1) / unroll;  // the last may be ragged
    if (loops > 0) {
      b_.BeginLoop(loops, 1);
      b_.NewBlock("rows");
      RETURN_IF_ERROR(body(0, unroll));
      b_.SBinaryImmTo(from, Opcode::kSadd, from,
                      static_cast<int32_t>(in_row * unroll));
      b_.SBinaryImmTo(row, Opcode::kSadd, row, static_cast<int32_t>(unroll));
      b_.EndLoop();
    }
    b_.NewBlock("rows");
    return body(loops * unroll, rows - loops * unroll);
  }

  absl::StatusOr<Vec> Combine(Vec x, Vec y) {
    ASSIGN_OR_RETURN(
        Value v, EmitMonoid(b_, r_.op, r_.type, Value::Of(x), Value::Of(y)));
    return v.vec;
  }

  absl::StatusOr<Vec> Tree(std::vector<Vec> values) {
    while (values.size() > 1) {
      std::vector<Vec> next;
      for (size_t k = 0; k + 1 < values.size(); k += 2) {
        ASSIGN_OR_RETURN(Vec v, Combine(values[k], values[k + 1]));
        next.push_back(v);
      }
      if (values.size() % 2) next.push_back(values.back());
      values = std::move(next);
    }
    return values[0];
  }

  // All sublanes get the combination over sublanes.
  absl::StatusOr<Vec> FoldSublanes(Vec v) {
    for (int shift : {4, 2, 1}) {
      ASSIGN_OR_RETURN(v, Combine(v, b_.RotateSublanes(v, shift)));
    }
    return v;
  }

  absl::StatusOr<Vec> WithInit(Vec v) {
    if (!r_.has_init) return v;
    return Combine(v, b_.Imm(r_.init));
  }

  absl::StatusOr<Vec> FoldTile(Sca from, int64_t offset, int) {
    ASSIGN_OR_RETURN(
        Vec v, FoldSublanes(
                   b_.Load(kScratchSpace, from, static_cast<int32_t>(offset))));
    return WithInit(v);
  }

  absl::StatusOr<Vec> TransposeTiles(Sca from, int64_t offset, int count) {
    std::vector<Vec> rows;
    for (int k = 0; k < count; ++k) {
      rows.push_back(
          b_.Load(kScratchSpace, from,
                  static_cast<int32_t>(offset + k * int64_t{isa::kVregBytes})));
    }
    ASSIGN_OR_RETURN(Vec v, Tree(b_.Transpose(rows, 16)));
    ASSIGN_OR_RETURN(v, FoldSublanes(v));
    return WithInit(v);
  }

  // Stores 128 results, the same on every sublane, as a row of the result:
  // column tile `row` + part of the row that `index` names, or of a dense 1-D
  // result; `beyond`: bytes from to_ to the plane.
  void PlaceRow(Vec v, Sca row, int part, Sca index, int64_t beyond) {
    const PhysicalArray& a = r_.result;
    Sca base = to_;
    Sca element_row;  // decides the part of packed words
    int64_t offset = beyond;
    const int shift = Log2(a.packing);
    if (a.rank() <= 1) {
      const Sca at = b_.SAddImm(row, part);
      element_row = at;
      const Sca word = shift ? b_.SBinaryImm(Opcode::kSshrl, at, shift) : at;
      base = b_.SAdd(to_, b_.SMulImm(word, isa::kRowBytes));
    } else {
      element_row = index;
      const Sca tile = b_.SBinaryImm(Opcode::kSshrl, index, Log2(a.tile_rows));
      const Sca in_tile = b_.SBinaryImm(Opcode::kSand, index,
                                        static_cast<int32_t>(a.tile_rows - 1));
      const Sca sublane =
          shift ? b_.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
      base =
          b_.SAdd(to_, b_.SMulImm(tile, static_cast<int32_t>(a.row_stride())));
      base = b_.SAdd(base, b_.SMulImm(sublane, isa::kRowBytes));
      base =
          b_.SAdd(base, b_.SMulImm(row, static_cast<int32_t>(a.tile_bytes())));
      offset += part * a.tile_bytes();
    }
    StoreRow(v, base, offset, element_row, b_.Range(0, 128, 0, 1));
  }

  // The words where `mask` is set; packed types change their part of a word.
  void StoreRow(Vec v, Sca base, int64_t offset, Sca element_row, Mask mask) {
    const PhysicalArray& a = r_.result;
    const int32_t at = static_cast<int32_t>(offset);
    if (a.packing > 1) {
      Vec bits = v;
      if (hlo::IsFloat(a.type)) {
        bits = b_.Binary(Opcode::kVpackIBf16, v, v);
      }
      const uint32_t low = (1u << a.bits) - 1;
      const Vec shift = b_.Splat(b_.SMulImm(
          b_.SBinaryImm(Opcode::kSand, element_row, a.packing - 1), a.bits));
      bits = b_.Binary(Opcode::kVshll, b_.BinaryImm(Opcode::kVand, bits, low),
                       shift);
      const Vec hole = b_.Unary(Opcode::kVnot,
                                b_.Binary(Opcode::kVshll, b_.Imm(low), shift));
      const Vec old = b_.Load(kResultSpace, base, at);
      v = b_.Binary(Opcode::kVor, b_.Binary(Opcode::kVand, old, hole), bits);
    }
    b_.StoreMasked(kResultSpace, base, at, v, mask);
  }

  absl::Status OneElement() {
    b_.NewBlock("one element");
    ASSIGN_OR_RETURN(Vec v, FoldSublanes(b_.Load(kScratchSpace, from_, 0)));
    ASSIGN_OR_RETURN(v, FoldLanes(v));
    ASSIGN_OR_RETURN(v, WithInit(v));
    const PhysicalArray& a = r_.result;
    if (majors_.empty()) {
      StoreRow(v, to_, 0, b_.SImm(0), b_.Range(0, 1, 0, 1));
      return absl::OkStatus();
    }
    // Element index_ of the last kept major is a lane of the result.
    if (a.rank() > 1) {
      return Unsupported(*r_.reduce,
                         "rows and columns reduced beside several "
                         "kept dimensions");
    }
    const Sca row = b_.SBinaryImm(Opcode::kSshrl, index_, 7);
    const int shift = Log2(a.packing);
    const Sca word = shift ? b_.SBinaryImm(Opcode::kSshrl, row, shift) : row;
    const Sca base = b_.SAdd(to_, b_.SMulImm(word, isa::kRowBytes));
    const Vec lane = b_.Splat(b_.SBinaryImm(Opcode::kSand, index_, 127));
    const Mask mask = b_.Compare(Opcode::kVcmpEqS32, b_.LaneSequence(), lane);
    StoreRow(v, base, 0, row, mask);
    return absl::OkStatus();
  }

  absl::StatusOr<Vec> FoldLanes(Vec v) {
    if (hlo::IsFloat(r_.type)) {
      if (r_.op == hlo::Opcode::kAdd) {
        return b_.Xlane(Opcode::kVaddXlane, v);
      }
      if (r_.op == hlo::Opcode::kMaximum) {
        return b_.Xlane(Opcode::kVmaxXlane, v);
      }
      if (r_.op == hlo::Opcode::kMinimum) {
        return b_.Xlane(Opcode::kVminXlane, v);
      }
    }
    for (int shift : {64, 32, 16, 8, 4, 2, 1}) {
      ASSIGN_OR_RETURN(v, Combine(v, b_.RotateLanes(v, shift)));
    }
    return v;
  }

  // Nothing but majors was reduced.
  absl::Status CopyTiles() {
    const PhysicalArray& a = r_.result;
    if (a.rank() <= 1 || a.packing > 1 || a.tile_rows != g_.base_rows) {
      return Unsupported(*r_.reduce, "narrow result over whole tiles");
    }
    const int64_t rows = g_.row_axis >= 0 ? extent_[g_.row_axis] : 1;
    const int64_t columns = extent_[g_.column_axis];
    const Sca from = b_.GlobalSca(), to = b_.GlobalSca();
    b_.SMove(from, from_);
    b_.SMove(to, to_);
    for (int axis : {g_.row_axis, g_.column_axis}) {
      if (axis < 0 || plan_.grid_dim[axis] < 0) continue;
      const int64_t stride =
          axis == g_.row_axis ? a.row_stride() : a.tile_bytes();
      const Sca step = b_.NewSca();
      b_.GridIndex(step, plan_.grid_dim[axis]);
      b_.SBinaryTo(
          to, Opcode::kSadd, to,
          b_.SMulImm(step, static_cast<int32_t>(stride * plan_.block[axis])));
    }
    const int64_t row_bytes = g_.row_axis >= 0 ? r_.strides[g_.row_axis] : 0;
    if (rows > 1) b_.BeginLoop(rows, 1);
    b_.NewBlock("tiles");
    for (int64_t c = 0; c < columns; ++c) {
      Vec v = b_.Load(kScratchSpace, from,
                      static_cast<int32_t>(c * isa::kVregBytes));
      ASSIGN_OR_RETURN(v, WithInit(v));
      const int32_t at = static_cast<int32_t>(c * a.tile_bytes());
      if (g_.base_rows < 8) {
        b_.StoreMasked(kResultSpace, to, at, v,
                       b_.Range(0, 128, 0, g_.base_rows));
      } else {
        b_.Store(kResultSpace, to, at, v);
      }
    }
    if (rows > 1) {
      b_.SBinaryImmTo(from, Opcode::kSadd, from,
                      static_cast<int32_t>(row_bytes));
      b_.SBinaryImmTo(to, Opcode::kSadd, to,
                      static_cast<int32_t>(a.row_stride()));
      b_.EndLoop();
    }
    return absl::OkStatus();
  }

  static constexpr int kScratchSpace = 2000, kResultSpace = 2001;

  const Reduction& r_;
  const Geometry& g_;
  const NestPlan& plan_;
  const std::vector<int64_t>& extent_;
  CodeBuilder& b_;
  bool rows_reduced_ = false, columns_reduced_ = false;
  std::vector<int> majors_;
  std::vector<int64_t> plane_stride_;
  Sca from_, to_, index_;
};

// The value that the reduce starts from.
absl::Status ReadStart(Reduction* r) {
  const hlo::Instruction* init = r->reduce->operand(1);
  if (init->opcode() != hlo::Opcode::kConstant) {
    return Unsupported(*r->reduce, "its start value is not a constant");
  }
  r->init = hlo::IsFloat(r->type)
                ? numerics::FloatBits(
                      static_cast<float>(init->literal().GetDouble(0)))
                : static_cast<uint32_t>(init->literal().GetInt(0));
  const uint32_t identity = MonoidIdentity(r->op, r->type);
  r->has_init = r->init != identity &&
                !(r->op == hlo::Opcode::kAdd && r->init == 0x80000000u);
  return absl::OkStatus();
}

}  // namespace

uint32_t ReducedDims(const Expression& e) {
  uint32_t reduced = 0;
  for (const hlo::Instruction* r : e.reduces) {
    if (r == nullptr) continue;
    for (int64_t d : r->dimensions()) {
      for (int p = 0; p < e.space.rank(); ++p) {
        if (e.space.dims[p] == d) reduced |= 1u << p;
      }
    }
  }
  return reduced;
}

absl::StatusOr<Reduction> DescribeReduction(const hlo::Instruction& fusion,
                                            const Expression& e, int root) {
  Reduction r;
  r.reduce = e.reduces[root];
  r.root = root;
  const auto monoid = hlo::MonoidOf(*r.reduce->to_apply());
  if (!monoid) return Unsupported(*r.reduce, "its body is not one operation");
  r.op = *monoid;
  r.type = r.reduce->shape().type();
  // Kept dimensions in the order in which they are walked.
  const uint32_t reduced = ReducedDims(e);
  hlo::DimVector number(e.space.rank(), -1), kept, sizes;
  int64_t logical = 0;
  for (int d = 0; d < e.space.rank(); ++d) {
    for (int p = 0; p < e.space.rank(); ++p) {
      if (e.space.dims[p] == d && !(reduced >> p & 1)) number[d] = logical++;
    }
  }
  for (int p = 0; p < e.space.rank(); ++p) {
    if (reduced >> p & 1) continue;
    kept.push_back(number[e.space.dims[p]]);
    sizes.push_back(e.space.sizes[p]);
  }
  RETURN_IF_ERROR(ReadStart(&r));
  if (e.results[root] < 0) {
    r.dense = !e.epilogue.empty();
    r.result = PhysicalArray::Words(kept, sizes);
    return r;
  }
  const hlo::Shape& shape = fusion.shape().IsTuple()
                                ? fusion.shape().element(e.results[root])
                                : fusion.shape();
  ASSIGN_OR_RETURN(r.result, PhysicalArray::Of(shape));
  if (hlo::IsFloat(r.type) && r.result.bits != 32 &&
      r.type != hlo::PrimitiveType::kBf16) {
    return Unsupported(*r.reduce, "result type");
  }
  if (kept != r.result.dims) {
    return Unsupported(*r.reduce, "result layout in another order");
  }
  return r;
}

absl::Status FinishReduction(const Reduction& r, const Geometry& g,
                             const NestPlan& plan,
                             const std::vector<int64_t>& extent,
                             CodeBuilder& b) {
  return Finisher(r, g, plan, extent, b).Run();
}

absl::Status ExpandReduction(const Reduction& r, const Geometry& g,
                             int64_t tiles, CodeBuilder& b) {
  const NestPlan plan;
  const std::vector<int64_t> extent;
  return Finisher(r, g, plan, extent, b).Expand(tiles);
}

}  // namespace ptxla::lowering
