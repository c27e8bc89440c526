#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/fusion/vector_math.h"

namespace ptxla::lowering {
namespace {

using hlo::Opcode;

// The operation of HLO that computes the same, for f32 or s32.
std::optional<Opcode> OpcodeOf(const std::string& name) {
  static const auto& table = *new absl::flat_hash_map<std::string, Opcode>{
      {"arith.addf", Opcode::kAdd},
      {"arith.addi", Opcode::kAdd},
      {"arith.subf", Opcode::kSubtract},
      {"arith.subi", Opcode::kSubtract},
      {"arith.mulf", Opcode::kMultiply},
      {"arith.muli", Opcode::kMultiply},
      {"arith.divf", Opcode::kDivide},
      {"arith.divsi", Opcode::kDivide},
      {"arith.divui", Opcode::kDivide},
      {"arith.remsi", Opcode::kRemainder},
      {"arith.remui", Opcode::kRemainder},
      {"arith.maximumf", Opcode::kMaximum},
      {"arith.maxnumf", Opcode::kMaximum},
      {"arith.maxsi", Opcode::kMaximum},
      {"arith.minimumf", Opcode::kMinimum},
      {"arith.minnumf", Opcode::kMinimum},
      {"arith.minsi", Opcode::kMinimum},
      {"arith.negf", Opcode::kNegate},
      {"arith.andi", Opcode::kAnd},
      {"arith.ori", Opcode::kOr},
      {"arith.xori", Opcode::kXor},
      {"arith.shli", Opcode::kShiftLeft},
      {"arith.shrsi", Opcode::kShiftRightArithmetic},
      {"arith.shrui", Opcode::kShiftRightLogical},
      {"arith.cmpf", Opcode::kCompare},
      {"arith.cmpi", Opcode::kCompare},
      {"arith.select", Opcode::kSelect},
      {"math.absf", Opcode::kAbs},
      {"math.absi", Opcode::kAbs},
      {"math.ceil", Opcode::kCeil},
      {"math.cos", Opcode::kCos},
      {"math.erf", Opcode::kErf},
      {"math.exp", Opcode::kExp},
      {"math.exp2", Opcode::kExp},
      {"math.expm1", Opcode::kExpm1},
      {"math.floor", Opcode::kFloor},
      {"math.log", Opcode::kLog},
      {"math.log1p", Opcode::kLog1p},
      {"math.log2", Opcode::kLog},
      {"math.powf", Opcode::kPower},
      {"math.roundeven", Opcode::kRoundNearestEven},
      {"math.rsqrt", Opcode::kRsqrt},
      {"math.sin", Opcode::kSin},
      {"math.sqrt", Opcode::kSqrt},
      {"math.tanh", Opcode::kTanh},
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
  const std::optional<Opcode> opcode = OpcodeOf(operation);
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
  if (*opcode == Opcode::kSelect) {
    add(hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kPred, {8, 128}));
  }
  add(shape);
  if (hlo::OpcodeArity(*opcode) > 1) add(shape);
  hlo::Attributes attributes;
  if (*opcode == Opcode::kCompare) {
    attributes = hlo::CompareAttrs{};
  }
  const auto made = builder.Make(*opcode, operands, std::move(attributes));
  if (!made.ok()) return std::nullopt;
  if (!EmitElementwise(code, **made, inputs).ok()) return std::nullopt;
  return CostOf(code);
}

}  // namespace ptxla::lowering
