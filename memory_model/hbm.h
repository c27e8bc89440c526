// How long HBM takes for a transfer: the closed form, reduced to constants of
// the chip file.
//
//   time(bytes) = latency + bytes * (1 / U + mix + in_place) / bandwidth
//   U           = efficiency of the direction * run / (run + block_half)
//   mix         = turnaround * 2 * min(x, 1 - x),  x = write fraction
//
// `run` is the length of the contiguous pieces of a transfer: long streams
// (run -> infinity) reach the efficiency of their direction, random blocks of
// `block_half` bytes half of it. A 1:1 mix of reads and writes pays the whole
// turnaround per byte, a one-way stream nothing. `in_place` is for arrays that
// are written where they are read, 0 for others. A DMA takes at least
// `dma.descriptor`, however small it is.
//
//   HbmModel hbm(v6e);
//   Picoseconds busy = hbm.Busy({Bytes(4 << 20)});   // the server is occupied
//   Picoseconds done = hbm.latency() + busy;         // an idle HBM
#ifndef PTXLA_MEMORY_MODEL_HBM_H_
#define PTXLA_MEMORY_MODEL_HBM_H_

#include <cstdint>

#include "base/units.h"
#include "chips/chip_spec.h"

namespace ptxla::memory {

struct Transfer {
  Bytes bytes;
  bool write = false;
  // Contiguous bytes at a time; 0: the whole transfer is one run.
  Bytes run = Bytes(0);
  // Bytes written of all bytes in the traffic that it is part of.
  double write_fraction = 0;
  // Of an array that is read and written at the same addresses.
  bool in_place = false;
};

class HbmModel {
 public:
  // The HBM that one device of `chip` has.
  explicit HbmModel(const chips::ChipSpec& chip);

  // Time for which the memory is occupied.
  Picoseconds Busy(const Transfer& transfer) const;
  // Request to first byte; overlaps with other transfers.
  Picoseconds latency() const { return latency_; }
  // Pin rate.
  BytesPerSecond bandwidth() const { return bandwidth_; }
  // Achieved rate of a long stream with this share of writes.
  BytesPerSecond StreamRate(double write_fraction) const;
  // Most of the memory's time that one core can use, in (0, 1].
  double core_share() const { return core_share_; }

 private:
  BytesPerSecond bandwidth_;
  double efficiency_read_, efficiency_write_, turnaround_, in_place_;
  double block_half_, core_share_;
  int64_t granule_;
  Picoseconds latency_, descriptor_;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_HBM_H_
