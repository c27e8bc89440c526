#include "hlo_backend/lowering/fusion/nest.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/lowering/fusion/node_math.h"
#include "hlo_backend/lowering/fusion/number_conversion.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

NestCode::NestCode(const Expression& e, const Geometry& g, const NestPlan& plan,
                   const std::vector<Place>& places, CodeBuilder& b, int stage)
    : e_(e), g_(g), plan_(plan), places_(places), b_(b), stage_(stage) {
  stream_of_node_.assign(e.nodes.size(), -1);
  for (size_t s = 0; s < g.streams.size(); ++s) {
    if (g.streams[s].node >= 0) {
      stream_of_node_[g.streams[s].node] = static_cast<int>(s);
    }
  }
  // A node is on a frontier if something that varies more reads it.
  frontier_.assign(e.nodes.size(), false);
  only_stored_.assign(e.nodes.size(), false);
  for (size_t r = 0; r < e.roots.size(); ++r) {
    only_stored_[e.roots[r]] = e.IsStored(r);
  }
  for (const ExprNode& n : e.nodes) {
    for (const int input : n.inputs) only_stored_[input] = false;
  }
  for (const ExprNode& n : e.nodes) node_axes_.push_back(g.AxesOf(n));
  extent_.assign(g.axes.size(), 0);
  at_end_.assign(g.axes.size(), true);
  fixed_.assign(g.axes.size(), false);
}

absl::Status NestCode::Run(const Hooks& hooks) {
  hooks_ = &hooks;
  return ForGridEdges(0);
}

// A result that is written where it lies ends within a register: the last step
// alone stores a part of one.
bool NestCode::EndsInRegister() const {
  if (!g_.linear) return false;
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    const Stream& s = g_.streams[k];
    if (s.node >= 0 || !places_[k].resident) continue;
    const int64_t unit =
        isa::kVregBytes / (s.tile_by_tile ? s.array.packing : 1);
    if (s.array.bytes() % unit != 0) return true;
  }
  return false;
}

// The last step of an axis that the blocks do not divide has code of its own.
absl::Status NestCode::ForGridEdges(size_t k) {
  if (k == g_.axes.size()) {
    b_.BeginScope();
    RETURN_IF_ERROR(Step());
    b_.EndScope();
    return absl::OkStatus();
  }
  const int64_t tiles = g_.axes[k].tiles, block = plan_.block[k];
  const int dim = plan_.grid_dim[k];
  extent_[k] = std::min(tiles, block);
  at_end_[k] = true;
  const bool ragged = tiles % block != 0;
  // Masks are for the last step only.
  const int64_t per_tile = g_.axes[k].kind == Axis::Kind::kRow ? g_.base_rows
                           : g_.axes[k].kind == Axis::Kind::kColumn
                               ? (g_.linear ? 1024 : 128)
                               : 1;
  const bool masked =
      g_.axes[k].reduced && g_.axes[k].elements != tiles * per_tile;
  const bool ends = g_.axes[k].kind == Axis::Kind::kColumn && EndsInRegister();
  if (dim < 0 || (!ragged && !masked && !ends)) return ForGridEdges(k + 1);
  b_.BeginWhen(dim, isa::When::Kind::kNotLast);
  at_end_[k] = false;
  RETURN_IF_ERROR(ForGridEdges(k + 1));
  b_.EndWhen();
  b_.BeginWhen(dim, isa::When::Kind::kLast);
  at_end_[k] = true;
  extent_[k] = ragged ? tiles % block : block;
  RETURN_IF_ERROR(ForGridEdges(k + 1));
  b_.EndWhen();
  return absl::OkStatus();
}

void NestCode::Forget() {
  local_.clear();
  sublanes_.clear();
  reciprocals_.clear();
  angles_.Clear();
  mask_words_.clear();
  loads_.clear();
  packed_.clear();
  row_words_.clear();
  row_index_.clear();
  row_values_.clear();
}

