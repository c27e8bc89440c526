#include "hlo_backend/lowering/movement/minor_transpose.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/core_window.h"
#include "hlo_backend/lowering/movement/matrix_step.h"
#include "hlo_backend/lowering/movement/permuted_box.h"
#include "hlo_backend/lowering/movement/plane_transpose.h"
#include "hlo_backend/lowering/movement/transpose_blocks.h"
#include "hlo_backend/lowering/movement/transpose_side.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

// 128 x 128 each: 1,024 registers, as in other unrolled code.
constexpr int64_t kBlocksOfBody = 64;
// Of one piece of code; a step may have several.
constexpr int64_t kMostPlanes = 128;

// Of a transpose or copy that exchanges rows and lanes; nullopt: another one,
// or more planes than a window has dimensions for.
std::optional<Permutation> DescribeMinorTranspose(const hlo::Instruction& i) {
  auto p = DescribePermutation(i);
  if (!p.has_value()) return std::nullopt;
  const int rows = p->rank() - 2, lanes = p->rank() - 1;
  const bool word = p->in.bits == 32;
  const bool narrow = p->in.type == hlo::PrimitiveType::kBf16;
  if (p->from[lanes] != rows || p->from[rows] != lanes || !(word || narrow) ||
      !p->in.HasHighTiles() || !p->out.HasHighTiles()) {
    return std::nullopt;
  }
  p->JoinPlanes();
  if (p->rank() > isa::kMaxWindowDims) return std::nullopt;
  return p;
}

// `planes` small planes, `together` of them in one piece of code.
void WritePlanes(CodeBuilder& b, int pack, const TransposeSide& in,
                 const TransposeSide& out, int64_t planes, int64_t together) {
  b.BeginScope();
  PlaneTranspose code(&b, pack, in, out);
  b.NewBlock("addresses");
  const Sca from = b.GlobalSca(), to = b.GlobalSca();
  in.Address(b, from);
  out.Address(b, to);
  in.Load(b, from);
  b.BeginLoop(planes / together, 1);
  b.NewBlock("planes");
  code.Emit(from, to, together);
  b.SBinaryImmTo(from, Opcode::kSadd, from,
                 static_cast<int32_t>(together * in.plane_bytes));
  b.SBinaryImmTo(to, Opcode::kSadd, to,
                 static_cast<int32_t>(together * out.plane_bytes));
  b.EndLoop();
  out.Store(b);
  b.EndScope();
}

class Transposer {
 public:
  Transposer(const KernelContext& context, const hlo::Instruction& i,
             const Permutation& p)
      : context_(context),
        i_(i),
        p_(p),
        pack_(p.in.packing),
        down_(CeilOfRatio<int64_t>(p.in.rows, 128)),
        across_(p.in.tiles_across) {}

  // As the TPU compiler unrolls it: the step in one piece of code, so that only
  // the last blocks wait for the transpose units; less where registers do not
  // suffice.
  absl::StatusOr<isa::Kernel> Run() {
    for (const int64_t blocks :
         {kBlocksOfBody, int64_t{2} * context_.model.xlus}) {
      blocks_ = blocks;
      auto kernel = RunWith();
      if (kernel.ok() || !absl::IsResourceExhausted(kernel.status()) ||
          blocks != kBlocksOfBody) {
        return kernel;
      }
    }
    return absl::InternalError("no blocks");
  }

 private:
  // Of a step: blocks down the operand's rows and across its columns; or whole
  // planes, and those in one piece of code.
  struct Step {
    int64_t down = 1, across = 1, planes = 1, together = 1;
    bool exact = false, planes_overlap = false;
  };

