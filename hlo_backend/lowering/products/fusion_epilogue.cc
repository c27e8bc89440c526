#include "hlo_backend/lowering/products/fusion_epilogue.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/narrow_type.h"
#include "hlo_backend/lowering/products/epilogue_types.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using hlo::PrimitiveType;
using isa::Opcode;

int64_t VectorOperations(const std::vector<codegen::VInstr>& code) {
  return std::count_if(code.begin(), code.end(), [](const codegen::VInstr& v) {
    return isa::Info(v.op).slots & isa::Bit(isa::Slot::kVector);
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

absl::StatusOr<std::unique_ptr<FusionEpilogue>> FusionEpilogue::Create(
    const hlo::Instruction& fusion) {
  ASSIGN_OR_RETURN(Expression e, Expression::Build(fusion));
  auto epilogue =
      std::unique_ptr<FusionEpilogue>(new FusionEpilogue(std::move(e)));
  RETURN_IF_ERROR(epilogue->Describe(fusion));
  return epilogue;
}

absl::Status FusionEpilogue::Describe(const hlo::Instruction& fusion) {
  leaf_of_node_.assign(e_.nodes.size(), -1);
  for (const hlo::Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() != hlo::Opcode::kDot) continue;
    const size_t batch = i->attrs<hlo::DotAttrs>().lhs_batch.size();
    folded_ = e_.space.rank() != static_cast<int>(batch) + 2;
  }
  for (int node : e_.Leaves()) {
    if (e_.nodes[node].argument >= Expression::kReduced) continue;
    ASSIGN_OR_RETURN(Leaf leaf, DescribeLeaf(node));
    leaf_of_node_[node] = static_cast<int>(leaves_.size());
    leaves_.push_back(std::move(leaf));
  }
  for (size_t k = 0; k < e_.roots.size(); ++k) {
    const int node = e_.roots[k];
    if (e_.reduces[k] != nullptr) continue;
    const hlo::Instruction& root = *e_.nodes[node].instr;
    const hlo::Shape& shape = fusion.shape().IsTuple()
                                  ? fusion.shape().elements()[results_.size()]
                                  : fusion.shape();
    if (!IsTileType(shape.type()))
      return RefuseInEpilogue(root, "a narrow result");
    Result result;
    result.node = node;
    ASSIGN_OR_RETURN(result.view, MatrixView::Of(shape));
    results_.push_back(std::move(result));
  }
  return absl::OkStatus();
}

void FusionEpilogue::AddTo(ProductProblem* problem,
                           const isa::MachineModel& model) {
  problem->out_bytes_per_element = 0;
  for (const Result& r : results_) {
    // What stays in VMEM is no traffic and takes no slots.
    if (r.view.resident) continue;
    problem->out_bytes_per_element += BytesOf(r.view.type);
  }
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && !leaf.view.resident) {
      problem->epilogue_bytes_per_element += BytesOf(leaf.view.type);
    } else if (leaf.form != Form::kTile && leaf.form != Form::kScalar) {
      problem->epilogue_whole_bytes +=
          RoundUpTo<int64_t>(leaf.array.bytes(), isa::kVregBytes);
    }
  }
  const auto is_byte = [](const auto& x) { return IsByte(x.view.type); };
  if (std::any_of(results_.begin(), results_.end(), is_byte) ||
      std::any_of(leaves_.begin(), leaves_.end(), is_byte)) {
    problem->row_unit = 32;
  }
  for (const Leaf& leaf : leaves_) {
    // A step's columns begin at a whole row of memory: 512 bytes.
    if (leaf.form == Form::kColumns) {
      problem->column_unit = std::max<int64_t>(
          problem->column_unit, isa::kRowBytes / BytesOf(leaf.view.type));
    }
  }
  // Vector operations of the formula on one register: written and counted.
  std::vector<int> all(e_.nodes.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<codegen::VInstr> code = CodeOf(model, all);
  problem->epilogue_ops += VectorOperations(code);
  // Two tiles go through the formula together, and their results are packed.
  live_registers_ = 2 * PeakVectors(code) + 2;
}

std::vector<codegen::VInstr> FusionEpilogue::CodeOf(
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
    std::vector<Value> inputs;
    for (int input : node.inputs) {
      Value& value = values[input];
      if (!value.vec.valid() && !value.is_mask()) value = given(input);
      inputs.push_back(value);
    }
    const auto value = EmitElementwise(b, *node.instr, inputs);
    if (!value.ok()) return {};  // Emit reports it
    values[n] = *value;
  }
  return b.TakeBlock().instrs;
}