absl::Status NestCode::Step() {
  pointers_.clear();
  starts_.clear();
  block_values_.clear();
  global_.clear();
  Forget();
  region_ = Region();
  std::fill(fixed_.begin(), fixed_.end(), false);
  RETURN_IF_ERROR(ExpandRows());
  RETURN_IF_ERROR(WidenColumns());
  PrepareNarrowTiles();
  b_.NewBlock("addresses");
  StartPointers();
  if (hooks_->start) hooks_->start(*this);
  RETURN_IF_ERROR(Walk(0));
  return hooks_->finish ? hooks_->finish(*this) : absl::OkStatus();
}

// A result in VMEM that is walked in place may end within a register.
bool NestCode::EndsInAMask(const Axis& a) const {
  if (!g_.linear || a.kind != Axis::Kind::kColumn) return false;
  for (size_t k = 0; k < g_.streams.size(); ++k) {
    const Stream& s = g_.streams[k];
    const int64_t unit =
        isa::kVregBytes / (s.tile_by_tile ? s.array.packing : 1);
    if (s.node < 0 && places_[k].resident && s.array.bytes() % unit != 0) {
      return true;
    }
  }
  return false;
}

absl::Status NestCode::Walk(int position) {
  if (position == static_cast<int>(plan_.order.size())) {
    if (!joined()) b_.NewBlock("body");
    Forget();
    if (hooks_->body) return hooks_->body(*this, region_);
    return StoreResults(region_);
  }
  const bool boundary =
      position == plan_.reduced_from && hooks_->enter != nullptr;
  RETURN_IF_ERROR(Hoist(position));
  const bool joins = boundary && !LoopsFrom(position);
  if (joins) Join();
  if (boundary) {
    RETURN_IF_ERROR(hooks_->enter(*this, region_));
  }
  const int axis = plan_.order[position];
  const Axis& a = g_.axes[axis];
  const int64_t tiles = extent_[axis], step = plan_.unroll[axis];
  int64_t full = tiles / step, tail = tiles % step;
  // The end of an axis may need masks: it is not in the loop.
  if (tail == 0 && at_end_[axis] && (a.reduced || EndsInAMask(a))) {
    --full;
    tail = step;
  }
  const auto with_region = [&](int64_t n, bool end) -> absl::Status {
    const Region saved = region_;
    if (a.kind == Axis::Kind::kRow) {
      region_.rows = static_cast<int>(n);
      region_.row_end = end && at_end_[axis];
    } else if (a.kind == Axis::Kind::kColumn) {
      region_.columns = static_cast<int>(n);
      region_.column_end = end && at_end_[axis];
    }
    fixed_[axis] = true;
    if (joined()) {
      RETURN_IF_ERROR(Walk(position + 1));
    } else {
      const auto hoisted = global_;
      b_.BeginScope();
      RETURN_IF_ERROR(Walk(position + 1));
      b_.EndScope();
      global_ = hoisted;
    }
    fixed_[axis] = false;
    region_ = saved;
    return absl::OkStatus();
  };
  const auto body = [&](int64_t n, bool end) -> absl::Status {
    if (a.kind != Axis::Kind::kMajor || n == 1) return with_region(n, end);
    // Indices of a major follow one another, in one block where nothing loops
    // inside of them.
    const bool one_block = !LoopsFrom(position + 1);
    if (one_block) Join();
    for (int64_t k = 0; k < n; ++k) {
      RETURN_IF_ERROR(with_region(1, end));
      Advance(axis, 1);
    }
    if (one_block) --joined_;
    Advance(axis, -n);
    return absl::OkStatus();
  };
  const std::vector<Pointer> start = pointers_;
  if (full > 1) {
    b_.BeginLoop(full, 1);
    RETURN_IF_ERROR(body(step, tail == 0));
    for (size_t k = 0; k < pointers_.size(); ++k) {
      Pointer& p = pointers_[k];
      const int64_t move = p.offset + p.strides[axis] * step - start[k].offset;
      p.offset = start[k].offset;
      const bool first = std::none_of(
          start.begin(), start.begin() + k,
          [&](const Pointer& other) { return other.reg == p.reg; });
      if (move != 0 && first) {
        b_.SBinaryImmTo(p.reg, Opcode::kSadd, p.reg,
                        static_cast<int32_t>(move));
      }
    }
    b_.EndLoop();
  } else if (full == 1) {
    RETURN_IF_ERROR(body(step, tail == 0));
    Advance(axis, step);
  }
  if (tail > 0) {
    RETURN_IF_ERROR(body(tail, true));
  }
  // Back to the beginning of the axis.
  if (full > 1) {
    Advance(axis, -full * step);
  } else if (full == 1) {
    Advance(axis, -step);
  }
  if (boundary) {
    RETURN_IF_ERROR(hooks_->leave(*this, region_));
  }
  if (joins) --joined_;
  return absl::OkStatus();
}

