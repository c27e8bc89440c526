#include "hlo_backend/lowering/movement/minor_transpose.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/movement/plane_transpose.h"
#include "hlo_backend/lowering/movement/staged_window.h"
#include "hlo_backend/lowering/movement/transpose_problem.h"
#include "hlo_backend/lowering/movement/transpose_unit.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

constexpr int64_t kBlock = kTransposeBlock;
// 128 x 128 each: 1,024 registers, as in other unrolled code.
constexpr int64_t kMostBlocks = 64;
// Of one piece of code; a step may have several.
constexpr int64_t kMostPlanes = 128;

class Transposer {
 public:
  Transposer(const KernelContext& context, const hlo::Instruction& i,
             const TransposeProblem& p)
      : context_(context), i_(i), p_(p), pack_(p.in.packing) {}

  // As the TPU compiler unrolls it: the step in one piece of code, so that only
  // the last blocks wait for the transpose units; less where registers do not
  // suffice.
  absl::StatusOr<isa::Kernel> Run() {
    for (const int64_t blocks :
         {kMostBlocks, int64_t{2} * context_.model.xlus}) {
      blocks_ = blocks;
      auto kernel = RunWith();
      if (kernel.ok() || !absl::IsResourceExhausted(kernel.status()) ||
          blocks != kMostBlocks) {
        return kernel;
      }
    }
    return absl::InternalError("no blocks");
  }

