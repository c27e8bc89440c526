// What each operation of a Mosaic kernel asks of the units.
#include <algorithm>

#include "absl/strings/match.h"
#include "base/units.h"
#include "hlo_backend/lowering/custom_calls/block_numbers.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"
#include "hlo_backend/lowering/products/product_problem.h"

namespace ptxla::lowering {
namespace {

using mosaic::Attribute;
using mosaic::Operation;
using mosaic::Type;

constexpr int64_t kSublanes = 8, kLanes = 128;

bool IsFloat(const Type& t) {
  const std::string& name = t.element == nullptr ? t.name : t.element->name;
  return absl::StartsWith(name, "f") || absl::StartsWith(name, "bf");
}

// What only names or repeats registers that are there.
bool IsFree(const std::string& name) {
  return name == "arith.constant" || name == "vector.shape_cast" ||
         name == "vector.broadcast" || name == "tpu.repeat" ||
         name == "tpu.concatenate" || name == "tpu.bitcast" ||
         name == "arith.bitcast" || name == "vector.extract_strided_slice" ||
         name == "tpu.bitcast_vreg" || name == "vector.extract";
}

bool IsReduction(const std::string& name) {
  return name == "vector.multi_reduction" || name == "tpu.all_reduce" ||
         name == "tpu.reduce_index" || name == "vector.reduction";
}

// Registers that a vector would take as 32-bit numbers.
int64_t Rows8(const Type& type) {
  return CeilOfRatio<int64_t>(type.Elements(), kSublanes * kLanes);
}

bool IsProduct(const std::string& name) {
  return name == "tpu.matmul" || name == "vector.contract";
}

bool IsLoad(const std::string& name) {
  return name == "vector.load" || name == "tpu.vector_load" ||
         name == "tpu.strided_load" || name == "vector.transfer_read" ||
         name == "tpu.load";
}

bool IsStore(const std::string& name) {
  return name == "vector.store" || name == "tpu.vector_store" ||
         name == "tpu.strided_store" || name == "vector.transfer_write" ||
         name == "tpu.store";
}

}  // namespace

int64_t RegistersOf(const Type& type) {
  if (!type.IsVector() || type.dims.empty()) return 1;
  // Masks have a bit per word.
  const int bits = std::max(type.element->bits, 1);
  const int64_t rows = kSublanes * (bits == 1 || bits >= 32 ? 1 : 32 / bits);
  const size_t rank = type.dims.size();
  int64_t n = CeilOfRatio<int64_t>(type.dims[rank - 1], kLanes);
  if (rank > 1) n *= CeilOfRatio<int64_t>(type.dims[rank - 2], rows);
  for (size_t d = 0; d + 2 < rank; ++d) n *= type.dims[d];
  return std::max<int64_t>(1, n) * (bits == 64 ? 2 : 1);
}

int64_t BlockSchedule::Instructions(isa::Slot slot, int64_t n) const {
  return CeilOfRatio<int64_t>(n, std::max(1, model_.Slots(slot)));
}

void BlockSchedule::Add(const Operation& op) {
  const bool vector_result =
      !op.results.empty() && TypeOf(op.results[0]).IsVector();
  if (!vector_result && !IsStore(op.name) && !IsReduction(op.name)) return;
  if (!op.results.empty() && !live_[op.results[0]]) return;
  Task task;
  for (const int value : op.operands) {
    const auto maker = makers_.find(value);
    if (maker != makers_.end()) task.operands.push_back(maker->second);
    if (TypeOf(value).IsVector()) {
      ++(IsReduction(op.name) ? reductions_ : reads_)[value];
    }
    // A vector that was stored to this memory before it is read or written.
    if (!TypeOf(value).IsMemRef()) continue;
    const auto stored = last_store_.find(value);
    if (stored != last_store_.end()) task.operands.push_back(stored->second);
    if (IsStore(op.name)) last_store_[value] = static_cast<int>(tasks_.size());
  }
  if (op.name == "vector.broadcast") {
    AddBroadcast(op, &task);
  } else if (IsFree(op.name)) {
    // Nothing to do.
  } else if (IsReduction(op.name)) {
    AddReduction(op, &task);
  } else if (IsProduct(op.name)) {
    AddProduct(op, &task);
  } else if (IsLoad(op.name) || IsStore(op.name) || op.name == "tpu.iota" ||
             op.name == "tpu.transpose" || op.name == "vector.transpose" ||
             op.name == "tpu.rotate" || op.name == "tpu.dynamic_rotate") {
    AddMovement(op, &task);
  } else {
    AddElementwise(op, &task);
  }
  for (const int value : op.results) {
    makers_[value] = static_cast<int>(tasks_.size());
    variations_[value] = VariationOf(op);
  }
  tasks_.push_back(std::move(task));
}

BlockSchedule::Variation BlockSchedule::VariationOf(const Operation& op) const {
  Variation v;
  if (op.name == "arith.constant") return {false, false, true};
  if (IsReduction(op.name)) return {true, true, true};
  if (op.name == "tpu.iota") {
    const Attribute* dims = op.Find("dimensions");
    if (dims == nullptr || dims->integers.size() != 1) return v;
    const int64_t from_end =
        static_cast<int64_t>(TypeOf(op.results[0]).dims.size()) -
        dims->integers[0];
    return {from_end == 2, from_end == 1, false};
  }
  if (op.name == "vector.broadcast") {
    const Type& from = TypeOf(op.operands[0]);
    if (!from.IsVector()) return {false, false, true};
    const size_t rank = from.dims.size();
    v.columns = rank > 0 && from.dims[rank - 1] > 1;
    v.rows = rank > 1 && from.dims[rank - 2] > 1;
    return v;
  }
  if (op.operands.empty()) return v;
  if (IsFree(op.name)) {
    const auto known = variations_.find(op.operands[0]);
    v.in_all_lanes = known != variations_.end() && known->second.in_all_lanes;
    return v;
  }
  if (IsLoad(op.name) || IsStore(op.name) || IsProduct(op.name)) return v;
  // Elementwise: as its operands do.
  v = {false, false, true};
  for (const int value : op.operands) {
    const auto known = variations_.find(value);
    const Variation of = known != variations_.end() ? known->second
                         : TypeOf(value).IsVector()
                             ? Variation()
                             : Variation{false, false, true};
    v.rows = v.rows || of.rows;
    v.columns = v.columns || of.columns;
    v.in_all_lanes = v.in_all_lanes && of.in_all_lanes;
  }
  return v;
}

int64_t BlockSchedule::DistinctRegisters(int value) const {
  const Type& type = TypeOf(value);
  const auto known = variations_.find(value);
  int64_t n = RegistersOf(type);
  if (known == variations_.end() || type.dims.empty()) return n;
  const int64_t across = CeilOfRatio<int64_t>(type.dims.back(), kLanes);
  if (!known->second.rows) return known->second.columns ? across : 1;
  return known->second.columns ? n : std::max<int64_t>(1, n / across);
}

void BlockSchedule::AddElementwise(const Operation& op, Task* task) {
  // Of narrow types as many as there are words: they are computed in 32 bits
  // where the chip has no others, and conversions count words.
  const int result = op.results[0];
  variations_[result] = VariationOf(op);
  int64_t registers = DistinctRegisters(result);
  bool is_float = IsFloat(TypeOf(result));
  for (const int value : op.operands) {
    registers = std::max(registers, DistinctRegisters(value));
    is_float = is_float || IsFloat(TypeOf(value));
  }
  const RegisterCost* cost = costs_->Of(op.name, is_float);
  RegisterCost one;
  if (cost == nullptr) {
    unknown_.push_back(op.name);
    one.slots[static_cast<int>(isa::Slot::kVector)] = 1;
    cost = &one;
  }
  for (int slot = 0; slot < isa::kNumSlots; ++slot) {
    task->busy[slot] = Instructions(static_cast<isa::Slot>(slot),
                                    registers * cost->slots[slot]);
  }
  task->latency = cost->latency;
}

// Along the lanes: registers of a row are combined, then the XLU finishes each
// group of 8 rows. Along the rows: registers are combined, then three rotations
// of the sublanes.
void BlockSchedule::AddReduction(const Operation& op, Task* task) {
  const Type& from = TypeOf(op.operands[0]);
  const int64_t registers = RegistersOf(from);
  const int64_t rank = static_cast<int64_t>(from.dims.size());
  const Attribute* dims = op.Find("reduction_dims");
  if (dims == nullptr) dims = op.Find("dim");
  const bool lanes = dims == nullptr || dims->integers.empty() ||
                     std::find(dims->integers.begin(), dims->integers.end(),
                               rank - 1) != dims->integers.end();
  const int64_t across =
      rank == 0 ? 1 : CeilOfRatio<int64_t>(from.dims[rank - 1], kLanes);
  const int64_t finished =
      lanes ? CeilOfRatio(registers, std::max<int64_t>(1, across))
            : std::max<int64_t>(1, across);
  const bool is_float = IsFloat(from);
  const RegisterCost* add =
      costs_->Of(is_float ? "arith.addf" : "arith.addi", is_float);
  const int step = add == nullptr ? 1 : add->latency;
  constexpr int kSublaneSteps = 3;  // 8 rows: 4, 2, 1
  task->kind = Kind::kRows;
  task->busy[static_cast<int>(isa::Slot::kVector)] = Instructions(
      isa::Slot::kVector,
      registers - finished + (lanes ? 0 : 2 * kSublaneSteps * finished));
  if (lanes) {
    task->busy[static_cast<int>(isa::Slot::kXlu)] =
        finished * model_.Interval(isa::IntervalKey::kXlu) /
        std::max(1, model_.xlus);
    task->latency = step + model_.Latency(isa::LatencyKey::kXluMax);
  } else {
    task->latency =
        step + kSublaneSteps *
                   (step + model_.Latency(isa::LatencyKey::kSublaneRotate));
  }
}

// Weights stay in the arrays while the rows of the left side pass; results that
// several passes sum up are added by the vector units.
void BlockSchedule::AddProduct(const Operation& op, Task* task) {
  const Type& lhs = TypeOf(op.operands[0]);
  const Type& out = TypeOf(op.results[0]);
  const int64_t n = out.dims.empty() ? 1 : out.dims.back();
  const int64_t rows = out.Elements() / std::max<int64_t>(1, n);
  const int64_t k = lhs.Elements() / std::max<int64_t>(1, rows);
  bool transposed = false;
  if (const Attribute* numbers = op.Find("dimension_numbers")) {
    // Contracting dimensions of both sides come first.
    transposed = absl::StrContains(numbers->text, "<[1], [1]");
  }
  if (const Attribute* flag = op.Find("transpose_rhs")) {
    transposed = transposed || flag->integer != 0;
  }
  const BlockNumbers numbers =
      NumbersOfBlock(model_, lhs, TypeOf(op.operands[1]), out, transposed);
  const ArrayShape& array = numbers.arrays;
  const int64_t depth = CeilOfRatio<int64_t>(k, array.size);
  const int64_t tiles = depth * CeilOfRatio<int64_t>(n, array.size);
  const int64_t mxus = std::max(1, array.mxus);
  // f32 operands at a precision above the default pass several times.
  int64_t times = 1;
  if (const Attribute* precision = op.Find("precision")) {
    if (absl::StrContains(precision->text, "fp32")) times = 6;
  }
  const int64_t stream =
      CeilOfRatio<int64_t>(rows, array.rows) * array.interval * tiles * times;
  const int64_t push = CeilOfRatio<int64_t>(array.size, array.push_rows) *
                       array.push_interval * tiles * times;
  task->kind = Kind::kProduct;
  task->busy[static_cast<int>(isa::Slot::kMxu)] =
      CeilOfRatio(std::max(stream, push), mxus);
  const int64_t results = RegistersOf(out);
  task->busy[static_cast<int>(isa::Slot::kPop)] =
      Instructions(isa::Slot::kPop, results * depth * times);
  task->busy[static_cast<int>(isa::Slot::kVector)] =
      Instructions(isa::Slot::kVector,
                   results * (depth * times - 1) +
                       numbers.result_operations * results * depth +
                       numbers.lhs_operations * Rows8(lhs) +
                       numbers.rhs_operations * Rows8(TypeOf(op.operands[1])));
  task->latency = array.latency + array.push_interval;
  task->passes = CeilOfRatio<int64_t>(tiles, mxus);
  const auto weights = makers_.find(op.operands[1]);
  if (weights != makers_.end()) task->weights = weights->second;
}

// A column that lies in one lane only is spread by the XLU, once for all that
// read it.
void BlockSchedule::AddBroadcast(const Operation& op, Task* task) {
  const int value = op.operands[0];
  const Type& from = TypeOf(value);
  if (!from.IsVector() || from.dims.empty() || from.dims.back() != 1) return;
  const auto known = variations_.find(value);
  if (known != variations_.end() && known->second.in_all_lanes) return;
  const auto [it, fresh] =
      spread_.try_emplace(value, static_cast<int>(tasks_.size()));
  if (!fresh) {
    task->operands.push_back(it->second);
    return;
  }
  task->busy[static_cast<int>(isa::Slot::kXlu)] =
      RegistersOf(from) * model_.Interval(isa::IntervalKey::kXlu) /
      std::max(1, model_.xlus);
  task->latency = model_.Latency(isa::LatencyKey::kXluBroadcast);
}

void BlockSchedule::AddMovement(const Operation& op, Task* task) {
  if (IsStore(op.name)) {
    // The vector that is stored, wherever it stands among the operands.
    int64_t registers = 1;
    for (const int value : op.operands) {
      if (TypeOf(value).IsVector()) {
        registers = std::max(registers, RegistersOf(TypeOf(value)));
      }
    }
    task->busy[static_cast<int>(isa::Slot::kStore)] =
        Instructions(isa::Slot::kStore, registers);
    task->latency = 1;
    return;
  }
  const int64_t registers = RegistersOf(TypeOf(op.results[0]));
  if (IsLoad(op.name)) {
    task->busy[static_cast<int>(isa::Slot::kLoad)] =
        Instructions(isa::Slot::kLoad, registers);
    task->latency = model_.Latency(isa::LatencyKey::kVectorLoad);
  } else if (op.name == "tpu.iota") {
    variations_[op.results[0]] = VariationOf(op);
    task->busy[static_cast<int>(isa::Slot::kVector)] =
        Instructions(isa::Slot::kVector, DistinctRegisters(op.results[0]));
    task->latency = 1;
  } else {
    const bool turns = absl::StrContains(op.name, "transpose");
    task->busy[static_cast<int>(isa::Slot::kXlu)] =
        registers *
        model_.Interval(turns ? isa::IntervalKey::kXluTransposeB16
                              : isa::IntervalKey::kXlu) /
        std::max(1, model_.xlus);
    task->latency = model_.Latency(turns ? isa::LatencyKey::kXluTransposeB32
                                         : isa::LatencyKey::kXluRotate);
  }
}

}  // namespace ptxla::lowering
