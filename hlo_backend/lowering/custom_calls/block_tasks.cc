// What operations of a Mosaic kernel on registers become, but products.
#include <algorithm>
#include <vector>

#include "absl/strings/match.h"
#include "base/units.h"
#include "hlo_backend/lowering/custom_calls/block_operations.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"

namespace ptxla::lowering {
namespace {

using mosaic::Attribute;
using mosaic::Operation;
using mosaic::Type;

// Registers of 128 x 128 words, which a transpose takes at once.
constexpr int64_t kBlock = 16;

bool IsFloat(const Type& t) {
  const std::string& name = t.element == nullptr ? t.name : t.element->name;
  return absl::StartsWith(name, "f") || absl::StartsWith(name, "bf");
}

// Values that share a word.
int64_t PackingOf(const Type& t) {
  const int bits = t.element == nullptr ? 32 : t.element->bits;
  return bits <= 1 || bits >= 32 ? 1 : 32 / bits;
}

// Of a reduction; none: all of them.
std::vector<int64_t> ReducedDims(const Operation& op) {
  for (const char* name : {"reduction_dims", "dim", "axis"}) {
    const Attribute* dims = op.Find(name);
    if (dims == nullptr) continue;
    if (dims->kind == Attribute::Kind::kInteger) return {dims->integer};
    return dims->integers;
  }
  return {};
}

bool Has(const std::vector<int64_t>& list, int64_t x) {
  return std::find(list.begin(), list.end(), x) != list.end();
}

}  // namespace

int BlockSchedule::ElementwiseKind(const std::string& name, bool is_float) {
  const RegisterCost* cost = costs_->Of(name, is_float);
  Work work;
  if (cost == nullptr) {
    unknown_.push_back(name);
    work.slots[static_cast<int>(isa::Slot::kVector)] = 1;
    work.latency = 1;
  } else {
    for (int s = 0; s < isa::kNumSlots; ++s) {
      work.slots[s] = static_cast<uint8_t>(std::min(cost->slots[s], 255));
    }
    uint8_t& eup = work.slots[static_cast<int>(isa::Slot::kEup)];
    eup = static_cast<uint8_t>(std::min(
        255, eup * std::max(1, model_.Interval(isa::IntervalKey::kEup))));
    work.latency = cost->latency;
  }
  return graph_.Kind(work);
}

void BlockSchedule::Elementwise(const Operation& op) {
  // The sign goes into the factor that an exponential begins with.
  if (op.name == "arith.negf" && OnlyExponentialsRead(op.results[0])) {
    values_[op.results[0]] = Registers(Of(op.operands[0]));
    return;
  }
  const Type& type = TypeOf(op.results[0]);
  bool is_float = IsFloat(type);
  Registers out;
  out.in_all_lanes = true;
  int64_t words = 1;  // rows as 32-bit values have them
  for (const int value : op.operands) {
    const Registers& from = Of(value);
    is_float = is_float || IsFloat(TypeOf(value));
    if (from.rows > 1) {
      words = std::max(words, from.rows * PackingOf(TypeOf(value)));
    }
    out.columns = std::max(out.columns, from.columns);
    out.in_all_lanes =
        out.in_all_lanes && (from.in_all_lanes || !TypeOf(value).IsVector());
  }
  if (words > 1) out.rows = CeilOfRatio<int64_t>(words, PackingOf(type));

  if (op.name == "arith.divf" && op.operands.size() == 2) {
    const Registers& below = Of(op.operands[1]);
    if (below.size() < out.size()) return DivideByRows(op, std::move(out));
  }
  const bool inverts = op.name == "arith.divf" && IsOne(op.operands[0]);
  const int kind =
      ElementwiseKind(inverts ? "tpu.reciprocal" : op.name, is_float);
  std::vector<int> inputs;
  out.nodes.clear();
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      inputs.clear();
      for (const int value : op.operands) {
        const Registers& from = Of(value);
        // All that are packed into one.
        const int64_t first = r * from.rows / out.rows;
        const int64_t last =
            std::max(first + 1, (r + 1) * from.rows / out.rows);
        for (int64_t k = first; k < last; ++k) {
          inputs.push_back(from.At(k, c, from.rows, out.columns));
        }
      }
      out.nodes.push_back(graph_.Add(kind, inputs));
    }
  }
  values_[op.results[0]] = std::move(out);
}