// One of the axes from this one inwards takes more than one body.
bool NestCode::LoopsFrom(int position) const {
  for (size_t p = position; p < plan_.order.size(); ++p) {
    const int axis = plan_.order[p];
    if (extent_[axis] > plan_.unroll[axis]) return true;
  }
  return false;
}

void NestCode::Join() {
  if (joined_++ == 0) b_.NewBlock("body");
}

NestCode::TileKey NestCode::Key(int node, int row, int column) const {
  const bool by_row = g_.row_axis >= 0 && (node_axes_[node] >> g_.row_axis & 1);
  const bool by_column =
      g_.column_axis >= 0 && (node_axes_[node] >> g_.column_axis & 1);
  return {node, by_row ? row : 0, by_column ? column : 0};
}

absl::StatusOr<Value> NestCode::Eval(int node, int row, int column) {
  const TileKey key = Key(node, row, column);
  if (const auto it = global_.find(key); it != global_.end()) return it->second;
  if (const auto it = local_.find(key); it != local_.end()) return it->second;
  const ExprNode& n = e_.nodes[node];
  Value value;
  switch (n.kind) {
    case ExprNode::Kind::kConstant:
      if (n.type == hlo::PrimitiveType::kPred) {
        const int all = n.constant ? 1 : 0;
        value = Value::Of(b_.Range(0, 128 * all, 0, 8 * all));
      } else {
        value = Value::Of(b_.Imm(n.constant));
      }
      break;
    case ExprNode::Kind::kIota: {
      value = EmitIota(b_, *n.instr, PositionsOf(n, row, column),
                       !only_stored_[node]);
      break;
    }
    case ExprNode::Kind::kLeaf: {
      ASSIGN_OR_RETURN(value, MakeLeaf(n, row, column));
      break;
    }
    case ExprNode::Kind::kProduct:
      return absl::InternalError(
          absl::StrCat("a product in a vector loop: ", n.instr->name()));
    case ExprNode::Kind::kOp: {
      if (const int constant = e_.ImmediateInput(n); constant >= 0) {
        ASSIGN_OR_RETURN(const Value x,
                         Eval(n.inputs[1 - constant], row, column));
        value = EmitWithImmediate(b_, *n.instr, x,
                                  e_.nodes[n.inputs[constant]].constant);
        break;
      }
      if (n.instr->opcode() == hlo::Opcode::kConvert &&
          HasMaskWords(n.inputs[0])) {
        ASSIGN_OR_RETURN(value, MaskAsNumber(n, row, column));
        break;
      }
      absl::InlinedVector<Value, 3> inputs;
      for (int input : n.inputs) {
        ASSIGN_OR_RETURN(Value v, Eval(input, row, column));
        inputs.push_back(v);
      }
      if (n.instr->opcode() == hlo::Opcode::kDivide && hlo::IsFloat(n.type)) {
        // A divisor that varies along fewer axes (the sum of a softmax's row)
        // is inverted once.
        Vec& reciprocal = reciprocals_[Key(n.inputs[1], row, column)];
        if (!reciprocal.valid()) {
          reciprocal = EmitDivisor(b_, n.type, inputs[1].vec);
        }
        value =
            Value::Of(b_.Binary(Opcode::kVmulF32, inputs[0].vec, reciprocal));
        break;
      }
      ASSIGN_OR_RETURN(value,
                       EmitNode(b_, n, inputs, !only_stored_[node], &angles_));
      break;
    }
  }
  local_[key] = value;
  return value;
}

}  // namespace ptxla::lowering
