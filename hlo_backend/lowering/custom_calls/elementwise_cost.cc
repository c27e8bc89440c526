#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/lowering/codegen/block_writer.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {
namespace {

// The operation of HLO that computes the same, for f32 or s32.
std::optional<hlo::Opcode> OpcodeOf(const std::string& name) {
  static const auto& table = *new absl::flat_hash_map<std::string, hlo::Opcode>{
      {"arith.addf", hlo::Opcode::kAdd},
      {"arith.addi", hlo::Opcode::kAdd},
      {"arith.subf", hlo::Opcode::kSubtract},
      {"arith.subi", hlo::Opcode::kSubtract},
      {"arith.mulf", hlo::Opcode::kMultiply},
      {"arith.muli", hlo::Opcode::kMultiply},
      {"arith.divf", hlo::Opcode::kDivide},
      {"arith.divsi", hlo::Opcode::kDivide},
      {"arith.divui", hlo::Opcode::kDivide},
      {"arith.remsi", hlo::Opcode::kRemainder},
      {"arith.remui", hlo::Opcode::kRemainder},
      {"arith.maximumf", hlo::Opcode::kMaximum},
      {"arith.maxnumf", hlo::Opcode::kMaximum},
      {"arith.maxsi", hlo::Opcode::kMaximum},
      {"arith.minimumf", hlo::Opcode::kMinimum},
      {"arith.minnumf", hlo::Opcode::kMinimum},
      {"arith.minsi", hlo::Opcode::kMinimum},
      {"arith.negf", hlo::Opcode::kNegate},
      {"arith.andi", hlo::Opcode::kAnd},
      {"arith.ori", hlo::Opcode::kOr},
      {"arith.xori", hlo::Opcode::kXor},
      {"arith.shli", hlo::Opcode::kShiftLeft},
      {"arith.shrsi", hlo::Opcode::kShiftRightArithmetic},
      {"arith.shrui", hlo::Opcode::kShiftRightLogical},
      {"arith.cmpf", hlo::Opcode::kCompare},
      {"arith.cmpi", hlo::Opcode::kCompare},
      {"arith.select", hlo::Opcode::kSelect},
      {"math.absf", hlo::Opcode::kAbs},
      {"math.absi", hlo::Opcode::kAbs},
      {"math.ceil", hlo::Opcode::kCeil},
      {"math.cos", hlo::Opcode::kCos},
      {"math.erf", hlo::Opcode::kErf},
      {"math.exp", hlo::Opcode::kExp},
      {"math.exp2", hlo::Opcode::kExp},
      {"math.expm1", hlo::Opcode::kExpm1},
      {"math.floor", hlo::Opcode::kFloor},
      {"math.log", hlo::Opcode::kLog},
      {"math.log1p", hlo::Opcode::kLog1p},
      {"math.log2", hlo::Opcode::kLog},
      {"math.powf", hlo::Opcode::kPower},
      {"math.roundeven", hlo::Opcode::kRoundNearestEven},
      {"math.rsqrt", hlo::Opcode::kRsqrt},
      {"math.sin", hlo::Opcode::kSin},
      {"math.sqrt", hlo::Opcode::kSqrt},
      {"math.tanh", hlo::Opcode::kTanh},
  };
  const auto found = table.find(name);
  if (found == table.end()) return std::nullopt;
  return found->second;
}

// Conversions between registers: packing, unpacking, rounding are one
// instruction a register of 32-bit values.
bool IsConversion(const std::string& name) {
  return name == "arith.truncf" || name == "arith.extf" ||
         name == "arith.sitofp" || name == "arith.uitofp" ||
         name == "arith.fptosi" || name == "arith.fptoui" ||
         name == "arith.extui" || name == "arith.extsi" ||
         name == "arith.trunci" || name == "tpu.pack_subelements" ||
         name == "tpu.unpack_subelements";
}

}  // namespace

const RegisterCost* ElementwiseCosts::Of(const std::string& operation,
                                         bool is_float) {
  const auto [it, fresh] = known_.try_emplace(
      absl::StrCat(operation, is_float ? " f" : " i"), std::nullopt);
  if (fresh) it->second = Make(operation, is_float);
  return it->second ? &*it->second : nullptr;
}

std::optional<RegisterCost> ElementwiseCosts::CostOf(
    codegen::CodeBuilder& code) const {
  RegisterCost cost;
  const codegen::VNode block = code.TakeBlock();
  for (const codegen::VInstr& v : block.instrs) {
    for (int slot = 0; slot < isa::kNumSlots; ++slot) {
      if (isa::Info(v.op).slots & (1 << slot)) ++cost.slots[slot];
    }
  }
  const auto schedule = codegen::ScheduleBlock(
      block.instrs, code.registers(), model_,
      codegen::BudgetOf(block.globals, model_), codegen::BlockMode::kFree);
  if (!schedule.ok()) return std::nullopt;
  cost.latency = static_cast<int>(schedule->cycles);
  return cost;
}

std::optional<RegisterCost> ElementwiseCosts::Make(const std::string& operation,
                                                   bool is_float) const {
  RegisterCost cost;
  if (IsConversion(operation)) {
    cost.slots[static_cast<int>(isa::Slot::kVector)] = 1;
    cost.latency = std::max(1, model_.Latency(isa::LatencyKey::kVectorPack));
    return cost;
  }
  if (operation == "tpu.reciprocal") {
    codegen::CodeBuilder code(model_);
    EmitReciprocal(code, code.GlobalVec());
    return CostOf(code);
  }
  const std::optional<hlo::Opcode> opcode = OpcodeOf(operation);
  if (!opcode) return std::nullopt;

  hlo::Module module("operation");
  hlo::Builder builder(module.AddComputation("main"));
  const hlo::PrimitiveType type =
      is_float ? hlo::PrimitiveType::kF32 : hlo::PrimitiveType::kS32;
  const hlo::Shape shape = hlo::Shape::ArrayRowMajor(type, {8, 128});
  codegen::CodeBuilder code(model_);
  std::vector<hlo::Instruction*> operands;
  std::vector<Value> inputs;
  const auto add = [&](const hlo::Shape& s) {
    operands.push_back(
        builder.Parameter(static_cast<int64_t>(operands.size()), s));
    inputs.push_back(s.type() == hlo::PrimitiveType::kPred
                         ? Value::Of(code.GlobalMask())
                         : Value::Of(code.GlobalVec()));
  };
  if (*opcode == hlo::Opcode::kSelect) {
    add(hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kPred, {8, 128}));
  }
  add(shape);
  if (hlo::OpcodeArity(*opcode) > 1) add(shape);
  hlo::Attributes attributes;
  if (*opcode == hlo::Opcode::kCompare) {
    attributes = hlo::CompareAttrs{};
  }
  const auto made = builder.Make(*opcode, operands, std::move(attributes));
  if (!made.ok()) return std::nullopt;
  if (!EmitElementwise(code, **made, inputs).ok()) return std::nullopt;
  return CostOf(code);
}

}  // namespace ptxla::lowering