// One reciprocal for all that is divided by it, and a multiplication each.
void BlockSchedule::DivideByRows(const Operation& op, Registers out) {
  Registers below = Of(op.operands[1]);
  const Registers& above = Of(op.operands[0]);
  const RegisterCost* multiply = costs_->Of("arith.mulf", /*is_float=*/true);
  const auto [it, fresh] = reciprocals_.try_emplace(op.operands[1], below);
  if (fresh) {
    const int kind = ElementwiseKind("tpu.reciprocal", /*is_float=*/true);
    for (int& node : it->second.nodes) node = graph_.Add(kind, {node});
  }
  const int kind =
      Kind(isa::Slot::kVector, multiply == nullptr ? 1 : multiply->latency);
  out.nodes.clear();
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      out.nodes.push_back(
          graph_.Add(kind, {above.At(r, c, out.rows, out.columns),
                            it->second.At(r, c, out.rows, out.columns)}));
    }
  }
  values_[op.results[0]] = std::move(out);
}

// Along the lanes: registers of a row are combined, then the XLU finishes each
// group of 8 rows. Along the rows: registers are combined, then three rotations
// of the sublanes.
void BlockSchedule::Reduction(const Operation& op) {
  const Type& type = TypeOf(op.operands[0]);
  const Registers from = Of(op.operands[0]);
  const auto rank = static_cast<int64_t>(type.dims.size());
  const std::vector<int64_t> dims = ReducedDims(op);
  const bool all = dims.empty();
  const bool lanes = all || Has(dims, rank - 1);
  const bool sublanes = rank > 1 && (all || Has(dims, rank - 2));
  int64_t leading = 1, kept = 1;  // products of leading dimensions
  for (int64_t d = 0; d + 2 < rank; ++d) {
    leading *= type.dims[d];
    if (!all && !Has(dims, d)) kept *= type.dims[d];
  }
  if (leading == 0 || from.rows % leading != 0) leading = kept = 1;

  const bool is_float = IsFloat(type);
  const RegisterCost* add =
      costs_->Of(is_float ? "arith.addf" : "arith.addi", is_float);
  const int step = add == nullptr ? 1 : add->latency;
  // Where a maximum lies: a comparison, then the value and the register's
  // number are selected.
  const bool index = op.name == "tpu.reduce_index";
  const RegisterCost* compare = costs_->Of("arith.cmpf", /*is_float=*/true);
  const int combine =
      index ? Kind(isa::Slot::kVector,
                   1 + (compare == nullptr ? 1 : compare->latency), 3)
            : Kind(isa::Slot::kVector, step);
  constexpr int kSublaneSteps = 3;  // 8 rows: 4, 2, 1
  const int rotations = Kind(
      isa::Slot::kVector,
      kSublaneSteps * (step + model_.Latency(isa::LatencyKey::kSublaneRotate)),
      2 * kSublaneSteps);
  const Attribute* what = op.Find("kind");
  const bool sum = what != nullptr && absl::StrContains(what->text, "add");
  const int across = XluKind(
      model_.Latency(sum ? isa::LatencyKey::kXluSum : isa::LatencyKey::kXluMax),
      isa::IntervalKey::kXlu, XluMode::kReduce);
  const int permute = XluKind(model_.Latency(isa::LatencyKey::kXluBroadcast),
                              isa::IntervalKey::kXlu, XluMode::kPermute);

  Registers out;
  const int64_t height = from.rows / leading;  // of a leading index
  const int64_t rows = sublanes ? 1 : height;
  out.rows = kept * rows;
  out.columns = lanes ? 1 : from.columns;
  out.in_all_lanes = lanes;
  out.nodes.clear();
  for (int64_t r = 0; r < out.rows; ++r) {
    for (int64_t c = 0; c < out.columns; ++c) {
      std::vector<int> inputs;
      for (int64_t l = r / rows; l < leading; l += kept) {
        for (int64_t h = r % rows; h < height; h += rows) {
          for (int64_t k = c; k < from.columns; k += out.columns) {
            inputs.push_back(from.nodes[(l * height + h) * from.columns + k]);
          }
        }
      }
      const bool looks_up = index && lanes && inputs.size() > 1;
      int node = Combine(std::move(inputs), combine);
      if (sublanes) node = graph_.Add(rotations, {node});
      if (lanes) node = graph_.Add(across, {node});
      // The number of the lane's register.
      if (looks_up) node = graph_.Add(permute, {node});
      out.nodes.push_back(node);
    }
  }
  if (!op.results.empty()) values_[op.results[0]] = std::move(out);
}

