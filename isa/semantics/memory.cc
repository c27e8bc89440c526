// Vector loads and stores, DMA and semaphores.
#include <algorithm>
#include <cstring>

#include "isa/semantics/table.h"

namespace ptxla::isa::semantics {
namespace {

// Address of sublane s of a strided access.
int64_t SublaneAddress(ExecContext& c, const Instr& i, int s) {
  return c.Address(i) + int64_t{s / i.c} * i.imm2 + s % i.c * kRowBytes;
}

void Check(ExecContext& c, const absl::Status& status) {
  if (!status.ok()) c.Fail(status.message());
}

void MaskedCopy(const uint32_t* data, const uint32_t* mask, int words,
                uint8_t* to) {
  for (int w = 0; w < words; ++w) {
    uint32_t old = 0;
    std::memcpy(&old, to + 4 * w, 4);
    old = (data[w] & mask[w]) | (old & ~mask[w]);
    std::memcpy(to + 4 * w, &old, 4);
  }
}

}  // namespace

void Vld(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  if (const uint8_t* from = c.Vmem(c.Address(i), kVregBytes)) {
    std::memcpy(d.data(), from, kVregBytes);
  }
}

void VldStr(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  for (int s = 0; s < kSublanes; ++s) {
    const uint8_t* from = c.Vmem(SublaneAddress(c, i, s), kRowBytes);
    if (from != nullptr) std::memcpy(&d[s * kLanes], from, kRowBytes);
  }
}

void VldBcast(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  const uint8_t* from = c.Vmem(c.Address(i), kRowBytes);
  if (from == nullptr) return;
  for (int s = 0; s < kSublanes; ++s) {
    std::memcpy(&d[s * kLanes], from, kRowBytes);
  }
}

void VldPairs(ExecContext& c, const Instr& i) {
  Words& d = c.OutV(i.dst);
  const uint8_t* from = c.Vmem(c.Address(i), kVregBytes / 2);
  if (from == nullptr) return;
  for (int s = 0; s < kSublanes; ++s) {
    std::memcpy(&d[s * kLanes], from + s / 2 * kRowBytes, kRowBytes);
  }
}

void Vst(ExecContext& c, const Instr& i) {
  if (uint8_t* to = c.Vmem(c.Address(i), kVregBytes)) {
    std::memcpy(to, c.V(i.b).data(), kVregBytes);
  }
}

void VstMsk(ExecContext& c, const Instr& i) {
  if (uint8_t* to = c.Vmem(c.Address(i), kVregBytes)) {
    MaskedCopy(c.V(i.b).data(), c.M(i.c).data(), kVregWords, to);
  }
}

void VstStr(ExecContext& c, const Instr& i) {
  for (int s = 0; s < kSublanes; ++s) {
    uint8_t* to = c.Vmem(SublaneAddress(c, i, s), kRowBytes);
    if (to != nullptr) std::memcpy(to, &c.V(i.b)[s * kLanes], kRowBytes);
  }
}

void VstStrMsk(ExecContext& c, const Instr& i) {
  for (int s = 0; s < kSublanes; ++s) {
    // A sublane with no bit set has no address.
    const uint32_t* mask = &c.M(i.dst)[s * kLanes];
    if (std::all_of(mask, mask + kLanes, [](uint32_t m) { return m == 0; })) {
      continue;
    }
    uint8_t* to = c.Vmem(SublaneAddress(c, i, s), kRowBytes);
    if (to == nullptr) continue;
    MaskedCopy(&c.V(i.b)[s * kLanes], mask, kLanes, to);
  }
}

void DmaStart(ExecContext& c, const Instr& i) {
  Check(c, c.kernel->StartWindow(i.imm));
}
void DmaWait(ExecContext& c, const Instr& i) {
  Check(c, c.kernel->WaitWindow(i.imm));
}
void DmaStartDesc(ExecContext& c, const Instr& i) {
  const int64_t source = i.a == kNoReg ? 0 : int64_t{c.S(i.a)};
  const int64_t destination = i.b == kNoReg ? 0 : int64_t{c.S(i.b)};
  Check(c, c.kernel->StartDescriptor(i.imm, source, destination));
}
void DmaDoneWait(ExecContext& c, const Instr& i) {
  Check(c, c.kernel->WaitSemaphore(i.imm, i.imm2));
}
void SemAdd(ExecContext& c, const Instr& i) {
  Check(c, c.kernel->Signal(i.imm, i.imm2));
}

}  // namespace ptxla::isa::semantics
