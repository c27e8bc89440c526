#include "hlo_backend/lowering/sorting/sort_kernel.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/movement/strip_box.h"
#include "hlo_backend/lowering/sorting/sort_io.h"
#include "hlo_backend/lowering/sorting/sort_network.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;

// Stages between lanes in one block of code: all of a level, or so few that the
// masks of all find registers, where the scheduler runs out of those.
constexpr int kLanes = 7;
constexpr int kFewStages = 5;

class SortKernel {
 public:
  SortKernel(const KernelContext& context, const SortProblem& problem)
      : context_(context), p_(problem), a_(problem.array) {}

  absl::StatusOr<isa::Kernel> Run() {
    absl::StatusOr<isa::Kernel> kernel = RunWith(/*transfers=*/false);
    if (kernel.ok() || !CanTransfer()) return kernel;
    return RunWith(/*transfers=*/true);
  }

 private:
  // Without windows: arrays come to scratch, and go from there, by transfers of
  // their own. Twice as many elements fit.
  bool CanTransfer() const {
    return !rows_form() && a_.linear && a_.planes == 1 && p_.lanes == 128;
  }

  absl::StatusOr<isa::Kernel> RunWith(bool transfers) {
    transfers_ = transfers;
    std::vector<Tiling> tilings;
    absl::Status failed;
    // Registers for 2^w rows of all carried arrays, and what is made of them.
    for (int width = Widest(); width >= 1 && tilings.empty(); --width) {
      for (const int slots : {2, 1}) {
        for (const int64_t columns : ColumnChoices()) {
          ASSIGN_OR_RETURN(Tiling t, Cut(columns, slots, width, kLanes));
          if (VmemBytes(context_, t) > VmemBudget(context_)) {
            failed = absl::UnimplementedError(
                absl::StrCat("%", p_.sort->name(), ": a sort of ", p_.length,
                             " elements in VMEM"));
            continue;
          }
          const auto score = Score(context_, t);
          if (score.ok()) {
            tilings.push_back(std::move(t));
            if (!rows_form() && p_.lane_bits() > kFewStages) {
              ASSIGN_OR_RETURN(Tiling few,
                               Cut(columns, slots, width, kFewStages));
              tilings.push_back(std::move(few));
            }
            break;
          }
          failed = score.status();
        }
        if (!tilings.empty()) break;
      }
    }
    if (tilings.empty()) return failed;
    ASSIGN_OR_RETURN(const size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

  bool rows_form() const { return p_.form == SortProblem::Form::kRows; }

  int Widest() const {
    int width = 3;
    const int64_t room = context_.model.vregs * 5 / 8;
    while (width > 1 && (int64_t{p_.compared()} << width) > room) --width;
    return std::min(width, p_.row_bits());
  }

  // Tiles across of a step: of short sorts several, for long loops.
  std::vector<int64_t> ColumnChoices() const {
    std::vector<int64_t> choices;
    if (rows_form()) {
      const int64_t wanted = std::max<int64_t>(1, 512 / p_.padded);
      for (int64_t c = std::min(wanted, a_.tiles_across); c > 1; --c) {
        if (a_.tiles_across % c == 0) {
          choices.push_back(c);
          break;
        }
      }
    }
    choices.push_back(1);
    return choices;
  }

  absl::StatusOr<Tiling> Cut(int64_t columns, int slots, int width,
                             int lane_stages) const {
    Tiling t;
    ASSIGN_OR_RETURN(t.args, KernelArgs(*p_.sort));
    const int64_t across = rows_form() ? a_.tiles_across / columns
                           : a_.linear ? 1
                                       : a_.tiles_down;
    t.grid = {a_.planes, across};
    t.megacore_dim = a_.planes > 1 ? 0 : across > 1 ? 1 : -1;
    std::vector<int64_t> strides;
    for (size_t arg = 0; arg < t.args.size() && !transfers_; ++arg) {
      t.windows.push_back(MakeWindow(static_cast<int>(arg), columns, slots));
      strides.push_back(RowStride(t, static_cast<int>(arg), columns));
    }
    const int64_t rows = Rows(columns, width);
    const int64_t array_bytes =
        RoundUpTo<int64_t>(rows * isa::kRowBytes, isa::kVmemAlignment);
    const bool staging =
        transfers_ ? !p_.index : !rows_form() && LaneSortIo::NeedsStaging(p_);
    const int arrays = p_.carried() + (staging ? 1 : 0);
    t.scratch_bytes = arrays * array_bytes;
    std::vector<StripDma> dmas;
    for (size_t arg = 0; arg < t.args.size() && transfers_; ++arg) {
      dmas.push_back(Transfer(static_cast<int>(arg), &t));
    }
    t.note = absl::StrCat(p_.padded, " elements, ", p_.carried(), " arrays, ",
                          1 << width, " rows at once");
    t.spills = true;
    t.body = [=](CodeBuilder& b) {
      return Body(b, columns, width, lane_stages, array_bytes, strides, dmas);
    };
    return t;
  }

  // The whole array, between the argument and scratch.
  StripDma Transfer(int arg, Tiling* t) const {
    StripDma dma;
    dma.to_arg = arg >= p_.operands;
    dma.bytes = a_.bytes();
    isa::DmaDescriptor d;
    (dma.to_arg ? d.dst_arg : d.src_arg) = arg;
    d.inner_bytes = dma.bytes;
    d.semaphore = dma.semaphore = t->num_semaphores++;
    dma.descriptor = static_cast<int>(t->descriptors.size());
    t->descriptors.push_back(std::move(d));
    if (t->args[arg].space == isa::Space::kHbm) t->work.hbm_bytes += dma.bytes;
    return dma;
  }

  // Of all sorts of a step, and as many as the widest pass walks at once.
  int64_t Rows(int64_t columns, int width) const {
    const int64_t rows = rows_form() ? columns * p_.padded : p_.rows;
    return RoundUpTo<int64_t>(rows, int64_t{8} << width);
  }

  int64_t RowStride(const Tiling& t, int arg, int64_t columns) const {
    const bool resident = t.args[arg].space == isa::Space::kVmem;
    return resident ? a_.row_stride() : columns * a_.tile_bytes();
  }

  isa::Window MakeWindow(int arg, int64_t columns, int slots) const {
    isa::Window w;
    w.arg = arg;
    w.direction =
        arg < p_.operands ? isa::Direction::kIn : isa::Direction::kOut;
    w.slots = slots;
    isa::WindowDim plane;
    plane.extent = a_.planes;
    plane.hbm_stride = plane.vmem_stride = a_.plane_stride();
    plane.grid_dim = 0;
    isa::WindowDim row;
    row.extent = a_.tiles_down;
    row.hbm_stride = a_.row_stride();
    isa::WindowDim column;
    column.extent = a_.tiles_across;
    column.hbm_stride = column.vmem_stride = a_.tile_bytes();
    if (rows_form()) {
      row.block = a_.tiles_down;
      row.vmem_stride = columns * a_.tile_bytes();
      column.block = columns;
      column.grid_dim = 1;
    } else {
      row.block = a_.linear ? a_.tiles_down : 1;
      row.vmem_stride = a_.row_stride();
      row.grid_dim = a_.linear ? -1 : 1;
      column.block = a_.tiles_across;
    }
    w.dims = {plane, row, column};
    w.inner_bytes = a_.tile_bytes();
    // Registers reach beyond tiles of fewer than 8 rows.
    w.slot_bytes =
        RoundUpTo<int64_t>(row.block * column.block * a_.tile_bytes() +
                               (a_.tile_rows < 8 ? isa::kVregBytes : 0),
                           isa::kVregBytes);
    return w;
  }

  absl::Status Body(CodeBuilder& b, int64_t columns, int width, int lane_stages,
                    int64_t array_bytes, const std::vector<int64_t>& strides,
                    const std::vector<StripDma>& dmas) const {
    b.BeginScope();
    b.NewBlock("addresses");
    SortLayout layout;
    layout.rows = Rows(columns, width);
    layout.width = width;
    layout.lane_stages = lane_stages;
    layout.array_bytes = array_bytes;
    layout.base = b.GlobalSca();
    b.ScratchAddress(layout.base, 0);
    b.SetBank(layout.base, CodeBuilder::kAbsoluteBanks, 0);
    absl::Status status;
    const int64_t rows = a_.linear ? 1 : std::min(a_.tile_rows, a_.rows);
    if (rows_form()) {
      status = RowsBody(b, layout, columns, strides);
    } else if (transfers_) {
      status = TransferBody(b, layout, dmas);
    } else if (rows == 1) {
      status = LanesBody(b, layout, {});
    } else {
      const Sca row = b.BeginLoop(rows, isa::kRowBytes);
      status = LanesBody(b, layout, row);
      b.EndLoop();
    }
    b.EndScope();
    return status;
  }

  // Positions of all elements, or of padding behind those of an operand.
  int64_t CountFrom() const { return p_.index ? 0 : p_.length; }
  bool Counts() const { return p_.index || (p_.pads() && p_.position >= 0); }

  // `move(window, address)` with the address of each window from `first` on.
  template <class F>
  void ForWindows(CodeBuilder& b, int first, Sca row, F move) const {
    for (int w = first; w < first + p_.operands; ++w) {
      b.BeginScope();
      b.NewBlock("window");
      const Sca at = b.GlobalSca();
      b.WindowAddress(at, w);
      if (row.valid()) b.SBinaryTo(at, isa::Opcode::kSadd, at, row);
      move(w - first, w, at);
      b.EndScope();
    }
  }

  absl::Status RowsBody(CodeBuilder& b, const SortLayout& layout,
                        int64_t columns,
                        const std::vector<int64_t>& strides) const {
    RowSortIo io(p_, layout, &b);
    const auto tiles = [&](int window) {
      return SortTiles{strides[window], a_.tile_bytes(), columns, a_.tile_rows};
    };
    ForWindows(b, 0, {}, [&](int array, int window, Sca at) {
      io.Load(array, at, tiles(window));
    });
    if (Counts()) io.Count(p_.position, CountFrom());
    SortOrder order(p_, &b);
    RETURN_IF_ERROR(SortNetwork(p_, layout, &order, &b).Emit());
    ForWindows(b, p_.operands, {}, [&](int array, int window, Sca at) {
      io.Store(array, at, tiles(window));
    });
    return absl::OkStatus();
  }

  absl::Status LanesBody(CodeBuilder& b, const SortLayout& layout,
                         Sca row) const {
    LaneSortIo io(p_, layout, &b);
    const int64_t chunk = a_.linear ? isa::kRowBytes : a_.tile_bytes();
    ForWindows(b, 0, row,
               [&](int array, int, Sca at) { io.Load(array, at, chunk); });
    if (Counts()) io.Count(p_.position, CountFrom());
    SortOrder order(p_, &b);
    RETURN_IF_ERROR(SortNetwork(p_, layout, &order, &b).Emit());
    ForWindows(b, p_.operands, row,
               [&](int array, int, Sca at) { io.Store(array, at, chunk); });
    return absl::OkStatus();
  }

  // Positions that the kernel made are no result: results are staged there.
  absl::Status TransferBody(CodeBuilder& b, const SortLayout& layout,
                            const std::vector<StripDma>& dmas) const {
    LaneSortIo io(p_, layout, &b);
    const Sca zero = b.GlobalSca(), at = b.GlobalSca();
    b.SImmTo(zero, 0);
    const auto run = [&](int dma, int64_t scratch) {
      b.NewBlock("place");
      b.SBinaryImmTo(at, isa::Opcode::kSadd, layout.base,
                     static_cast<int32_t>(scratch));
      dmas[dma].Run(b, zero, at);
    };
    for (int k = 0; k < p_.operands; ++k) run(k, k * layout.array_bytes);
    if (Counts()) io.Count(p_.position, CountFrom());
    SortOrder order(p_, &b);
    RETURN_IF_ERROR(SortNetwork(p_, layout, &order, &b).Emit());
    const int64_t staging = p_.operands * layout.array_bytes;
    for (int k = 0; k < p_.operands; ++k) {
      io.Stage(k, staging);
      run(p_.operands + k, staging);
    }
    return absl::OkStatus();
  }

  const KernelContext& context_;
  const SortProblem& p_;
  const PhysicalArray& a_;
  bool transfers_ = false;
};

}  // namespace

absl::StatusOr<isa::Kernel> EmitSort(const KernelContext& context,
                                     const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const SortProblem problem, SortProblem::Of(i));
  return SortKernel(context, problem).Run();
}

}  // namespace ptxla::lowering
