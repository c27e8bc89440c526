// The order of the loads and stores of a block that may touch the same memory.
//
// Accesses by different address registers may meet anywhere; those by the same
// one meet where their immediate ranges overlap. A load sees the stores of
// earlier bundles; a store may share its bundle with an earlier load.
//
//   MemoryOrder order(granule, &graph);    // of one space; bytes
//   order.Add(i, {v.a, begin, end}, /*store=*/true);   // in source order
//   order.Barrier(i);                      // after all, before all that follow
//
// As many edges as there are accesses, about: what another access orders
// already has no edge of its own, and where many must come before many there is
// a node between them (Graph::Join). The closure is that of an edge for each
// pair, with the same distances, so schedules are the same.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_MEMORY_ORDER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_MEMORY_ORDER_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/codegen/dependences.h"

namespace ptxla::codegen {

// Where an access lies: bytes [begin, end) from an address register on.
struct AddressRange {
  int32_t base;
  int64_t begin, end;
};

class MemoryOrder {
 public:
  // `granule`: no access of the block spans more bytes.
  MemoryOrder(int64_t granule, Graph* graph)
      : granule_(granule), graph_(*graph) {}

  void Add(int i, const AddressRange& at, bool store);
  void Barrier(int i);

 private:
  // What somebody waits for, and how long.
  struct Source {
    int32_t node;
    int32_t cycles;
  };
  using Sources = std::vector<Source>;
  struct Load {
    int32_t node;
    AddressRange at;
  };
  // An access by the run's register, in a list of those that share a granule.
  struct Entry {
    int32_t node;
    int64_t begin, end;
    bool store;
    int32_t next;
  };

  void Wait(int i, Sources* sources);
  void StartRun(int i, const AddressRange& at);
  void Overlaps(int i, const AddressRange& at, bool store);
  void Enter(int i, const AddressRange& at, bool store);

  const int64_t granule_;
  Graph& graph_;
  // Stores come in runs by one address register. Those of a run wait for all
  // of the run before, so that one is all that is left of what was earlier.
  int32_t base_ = kNone;  // of the run; none yet
  bool in_run_ = false;
  Sources run_before_;   // all its stores
  Sources run_;          // stores of this run
  Sources other_loads_;  // by other registers, which stores of the run wait for
  Sources own_loads_;    // by the run's, not before a store of the run before
  std::vector<Load> since_store_;  // by other registers, since the last store
  absl::flat_hash_map<int64_t, int32_t> first_;  // entries by granule
  std::vector<Entry> entries_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_MEMORY_ORDER_H_