 private:
  absl::StatusOr<isa::Kernel> RunWith() {
    // Blocks of 128 x 128: down the operand's rows, across its columns.
    const int64_t down = CeilOfRatio<int64_t>(p_.in.rows, 128);
    const int64_t across = p_.in.tiles_across;
    std::vector<Tiling> tilings;
    const int64_t whole = std::max(down, across);
    for (const int64_t side : {int64_t{4}, int64_t{8}, int64_t{2}, int64_t{1},
                               Resident() && whole > 8 ? whole : 1}) {
      if (side > 1 && side / 2 >= std::max(down, across)) continue;
      down_ = RoundUpTo<int64_t>(std::min(side, down), pack_);
      across_ = RoundUpTo<int64_t>(std::min(side, across), pack_);
      planes_ = together_ = 1;
      ASSIGN_OR_RETURN(Tiling t, Cut(down, across));
      tilings.push_back(std::move(t));
    }
    // Small planes: several in a step, many of them in one piece of code.
    for (const auto& [planes, together] : PlaneChoices()) {
      planes_ = planes;
      together_ = together;
      down_ = down;
      across_ = across;
      ASSIGN_OR_RETURN(Tiling t, Cut(down, across));
      tilings.push_back(std::move(t));
    }
    ASSIGN_OR_RETURN(size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

  // Units of work (pack x pack blocks) in one piece of code.
  int64_t UnitsTogether() const {
    return std::max<int64_t>(1, blocks_ / (pack_ * pack_));
  }

  bool Resident() const {
    return i_.shape().memory_space() == hlo::kMemoryVmem ||
           i_.operand(0)->shape().memory_space() == hlo::kMemoryVmem;
  }

  // Planes of a step and of a piece of code, where a plane is small.
  std::vector<std::pair<int64_t, int64_t>> PlaneChoices() const {
    std::vector<std::pair<int64_t, int64_t>> choices;
    const int64_t tiles = p_.in.tiles_down * p_.in.tiles_across;
    if (p_.PlaneDim() < 0 || tiles > PlaneTranspose::kMostTiles) return choices;
    const int64_t all = p_.out.sizes[p_.PlaneDim()];
    const int64_t code = std::max<int64_t>(1, blocks_ * kBlock / 2 / tiles);
    int64_t before = 0;
    for (const int64_t most : {8, 32, 128, 512}) {
      int64_t planes = std::min(most, all);
      if (planes == before) break;
      before = planes;
      // Nothing may lie beyond arrays that are walked in place.
      while (Walked() && all % planes != 0) --planes;
      if (planes == 1) continue;
      for (const int64_t in_code : {int64_t{4}, std::min(code, kMostPlanes)}) {
        int64_t together = std::min(in_code, planes);
        while (planes % together != 0) --together;
        const std::pair<int64_t, int64_t> choice(planes, together);
        if (choices.empty() || choices.back() != choice) {
          choices.push_back(choice);
        }
      }
    }
    return choices;
  }

  // An operand or result in VMEM that is not copied to slots.
  bool Walked() const {
    const auto walked = [](const hlo::Shape& shape, const PhysicalArray& a) {
      return shape.memory_space() == hlo::kMemoryVmem && !NeedsStaging(a);
    };
    return walked(i_.operand(0)->shape(), p_.in) || walked(i_.shape(), p_.out);
  }

  using Side = TransposeSide;

  absl::StatusOr<Tiling> Cut(int64_t down, int64_t across) {
    Tiling t;
    ASSIGN_OR_RETURN(t.args, KernelArgs(i_));
    const int rank = p_.in.rank();
    // Grid: the result's majors, then block rows and columns of the operand.
    std::vector<int> major_dim(rank, -1);
    for (int q = 0; q + 2 < rank; ++q) {
      if (p_.out.sizes[q] == 1) continue;
      major_dim[q] = static_cast<int>(t.grid.size());
      t.grid.push_back(q == p_.PlaneDim()
                           ? CeilOfRatio(p_.out.sizes[q], planes_)
                           : p_.out.sizes[q]);
    }
    const int down_dim = static_cast<int>(t.grid.size());
    t.grid.push_back(CeilOfRatio(down, down_));
    const int across_dim = down_dim + 1;
    t.grid.push_back(CeilOfRatio(across, across_));
    for (size_t d = 0; d < t.grid.size() && t.megacore_dim < 0; ++d) {
      if (t.grid[d] > 1) t.megacore_dim = static_cast<int>(d);
    }
    std::vector<int> in_major(rank, -1);
    for (int q = 0; q + 2 < rank; ++q) in_major[p_.from[q]] = major_dim[q];
    const int plane = p_.PlaneDim();
    in_ = AddWindow(&t, 0, p_.in, in_major, plane < 0 ? -1 : p_.from[plane],
                    down_dim, planes_ > 1 ? p_.in.tiles_down : down_ * kBlock,
                    across_dim, across_);
    out_ = AddWindow(&t, 1, p_.out, major_dim, plane, across_dim,
                     planes_ > 1 ? p_.out.tiles_down : across_ * kBlock,
                     down_dim, planes_ > 1 ? p_.out.tiles_across : down_);
    const Side in = in_, out = out_;
    const int64_t rows = down_, columns = across_;
    const bool ragged_store =
        out.resident && (across % across_ != 0 || p_.out.tiles_down % kBlock ||
                         p_.out.tiles_across % pack_);
    const int64_t planes = planes_, together = together_;
    if (planes == 1 && (in.resident || out.resident) &&
        (rows < down || columns < across)) {
      t.body = [=](CodeBuilder& b) {
        return InSteps(b, in, out, {down, rows, down_dim},
                       {across, columns, across_dim});
      };
      t.note = absl::StrCat("blocks ", down_, "x", across_);
      return t;
    }
    t.body = [=](CodeBuilder& b) -> absl::Status {
      if (planes > 1) return Planes(b, in, out, planes, together);
      if (!ragged_store) return Body(b, in, out, rows, columns, kBlock, false);
      // Nothing may be written beyond a result that is walked in place.
      const int64_t last_columns =
          across - (CeilOfRatio(across, columns) - 1) * columns;
      b.BeginWhen(across_dim, isa::When::Kind::kNotLast);
      RETURN_IF_ERROR(Body(b, in, out, rows, columns, kBlock, false));
      b.EndWhen();
      b.BeginWhen(across_dim, isa::When::Kind::kLast);
      const int64_t tiles = p_.out.tiles_down % kBlock;
      RETURN_IF_ERROR(Body(b, in, out, rows, last_columns,
                           tiles == 0 ? kBlock : tiles, true));
      b.EndWhen();
      return absl::OkStatus();
    };
    t.note = absl::StrCat("blocks ", down_, "x", across_);
    if (planes_ > 1) {
      absl::StrAppend(&t.note, ", ", planes_, " planes, ", together_,
                      " at a time");
    }
    return t;
  }

  Side AddWindow(Tiling* t, int arg, const PhysicalArray& a,
                 const std::vector<int>& major_dim, int plane_dim, int row_dim,
                 int64_t row_tiles, int column_dim, int64_t column_tiles) {
    Side s;
    s.resident = t->args[arg].space == isa::Space::kVmem;
    // A block has room for tiles of 8 rows, however low they are.
    const int64_t full = int64_t{8} * isa::kLanes * a.bits / 8;
    const bool staged = s.resident && NeedsStaging(a);
    if (staged) s.resident = false;
    s.tile_bytes = s.resident ? a.tile_bytes() : full;
    s.rows = a.tiles_down;
    s.columns = a.tiles_across;
    s.row_stride = s.resident ? a.row_stride() : column_tiles * full;
    s.plane_bytes = RoundUpTo<int64_t>(row_tiles * column_tiles * s.tile_bytes,
                                       isa::kVregBytes);
    isa::Window w;
    w.arg = arg;
    w.direction = arg == 0 ? isa::Direction::kIn : isa::Direction::kOut;
    int64_t plane = a.plane_stride();
    for (int d = a.rank() - 3; d >= 0; --d) {
      isa::WindowDim m;
      m.extent = a.sizes[d];
      m.hbm_stride = m.vmem_stride = plane;
      m.grid_dim = major_dim[d];
      if (d == plane_dim && planes_ > 1) {
        m.block = planes_;
        if (s.resident) {
          s.plane_bytes = plane;
        } else {
          m.vmem_stride = s.plane_bytes;
        }
      }
      plane *= a.sizes[d];
      if (m.grid_dim >= 0) w.dims.insert(w.dims.begin(), m);
    }
    isa::WindowDim r;
    r.block = row_tiles;
    r.extent = a.tiles_down;
    r.hbm_stride = a.row_stride();
    r.vmem_stride = s.row_stride;
    r.grid_dim = row_dim;
    w.dims.push_back(r);
    isa::WindowDim c;
    c.block = column_tiles;
    c.extent = a.tiles_across;
    c.hbm_stride = a.tile_bytes();
    c.vmem_stride = s.tile_bytes;
    c.grid_dim = column_dim;
    w.dims.push_back(c);
    w.inner_bytes = a.tile_bytes();
    w.slot_bytes = planes_ * s.plane_bytes;
    // The last of an odd number of packed tiles is loaded with what follows.
    if (pack_ > 1) w.slot_bytes += isa::kVregBytes;
    if (staged) {
      s.copy = StagedWindow::Add(w, t);
      return s;
    }
    s.window = static_cast<int>(t->windows.size());
    t->windows.push_back(std::move(w));
    return s;
  }

  absl::Status Planes(CodeBuilder& b, const Side& in, const Side& out,
                      int64_t planes, int64_t together) {
    b.BeginScope();
    PlaneTranspose code(&b, pack_, in, out);
    b.NewBlock("addresses");
    const Sca from = b.GlobalSca(), to = b.GlobalSca();
    Address(b, in, from);
    Address(b, out, to);
    if (in.copy) in.copy->Copy(b, from);
    b.BeginLoop(planes / together, 1);
    b.NewBlock("planes");
    code.Emit(from, to, together);
    b.SBinaryImmTo(from, Opcode::kSadd, from,
                   static_cast<int32_t>(together * in.plane_bytes));
    b.SBinaryImmTo(to, Opcode::kSadd, to,
                   static_cast<int32_t>(together * out.plane_bytes));
    b.EndLoop();
    Store(b, out);
    b.EndScope();
    return absl::OkStatus();
  }

  // Blocks along one dimension: of the operand, of a step, and the grid's.
  struct Blocks {
    int64_t all, step;
    int grid_dim;
    int64_t OfLast() const { return all - (CeilOfRatio(all, step) - 1) * step; }
  };

  // Several steps over an array that is walked in place, where nothing may be
  // read or written beyond it: the last ones have code of their own.
  absl::Status InSteps(CodeBuilder& b, const Side& in, const Side& out,
                       const Blocks& down, const Blocks& across) {
    const auto part = [&](bool last_down, bool last_across) {
      Side from = in, to = out;
      const int64_t rows = last_down ? down.OfLast() : down.step;
      const int64_t columns = last_across ? across.OfLast() : across.step;
      const int64_t before = (CeilOfRatio(down.all, down.step) - 1) * down.step;
      from.rows = last_down ? in.rows - before * kBlock : rows * kBlock;
      from.columns = columns;
      to.columns = rows;
      const int64_t tiles = p_.out.tiles_down % kBlock;
      return Body(b, from, to, rows, columns,
                  last_across && tiles != 0 ? tiles : kBlock, out.resident);
    };
    const auto of_rows = [&](bool last_down) -> absl::Status {
      if (across.step >= across.all) return part(last_down, true);
      b.BeginWhen(across.grid_dim, isa::When::Kind::kNotLast);
      RETURN_IF_ERROR(part(last_down, false));
      b.EndWhen();
      b.BeginWhen(across.grid_dim, isa::When::Kind::kLast);
      RETURN_IF_ERROR(part(last_down, true));
      b.EndWhen();
      return absl::OkStatus();
    };
    if (down.step >= down.all) return of_rows(true);
    b.BeginWhen(down.grid_dim, isa::When::Kind::kNotLast);
    RETURN_IF_ERROR(of_rows(false));
    b.EndWhen();
    b.BeginWhen(down.grid_dim, isa::When::Kind::kLast);
    RETURN_IF_ERROR(of_rows(true));
    b.EndWhen();
    return absl::OkStatus();
  }

  // `columns` block columns of the operand; of the last, `last_tiles` row tiles
  // of the result exist.
  absl::Status Body(CodeBuilder& b, Side in, Side out, int64_t rows,
                    int64_t columns, int64_t last_tiles, bool exact) {
    b.BeginScope();
    unit_.emplace(&b, pack_);
    b.NewBlock("addresses");
    const Sca from = b.GlobalSca(), to = b.GlobalSca();
    Address(b, in, from);
    Address(b, out, to);
    if (in.copy) in.copy->Copy(b, from);
    const int64_t step = pack_;
    const bool cut = exact && (last_tiles != kBlock || columns % step != 0);
    const int64_t full =
        cut ? (columns - 1) / step * step : CeilOfRatio(columns, step) * step;
    // Two units of work side by side where there are two transpose units.
    const int64_t together = std::min(full, UnitsTogether() * step);
    const Sca f = b.GlobalSca(), t = b.GlobalSca();
    const int64_t row_loops = CeilOfRatio(rows, step);
    // Nothing is read beyond an operand that is walked in place.
    const bool unrolled = in.resident && in.rows % (kBlock * step) != 0;
    in_tiles_ = kBlock * step;
    if (full == columns && full <= together) {
      FewColumns(b, in, out, row_loops, full, unrolled, exact, from, to);
      Store(b, out);
      b.EndScope();
      return absl::OkStatus();
    }
    for (int64_t r = 0; r < (unrolled ? row_loops : 1); ++r) {
      if (unrolled && r + 1 == row_loops) {
        in_tiles_ = std::min(in_tiles_, in.rows - r * kBlock * step);
      }
      if (!unrolled) b.BeginLoop(row_loops, 1);
      b.NewBlock("row");
      b.SMove(f, from);
      b.SMove(t, to);
      const auto units = [&](int64_t count, int64_t tiles) -> absl::Status {
        b.NewBlock("blocks");
        for (int64_t c = 0; c < count; c += step) {
          unit_->Emit(in, out, f, t, 0, c, count, tiles, exact, in_tiles_);
        }
        b.SBinaryImmTo(f, Opcode::kSadd, f,
                       static_cast<int32_t>(count * in.tile_bytes));
        b.SBinaryImmTo(t, Opcode::kSadd, t,
                       static_cast<int32_t>(count * kBlock * out.row_stride));
        return absl::OkStatus();
      };
      const int64_t loops = together > 0 ? full / together : 0;
      if (loops > 0) {
        b.BeginLoop(loops, 1);
        RETURN_IF_ERROR(units(together, kBlock));
        b.EndLoop();
      }
      if (full - loops * together > 0) {
        RETURN_IF_ERROR(units(full - loops * together, kBlock));
      }
      if (full < columns) RETURN_IF_ERROR(units(columns - full, last_tiles));
      b.NewBlock("next row");
      b.SBinaryImmTo(from, Opcode::kSadd, from,
                     static_cast<int32_t>(step * kBlock * in.row_stride));
      b.SBinaryImmTo(to, Opcode::kSadd, to,
                     static_cast<int32_t>(step * out.tile_bytes));
      if (!unrolled) b.EndLoop();
    }
    Store(b, out);
    b.EndScope();
    return absl::OkStatus();
  }

  static void Address(CodeBuilder& b, const Side& side, Sca base) {
    if (side.copy) {
      side.copy->Address(b, base);
    } else {
      b.WindowAddress(base, side.window);
    }
  }

  static void Store(CodeBuilder& b, const Side& out) {
    if (!out.copy) return;
    b.NewBlock("result");
    const Sca base = b.GlobalSca();
    out.copy->Address(b, base);
    out.copy->Copy(b, base);
  }

  // An array in VMEM is walked where it is only in full tiles, of packed types
  // in pairs of them.
  static bool NeedsStaging(const PhysicalArray& a) {
    return a.tile_rows < 8 ||
           (a.packing > 1 && (a.tiles_down % 2 != 0 ||
                              (a.tiles_across > 1 && a.tiles_across % 2 != 0)));
  }

  // All columns of several rows of blocks together: as many units of work as
  // the transpose units can have under way.
  void FewColumns(CodeBuilder& b, const Side& in, const Side& out,
                  int64_t row_loops, int64_t columns, bool ragged, bool exact,
                  Sca from, Sca to) {
    const int64_t step = pack_, all = kBlock * step;
    const int64_t rows =
        std::max<int64_t>(1, UnitsTogether() / CeilOfRatio(columns, step));
    const auto some = [&](int64_t count, bool last) {
      b.NewBlock("blocks");
      for (int64_t r = 0; r < count; ++r) {
        // Nothing is read beyond an operand that is walked in place.
        in_tiles_ = last && ragged && r + 1 == count
                        ? std::min(all, in.rows - (row_loops - 1) * all)
                        : all;
        for (int64_t c = 0; c < columns; c += step) {
          unit_->Emit(in, out, from, to, r, c, columns, kBlock, exact,
                      in_tiles_);
        }
      }
      b.SBinaryImmTo(from, Opcode::kSadd, from,
                     static_cast<int32_t>(count * all * in.row_stride));
      b.SBinaryImmTo(to, Opcode::kSadd, to,
                     static_cast<int32_t>(count * step * out.tile_bytes));
    };
    const int64_t loops = (row_loops - 1) / rows;  // the last may be ragged
    if (loops > 0) {
      b.BeginLoop(loops, 1);
      some(rows, false);
      b.EndLoop();
    }
    some(row_loops - loops * rows, true);
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const TransposeProblem& p_;
  const int pack_;
  int64_t down_ = 1, across_ = 1;
  int64_t planes_ = 1, together_ = 1;  // of a step, of a piece of code
  int64_t blocks_ = 1;                 // of 128 x 128 in a piece of code
  std::optional<TransposeUnit> unit_;
  int64_t in_tiles_ = kBlock;  // row tiles of the operand under way
  Side in_, out_;
};

}  // namespace

bool IsMinorTranspose(const hlo::Instruction& i) {
  return DescribeMinorTranspose(i).has_value();
}

absl::StatusOr<isa::Kernel> EmitMinorTranspose(const KernelContext& context,
                                               const hlo::Instruction& i) {
  const auto problem = DescribeMinorTranspose(i);
  if (!problem) {
    return absl::InternalError(absl::StrCat(i.name(), ": no minor transpose"));
  }
  return Transposer(context, i, *problem).Run();
}

}  // namespace ptxla::lowering
