#include "hlo_backend/lowering/fusion/reduce_code.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/reduce_joined.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int kPartialSpace = 3000;

class ReduceCode {
 public:
  ReduceCode(const Expression& e, const Geometry& g, const ReduceTiling& t,
             CodeBuilder& b)
      : e_(e), g_(g), t_(t), b_(b) {}

  absl::Status Step() {
    if (!t_.reduced_grid.empty()) FillPartials();
    joined_.reserve(t_.reductions.size());
    for (stage_ = 0; stage_ < e_.stages; ++stage_) {
      RETURN_IF_ERROR(OneStage());
    }
    return absl::OkStatus();
  }

 private:
  absl::Status OneStage() {
    NestCode nest(e_, g_, t_.cut.plan, t_.cut.places, b_, stage_);
    NestCode::Hooks hooks;
    hooks.start = [this](NestCode& n) { MakePointers(n); };
    hooks.enter = [this](NestCode& n, const Region& r) { return Enter(n, r); };
    hooks.body = [this](NestCode& n, const Region& r) { return Body(n, r); };
    hooks.leave = [this](NestCode& n, const Region& r) { return Leave(n, r); };
    hooks.finish = [this](NestCode& n) { return Finish(n); };
    return nest.Run(hooks);
  }

  // Reductions of the stage that is being written.
  bool Now(const Reduction& r) const { return e_.stage[r.root] == stage_; }

  bool KeepsRows() const {
    return g_.row_axis >= 0 && !g_.axes[g_.row_axis].reduced;
  }
  bool KeepsColumns() const { return !g_.axes[g_.column_axis].reduced; }

  // The first of the steps that share partial results sets them up.
  void FillPartials() {
    for (int dim : t_.reduced_grid) {
      b_.BeginWhen(dim, isa::When::Kind::kFirst);
    }
    for (const Reduction& r : t_.reductions) {
      const int64_t bytes = PartialBytes(r);
      b_.BeginScope();
      b_.NewBlock("partials");
      const Sca at = b_.GlobalSca();
      b_.ScratchAddress(at, static_cast<int32_t>(r.scratch));
      const Vec value = b_.GlobalVec();
      StartOf(r, value);
      const int64_t tiles = bytes / isa::kVregBytes;
      const int64_t loops = tiles / 16;
      if (loops > 0) {
        b_.BeginLoop(loops, 1);
        for (int k = 0; k < 16; ++k) {
          b_.Store(kPartialSpace, at, k * isa::kVregBytes, value);
        }
        b_.SBinaryImmTo(at, Opcode::kSadd, at, 16 * isa::kVregBytes);
        b_.EndLoop();
      }
      for (int64_t k = 0; k < tiles % 16; ++k) {
        b_.Store(kPartialSpace, at, static_cast<int32_t>(k * isa::kVregBytes),
                 value);
      }
      b_.EndScope();
    }
    for (size_t k = 0; k < t_.reduced_grid.size(); ++k) b_.EndWhen();
  }

