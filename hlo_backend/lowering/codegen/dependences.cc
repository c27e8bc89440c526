#include "hlo_backend/lowering/codegen/dependences.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "hlo_backend/lowering/codegen/fifo_order.h"
#include "hlo_backend/lowering/codegen/memory_order.h"

namespace ptxla::codegen {
namespace {

using isa::ExecUnit;
using isa::Fifo;
using isa::Info;

// Bytes of VMEM or SMEM that an access spans, from its immediate on.
int64_t SpanOf(const VInstr& v) {
  if (v.op == isa::Opcode::kSld || v.op == isa::Opcode::kSst) return 4;
  if (v.op == isa::Opcode::kVldBcast) return isa::kRowBytes;
  if (v.op == isa::Opcode::kVldPairs) return isa::kVregBytes / 2;
  if (v.op == isa::Opcode::kVldStr || v.op == isa::Opcode::kVstStr ||
      v.op == isa::Opcode::kVstStrMsk) {
    const int64_t group = std::max(v.c, 1);
    const int64_t groups = (isa::kSublanes + group - 1) / group;
    return (groups - 1) * v.imm2 + group * isa::kRowBytes;
  }
  return isa::kVregBytes;
}

bool IsStore(isa::Opcode op) {
  return isa::IsVectorStore(op) || op == isa::Opcode::kSst;
}

class Builder {
 public:
  Builder(absl::Span<const VInstr> instrs,
          absl::Span<const VRegister> registers, const isa::MachineModel& model)
      : instrs_(instrs), registers_(registers), model_(model), range_(instrs) {
    graph_.nodes.resize(instrs.size());
    graph_.edges.reserve(instrs.size() * 3);
    last_write_.assign(range_.size(), -1);
    readers_.assign(range_.size(), -1);
  }

  Graph Build(BlockMode mode) {
    const int n = static_cast<int>(instrs_.size());
    for (int i = 0; i < n; ++i) Describe(i);
    for (const VInstr& v : instrs_) {
      if (v.space >= 0) granule_ = std::max(granule_, SpanOf(v));
    }
    for (int i = 0; i < n; ++i) {
      Registers(i);
      if (instrs_[i].space >= 0) Memory(i);
      Streams(i);
      if (mode == BlockMode::kInOrder && i > 0) Add(i - 1, i, 0);
    }
    FifoOrder fifos(instrs_, model_, &graph_);
    if (mode == BlockMode::kPipelined) {
      fifos.Chain();
    } else {
      fifos.Pair();
    }
    Heights();
    return std::move(graph_);
  }

 private:
  void Add(int from, int to, int cycles) { graph_.Connect(from, to, cycles); }

  // Longest paths to the end: of an instruction after those of all behind it.
  void Heights() {
    const int n = static_cast<int>(instrs_.size());
    const std::vector<int> order = graph_.InOrder(n);
    for (auto i = order.rbegin(); i != order.rend(); ++i) {
      SetHeight(*i, *i < n ? std::max(graph_.nodes[*i].latency, 1) : 0);
    }
  }

  void SetHeight(int i, int least) {
    Node& node = graph_.nodes[i];
    node.height = least;
    for (int e = node.first_edge; e >= 0; e = graph_.edges[e].next) {
      const Edge& edge = graph_.edges[e];
      node.height =
          std::max(node.height, edge.cycles + graph_.nodes[edge.to].height);
    }
  }

  void Describe(int i) {
    const VInstr& v = instrs_[i];
    const isa::InstrInfo& info = Info(v.op);
    Node& node = graph_.nodes[i];
    const isa::Instr shell = Shell(v);
    node.latency = isa::LatencyOf(shell, model_);
    node.interval = isa::IntervalOf(shell, model_);
    const int unit_number = model_.Units(info.unit) > 1 ? v.unit : 0;
    if (info.unit != ExecUnit::kNone) {
      node.unit = static_cast<int16_t>(
          static_cast<int>(info.unit) * isa::kMaxUnits + unit_number);
    }
    const Fifo fifo = info.pushes != Fifo::kNone ? info.pushes : info.pops;
    if (fifo != Fifo::kNone) {
      node.fifo = static_cast<int16_t>(static_cast<int>(fifo) * isa::kMaxUnits +
                                       v.unit);
      node.is_pop = info.pops != Fifo::kNone;
      if (!node.is_pop) {
        node.results = static_cast<int16_t>(isa::ResultsOf(shell, model_));
      }
    }
  }

  void Read(int i, int32_t reg) {
    if (reg == kNone) return;
    const int w = last_write_[reg - range_.first];
    if (w >= 0) Add(w, i, graph_.nodes[w].latency);
    if (registers_[reg].global) {
      int& reader = readers_[reg - range_.first];
      reader_links_.push_back({i, reader});
      reader = static_cast<int>(reader_links_.size()) - 1;
    }
  }

  void Write(int i, int32_t reg) {
    int& last = last_write_[reg - range_.first];
    if (registers_[reg].global) {
      const int w = last;
      if (w >= 0 && w != i) {
        Add(w, i,
            std::max(1, graph_.nodes[w].latency - graph_.nodes[i].latency + 1));
      }
      int& reader = readers_[reg - range_.first];
      for (int r = reader; r >= 0; r = reader_links_[r].second) {
        if (reader_links_[r].first != i) Add(reader_links_[r].first, i, 0);
      }
      reader = -1;
    } else {
      CHECK(last < 0) << "a local register is written twice";
    }
    last = i;
  }