  absl::StatusOr<isa::Kernel> RunWith() {
    std::vector<Tiling> tilings;
    if (p_.rank() == 2) {
      // The TPU compiler's, where the registers suffice.
      const MatrixStep step = StepOfMatrix(context_, down_, across_, pack_);
      ASSIGN_OR_RETURN(Tiling t, Cut({step.down, step.across}));
      tilings.push_back(std::move(t));
      const auto best = ChooseTiling(context_, tilings);
      if (best.ok()) return FrameKernel(context_, tilings[*best]);
      if (!absl::IsResourceExhausted(best.status())) return best.status();
      tilings.clear();
    }
    const int64_t whole = std::max(down_, across_);
    for (const int64_t side : {int64_t{4}, int64_t{8}, int64_t{2}, int64_t{1},
                               Resident() && whole > 8 ? whole : 1}) {
      if (side > 1 && side / 2 >= whole) continue;
      ASSIGN_OR_RETURN(
          Tiling t, Cut({RoundUpTo<int64_t>(std::min(side, down_), pack_),
                         RoundUpTo<int64_t>(std::min(side, across_), pack_)}));
      tilings.push_back(std::move(t));
    }
    // Small planes: several in a step, many of them in one piece of code.
    auto choices = PlaneChoices(/*exact=*/false);
    bool exact = false;
    if (HasOddTiles()) {
      // A copy costs every step its wait; a few planes a step, as where their
      // number has no divisors, cost more.
      auto walked = PlaneChoices(/*exact=*/true);
      exact =
          !walked.empty() && walked.back().first * 4 >= choices.back().first;
      if (exact) choices = std::move(walked);
    }
    for (const auto& [planes, together] : choices) {
      ASSIGN_OR_RETURN(Tiling t,
                       Cut({down_, across_, planes, together, exact}));
      tilings.push_back(std::move(t));
    }
    for (const auto& [planes, together] : OverlappingChoices(exact)) {
      ASSIGN_OR_RETURN(Tiling t,
                       Cut({down_, across_, planes, together, exact, true}));
      tilings.push_back(std::move(t));
    }
    ASSIGN_OR_RETURN(size_t best, ChooseTiling(context_, tilings));
    return FrameKernel(context_, tilings[best]);
  }

  // Units of work (pack x pack blocks) in one piece of code.
  int64_t UnitsTogether() const {
    return std::max<int64_t>(1, blocks_ / (pack_ * pack_));
  }

  // The result's innermost dimension of planes; -1: it is one plane.
  int PlaneDim() const { return p_.rank() - 3; }

  bool Resident() const {
    return i_.shape().memory_space() == hlo::kMemoryVmem ||
           i_.operand(0)->shape().memory_space() == hlo::kMemoryVmem;
  }