// A column that lies in one lane only is spread by the XLU, once for all that
// read it.
void BlockSchedule::Broadcast(const Operation& op) {
  const int value = op.operands[0];
  const Type& type = TypeOf(value);
  Registers& out = values_[op.results[0]];
  if (!type.IsVector()) {
    out = Registers();
    out.in_all_lanes = true;
    return;
  }
  Registers from = Of(value);
  if (!type.dims.empty() && type.dims.back() == 1 && !from.in_all_lanes) {
    const auto [it, fresh] = spread_.try_emplace(value, from);
    if (fresh) {
      const int kind = XluKind(model_.Latency(isa::LatencyKey::kXluBroadcast),
                               isa::IntervalKey::kXlu, XluMode::kPermute);
      for (int& node : it->second.nodes) node = graph_.Add(kind, {node});
      it->second.in_all_lanes = true;
    }
    from = it->second;
  }
  values_[op.results[0]] = std::move(from);
}

void BlockSchedule::Iota(const Operation& op) {
  const Type& type = TypeOf(op.results[0]);
  Registers out = Full(type);
  const Attribute* dims = op.Find("dimensions");
  if (dims != nullptr && dims->integers.size() == 1) {
    const auto from_end =
        static_cast<int64_t>(type.dims.size()) - dims->integers[0];
    if (from_end != 2) out.rows = 1;
    if (from_end != 1) out.columns = 1;
    out.nodes.assign(static_cast<size_t>(out.size()), -1);
  }
  const int kind = Kind(isa::Slot::kVector, 1);
  for (int& node : out.nodes) node = graph_.Add(kind, {});
  values_[op.results[0]] = std::move(out);
}

// Blocks of 128 x 128 words. What is rounded behind the transpose anyway is
// transposed in pairs of 16-bit values, where two blocks lie above one another.
void BlockSchedule::Transpose(const Operation& op) {
  const Type& type = TypeOf(op.operands[0]);
  const Registers from = Of(op.operands[0]);
  const bool words = PackingOf(type) == 1;
  const bool pairs = words && IsFloat(type) && from.rows >= 2 * kBlock &&
                     OnlyReadNarrow(op.results[0]);
  const int turn = XluKind(
      model_.Latency(words ? isa::LatencyKey::kXluTransposeB32
                           : isa::LatencyKey::kXluTransposeB16),
      words ? isa::IntervalKey::kXlu : isa::IntervalKey::kXluTransposeB16);
  const int pack =
      Kind(isa::Slot::kVector, model_.Latency(isa::LatencyKey::kVectorPack));
  Registers out = Full(TypeOf(op.results[0]));
  // A block is whole when its last row has come.
  const int64_t height = pairs ? 2 * kBlock : kBlock;
  const int64_t tall = std::max<int64_t>(1, CeilOfRatio(from.rows, height));
  for (int64_t column = 0; column < from.columns; ++column) {
    for (int64_t block = 0; block < tall; ++block) {
      std::vector<int> turned;
      const int64_t end = std::min(from.rows, (block + 1) * height);
      for (int64_t r = block * height; r < end; r += pairs ? 2 : 1) {
        int node = from.nodes[r * from.columns + column];
        if (pairs) {
          const int other =
              from.nodes[std::min(r + 1, end - 1) * from.columns + column];
          node = graph_.Add(pack, {node, other});
        }
        turned.push_back(graph_.Add(turn, {node}));
      }
      // The results stand in the columns of this block, as many in a row.
      const int64_t first = column * out.rows / from.columns;
      const int64_t last = (column + 1) * out.rows / from.columns;
      const int64_t left = block * out.columns / tall;
      const int64_t right =
          std::max(left + 1, (block + 1) * out.columns / tall);
      for (int64_t r = first; r < last; ++r) {
        const auto from_block = static_cast<size_t>(
            (r - first) * static_cast<int64_t>(turned.size()) /
            std::max<int64_t>(1, last - first));
        for (int64_t c = left; c < std::min(right, out.columns); ++c) {
          int& node = out.nodes[r * out.columns + c];
          node = turned[from_block];
          if (pairs) node = graph_.Add(pack, {node});
        }
      }
    }
  }
  values_[op.results[0]] = std::move(out);
}

void BlockSchedule::Rotate(const Operation& op) {
  Registers out = Of(op.operands[0]);
  const int kind = XluKind(model_.Latency(isa::LatencyKey::kXluRotate),
                           isa::IntervalKey::kXlu);
  for (int& node : out.nodes) node = graph_.Add(kind, {node});
  out.in_all_lanes = false;
  values_[op.results[0]] = std::move(out);
}

}  // namespace ptxla::lowering