  void Registers(int i) {
    const VInstr& v = instrs_[i];
    const FieldClasses& f = FieldsOf(v.op);
    if (f.a >= 0) Read(i, v.a);
    if (f.b >= 0) Read(i, v.b);
    if (f.c >= 0) Read(i, v.c);
    Read(i, v.guard);
    if (f.dst < 0 || v.dst == kNone) return;
    if (f.dst_is_read) {
      Read(i, v.dst);
    } else {
      // A guarded write keeps the old value when the guard fails.
      if (v.guard != kNone) Read(i, v.dst);
      Write(i, v.dst);
    }
  }

  void Memory(int i) {
    const VInstr& v = instrs_[i];
    const auto it = spaces_.try_emplace(v.space, granule_, &graph_).first;
    const int64_t begin = v.imm;
    it->second.Add(i, {v.a, begin, begin + SpanOf(v)}, IsStore(v.op));
  }

  // Chains an instruction behind the last one of the same stream.
  void Chain(int* last, int i, int cycles) {
    if (*last >= 0) Add(*last, i, cycles);
    *last = i;
  }

  void Streams(int i) {
    const VInstr& v = instrs_[i];
    const isa::InstrInfo& info = Info(v.op);
    if (isa::IsDma(v.op) || v.op == isa::Opcode::kShaltErr) {
      // Control is a barrier for memory, in both directions.
      for (auto& [id, space] : spaces_) space.Barrier(i);
      Chain(&last_dma_, i, 1);
      return;
    }
    if (v.space >= 0 && last_dma_ >= 0) Add(last_dma_, i, 1);
    if (info.unit == ExecUnit::kRng) Chain(&last_rng_, i, 1);
    if (isa::IsXposePush(v.op)) Chain(&last_xpose_[v.unit], i, 1);
    if (info.unit == ExecUnit::kPrep || info.unit == ExecUnit::kPush ||
        info.unit == ExecUnit::kMatmul) {
      Mxu(i, info);
    }
  }

  void Mxu(int i, const isa::InstrInfo& info) {
    const VInstr& v = instrs_[i];
    const bool weights =
        v.op == isa::Opcode::kVmatprepSubr || info.unit == ExecUnit::kPush;
    int& chain = weights ? last_push_chain_[v.unit] : last_mul_chain_[v.unit];
    if (chain >= 0) {
      const bool prep = Info(instrs_[chain].op).unit == ExecUnit::kPrep;
      Add(chain, i, prep ? graph_.nodes[chain].latency : 1);
    }
    chain = i;
    if (info.unit == ExecUnit::kPush) {
      int& latch = last_latch_[v.unit][v.c];
      if (latch >= 0) {
        Add(latch, i, model_.Latency(isa::LatencyKey::kLatchToPush, v.unit));
      }
      last_push_[v.unit][v.c] = i;
    } else if (info.unit == ExecUnit::kMatmul && v.c > 0) {
      const int stage = v.c - 1;
      const int push = last_push_[v.unit][stage];
      if (push >= 0) Add(push, i, graph_.nodes[push].latency);
      last_latch_[v.unit][stage] = i;
    }
  }

  absl::Span<const VInstr> instrs_;
  absl::Span<const VRegister> registers_;
  const isa::MachineModel& model_;
  const RegisterRange range_;
  Graph graph_;
  std::vector<int> last_write_, readers_;  // by range_
  std::vector<std::pair<int, int>> reader_links_;
  int64_t granule_ = 1;  // the longest access, bytes
  std::map<int, MemoryOrder> spaces_;
  int last_dma_ = -1;
  int last_rng_ = -1;
  std::array<int, isa::kMaxUnits> last_xpose_{-1, -1, -1, -1};
  std::array<int, isa::kMaxUnits> last_push_chain_{-1, -1, -1, -1};
  std::array<int, isa::kMaxUnits> last_mul_chain_{-1, -1, -1, -1};
  std::array<std::array<int, 2>, isa::kMaxUnits> last_push_{
      {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}};
  std::array<std::array<int, 2>, isa::kMaxUnits> last_latch_{
      {{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}}};
};

}  // namespace

RegisterRange::RegisterRange(absl::Span<const VInstr> instrs) {
  const auto add = [this](int32_t reg) {
    if (reg == kNone) return;
    first = std::min(first, reg);
    last = std::max(last, reg);
  };
  for (const VInstr& v : instrs) {
    const FieldClasses& f = FieldsOf(v.op);
    if (f.dst >= 0) add(v.dst);
    if (f.a >= 0) add(v.a);
    if (f.b >= 0) add(v.b);
    if (f.c >= 0) add(v.c);
    add(v.guard);
  }
}

isa::Instr Shell(const VInstr& v) {
  isa::Instr i;
  i.op = v.op;
  i.unit = v.unit;
  i.imm = v.imm;
  i.imm2 = v.imm2;
  return i;
}

std::vector<int> Graph::InOrder(int instructions) const {
  std::vector<int> by_place(joins.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::stable_sort(by_place.begin(), by_place.end(),
                   [&](int a, int b) { return joins[a] < joins[b]; });
  std::vector<int> order;
  order.reserve(nodes.size());
  auto join = by_place.begin();
  for (int i = 0; i <= instructions; ++i) {
    for (; join != by_place.end() && joins[*join] == i; ++join) {
      order.push_back(instructions + *join);
    }
    if (i < instructions) order.push_back(i);
  }
  return order;
}

Graph BuildGraph(absl::Span<const VInstr> instrs,
                 absl::Span<const VRegister> registers,
                 const isa::MachineModel& model, BlockMode mode) {
  return Builder(instrs, registers, model).Build(mode);
}

}  // namespace ptxla::codegen
