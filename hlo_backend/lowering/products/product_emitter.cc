#include "hlo_backend/lowering/products/product_emitter.h"

#include <algorithm>
#include <tuple>

#include "base/status.h"
#include "base/units.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/products/product_spaces.h"
#include "hlo_backend/lowering/products/product_traffic.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "hlo_backend/lowering/products/window_cost.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;

}  // namespace

ProductLimits ProductLimitsOf(const KernelContext& context) {
  const chips::ChipSpec& chip = context.chip;
  const double hz = chip.core().clock.frequency().count();
  ProductLimits limits;
  limits.vmem_bytes =
      static_cast<int64_t>(static_cast<double>(VmemBudget(context)) *
                           chip.Policy("product_vmem_share").value_or(1));
  limits.scoped_bytes = VmemBudget(context);
  limits.step_bundles = chips::ProductStepBundles(chip);
  limits.hbm_bytes_per_cycle =
      chip.hbm_bandwidth_per_device().count() * chip.hbm().efficiency_read / hz;
  limits.hbm_latency_cycles =
      chip.core().clock.CyclesCeil(chip.hbm().latency).count();
  limits.hbm_block_half = chip.hbm().block_half.count();
  limits.step_cycles =
      chip.core().kernel_step.count() +
      3 * chip.core().kernel_step_window.count() +
      static_cast<int64_t>(chip.Policy("step_sync").value_or(0));
  limits.cores = context.model.cores;
  limits.peer_latency_cycles =
      chip.core().clock.CyclesCeil(chip.dma().on_chip_latency).count();
  limits.peer_bytes_per_cycle = chip.dma().on_chip.count() / hz;
  limits.windows = WindowRatesOf(chip);
  return limits;
}

absl::Status ProductEmitter::Prepare() {
  ASSIGN_OR_RETURN(epilogue_, ProductEpilogue::Create(context_, i_, &form_));
  RETURN_IF_ERROR(DescribePrologues());
  arrays_ = ArrayShapeOf(context_.model, form_.problem.rhs.transposed,
                         form_.problem.numbers);
  limits_ = ProductLimitsOf(context_);
  limits_.rows_inside = !form_.swapped;
  ProductProblem& p = form_.problem;
  p.half_registers = p.numbers == ArrayNumbers::kBf16 && !p.lhs.transposed &&
                     p.lhs.type == hlo::PrimitiveType::kBf16 &&
                     !Converts(p.lhs) && p.members == 0 && !p.kept.any &&
                     p.epilogue_bytes_per_element == 0 && p.row_cycles == 0 &&
                     form_.out.tile_rows == 8;
  if (!form_.problem.kept.MayBeShared()) limits_.cores = 1;
  if (ConvertsSums(form_.problem)) form_.problem.kept.depth = false;
  return absl::OkStatus();
}

absl::StatusOr<ProductTiling> ProductEmitter::FindTiles(size_t choice) {
  given_ = false;
  if (choice == 0 && form_.windows.has_value()) {
    auto given = GivenProductTile(form_.problem, arrays_, context_.model,
                                  limits_.OfCompiler(), *form_.windows,
                                  form_.swapped, context_.log);
    given_ = given.ok();
    if (given.ok()) return given;
  }
  return ChooseProductTile(form_.problem, arrays_, context_.model, limits_,
                           context_.log);
}