  // Planes of a step and of a piece of code, where a plane is small.
  std::vector<std::pair<int64_t, int64_t>> PlaneChoices(bool exact) const {
    std::vector<std::pair<int64_t, int64_t>> choices;
    const int64_t tiles = p_.in.tiles_down * p_.in.tiles_across;
    if (PlaneDim() < 0 || tiles > PlaneTranspose::kMostTiles) return choices;
    const int64_t all = p_.out.sizes[PlaneDim()];
    const int64_t code =
        std::max<int64_t>(1, blocks_ * kTransposeBlock / 2 / tiles);
    int64_t before = 0;
    for (const int64_t most : {8, 32, 128, 512}) {
      int64_t planes = std::min(most, all);
      if (planes == before) break;
      before = planes;
      // Nothing may lie beyond arrays that are walked in place.
      while (Walked(exact) && all % planes != 0) --planes;
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

  // The same of numbers of planes that have no divisor near those, of arrays
  // that are walked in place: the last step begins earlier.
  std::vector<std::pair<int64_t, int64_t>> OverlappingChoices(
      bool exact) const {
    std::vector<std::pair<int64_t, int64_t>> choices;
    const int64_t tiles = p_.in.tiles_down * p_.in.tiles_across;
    if (PlaneDim() < 0 || tiles > PlaneTranspose::kMostTiles ||
        !Walked(exact) || Staged(exact) || context_.model.cores > 1) {
      return choices;
    }
    const int64_t all = p_.out.sizes[PlaneDim()];
    const int64_t code =
        std::max<int64_t>(1, blocks_ * kTransposeBlock / 2 / tiles);
    for (const int64_t planes : {8, 32, 128}) {
      int64_t divisor = std::min(planes, all);
      while (all % divisor != 0) --divisor;
      if (planes >= all || divisor * 2 > planes) continue;
      int64_t together = std::min({code, kMostPlanes, planes});
      while (planes % together != 0) --together;
      choices.push_back({planes, together});
    }
    return choices;
  }

  // An operand or result in VMEM that is copied to slots.
  bool Staged(bool exact) const {
    const auto staged = [&](const hlo::Shape& shape, const PhysicalArray& a) {
      return shape.memory_space() == hlo::kMemoryVmem && NeedsStaging(a, exact);
    };
    return staged(i_.operand(0)->shape(), p_.in) || staged(i_.shape(), p_.out);
  }

  // An operand or result in VMEM that is not copied to slots.
  bool Walked(bool exact) const {
    return Walks(i_.operand(0)->shape(), p_.in, exact) ||
           Walks(i_.shape(), p_.out, exact);
  }
  static bool Walks(const hlo::Shape& shape, const PhysicalArray& a,
                    bool exact) {
    return shape.memory_space() == hlo::kMemoryVmem && !NeedsStaging(a, exact);
  }
  // One that only exact code walks.
  bool HasOddTiles() const {
    const auto odd = [](const hlo::Shape& shape, const PhysicalArray& a) {
      return Walks(shape, a, true) && !Walks(shape, a, false);
    };
    return odd(i_.operand(0)->shape(), p_.in) || odd(i_.shape(), p_.out);
  }

  absl::StatusOr<Tiling> Cut(const Step& step) const {
    Tiling t;
    ASSIGN_OR_RETURN(t.args, KernelArgs(i_));
    const int rank = p_.in.rank(), plane = PlaneDim();
    // Grid: the result's majors, then block rows and columns of the operand.
    std::vector<int> major_dim(rank, -1);
    for (int q = 0; q + 2 < rank; ++q) {
      major_dim[q] = static_cast<int>(t.grid.size());
      t.grid.push_back(q == plane ? CeilOfRatio(p_.out.sizes[q], step.planes)
                                  : p_.out.sizes[q]);
    }
    const int down_dim = static_cast<int>(t.grid.size());
    t.grid.push_back(CeilOfRatio(down_, step.down));
    const int across_dim = down_dim + 1;
    t.grid.push_back(CeilOfRatio(across_, step.across));
    t.megacore_dim = SharedDim(t.grid, context_.model.cores);
    const bool several = step.planes > 1;
    TransposeBlock block;
    block.planes = step.planes;
    block.planes_overlap = step.planes_overlap;
    block.exact = step.exact;
    block.major_dim.assign(rank, -1);
    for (int q = 0; q + 2 < rank; ++q) {
      block.major_dim[p_.from[q]] = major_dim[q];
    }
    block.plane_dim = plane < 0 ? -1 : p_.from[plane];
    block.row_dim = down_dim;
    block.row_tiles = several ? p_.in.tiles_down : step.down * kTransposeBlock;
    block.column_dim = across_dim;
    block.column_tiles = step.across;
    const TransposeSide in = AddTransposeSide(0, p_.in, block, &t);
    block.major_dim = major_dim;
    block.plane_dim = plane;
    block.row_dim = across_dim;
    block.row_tiles =
        several ? p_.out.tiles_down : step.across * kTransposeBlock;
    block.column_dim = down_dim;
    block.column_tiles = several ? p_.out.tiles_across : step.down;
    const TransposeSide out = AddTransposeSide(1, p_.out, block, &t);
    t.note = absl::StrCat("blocks ", step.down, "x", step.across);
    if (several) {
      absl::StrAppend(&t.note, ", ", step.planes, " planes, ", step.together,
                      " at a time");
      t.body = [=, pack = pack_](CodeBuilder& b) {
        WritePlanes(b, pack, in, out, step.planes, step.together);
        return absl::OkStatus();
      };
      return t;
    }
    const TransposeBlocks::Cut rows{down_, step.down, down_dim},
        columns{across_, step.across, across_dim};
    const bool steps_in_place =
        (in.resident || out.resident) &&
        (rows.step < rows.all || columns.step < columns.all);
    const bool ragged_result =
        out.resident && (across_ % step.across != 0 ||
                         p_.out.tiles_down % kTransposeBlock != 0 ||
                         p_.out.tiles_across % pack_ != 0);
    t.body = [=, pack = pack_, together = UnitsTogether()](CodeBuilder& b) {
      TransposeBlocks code(&b, pack, together, in, out);
      if (steps_in_place) {
        code.EmitStep(rows, columns);
      } else if (ragged_result) {
        code.EmitColumns(rows, columns);
      } else {
        code.Emit({rows.step, columns.step});
      }
      return absl::OkStatus();
    };
    return t;
  }

  const KernelContext& context_;
  const hlo::Instruction& i_;
  const Permutation& p_;
  const int pack_;
  const int64_t down_, across_;  // blocks of 128 x 128 of the operand
  int64_t blocks_ = 1;           // of them in a piece of code
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
