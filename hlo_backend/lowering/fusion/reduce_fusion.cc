// Reductions: fusions of kind kInput, and lone reduce instructions.
//
// One pass over the iteration space leaves one partial register per kept tile
// in scratch; reduction.cc makes results of them. Reduced axes may span several
// grid steps: partial registers then carry over.
#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/reduction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int kPartialSpace = 3000;

// The elementwise rest on the reduced shape, in the last step.
struct Epilogue {
  Expression e;
  Geometry g;
  NestPlan plan;
  std::vector<Place> places;
};

struct ReduceTiling {
  FusionTiling cut;
  std::optional<Epilogue> epilogue;
  std::vector<Reduction> reductions;
  std::vector<int> reduced_grid;  // grid dimensions that are reduced
  int grid_dims = 0;
  // One tile after another, all reductions of it at once: fewer values live.
  bool thrifty = false;
};

class ReduceCode {
 public:
  ReduceCode(const Expression& e, const Geometry& g, const ReduceTiling& t,
             CodeBuilder& b)
      : e_(e), g_(g), t_(t), b_(b) {}

  absl::Status Step() {
    if (!t_.reduced_grid.empty()) FillPartials();
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
      b_.ImmTo(value, MonoidIdentity(r.op, r.type));
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
    for (const Reduction& r : t_.reductions) {
      const int32_t scratch = static_cast<int32_t>(r.scratch);
      pointers_.push_back(n.AddPointer(r.strides, [this, scratch](Sca to) {
        const Sca reg = to.valid() ? to : b_.NewSca();
        b_.ScratchAddress(reg, scratch);
        return reg;
      }));
    }
  }

  int64_t Offset(const NestCode& n, int k, int row, int column) const {
    const NestCode::Pointer& p = n.pointer(pointers_[k]);
    return p.offset + (g_.row_axis >= 0 ? row * p.strides[g_.row_axis] : 0) +
           column * p.strides[g_.column_axis];
  }