void FusionEpilogue::AddWindows(const ProductTile& tile, const GridDims& grid,
                                int first_space, Tiling* tiling) {
  first_space_ = first_space;
  first_window_ = static_cast<int>(tiling->windows.size());
  for (Leaf& leaf : leaves_) {
    const int arg = e_.nodes[leaf.node].argument;
    if (leaf.form == Form::kTile) {
      leaf.window = AddResultWindow(leaf.view, arg, tile, grid,
                                    isa::Direction::kIn, tiling);
      continue;
    }
    isa::Window w;
    w.arg = arg;
    w.direction = isa::Direction::kIn;
    w.slots = 1;
    const int64_t bytes = tiling->args[arg].bytes;
    if (leaf.form == Form::kScalar && !leaf.view.resident) {
      w.space = isa::Space::kSmem;
      w.inner_bytes = std::min<int64_t>(bytes, isa::kRowBytes);
      w.slot_bytes = isa::kRowBytes;
    } else {
      w.inner_bytes = bytes;
      w.slot_bytes = RoundUpTo<int64_t>(bytes, isa::kVregBytes);
    }
    leaf.window = static_cast<int>(tiling->windows.size());
    tiling->windows.push_back(std::move(w));
  }
  const int first_result =
      static_cast<int>(tiling->args.size() - results_.size());
  for (size_t r = 0; r < results_.size(); ++r) {
    results_[r].window =
        AddResultWindow(results_[r].view, first_result + static_cast<int>(r),
                        tile, grid, isa::Direction::kOut, tiling);
  }
  windows_ = tiling->windows;
  grid_ = grid.bounds;
  column_grid_ = grid.n;
  column_block_ = tile.block_n;
  column_steps_ = tile.grid_n;
  row_grid_ = grid.m;
  row_block_ = tile.block_m;
  batch_grid_ = grid.b;
  batch_block_ = tile.block_b;
}

