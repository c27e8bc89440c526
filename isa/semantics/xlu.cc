// Cross-lane units: rotate, broadcast, permute, reduce, transpose.
#include "isa/semantics/table.h"
#include "isa/semantics/words.h"

namespace ptxla::isa::semantics {
namespace {

// Lane l of each sublane gets lane `from(sublane, l)`.
template <class F>
void MoveLanes(ExecContext& c, const Instr& i, F from) {
  const Words& a = c.V(i.a);
  Words& d = c.PushWords(Fifo::kPermute, i.unit);
  for (int s = 0; s < kSublanes; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      d[WordAt(s, l)] = a[WordAt(s, from(s, l) & (kLanes - 1))];
    }
  }
}

// Folds lanes 64, 32, ... 1 apart; the result on all lanes.
template <class F>
void Reduce(ExecContext& c, const Instr& i, F f) {
  const Words& a = c.V(i.a);
  Words& d = c.PushWords(Fifo::kXlane, i.unit);
  for (int s = 0; s < kSublanes; ++s) {
    uint32_t lanes[kLanes];
    for (int l = 0; l < kLanes; ++l) lanes[l] = a[WordAt(s, l)];
    for (int span = kLanes / 2; span > 0; span /= 2) {
      for (int l = 0; l < span; ++l) lanes[l] = f(lanes[l], lanes[l + span]);
    }
    for (int l = 0; l < kLanes; ++l) d[WordAt(s, l)] = lanes[0];
  }
}

template <class F>
void ReduceF32(ExecContext& c, const Instr& i, F f) {
  Reduce(c, i, [f](uint32_t a, uint32_t b) {
    return FloatBits(f(FloatFromBits(a), FloatFromBits(b)));
  });
}

void PushRows(ExecContext& c, const Instr& i, bool start) {
  TransposeStream& stream = c.stream(i.unit);
  if (start) stream.clear();
  stream.push_back(c.V(i.a));
  if (stream.size() > 16) c.Fail("a transpose takes at most 128 rows");
}

void EndB32(ExecContext& c, const Instr& i) {
  const TransposeStream& stream = c.stream(i.unit);
  const int rows = static_cast<int>(stream.size()) * 8;
  for (int j = 0; j < i.imm; ++j) {
    Words& d = c.PushWords(Fifo::kTranspose, i.unit);
    for (int s = 0; s < kSublanes; ++s) {
      for (int l = 0; l < kLanes; ++l) {
        d[WordAt(s, l)] =
            l < rows ? stream[l / 8][WordAt(l % 8, 8 * j + s)] : 0;
      }
    }
  }
}

void EndB16(ExecContext& c, const Instr& i) {
  const TransposeStream& stream = c.stream(i.unit);
  const int rows = static_cast<int>(stream.size()) * 16;
  auto at = [&](int row, int column) -> uint32_t {
    return row < rows ? Row16(stream[row / 16], row % 16, column) : 0;
  };
  for (int j = 0; j < i.imm; ++j) {
    Words& d = c.PushWords(Fifo::kTranspose, i.unit);
    for (int s = 0; s < kSublanes; ++s) {
      for (int l = 0; l < kLanes; ++l) {
        const int column = 16 * j + 2 * s;
        d[WordAt(s, l)] = at(l, column) | at(l, column + 1) << 16;
      }
    }
  }
}

}  // namespace

void VrotLane(ExecContext& c, const Instr& i) {
  const int amount = static_cast<int>(c.SB(i) % kLanes);
  MoveLanes(c, i, [amount](int, int l) { return l - amount + kLanes; });
}
void VbcastLane(ExecContext& c, const Instr& i) {
  const int lane = static_cast<int>(c.SB(i) % kLanes);
  MoveLanes(c, i, [lane](int, int) { return lane; });
}
void Vperm(ExecContext& c, const Instr& i) {
  const Words& b = c.V(i.b);
  MoveLanes(c, i, [&b](int s, int l) {
    return static_cast<int>(b[WordAt(s, l)] % kLanes);
  });
}

void VaddXlane(ExecContext& c, const Instr& i) {
  ReduceF32(c, i, [](float a, float b) { return a + b; });
}
void VmaxXlane(ExecContext& c, const Instr& i) { ReduceF32(c, i, MaxF32); }
void VminXlane(ExecContext& c, const Instr& i) { ReduceF32(c, i, MinF32); }
void VmaxXlaneBf16(ExecContext& c, const Instr& i) {
  Reduce(c, i, [](uint32_t a, uint32_t b) {
    return Halves(a, b, [](uint16_t x, uint16_t y) {
      return EncodeBf16(MaxF32(DecodeBf16(x), DecodeBf16(y)));
    });
  });
}

void VxposeStart(ExecContext& c, const Instr& i) { PushRows(c, i, true); }
void VxposeCont(ExecContext& c, const Instr& i) { PushRows(c, i, false); }
void VxposeEnd(ExecContext& c, const Instr& i) {
  PushRows(c, i, false);
  EndB32(c, i);
}
void VxposeStartEnd(ExecContext& c, const Instr& i) {
  PushRows(c, i, true);
  EndB32(c, i);
}
void VxposeB16Start(ExecContext& c, const Instr& i) { PushRows(c, i, true); }
void VxposeB16Cont(ExecContext& c, const Instr& i) { PushRows(c, i, false); }
void VxposeB16End(ExecContext& c, const Instr& i) {
  PushRows(c, i, false);
  EndB16(c, i);
}
void VxposeB16StartEnd(ExecContext& c, const Instr& i) {
  PushRows(c, i, true);
  EndB16(c, i);
}

void VpopPermute(ExecContext& c, const Instr& i) {
  c.PopWords(Fifo::kPermute, i.unit, &c.OutV(i.dst));
}
void VpopXlane(ExecContext& c, const Instr& i) {
  c.PopWords(Fifo::kXlane, i.unit, &c.OutV(i.dst));
}
void VpopTrf(ExecContext& c, const Instr& i) {
  c.PopWords(Fifo::kTranspose, i.unit, &c.OutV(i.dst));
}

}  // namespace ptxla::isa::semantics