  absl::Status Enter(NestCode& n, const Region& region) {
    b_.BeginScope();
    b_.NewBlock("accumulators");
    kept_rows_ = KeepsRows() ? region.rows : 1;
    kept_columns_ = KeepsColumns() ? region.columns : 1;
    accumulators_.clear();
    for (size_t k = 0; k < t_.reductions.size(); ++k) {
      const Reduction& r = t_.reductions[k];
      if (!Now(r)) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          const Vec acc = b_.GlobalVec();
          if (t_.reduced_grid.empty()) {
            b_.ImmTo(acc, MonoidIdentity(r.op, r.type));
          } else {
            const Vec v = b_.Load(
                kPartialSpace, n.ValueOf(pointers_[k]),
                static_cast<int32_t>(Offset(n, static_cast<int>(k), row, c)));
            b_.Redirect(v, acc);
          }
          accumulators_.push_back(acc);
        }
      }
    }
    return absl::OkStatus();
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

  absl::Status Body(NestCode& n, const Region& region) {
    if (t_.thrifty) return ThriftyBody(n, region);
    size_t next = 0;
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          std::vector<Vec> values;
          for (int y = KeepsRows() ? row : 0;
               y < (KeepsRows() ? row + 1 : region.rows); ++y) {
            for (int x = KeepsColumns() ? c : 0;
                 x < (KeepsColumns() ? c + 1 : region.columns); ++x) {
              ASSIGN_OR_RETURN(Vec words, Term(n, region, r, y, x));
              values.push_back(words);
            }
          }
          RETURN_IF_ERROR(Accumulate(r, values, accumulators_[next++]));
        }
      }
    }
    return n.StoreResults(region);
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

  absl::Status ThriftyBody(NestCode& n, const Region& region) {
    const size_t kept = static_cast<size_t>(kept_rows_) * kept_columns_;
    for (int y = 0; y < region.rows; ++y) {
      for (int x = 0; x < region.columns; ++x) {
        size_t next = static_cast<size_t>(KeepsRows() ? y : 0) * kept_columns_ +
                      (KeepsColumns() ? x : 0);
        for (const Reduction& r : t_.reductions) {
          if (!Now(r)) continue;
          ASSIGN_OR_RETURN(Vec words, Term(n, region, r, y, x));
          RETURN_IF_ERROR(Accumulate(r, {words}, accumulators_[next]));
          next += kept;
        }
      }
    }
    return n.StoreResults(region);
  }

  absl::Status Accumulate(const Reduction& r, std::vector<Vec> values,
                          Vec accumulator) {
    // A tree, so that the chain through the accumulator is one step long.
    values.push_back(accumulator);
    size_t count = values.size();
    while (count > 1) {
      size_t to = 0;
      std::vector<Vec> next;
      for (size_t k = 0; k + 1 < count; k += 2) {
        ASSIGN_OR_RETURN(Value v,
                         EmitMonoid(b_, r.op, r.type, Value::Of(values[k]),
                                    Value::Of(values[k + 1])));
        if (count == 2) b_.Redirect(v.vec, accumulator);
        next.push_back(v.vec);
        ++to;
      }
      if (count % 2) next.push_back(values[count - 1]);
      values = std::move(next);
      count = values.size();
    }
    return absl::OkStatus();
  }

  absl::Status Leave(NestCode& n, const Region&) {
    b_.NewBlock("partials");
    size_t next = 0;
    for (size_t k = 0; k < t_.reductions.size(); ++k) {
      if (!Now(t_.reductions[k])) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          b_.Store(kPartialSpace, n.ValueOf(pointers_[k]),
                   static_cast<int32_t>(Offset(n, static_cast<int>(k), row, c)),
                   accumulators_[next++]);
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
      if (!Now(r) || !r.dense) continue;
      RETURN_IF_ERROR(FinishReduction(r, g_, t_.cut.plan, extent, b_));
    }
    for (size_t k = 0; k < t_.reduced_grid.size(); ++k) b_.EndWhen();
    for (const Reduction& r : t_.reductions) {
      if (Now(r) && e_.read_back[r.root]) {
        RETURN_IF_ERROR(
            ExpandReduction(r, g_, PartialBytes(r) / isa::kVregBytes, b_));
      }
    }
    if (!t_.epilogue || stage_ + 1 < e_.stages) return absl::OkStatus();
    const int dims = t_.grid_dims;
    for (int d = 0; d < dims; ++d) b_.BeginWhen(d, isa::When::Kind::kLast);
    const Epilogue& rest = *t_.epilogue;
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
  int kept_rows_ = 1, kept_columns_ = 1;
  int stage_ = 0;
};

int AddWholeWindow(int arg, isa::Direction direction,
                   const PhysicalArray& array, Tiling* tiling) {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  w.inner_bytes = array.bytes();
  w.slots = 1;
  w.slot_bytes = RoundUpTo<int64_t>(w.inner_bytes, isa::kVregBytes);
  tiling->windows.push_back(std::move(w));
  return static_cast<int>(tiling->windows.size()) - 1;
}

absl::Status PlanEpilogue(const KernelContext& context,
                          const hlo::Instruction& i, const Expression& main,
                          ReduceTiling* t) {
  Epilogue rest;
  ASSIGN_OR_RETURN(rest.e,
                   Expression::BuildEpilogue(i, main, t->reductions[0].result));
  ASSIGN_OR_RETURN(rest.g, Geometry::Of(rest.e, 0, i, context.model));
  rest.plan = OrderAxes(rest.g);
  rest.plan.grid_dim.assign(rest.g.axes.size(), -1);
  rest.plan.unroll.assign(rest.g.axes.size(), 1);
  for (const Axis& a : rest.g.axes) rest.plan.block.push_back(a.tiles);
  const int copies = std::max(1, UnrollCandidates(context, rest.g)[0] / 2);
  const Axis& columns = rest.g.axes[rest.g.column_axis];
  rest.plan.unroll[rest.g.column_axis] =
      columns.unit *
      std::max<int64_t>(
          1, std::min<int64_t>(copies / columns.unit, columns.units()));
  if (rest.g.row_axis >= 0) {
    rest.plan.unroll[rest.g.row_axis] = rest.g.axes[rest.g.row_axis].unit;
  }
  for (const Stream& s : rest.g.streams) {
    Place place;
    place.strides = s.strides;
    if (s.argument >= Expression::kReduced) {
      const int root = s.argument - Expression::kReduced;
      for (const Reduction& r : t->reductions) {
        if (r.root == root) place.scratch = r.result_scratch;
      }
    } else if (s.access == Access::kLaneOfRows) {
      return absl::UnimplementedError(absl::StrCat(
          i.name(), ": a value per row in the epilogue of a reduction"));
    } else {
      const bool in = s.node >= 0;
      const int arg = in ? s.argument : i.operand_count() + s.result;
      place.resident = t->cut.tiling.args[arg].space == isa::Space::kVmem;
      place.window =
          AddWholeWindow(arg, in ? isa::Direction::kIn : isa::Direction::kOut,
                         s.array, &t->cut.tiling);
    }
    rest.places.push_back(std::move(place));
  }
  t->epilogue = std::move(rest);
  return absl::OkStatus();
}