absl::Status FusionEpilogue::Start(CodeBuilder& b) {
  b_ = &b;
  status_ = absl::OkStatus();
  first_member_ = {};
  BeginBlock();
  const auto space = [&](int window) {
    return first_space_ + window - first_window_;
  };
  for (Leaf& leaf : leaves_) {
    const isa::Window& window = windows_[leaf.window];
    if (leaf.form == Form::kTile) {
      leaf.place =
          PlaceOf(leaf.view, window, leaf.window, space(leaf.window), &b);
      continue;
    }
    leaf.place.space = space(leaf.window);
    leaf.place.base = b.GlobalSca();
    b.WindowAddress(leaf.place.base, leaf.window);
    // Where in a resident argument the block begins depends on the step.
    b.SetBank(leaf.place.base,
              leaf.view.resident ? codegen::kUnknownBanks
                                 : CodeBuilder::kAbsoluteBanks,
              0);
    if (leaf.form == Form::kScalar) {
      leaf.scalar = b.GlobalVec();
      if (window.space == isa::Space::kSmem) {
        Sca word = b.SLoad(leaf.place.space, leaf.place.base, 0);
        if (leaf.view.type == PrimitiveType::kBf16) {
          word = b.SBinaryImm(Opcode::kSshll, word, 16);
        }
        b.Move(leaf.scalar, b.Splat(word));
        continue;
      }
      Vec words = b.LoadRow(leaf.place.space, leaf.place.base, 0);
      if (leaf.view.type == PrimitiveType::kBf16) {
        words = b.BinaryImm(Opcode::kVshll, words, 16);
      }
      b.Move(leaf.scalar, b.BroadcastLane(words, 0));
      continue;
    }
    // The whole array is there: the step's columns begin at its grid index.
    if (column_steps_ > 1) {
      const Sca index = b.NewSca();
      b.GridIndex(index, column_grid_);
      const int64_t bytes =
          leaf.form == Form::kColumns
              ? column_block_ * BytesOf(leaf.view.type)
              : column_block_ / isa::kLanes * leaf.array.tile_bytes();
      b.SBinaryTo(leaf.place.base, Opcode::kSadd, leaf.place.base,
                  b.SMulImm(index, static_cast<int32_t>(bytes)));
    }
    if (leaf.form == Form::kBatchColumns && grid_[batch_grid_] > 1 &&
        !first_member_.valid()) {
      const Sca index = b.NewSca();
      b.GridIndex(index, batch_grid_);
      first_member_ = b.GlobalSca();
      b.SMove(first_member_,
              b.SMulImm(index, static_cast<int32_t>(batch_block_)));
    }
  }
  StartIotas(b);
  int uses = 0;
  for (const Leaf& leaf : leaves_) {
    if (leaf.form == Form::kTile && BytesOf(leaf.view.type) < 4) {
      uses |= codegen::NarrowTiles::LoadOf(8 * BytesOf(leaf.view.type));
    }
  }
  for (Result& r : results_) {
    if (BytesOf(r.view.type) == 2) uses |= codegen::NarrowTiles::kStore16;
  }
  narrow_.emplace(&b, uses);
  b.NewBlock("addresses");
  for (Result& r : results_) {
    r.store = ResultStore::Of(r.view, windows_[r.window], r.window, grid_,
                              space(r.window), &b);
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> FusionEpilogue::Eval(int number, int tile,
                                           const Position& at) {
  const int64_t key = int64_t{number} * 2 + tile;
  if (const auto it = values_.find(key); it != values_.end()) return it->second;
  const ExprNode& node = e_.nodes[number];
  const bool whole_row = (node.kind == ExprNode::Kind::kOp ||
                          node.kind == ExprNode::Kind::kIota) &&
                         !VariesInRow(number);
  if (whole_row) {
    const auto it = row_values_.find(key);
    if (it != row_values_.end()) return it->second;
  }
  Value value = Known(number, tile, at);
  if (value.vec.valid() || value.is_mask()) {
    values_[key] = value;
    return value;
  }
  switch (node.kind) {
    case ExprNode::Kind::kProduct:
      value = Value::Of((*at.sums)[tile]);
      break;
    case ExprNode::Kind::kConstant:
      if (node.type == PrimitiveType::kPred) {
        const int all = node.constant != 0 ? 1 : 0;
        value = Value::Of(b_->Range(0, 128 * all, 0, 8 * all));
      } else {
        value = Value::Of(b_->Imm(node.constant));
      }
      break;
    case ExprNode::Kind::kIota: {
      ASSIGN_OR_RETURN(value, Iota(node, tile, at));
      break;
    }
    case ExprNode::Kind::kLeaf: {
      ASSIGN_OR_RETURN(value, Load(leaves_[leaf_of_node_[number]], tile, at));
      break;
    }
    case ExprNode::Kind::kOp: {
      ASSIGN_OR_RETURN(value, EvalOp(node, tile, at));
      break;
    }
  }
  (whole_row ? row_values_ : values_)[key] = value;
  return value;
}

absl::StatusOr<Value> FusionEpilogue::EvalOp(const ExprNode& node, int tile,
                                             const Position& at) {
  absl::InlinedVector<Value, 3> inputs;
  for (int input : node.inputs) {
    ASSIGN_OR_RETURN(Value v, Eval(input, tile, at));
    inputs.push_back(v);
  }
  if (node.instr->opcode() == hlo::Opcode::kDivide &&
      node.type == PrimitiveType::kF32 && !VariesInRow(node.inputs[1])) {
    // A divisor of whole rows is inverted once.
    Vec& reciprocal = reciprocals_[int64_t{node.inputs[1]} * 2 + tile];
    if (!reciprocal.valid()) reciprocal = EmitReciprocal(*b_, inputs[1].vec);
    return Value::Of(b_->Binary(Opcode::kVmulF32, inputs[0].vec, reciprocal));
  }
  return EmitElementwise(*b_, *node.instr, inputs);
}

absl::Status FusionEpilogue::Store(const Result& result, const Position& at) {
  CodeBuilder& b = *b_;
  const BlockPlace& place = result.store.place();
  const auto offset =
      static_cast<int32_t>(place.Offset(at.batch, at.row, at.col));
  const auto pitch = static_cast<int32_t>(place.row_pitch);
  std::vector<Vec> words;
  for (size_t tile = 0; tile < at.sums->size(); ++tile) {
    ASSIGN_OR_RETURN(Value v, Eval(result.node, static_cast<int>(tile), at));
    words.push_back(v.is_mask() ? MaskToNumber(b, v.mask, false) : v.vec);
  }
  if (BytesOf(result.view.type) < 4 &&
      codegen::NarrowTiles::Needed(b.model())) {
    for (size_t tile = 0; tile < words.size(); ++tile) {
      if (tile > 0 && result.view.rows <= 8) break;
      b.SetStoreGuard(
          result.store.GuardOf(at.batch, at.row + 8 * tile, at.col));
      narrow_->Store(NarrowTypeOf(result.view.type), place.space, place.base,
                     offset + static_cast<int32_t>(tile) * pitch, words[tile]);
    }
    b.SetStoreGuard({});
    return absl::OkStatus();
  }
  if (IsByte(result.view.type) && result.view.tile_rows == 8) {
    for (size_t tile = 0; tile < words.size(); ++tile) {
      const Vec half = b.Binary(Opcode::kVpackCB16, words[tile], words[tile]);
      b.SetStoreGuard(
          result.store.GuardOf(at.batch, at.row + 8 * tile, at.col));
      b.StoreMasked(
          place.space, place.base, offset + static_cast<int32_t>(tile) * pitch,
          b.Binary(Opcode::kVpackCB8, half, half), b.Range(0, 128, 0, 2));
    }
    b.SetStoreGuard({});
    return absl::OkStatus();
  }
  if (IsByte(result.view.type)) {
    const Vec half = b.Binary(Opcode::kVpackCB16, words[0], words[1]);
    result.store.Bytes(&b, at.batch, at.row, at.col,
                       b.Binary(Opcode::kVpackCB8, half, half));
    return absl::OkStatus();
  }
  if (result.view.type == PrimitiveType::kBf16) {
    result.store.Packed(&b, at.batch, at.row, at.col,
                        b.Binary(Opcode::kVpackCBf16, words[0], words[1]));
    return absl::OkStatus();
  }
  result.store.Words(&b, at.batch, at.row, at.col, words);
  return absl::OkStatus();
}

void FusionEpilogue::Emit(int64_t batch, int64_t row, int64_t col,
                          const std::vector<Vec>& tiles) {
  values_.clear();
  row_values_.clear();
  reciprocals_.clear();
  packed_.clear();
  const Position at{batch, row, col, &tiles};
  for (const Result& result : results_) {
    const absl::Status stored = Store(result, at);
    if (status_.ok()) status_ = stored;
  }
}

}  // namespace ptxla::lowering
