// Products of a Mosaic kernel: weights are pushed into an array, rows of the
// left side pass, results are popped; those that several depths of weights sum
// up are added by the vector units.
#include <algorithm>
#include <string>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/lowering/custom_calls/block_arrays.h"
#include "hlo_backend/lowering/custom_calls/block_numbers.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"

namespace ptxla::lowering {
namespace {

using mosaic::Operation;
using mosaic::Type;

// Registers that a vector would take as 32-bit numbers.
int64_t Words(const Type& type) {
  return CeilOfRatio<int64_t>(type.Elements(), hlo::kTileRows * hlo::kLanes);
}

}  // namespace

// So many instructions a word, before the arrays can take the registers. What
// is there once is converted once.
BlockSchedule::Registers BlockSchedule::Converted(int value,
                                                  int64_t operations) {
  Registers from = Of(value);
  if (operations == 0) return from;
  const Type& type = TypeOf(value);
  const int kind = Kind(isa::Slot::kVector, 1,
                        static_cast<int>(CeilOfRatio<int64_t>(
                            operations * Words(type), RegistersOf(type))));
  for (int& node : from.nodes) node = graph_.Add(kind, {node});
  return from;
}

// Jobs go to the arrays that ChooseArrays gave them. Where an array sums up a
// chain, the last job's results are all there is.
void BlockSchedule::Product(const Operation& op) {
  const ProductPlan s = PlanOf(op);
  const BlockNumbers& numbers = s.numbers;
  const ArrayShape& a = numbers.arrays;
  const Registers left = Converted(op.operands[0], numbers.lhs_operations);
  const Registers right = Converted(op.operands[1], numbers.rhs_operations);
  const int64_t size = a.size,
                halves = std::max<int64_t>(1, size / hlo::kLanes);
  const int64_t chunks = s.chunks, copies = s.copies;
  const int64_t per_chunk = std::max<int64_t>(1, a.rows / hlo::kTileRows);
  const int step = static_cast<int>(a.interval / (per_chunk * halves));

  Registers out = Full(TypeOf(op.results[0]));
  const int64_t out_rows = CeilOfRatio<int64_t>(s.rows, hlo::kTileRows);
  out.rows = s.batch * out_rows;
  out.columns = CeilOfRatio<int64_t>(s.columns, hlo::kLanes);
  out.nodes.assign(static_cast<size_t>(out.size()), -1);
  std::vector<std::vector<int>> parts(out.nodes.size());
  const int pop = Kind(isa::Slot::kPop, 1);
  const int finish = numbers.result_operations == 0
                         ? -1
                         : Kind(isa::Slot::kVector, 1,
                                static_cast<int>(numbers.result_operations));
  std::vector<int> wires;  // kinds: a result's time behind its rows
  for (int64_t k = 0; k < per_chunk * halves; ++k) {
    Work wait;
    wait.latency = a.latency + static_cast<int>(k) * step;
    wires.push_back(graph_.Kind(wait));
  }

  // Registers of one product of a batch; all share those that are there once.
  const int64_t left_rows = std::max<int64_t>(1, left.rows / s.batch);
  const int64_t right_rows = std::max<int64_t>(1, right.rows / s.batch);

  const std::vector<size_t>& arrays = array_of_[op.results[0]];
  const auto job = [&](size_t mxu, int64_t batch, int64_t tile, int64_t depth,
                       int64_t from, int64_t to) {
    const int64_t left_first = batch * left.rows / s.batch;
    const int64_t right_first = batch * right.rows / s.batch;
    const int64_t n0 = tile * size, n1 = std::min(s.columns, n0 + size);
    const int64_t k0 = depth * size, k1 = std::min(s.depth, k0 + size);
    // Registers of the weights, by rows.
    const int64_t r0 = s.transposed ? n0 : k0, r1 = s.transposed ? n1 : k1;
    const int64_t c0 = s.transposed ? k0 : n0, c1 = s.transposed ? k1 : n1;
    const int64_t all_rows = s.transposed ? s.columns : s.depth;
    const int64_t across = CeilOfRatio<int64_t>(c1 - c0, hlo::kLanes);
    const int64_t pushes = s.PushesOf(depth, tile);
    Array& array = arrays_[mxu];

    Work work;
    work.unit = graph_.WeightsOf(static_cast<int>(mxu));
    work.interval = a.push_interval;
    work.latency = a.push_interval;
    const int push_kind = graph_.Kind(work);
    std::vector<int> pushed, inputs;
    for (int64_t p = 0; p < pushes; ++p) {
      // Beside the weights that rows pass now there is room for one set.
      inputs = {array.first_row};
      const int64_t first = r0 + p * (r1 - r0) / pushes;
      const int64_t row = right_first + first * right_rows / all_rows;
      for (int64_t c = 0; c < across; ++c) {
        const int64_t column =
            (c0 / hlo::kLanes + c) * right.columns /
            CeilOfRatio<int64_t>(s.transposed ? s.depth : s.columns,
                                 hlo::kLanes);
        inputs.push_back(right.nodes[row * right.columns + column]);
      }
      pushed.push_back(graph_.Add(push_kind, inputs));
    }
    const int latched = graph_.Join(pushed);

    work.unit = graph_.RowsOf(static_cast<int>(mxu));
    work.interval = a.interval;
    work.latency = 0;
    const int matmul = graph_.Kind(work);
    std::vector<int> passed;
    const int64_t lanes = CeilOfRatio<int64_t>(s.depth, hlo::kLanes);
    for (int64_t chunk = from; chunk < to; ++chunk) {
      inputs = {latched, array.last_rows};
      const int64_t top = left_first + chunk * left_rows / chunks;
      const int64_t bottom =
          std::max(top + 1, left_first + (chunk + 1) * left_rows / chunks);
      for (int64_t r = top; r < bottom; ++r) {
        for (int64_t c = k0 / hlo::kLanes; c * hlo::kLanes < k1; ++c) {
          inputs.push_back(
              left.nodes[r * left.columns + c * left.columns / lanes]);
        }
      }
      const int rows = graph_.Add(matmul, inputs);
      passed.push_back(rows);
      if (s.chained && depth + 1 < s.depths) continue;
      for (int64_t h = 0; h < per_chunk; ++h) {
        if (chunk * per_chunk + h >= out_rows) break;
        const int64_t r = batch * out_rows + chunk * per_chunk + h;
        for (int64_t c = n0 / hlo::kLanes; c * hlo::kLanes < n1; ++c) {
          const int wire =
              graph_.Add(wires[h * halves + c - n0 / hlo::kLanes], {rows});
          int result = graph_.Add(pop, {wire});
          if (finish >= 0) result = graph_.Add(finish, {result});
          parts[r * out.columns + c].push_back(result);
        }
      }
    }
    array.first_row = passed.front();
    array.last_rows = graph_.Join(passed);
  };
  for (int64_t run = 0; run < s.Runs(); ++run) {
    for (int64_t tile = 0; tile < s.tiles; ++tile) {
      for (int64_t depth = 0; depth < s.depths; ++depth) {
        for (int64_t copy = 0; copy < copies; ++copy) {
          job(arrays[s.JobOf(run, tile, depth, copy)], run / s.passes, tile,
              depth, chunks * copy / copies, chunks * (copy + 1) / copies);
        }
      }
    }
  }
  const RegisterCost* add = costs_->Of("arith.addf", true);
  const int sum = Kind(isa::Slot::kVector, add == nullptr ? 1 : add->latency);
  for (size_t k = 0; k < parts.size(); ++k) {
    if (!parts[k].empty()) out.nodes[k] = Combine(std::move(parts[k]), sum);
  }
  values_[op.results[0]] = std::move(out);
}

}  // namespace ptxla::lowering
