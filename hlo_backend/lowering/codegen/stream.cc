#include "hlo_backend/lowering/codegen/stream.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/codegen/schedule.h"

namespace ptxla::codegen {
namespace {

// When each result of each FIFO is there, and when it is popped, in cycles
// from the start of the block.
struct Traffic {
  std::array<std::vector<int64_t>, kNumFifoIndexes> ready, popped;
  int64_t cycles = 0;
};

absl::StatusOr<Traffic> TrafficOf(const VNode& block, CodeBuilder* b) {
  const isa::MachineModel& model = b->model();
  ASSIGN_OR_RETURN(BlockSchedule schedule,
                   ScheduleBlock(block.instrs, b->registers(), model,
                                 BudgetOf(block.globals, model), block.mode));
  Traffic t;
  t.cycles = schedule.cycles;
  // Pushes and pops of one FIFO keep their order in the schedule.
  for (const auto& [cycle, i] : schedule.order) {
    const VInstr& v = block.instrs[i];
    const isa::InstrInfo& info = isa::Info(v.op);
    const isa::Instr shell = Shell(v);
    if (info.pushes != isa::Fifo::kNone) {
      auto& ready =
          t.ready[static_cast<int>(info.pushes) * isa::kMaxUnits + v.unit];
      for (int r = 0; r < isa::ResultsOf(shell, model); ++r) {
        ready.push_back(cycle + isa::LatencyOf(shell, model) +
                        r * isa::ResultSpacing(shell, model));
      }
    }
    if (info.pops != isa::Fifo::kNone) {
      t.popped[static_cast<int>(info.pops) * isa::kMaxUnits + v.unit].push_back(
          cycle);
    }
  }
  return t;
}

// Least delay between the starts of two blocks such that no pop of the second
// comes before the result of the first.
int64_t Delay(const Traffic& pushes, const Traffic& pops) {
  int64_t delay = 0;
  for (int f = 0; f < kNumFifoIndexes; ++f) {
    const size_t n = std::min(pushes.ready[f].size(), pops.popped[f].size());
    for (size_t k = 0; k < n; ++k) {
      delay = std::max(delay, pushes.ready[f][k] - pops.popped[f][k]);
    }
  }
  return delay;
}

}  // namespace

absl::Status EmitStream(CodeBuilder* b, int64_t trips, int32_t increment,
                        const StreamBody& body) {
  // Parts are scheduled once with any counter to learn their timing.
  const auto probe = [&](bool produce,
                         bool consume) -> absl::StatusOr<Traffic> {
    b->BeginScope();
    const Sca counter = b->GlobalSca();
    b->NewBlock("probe", BlockMode::kPipelined);
    if (consume) body.consume(*b, counter, 0);
    if (produce) body.produce(*b, counter, 0);
    const VNode block = b->TakeBlock();
    b->EndScope();
    return TrafficOf(block, b);
  };
  ASSIGN_OR_RETURN(const Traffic both, probe(true, true));
  ASSIGN_OR_RETURN(const Traffic head, probe(true, false));
  ASSIGN_OR_RETURN(const Traffic tail, probe(false, true));
  const int64_t least =
      std::max<int64_t>(both.cycles, 1 + b->model().branch_delay_slots);
  const int64_t depth = std::min(
      trips, std::max<int64_t>(1, CeilOfRatio(Delay(both, both), least)));
  for (int f = 0; f < kNumFifoIndexes; ++f) {
    const int64_t held = depth * static_cast<int64_t>(both.ready[f].size());
    const int limit = b->model().fifo_depth[f / isa::kMaxUnits];
    const int64_t under_way = CeilOfRatio(Delay(both, both), least) *
                              static_cast<int64_t>(both.ready[f].size());
    if (limit > 0 && held > limit + under_way) {
      return absl::ResourceExhaustedError("a stream does not fit its FIFO");
    }
  }
  const auto part = [&](int64_t n, bool produce, bool consume,
                        int64_t produce_ahead, int64_t consume_ahead) {
    if (n <= 0) return;
    const Sca counter = b->BeginLoop(n, increment);
    b->NewBlock(produce && consume ? "stream"
                : produce          ? "fill"
                                   : "drain",
                BlockMode::kPipelined);
    if (consume) {
      body.consume(*b, counter,
                   static_cast<int32_t>(consume_ahead * increment));
    }
    if (produce) {
      body.produce(*b, counter,
                   static_cast<int32_t>(produce_ahead * increment));
    }
    b->EndLoop();
  };
  const auto pad = [&](int64_t cycles) {
    if (cycles <= 0) return;
    b->NewBlock("wait", BlockMode::kInOrder);
    b->Nop(static_cast<int>(cycles));
  };
  const int64_t delay_slots = 1 + b->model().branch_delay_slots;
  const int64_t head_cycles = std::max(head.cycles, delay_slots);
  const int64_t tail_cycles = std::max(tail.cycles, delay_slots);
  part(depth, true, false, 0, 0);
  if (trips > depth) {
    // The first pops of the steady loop take what the fill pushed `depth`
    // fills ago; later ones are further away only if fills are not shorter.
    int64_t wait = 0;
    for (int64_t i = 0; i < depth; ++i) {
      wait = std::max(
          wait, Delay(head, both) - (depth - i) * head_cycles - i * least);
    }
    pad(wait);
  }
  part(trips - depth, true, true, depth, 0);
  int64_t wait = 0;
  for (int64_t i = 0; i < depth; ++i) {
    const bool steady = trips > depth;
    const int64_t between =
        (depth - i) * (steady && trips - depth > i ? least : head_cycles);
    wait = std::max(
        wait, Delay(steady ? both : head, tail) - between - i * tail_cycles);
  }
  pad(wait);
  part(depth, false, true, 0, trips - depth);
  return absl::OkStatus();
}

}  // namespace ptxla::codegen
