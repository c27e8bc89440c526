#include "hlo_backend/analysis/cost_analysis.h"

#include <algorithm>
#include <cmath>

#include "hlo_backend/analysis/custom_call_cost.h"
#include "hlo_backend/analysis/trip_count.h"

namespace ptxla::hlo {
namespace {

constexpr double kFlopsPerMultiplyAdd = 2;

double Elements(const Shape& shape) {
  const Shape& s = shape.IsTuple() ? shape.element(0) : shape;
  return static_cast<double>(s.ElementCount());
}

double CeilLog2(double n) {
  double log = 0;
  for (double power = 1; power < n; power *= 2) ++log;
  return log;
}

double FloorLog2(int64_t n) {
  double log = 0;
  for (; n > 1; n /= 2) ++log;
  return log;
}

// Where the groups of a ragged dot share out the rows of the left operand (its
// ragged dimension is neither batch nor contracted): how many rows.
double RaggedRows(const Instruction& i) {
  if (i.opcode() != Opcode::kRaggedDot) return 1;
  const auto& a = i.attrs<RaggedDotAttrs>();
  double rows = 1;
  for (int64_t d : a.lhs_ragged) {
    auto has = [d](const DimVector& dims) {
      return std::find(dims.begin(), dims.end(), d) != dims.end();
    };
    if (has(a.dot.lhs_batch) || has(a.dot.lhs_contracting)) continue;
    rows *= static_cast<double>(i.operand(0)->shape().dim(static_cast<int>(d)));
  }
  return std::max(rows, 1.0);
}

// A window that covers its whole dimension from every position gives each the
// same sum: a reduce and a broadcast, and XLA counts it as one row's reduce and
// an addition per row. The extent of that dimension; 0: another window.
int64_t BroadcastReduceExtent(const Instruction& i) {
  const auto& dims = i.attrs<WindowAttrs>().window.dims;
  int64_t extent = 0;
  for (size_t d = 0; d < dims.size(); ++d) {
    const WindowDim& w = dims[d];
    if (w.size == 1 && w.padding_low == 0 && w.padding_high == 0) continue;
    const Shape& s = i.operand(0)->shape();
    const int64_t n = s.dim(static_cast<int>(d));
    if (extent > 0 || w.size != 2 * n - 1 || w.padding_low != n - 1 ||
        w.padding_high != n - 1 || w.stride != 1 || w.base_dilation != 1 ||
        w.window_dilation != 1) {
      return 0;
    }
    extent = n;
  }
  return extent;
}

}  // namespace

Cost& Cost::operator+=(const Cost& o) {
  flops += o.flops;
  transcendentals += o.transcendentals;
  bytes_accessed += o.bytes_accessed;
  bytes_written += o.bytes_written;
  matmul_flops += o.matmul_flops;
  unknown_ops += o.unknown_ops;
  unknown_loops += o.unknown_loops;
  return *this;
}

Cost Cost::Times(double times) const {
  Cost c = *this;
  c.flops *= times;
  c.transcendentals *= times;
  c.bytes_accessed *= times;
  c.bytes_written *= times;
  c.matmul_flops *= times;
  return c;
}

CostOptions CostOptions::LikeXla() {
  CostOptions o;
  o.multiply_trip_counts = false;
  o.use_group_sizes = false;
  o.count_ragged_rows = false;
  o.count_scan_steps = false;
  o.unknown_value = -1;
  // XLA packs types below a byte only where the layout says so, and stores
  // the true sizes of an array with dynamic dimensions behind it, as s32.
  o.array_bytes = [](const Shape& s) -> int64_t {
    if (!s.IsArray()) return 0;
    const int64_t sizes = s.HasDynamicDims() ? 4 * s.rank() : 0;
    if (s.has_layout() && s.layout().element_size_in_bits > 0) {
      return s.ByteSize() + sizes;
    }
    return s.ElementCount() * StorageBytes(s.type()) + sizes;
  };
  return o;
}

CostAnalysis::CostAnalysis(CostOptions options)
    : options_(std::move(options)) {}

int64_t CostAnalysis::SizeOf(const Shape& shape) const {
  if (shape.IsTuple()) {
    return options_.pointer_bytes * shape.element_count_of_tuple();
  }
  return options_.array_bytes ? options_.array_bytes(shape) : shape.ByteSize();
}

int64_t CostAnalysis::LeafBytes(const Shape& shape) const {
  int64_t sum = 0;
  ForEachLeaf(shape, [&](const Shape& leaf, const ShapeIndex&) {
    sum += SizeOf(leaf);
  });
  return sum;
}

Cost CostAnalysis::Of(const Computation& computation) {
  auto found = computations_.find(&computation);
  if (found != computations_.end()) return found->second;
  Cost sum;
  for (const Instruction* i : computation.instructions()) sum += Of(*i);
  computations_.emplace(&computation, sum);
  return sum;
}

Cost CostAnalysis::Of(const Instruction& i) {
  Cost cost;
  switch (i.opcode()) {
    case Opcode::kCall:
    case Opcode::kWhile:
    case Opcode::kConditional:
    case Opcode::kAsyncStart:
      AddCallees(i, &cost);
      return cost;
    case Opcode::kCustomCall:
      // XLA knows none of them.
      if (options_.unknown_value >= 0) {
        double read = 0;
        for (const Instruction* o : i.operands()) read += LeafBytes(o->shape());
        if (auto known = CustomCallCost(i, read, LeafBytes(i.shape()))) {
          return *known;
        }
      }
      cost.flops = cost.bytes_accessed = options_.unknown_value;
      cost.unknown_ops = 1;
      return cost;
    default:
      break;
  }
  AddFlops(i, &cost);
  cost.bytes_written = OutputBytes(i);
  cost.bytes_accessed = cost.bytes_written;
  for (int n = 0; n < i.operand_count(); ++n) {
    cost.bytes_accessed += OperandBytes(i, n);
  }
  if (i.opcode() == Opcode::kFusion) {
    cost.bytes_accessed += FusionConstantBytes(i);
  }
  return cost;
}

void CostAnalysis::AddCallees(const Instruction& i, Cost* cost) {
  if (i.opcode() == Opcode::kConditional) {
    // Any branch may run: the largest of each number.
    for (const Computation* branch : i.called()) {
      const Cost c = Of(*branch);
      if (branch == i.called()[0]) {
        *cost = c;  // also where it is -1, unknown
        continue;
      }
      cost->flops = std::max(cost->flops, c.flops);
      cost->transcendentals =
          std::max(cost->transcendentals, c.transcendentals);
      cost->bytes_accessed = std::max(cost->bytes_accessed, c.bytes_accessed);
      cost->bytes_written = std::max(cost->bytes_written, c.bytes_written);
      cost->matmul_flops = std::max(cost->matmul_flops, c.matmul_flops);
      cost->unknown_ops = std::max(cost->unknown_ops, c.unknown_ops);
      cost->unknown_loops = std::max(cost->unknown_loops, c.unknown_loops);
    }
    return;
  }
  for (const Computation* callee : i.called()) *cost += Of(*callee);
  if (i.opcode() != Opcode::kWhile || !options_.multiply_trip_counts) return;
  if (const auto trips = TripCountOf(i)) {
    *cost = cost->Times(static_cast<double>(trips->count));
  } else {
    ++cost->unknown_loops;
  }
}

int64_t CostAnalysis::GroupSize(const Instruction& i) {
  if (device_count_ == 0) {
    device_count_ = options_.device_count > 0 ? options_.device_count
                                              : i.module()->DeviceCount();
  }
  return i.attrs<CollectiveAttrs>().groups.group_size(device_count_);
}

void CostAnalysis::AddFlops(const Instruction& i, Cost* cost) {
  const Opcode op = i.opcode();
  // A reducer's cost per application.
  auto apply = [&](double times) {
    Cost c = Of(*i.to_apply()).Times(times);
    cost->flops += c.flops;
    cost->transcendentals += c.transcendentals;
  };
  switch (op) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kScaledDot:
      cost->flops = kFlopsPerMultiplyAdd * DotMultiplyAdds(i);
      if (!options_.count_ragged_rows) cost->flops /= RaggedRows(i);
      cost->matmul_flops = cost->flops;
      return;
    case Opcode::kConvolution:
      cost->flops = kFlopsPerMultiplyAdd * ConvolutionMultiplyAdds(i);
      cost->matmul_flops = cost->flops;
      return;
    case Opcode::kFusion: {
      const Cost body = Of(*i.fused());
      cost->flops = body.flops;
      cost->transcendentals = body.transcendentals;
      cost->matmul_flops = body.matmul_flops;
      cost->unknown_ops = body.unknown_ops;
      cost->unknown_loops = body.unknown_loops;
      return;
    }
    case Opcode::kMap:
      return apply(Elements(i.shape()));
    case Opcode::kScan: {
      const Shape& x = i.operand(0)->shape();
      const int64_t dim = i.attrs<ScanAttrs>().dimensions[0];
      return apply(options_.count_scan_steps
                       ? static_cast<double>(x.dim(static_cast<int>(dim)))
                       : Elements(i.operand(1)->shape()));
    }
    case Opcode::kReduce: {
      // Every element but one per result is folded in.
      const double in = Elements(i.operand(0)->shape());
      return apply(in - Elements(i.shape()));
    }
    case Opcode::kReduceWindow: {
      if (const int64_t n = BroadcastReduceExtent(i); n > 0) {
        const auto extent = static_cast<double>(n);
        return apply(extent - 1 + Elements(i.shape()) / extent);
      }
      double window = 1;
      for (const WindowDim& d : i.attrs<WindowAttrs>().window.dims) {
        window *= static_cast<double>(d.size);
      }
      return apply((window - 1) * Elements(i.shape()));
    }
    case Opcode::kSelectAndScatter: {
      double window = 1;
      for (const WindowDim& d : i.attrs<WindowAttrs>().window.dims) {
        window *= static_cast<double>(d.size);
      }
      const double sources = Elements(i.operand(1)->shape());
      const Cost select = Of(*i.select()).Times(sources * (window - 1));
      const Cost scatter = Of(*i.scatter()).Times(sources);
      cost->flops = select.flops + scatter.flops;
      cost->transcendentals = select.transcendentals + scatter.transcendentals;
      return;
    }
    case Opcode::kScatter: {
      const int n = i.operand_count() / 2;
      return apply(Elements(i.operand(n + 1)->shape()));
    }
    case Opcode::kSort: {
      const double n = Elements(i.operand(0)->shape());
      cost->flops = n * CeilLog2(n);
      return;
    }
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart: {
      double elements = 0;
      ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex&) {
        if (leaf.IsArray())
          elements += static_cast<double>(leaf.ElementCount());
      });
      const double additions =
          options_.use_group_sizes ? static_cast<double>(GroupSize(i) - 1) : 1;
      cost->flops = elements * additions;
      return;
    }
    case Opcode::kFft: {
      // A complex multiply-add per element and step of each length, whose
      // number of steps is rounded down.
      double steps = 1;
      for (int64_t n : i.attrs<FftAttrs>().length) steps *= FloorLog2(n);
      cost->flops =
          kFlopsPerMultiplyAdd * 4 * steps * Elements(i.operand(0)->shape());
      return;
    }
    case Opcode::kTriangularSolve: {
      const Shape &m = i.operand(0)->shape(), &b = i.operand(1)->shape();
      const double n = static_cast<double>(m.dim(m.rank() - 1));
      cost->flops = kFlopsPerMultiplyAdd * Elements(b) * n;
      return;
    }
    case Opcode::kCholesky: {
      const Shape& m = i.operand(0)->shape();
      const double n = static_cast<double>(m.dim(m.rank() - 1));
      cost->flops = std::floor(Elements(m) * n / 3);
      return;
    }
    case Opcode::kRng:
      cost->transcendentals = Elements(i.shape());
      return;
    case Opcode::kRngBitGenerator:
      ForEachLeaf(i.shape(), [&](const Shape& leaf, const ShapeIndex&) {
        cost->transcendentals += static_cast<double>(leaf.ElementCount());
      });
      return;
    case Opcode::kCopy:
      return;
    default:
      break;
  }
  if (IsTranscendental(op)) {
    cost->transcendentals = Elements(i.shape());
  } else if (IsElementwise(op)) {
    cost->flops = Elements(i.shape());
  }
}

}  // namespace ptxla::hlo