absl::Status ProductEmitter::ChooseTiles(size_t choice) {
  ASSIGN_OR_RETURN(const ProductTiling tiles, FindTiles(choice));
  // Our own come behind the windows of the schedule.
  const size_t rank =
      choice - (choice > 0 && form_.windows.has_value() ? 1 : 0);
  if (rank > tiles.runners_up.size()) {
    return absl::ResourceExhaustedError(
        "no tile whose code fits the registers");
  }
  if (rank == 0) {
    Take(tiles.tile, tiles.cost);
  } else {
    Take(tiles.runners_up[rank - 1].first, tiles.runners_up[rank - 1].second);
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<TileChoice>> ProductEmitter::Choices() {
  ASSIGN_OR_RETURN(const ProductTiling tiles, FindTiles(/*choice=*/1));
  std::vector<TileChoice> choices;
  if (form_.windows.has_value()) choices.emplace_back();
  choices.emplace_back(tiles.tile, tiles.cost);
  for (const TileChoice& next : tiles.runners_up) {
    if (tiles.of_compiler && next.second.choice != tiles.cost.choice) break;
    choices.push_back(next);
  }
  return choices;
}

void ProductEmitter::Take(const ProductTile& tile, const ProductCost& cost) {
  tile_ = tile;
  cost_ = cost;
  grid_ = GridDims::Of(tile_);
  if (form_.problem.kept.any || limits_.cores > 1) {
    grid_.Share(form_.problem.kept, tile_, limits_.cores);
  }
}

absl::StatusOr<Tiling> ProductEmitter::Plan() {
  Tiling tiling;
  tiling.note = tile_.ToString();
  ASSIGN_OR_RETURN(tiling.args, KernelArgs(i_));
  tiling.grid = grid_.bounds;
  tiling.megacore_dim = grid_.megacore_dim;
  PlanMemory(&tiling);
  epilogue_->AddWindows(
      tile_, grid_,
      ProductSpace::kFirstEpilogue + static_cast<int>(tiling.windows.size()),
      &tiling);
  tiling.work = WorkOf(tiling);
  tiling.body = [this](CodeBuilder& b) { return Body(b); };
  return tiling;
}

bool ProductEmitter::HasStepOf(const ProductTile& other) const {
  // Operands that are turned or converted once for several steps are so in the
  // first of them.
  if (tile_.grid_k == 1) return false;
  const auto blocks = [](const ProductTile& t) {
    return std::tie(t.grid_b, t.grid_m, t.grid_n, t.grid_k, t.block_b,
                    t.block_m, t.block_n, t.block_k, t.k_planes, t.split_b,
                    t.split_n, t.split_m);
  };
  return blocks(tile_) == blocks(other);
}

int64_t ProductEmitter::CyclesOf(int64_t step) const {
  const int cores = grid_.megacore_dim < 0 ? 1 : limits_.cores;
  return cost_.exposed + std::max(cost_.cycles - cost_.exposed,
                                  CeilOfRatio<int64_t>(tile_.Steps(), cores) *
                                      (step + limits_.step_cycles));
}

int64_t ProductEmitter::PaddedRows() const {
  return RoundUpTo<int64_t>(tile_.block_m, 16);
}

absl::Status ProductEmitter::DescribePrologues() {
  const auto describe =
      [&](const hlo::Instruction* value, ProductOperand* operand,
          std::unique_ptr<OperandPrologue>* prologue) -> absl::Status {
    if (value == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(*prologue, OperandPrologue::Create(i_, *value));
    (*prologue)->AddTo(operand, context_.model);
    (*prologue)->Limit(&form_.problem);
    return absl::OkStatus();
  };
  ProductProblem& p = form_.problem;
  RETURN_IF_ERROR(describe(form_.lhs_value, &p.lhs, &lhs_prologue_));
  RETURN_IF_ERROR(describe(form_.rhs_value, &p.rhs, &rhs_prologue_));
  // Rows of an operand that are M, columns that are N.
  if (p.lhs.computed && !p.lhs.transposed) {
    p.row_unit = std::max(p.row_unit, p.lhs.row_unit);
    if (p.lhs.row_entries > 0) {
      p.row_unit_of_steps = isa::kLanes;
      p.parts_of_rows = false;
    }
  }
  if (p.rhs.computed) {
    int64_t& unit = p.rhs.transposed ? p.k_unit : p.column_unit;
    unit = std::max(unit, p.rhs.column_unit);
  }
  if (p.lhs.computed) {
    int64_t& unit = p.lhs.transposed ? p.row_unit_of_steps : p.k_unit;
    unit = std::max(unit, p.lhs.column_unit);
  }
  return absl::OkStatus();
}

int64_t ProductEmitter::KOfStep(bool last) const {
  const int64_t steps = tile_.grid_k / tile_.k_planes;  // of a plane
  if (steps == 1) return form_.problem.k;
  return last ? form_.problem.k - (steps - 1) * tile_.block_k : tile_.block_k;
}

bool ProductEmitter::Accumulates() const {
  return tile_.grid_k > 1 ||
         PlanVisits(form_.problem, tile_, arrays_).k_visits > 1;
}

void ProductEmitter::PlanMemory(Tiling* tiling) {
  const auto add = [&](const MatrixView& view, int arg, bool is_lhs,
                       bool transposed, OperandPrologue* prologue) {
    if (prologue == nullptr) {
      return AddOperandWindow(view, arg, tile_, grid_, is_lhs, transposed,
                              tiling);
    }
    prologue->AddWindows(tile_, grid_, is_lhs, transposed,
                         ProductSpace::kFirstEpilogue, tiling);
    return -1;
  };
  const ProductProblem& p = form_.problem;
  lhs_window_ = add(form_.lhs, form_.lhs_arg, true, p.lhs.transposed,
                    lhs_prologue_.get());
  rhs_window_ = add(form_.rhs, form_.rhs_arg, false, p.rhs.transposed,
                    rhs_prologue_.get());
  windows_ = tiling->windows;
  const int64_t sums =
      Accumulates() ? tile_.block_b * PaddedRows() * tile_.block_n * 4 : 0;
  transposed_offset_ = sums;
  const int64_t transposed = form_.problem.lhs.transposed
                                 ? tile_.block_b * PaddedRows() *
                                       tile_.block_k * (TransposesF32() ? 4 : 2)
                                 : 0;
  converted_lhs_offset_ = sums + transposed;
  converted_rhs_offset_ =
      converted_lhs_offset_ +
      ((SlowLhs() || p.lhs.computed) && !p.lhs.transposed
           ? tile_.block_b * PaddedRows() * tile_.block_k * MxuBytes()
           : 0);
  int64_t epilogue_offset =
      converted_rhs_offset_ +
      (SlowRhs() || p.rhs.computed
           ? tile_.block_b * tile_.block_k *
                 RoundUpTo<int64_t>(tile_.block_n, 128) * MxuBytes()
           : 0);
  for (OperandPrologue* prologue : {lhs_prologue_.get(), rhs_prologue_.get()}) {
    if (prologue == nullptr) continue;
    prologue->SetScratch(epilogue_offset);
    epilogue_offset += prologue->ScratchBytes();
  }
  epilogue_->SetScratch(epilogue_offset);
  tiling->scratch_bytes = epilogue_offset + epilogue_->ScratchBytes(tile_);
  if (SharesK()) peer_ = PeerParts::Add(0, sums, tiling);
}

isa::KernelWork ProductEmitter::WorkOf(const Tiling& tiling) const {
  const ProductProblem& p = form_.problem;
  isa::KernelWork work;
  work.mxu_flops = 2 * p.batch * p.m * p.n * p.k * p.k_planes;
  work.flops = work.mxu_flops;
  for (const isa::KernelArg& arg : tiling.args) {
    if (arg.space == isa::Space::kHbm) work.hbm_bytes += arg.bytes;
  }
  return work;
}

}  // namespace ptxla::lowering