absl::StatusOr<ReduceTiling> CutReduction(const KernelContext& context,
                                          const hlo::Instruction& i,
                                          const Expression& e,
                                          const Geometry& g, int64_t target,
                                          int copies) {
  ReduceTiling t;
  ASSIGN_OR_RETURN(t.cut, CutFusion(i, e, g, target, copies));
  const int num_operands = i.operand_count();
  for (size_t root = 0; root < e.roots.size(); ++root) {
    if (e.reduces[root] == nullptr) continue;
    ASSIGN_OR_RETURN(Reduction r,
                     DescribeReduction(i, e, static_cast<int>(root)));
    r.strides.assign(g.axes.size(), 0);
    int64_t bytes = isa::kVregBytes;
    for (int a = static_cast<int>(g.axes.size()) - 1; a >= 0; --a) {
      if (g.axes[a].reduced) continue;
      r.strides[a] = bytes;
      bytes *= t.cut.plan.block[a];
    }
    r.scratch = t.cut.tiling.scratch_bytes;
    t.cut.tiling.scratch_bytes += bytes;
    if (e.results[root] >= 0) {
      r.window = AddWholeWindow(num_operands + e.results[root],
                                isa::Direction::kOut, r.result, &t.cut.tiling);
    } else if (r.dense) {
      r.result_scratch = t.cut.tiling.scratch_bytes;
      t.cut.tiling.scratch_bytes +=
          RoundUpTo<int64_t>(r.result.bytes(), isa::kVregBytes);
    }
    t.reductions.push_back(std::move(r));
  }
  if (!e.epilogue.empty()) {
    RETURN_IF_ERROR(PlanEpilogue(context, i, e, &t));
  }
  for (size_t s = 0; s < g.streams.size(); ++s) {
    if (g.streams[s].access != Access::kPartial) continue;
    for (const Reduction& r : t.reductions) {
      if (g.streams[s].argument != Expression::kReduced + r.root) continue;
      t.cut.places[s].scratch = r.scratch;
      t.cut.places[s].strides = r.strides;
    }
  }
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (g.axes[a].reduced && t.cut.plan.grid_dim[a] >= 0) {
      t.reduced_grid.push_back(t.cut.plan.grid_dim[a]);
    }
  }
  std::sort(t.reduced_grid.begin(), t.reduced_grid.end());
  // A masked store of the last row names a whole register of memory.
  t.cut.tiling.scratch_bytes += isa::kVregBytes;
  return t;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitReduceFusion(const KernelContext& context,
                                             const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const Expression e, Expression::Build(i));
  ASSIGN_OR_RETURN(const Geometry g,
                   Geometry::Of(e, ReducedDims(e), i, context.model));
  const auto make = [&](int copies, int64_t target,
                        bool spills) -> absl::StatusOr<Tiling> {
    ASSIGN_OR_RETURN(ReduceTiling cut,
                     CutReduction(context, i, e, g, target, copies));
    cut.thrifty = spills;
    cut.grid_dims = static_cast<int>(cut.cut.tiling.grid.size());
    Tiling tiling = std::move(cut.cut.tiling);
    tiling.body =
        [&e, &g, cut = std::make_shared<ReduceTiling>(std::move(cut))](
            CodeBuilder& b) { return ReduceCode(e, g, *cut, b).Step(); };
    return tiling;
  };
  return EmitWidestThatFits(context, g, make);
}

}  // namespace ptxla::lowering
