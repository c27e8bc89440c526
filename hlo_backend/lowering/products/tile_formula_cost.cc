// TileFormula: what its code costs, before any is written.
#include <algorithm>

#include "hlo_backend/lowering/fusion/f16_conversion.h"
#include "hlo_backend/lowering/fusion/node_math.h"
#include "hlo_backend/lowering/narrow_type.h"
#include "hlo_backend/lowering/products/epilogue_types.h"
#include "hlo_backend/lowering/products/tile_formula.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using hlo::PrimitiveType;
using isa::Opcode;

int64_t VectorOperations(const std::vector<codegen::VInstr>& code) {
  return std::count_if(code.begin(), code.end(), [](const codegen::VInstr& v) {
    return isa::Info(v.op).slots & isa::Bit(isa::Slot::kVector);
  });
}

int64_t FunctionOperations(const std::vector<codegen::VInstr>& code) {
  return std::count_if(code.begin(), code.end(), [](const codegen::VInstr& v) {
    return isa::Info(v.op).unit == isa::ExecUnit::kEup;
  });
}

int PeakVectors(const std::vector<codegen::VInstr>& code) {
  absl::flat_hash_map<int32_t, size_t> last_read;
  for (size_t k = 0; k < code.size(); ++k) {
    const codegen::VInstr& v = code[k];
    const codegen::FieldClasses& f = codegen::FieldsOf(v.op);
    const auto read = [&](int8_t cls, int32_t reg) {
      if (cls == static_cast<int8_t>(isa::RegClass::kVector)) {
        last_read[reg] = k;
      }
    };
    read(f.a, v.a);
    read(f.b, v.b);
    read(f.c, v.c);
  }
  int live = 0, peak = 0;
  std::vector<int> ends(code.size() + 1, 0);
  for (size_t k = 0; k < code.size(); ++k) {
    const codegen::VInstr& v = code[k];
    if (codegen::FieldsOf(v.op).dst ==
            static_cast<int8_t>(isa::RegClass::kVector) &&
        last_read.contains(v.dst)) {
      peak = std::max(peak, ++live);
      ++ends[last_read[v.dst]];
    }
    live -= ends[k];
  }
  return peak;
}

std::vector<int> TileFormula::NodesOfTiles() const {
  std::vector<int> nodes;
  for (size_t n = 0; n < e_.nodes.size(); ++n) {
    if (!of_rows_[n]) nodes.push_back(static_cast<int>(n));
  }
  return nodes;
}

int64_t TileFormula::LeafOperations(const isa::MachineModel& model) const {
  int64_t operations = 0;
  for (const Leaf& leaf : leaves_) {
    const PrimitiveType type = leaf.view.type;
    const bool tile = leaf.form == Form::kTile;
    if ((!tile && leaf.form != Form::kColumns) || BytesOf(type) == 4) continue;
    if (type == PrimitiveType::kF16) {
      operations += UnpackF16Operations(model);
    } else {
      // A tile is unpacked; of a row's words two shifts leave a byte.
      operations += tile || type == PrimitiveType::kBf16 ? 1 : 2;
    }
    if (type == PrimitiveType::kPred) ++operations;
  }
  return operations;
}

std::vector<codegen::VInstr> TileFormula::CodeOf(
    const isa::MachineModel& model, const std::vector<int>& nodes) const {
  CodeBuilder b(model);
  b.NewBlock();
  std::vector<Value> values(e_.nodes.size());
  const auto given = [&](int n) {
    const bool pred = e_.nodes[n].type == PrimitiveType::kPred;
    return pred ? Value::Of(b.NewMask()) : Value::Of(b.NewVec());
  };
  for (const int n : nodes) {
    const ExprNode& node = e_.nodes[n];
    if (node.kind != ExprNode::Kind::kOp) {
      values[n] = given(n);
      continue;
    }
    const auto input_of = [&](int input) {
      Value& value = values[input];
      if (!value.vec.valid() && !value.is_mask()) value = given(input);
      return value;
    };
    if (DividesByColumns(node)) {
      // The inverse is made once for all rows.
      values[n] =
          Value::Of(b.Binary(Opcode::kVmulF32, input_of(node.inputs[0]).vec,
                             input_of(node.inputs[1]).vec));
      continue;
    }
    if (const int constant = e_.ImmediateInput(node); constant >= 0) {
      values[n] =
          EmitWithImmediate(b, *node.instr, input_of(node.inputs[1 - constant]),
                            e_.nodes[node.inputs[constant]].constant);
      continue;
    }
    std::vector<Value> inputs;
    for (int input : node.inputs) inputs.push_back(input_of(input));
    const absl::StatusOr<Value> value =
        EmitNode(b, node, inputs, RoundsInRegisters(node));
    if (!value.ok()) return {};  // Emit reports it
    values[n] = *value;
  }
  return b.TakeBlock().instrs;
}

}  // namespace ptxla::lowering