  // What no element has changed. Of positions the first that a chain of
  // operations meets: where all are as low as the identity, it is theirs.
  void StartOf(const Reduction& r, Vec to) {
    if (r.extremum < 0) {
      b_.ImmTo(to, MonoidIdentity(r.op, r.type));
      return;
    }
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

  int64_t PartialBytes(const Reduction& r) const {
    int64_t bytes = isa::kVregBytes;
    for (size_t a = 0; a < g_.axes.size(); ++a) {
      if (!g_.axes[a].reduced) bytes *= t_.cut.plan.block[a];
    }
    (void)r;
    return bytes;
  }

  void MakePointers(NestCode& n) {
    pointers_.clear();
    joined_.clear();
    for (const Reduction& r : t_.reductions) {
      const bool bf16 = IsOfBf16(e_.roots[r.root]) && !e_.read_back[r.root] &&
                        !HasPositions(r);
      joined_.emplace_back(r, ExtremumOf(r), g_, t_.cut.plan, bf16, b_);
      if (Joins(r)) joined_.back().MakePointers(n);
      const int32_t scratch = static_cast<int32_t>(r.scratch);
      pointers_.push_back(n.AddPointer(r.strides, [this, scratch](Sca to) {
        const Sca reg = to.valid() ? to : b_.NewSca();
        b_.ScratchAddress(reg, scratch);
        return reg;
      }));
    }
  }

  size_t NumberOf(const Reduction& r) const {
    return &r - t_.reductions.data();
  }
  const Reduction* ExtremumOf(const Reduction& r) const {
    return r.extremum < 0 ? nullptr : &t_.reductions[r.extremum];
  }
  bool IsPositionOf(const Reduction& position, const Reduction& r) const {
    return ExtremumOf(position) == &r;
  }
  bool HasPositions(const Reduction& r) const {
    return std::any_of(t_.reductions.begin(), t_.reductions.end(),
                       [&](const Reduction& p) { return IsPositionOf(p, r); });
  }

  // Whether the values of a node are those of an array of bf16.
  bool IsOfBf16(int node) const {
    const ExprNode* v = &e_.nodes[node];
    while (v->kind == ExprNode::Kind::kOp &&
           v->instr->opcode() == hlo::Opcode::kConvert &&
           v->type == hlo::PrimitiveType::kF32) {
      v = &e_.nodes[v->inputs[0]];
    }
    return v->kind == ExprNode::Kind::kLeaf &&
           v->argument < Expression::kReduced &&
           v->type == hlo::PrimitiveType::kBf16;
  }

  // Whether blocks that hold all of a kept tile finish it themselves.
  bool Joins(const Reduction& r) const {
    return Now(r) && r.dense && !t_.thrifty && t_.reduced_grid.empty() &&
           joined_[NumberOf(r)].finishes();
  }

  int64_t Offset(const NestCode& n, int k, int row, int column) const {
    const NestCode::Pointer& p = n.pointer(pointers_[k]);
    return p.offset + (g_.row_axis >= 0 ? row * p.strides[g_.row_axis] : 0) +
           column * p.strides[g_.column_axis];
  }

  absl::Status Enter(NestCode& n, const Region& region) {
    kept_rows_ = KeepsRows() ? region.rows : 1;
    kept_columns_ = KeepsColumns() ? region.columns : 1;
    finished_ = n.joined();
    if (!n.joined()) {
      b_.BeginScope();
      b_.NewBlock("accumulators");
    }
    accumulators_.clear();
    for (size_t k = 0; k < t_.reductions.size(); ++k) {
      const Reduction& r = t_.reductions[k];
      if (!Now(r)) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          accumulators_.push_back(Start(n, static_cast<int>(k), row, c));
        }
      }
    }
    return absl::OkStatus();
  }

  // What a chain begins with; nothing, where its first value will do.
  Vec Start(NestCode& n, int k, int row, int column) {
    const Reduction& r = t_.reductions[k];
    if (n.joined()) {
      return t_.reduced_grid.empty() ? Vec() : LoadPartial(n, k, row, column);
    }
    const Vec acc = b_.GlobalVec();
    if (t_.reduced_grid.empty()) {
      StartOf(r, acc);
    } else {
      b_.Redirect(LoadPartial(n, k, row, column), acc);
    }
    return acc;
  }

  Vec LoadPartial(NestCode& n, int k, int row, int column) {
    return b_.Load(kPartialSpace, n.ValueOf(pointers_[k]),
                   static_cast<int32_t>(Offset(n, k, row, column)));
  }

  void StorePartial(NestCode& n, int k, int row, int column, Vec v) {
    b_.Store(kPartialSpace, n.ValueOf(pointers_[k]),
             static_cast<int32_t>(Offset(n, k, row, column)), v);
  }

  // Lanes and sublanes of the tile that are inside the array.
  std::optional<Mask> Inside(const Region& region, int row, int column) {
    int lanes = 128, sublanes = 8;
    if (g_.linear) {
      const Axis& a = g_.axes[g_.column_axis];
      const int64_t rest = a.elements % 1024;
      if (!region.column_end || column + 1 < region.columns || rest == 0) {
        return std::nullopt;
      }
      return b_.CompareImm(Opcode::kVcmpLtS32, b_.LaneSequence(),
                           static_cast<uint32_t>(rest));
    }
    if (!KeepsColumns() && region.column_end && column + 1 == region.columns) {
      const int64_t rest = g_.axes[g_.column_axis].elements % 128;
      if (rest != 0) lanes = static_cast<int>(rest);
    }
    if (g_.row_axis >= 0 && !KeepsRows()) {
      sublanes = g_.base_rows;
      if (region.row_end && row + 1 == region.rows) {
        const int64_t rest = g_.axes[g_.row_axis].elements % g_.base_rows;
        if (rest != 0) sublanes = static_cast<int>(rest);
      }
    }
    if (lanes == 128 && sublanes == 8) return std::nullopt;
    return b_.Range(0, lanes, 0, sublanes);
  }

  // Tile by tile, all reductions of it at once: few values are alive.
  absl::Status Body(NestCode& n, const Region& region) {
    const int unit =
        g_.row_axis >= 0 ? static_cast<int>(g_.axes[g_.row_axis].unit) : 1;
    const bool at_once = !KeepsRows() || ReducesMajors() || t_.thrifty;
    const bool pairs = finished_ && !at_once && OnlyPairs();
    for (int y = 0; y < region.rows; ++y) {
      if (!pairs) {
        RETURN_IF_ERROR(AddTiles(n, region, y));
      } else if (y % 32 == 0) {
        for (int k = 0; k < 32; ++k) {
          const int row = y + k / 2 + k % 2 * 16;
          if (row < region.rows) RETURN_IF_ERROR(AddTiles(n, region, row));
        }
      }
      const int end = y + 1;
      if (end % unit != 0 && end < region.rows) continue;
      RETURN_IF_ERROR(n.StoreRows(region, y / unit * unit, end));
      if (finished_ && !at_once) {
        RETURN_IF_ERROR(FinishRows(n, y / unit * unit, end));
      }
    }
    return absl::OkStatus();
  }

  // Nothing but reductions of which tiles 16 rows apart share words: they are
  // made one after the other.
  bool OnlyPairs() const {
    for (const Reduction& r : t_.reductions) {
      if (!Joins(r) || joined_[NumberOf(r)].together() != 32) {
        return false;
      }
    }
    return t_.reductions.size() == e_.roots.size();
  }

  absl::Status AddTiles(NestCode& n, const Region& region, int y) {
    for (int x = 0; x < region.columns; ++x) {
      size_t at = static_cast<size_t>(KeepsRows() ? y : 0) * kept_columns_ +
                  (KeepsColumns() ? x : 0);
      for (const Reduction& r : t_.reductions) {
        if (!Now(r)) continue;
        if (r.extremum >= 0) {
          at += static_cast<size_t>(kept_rows_) * kept_columns_;
          continue;
        }
        ASSIGN_OR_RETURN(Vec words, Term(n, region, r, y, x));
        RETURN_IF_ERROR(AddPositions(n, r, words, y, x));
        RETURN_IF_ERROR(Accumulate(r, words, finished_, &accumulators_[at]));
        JoinedResult& joined = joined_[NumberOf(r)];
        if (finished_ && Joins(r) && joined.pairs_words(y)) {
          Vec& first = accumulators_[at - 16 * kept_columns_];
          first = joined.Paired(first, accumulators_[at]);
        }
        at += static_cast<size_t>(kept_rows_) * kept_columns_;
      }
    }
    return absl::OkStatus();
  }

  // The accumulator of a reduction's tile, of this stage.
  Vec& AccumulatorOf(const Reduction& r, int y, int x) {
    size_t before = 0;
    for (const Reduction& other : t_.reductions) {
      if (&other == &r) break;
      before += Now(other) ? 1 : 0;
    }
    return accumulators_[(before * kept_rows_ + (KeepsRows() ? y : 0)) *
                             kept_columns_ +
                         (KeepsColumns() ? x : 0)];
  }

  // Positions of a reduction's extrema, before `words` are met.
  absl::Status AddPositions(NestCode& n, const Reduction& extremum, Vec words,
                            int y, int x) {
    for (const Reduction& r : t_.reductions) {
      if (!IsPositionOf(r, extremum)) continue;
      ASSIGN_OR_RETURN(const Vec here, PositionsOf(n, r, y, x));
      Vec& accumulator = AccumulatorOf(r, y, x);
      if (!accumulator.valid()) {
        accumulator = here;
        continue;
      }
      ASSIGN_OR_RETURN(const Vec v, PositionFold(extremum, r, b_)
                                        .Earlier({AccumulatorOf(extremum, y, x),
                                                  accumulator},
                                                 {words, here}));
      if (finished_) {
        accumulator = v;
      } else {
        b_.Redirect(v, accumulator);
      }
    }
    return absl::OkStatus();
  }

  // The index of each element of a tile. Of those in a body one is held in a
  // register, the others are made of it.
  absl::StatusOr<Vec> PositionsOf(NestCode& n, const Reduction& r, int y,
                                  int x) {
    const int node = e_.roots[r.root];
    const int axis = g_.axis_of_dim[e_.nodes[node].iota_dim];
    const bool rows = axis >= 0 && axis == g_.row_axis;
    const bool columns = axis >= 0 && axis == g_.column_axis;
    ASSIGN_OR_RETURN(const Value first,
                     n.Eval(node, rows ? 0 : y, columns ? 0 : x));
    const int beyond = rows      ? y * g_.base_rows
                       : columns ? x * (g_.linear ? 1024 : 128)
                                 : 0;
    return beyond == 0 ? first.vec
                       : b_.BinaryImm(Opcode::kVaddS32, first.vec, beyond);
  }

  bool ReducesMajors() const {
    return std::any_of(g_.axes.begin(), g_.axes.end(), [](const Axis& a) {
      return a.kind == Axis::Kind::kMajor && a.reduced;
    });
  }

  // In a block that holds all of the kept rows [first, end): their results.
  absl::Status FinishRows(NestCode& n, int first, int end) {
    size_t next = 0;
    for (size_t k = 0; k < t_.reductions.size(); ++k) {
      const Reduction& r = t_.reductions[k];
      if (!Now(r)) continue;
      const Vec* kept = &accumulators_[next];
      next += static_cast<size_t>(kept_rows_) * kept_columns_;
      const auto at = [&](int row, int c) {
        return kept[static_cast<size_t>(row) * kept_columns_ + c];
      };
      for (int row = first; row < end; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          RETURN_IF_ERROR(Keep(n, static_cast<int>(k), row, c, at(row, c)));
        }
      }
      if (!Joins(r)) continue;
      const int together = joined_[k].together();
      for (int row = first; row < end; ++row) {
        const bool last_row = row + 1 == kept_rows_;
        if ((row + 1) % together != 0 && !last_row) continue;
        const int from = row / together * together;
        for (int c = 0; c < kept_columns_; ++c) {
          std::vector<Vec> partials, extrema;
          for (int t = from; t <= row; ++t) {
            partials.push_back(at(t, c));
            if (r.extremum < 0) continue;
            extrema.push_back(AccumulatorOf(*ExtremumOf(r), t, c));
          }
          RETURN_IF_ERROR(
              joined_[k].Finish(n, from, c, partials, extrema,
                                last_row && c + 1 == kept_columns_));
        }
      }
    }
    return absl::OkStatus();
  }

  // To scratch, what others read there.
  absl::Status Keep(NestCode& n, int k, int row, int column, Vec partial) {
    const Reduction& r = t_.reductions[k];
    const bool read_back = e_.read_back[r.root];
    const bool unfinished =
        (r.dense && !Joins(r)) ||
        std::any_of(t_.reductions.begin(), t_.reductions.end(),
                    [&](const Reduction& p) {
                      return IsPositionOf(p, r) && !Joins(p);
                    });
    if (read_back && !unfinished && t_.reduced_grid.empty()) {
      ASSIGN_OR_RETURN(partial, joined_[k].Expanded(partial));
    } else if (!unfinished && !read_back) {
      return absl::OkStatus();
    }
    StorePartial(n, k, row, column, partial);
    return absl::OkStatus();
  }

  // What the tile adds to the reduction.
  absl::StatusOr<Vec> Term(NestCode& n, const Region& region,
                           const Reduction& r, int row, int column) {
    const int node = e_.roots[r.root];
    ASSIGN_OR_RETURN(Value v, n.Eval(node, row, column));
    const Vec words = n.AsWords(node, v);
    const auto inside = Inside(region, row, column);
    if (!inside) return words;
    return b_.SelectImm(*inside, words, MonoidIdentity(r.op, r.type));
  }

  // A chain, as the TPU compiler has it, through one register per kept tile.
  absl::Status Accumulate(const Reduction& r, Vec value, bool local,
                          Vec* accumulator) {
    if (!accumulator->valid()) {
      *accumulator = value;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Value v, EmitMonoid(b_, r.op, r.type, Value::Of(value),
                                         Value::Of(*accumulator)));
    if (local) {
      *accumulator = v.vec;
    } else {
      b_.Redirect(v.vec, *accumulator);
    }
    return absl::OkStatus();
  }

  absl::Status Leave(NestCode& n, const Region&) {
    if (finished_) {
      if (KeepsRows() && !ReducesMajors() && !t_.thrifty) {
        return absl::OkStatus();
      }
      return FinishRows(n, 0, kept_rows_);
    }
    b_.NewBlock("partials");
    size_t next = 0;
    for (size_t k = 0; k < t_.reductions.size(); ++k) {
      if (!Now(t_.reductions[k])) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          StorePartial(n, static_cast<int>(k), row, c, accumulators_[next++]);
        }
      }
    }
    b_.EndScope();
    return absl::OkStatus();
  }

  absl::Status Finish(NestCode& n) {
    for (int dim : t_.reduced_grid) {
      b_.BeginWhen(dim, isa::When::Kind::kLast);
    }
    std::vector<int64_t> extent;
    for (size_t a = 0; a < g_.axes.size(); ++a) {
      extent.push_back(n.extent(static_cast<int>(a)));
    }
    for (const Reduction& r : t_.reductions) {
      if (!Now(r) || !r.dense || (finished_ && Joins(r))) continue;
      RETURN_IF_ERROR(
          FinishReduction(r, ExtremumOf(r), g_, t_.cut.plan, extent, b_));
    }
    for (size_t k = 0; k < t_.reduced_grid.size(); ++k) b_.EndWhen();
    for (const Reduction& r : t_.reductions) {
      const bool expanded =
          finished_ && t_.reduced_grid.empty() && (!r.dense || Joins(r));
      if (Now(r) && e_.read_back[r.root] && !expanded) {
        RETURN_IF_ERROR(
            ExpandReduction(r, g_, PartialBytes(r) / isa::kVregBytes, b_));
      }
    }
    if (!t_.epilogue || stage_ + 1 < e_.stages) return absl::OkStatus();
    const int dims = t_.grid_dims;
    for (int d = 0; d < dims; ++d) b_.BeginWhen(d, isa::When::Kind::kLast);
    const ReduceEpilogue& rest = *t_.epilogue;
    NestCode nest(rest.e, rest.g, rest.plan, rest.places, b_);
    RETURN_IF_ERROR(nest.Run(NestCode::Hooks()));
    for (int d = 0; d < dims; ++d) b_.EndWhen();
    return absl::OkStatus();
  }

  const Expression& e_;
  const Geometry& g_;
  const ReduceTiling& t_;
  CodeBuilder& b_;
  std::vector<int> pointers_;
  std::vector<Vec> accumulators_;
  std::vector<JoinedResult> joined_;  // per reduction
  int kept_rows_ = 1, kept_columns_ = 1;
  bool finished_ = false;  // the blocks of this step were joined
  int stage_ = 0;
};

}  // namespace

absl::Status WriteReduceStep(const Expression& e, const Geometry& g,
                             const ReduceTiling& tiling, CodeBuilder& b) {
  return ReduceCode(e, g, tiling, b).Step();
}

}  // namespace ptxla::lowering
