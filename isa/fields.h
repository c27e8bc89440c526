// Every field of a program's values, named once: the text form and the binary
// form are both made from these lists, so they cannot drift apart.
//
// A visitor is called as v("name", field); field is an integer, bool, enum,
// string, vector, one of the structs below, or Code. Op's action is visited by
// v.Alternative<T>("name", variant). Fields equal to their default are left out
// of both forms.
#ifndef PTXLA_ISA_FIELDS_H_
#define PTXLA_ISA_FIELDS_H_

#include "isa/program.h"

namespace ptxla::isa {

template <class V>
void VisitFields(V& v, KernelArg& x) {
  v("name", x.name);
  v("space", x.space);
  v("direction", x.direction);
  v("bytes", x.bytes);
}

template <class V>
void VisitFields(V& v, WindowDim& x) {
  v("block", x.block);
  v("extent", x.extent);
  v("hbm_stride", x.hbm_stride);
  v("vmem_stride", x.vmem_stride);
  v("grid_dim", x.grid_dim);
  v("grid_divisor", x.grid_divisor);
  v("advance", x.advance);
  v("origin", x.origin);
  v("table", x.table);
  v("table_arg", x.table_arg);
}

template <class V>
void VisitFields(V& v, Window& x) {
  v("arg", x.arg);
  v("direction", x.direction);
  v("space", x.space);
  v("dim", x.dims);
  v("inner_bytes", x.inner_bytes);
  v("hbm_offset", x.hbm_offset);
  v("slots", x.slots);
  v("slot_bytes", x.slot_bytes);
  v("vmem_offset", x.vmem_offset);
}

template <class V>
void VisitFields(V& v, DmaDescriptor::Dim& x) {
  v("count", x.count);
  v("src_stride", x.src_stride);
  v("dst_stride", x.dst_stride);
}

template <class V>
void VisitFields(V& v, DmaDescriptor& x) {
  v("src_arg", x.src_arg);
  v("dst_arg", x.dst_arg);
  v("local", x.local);
  v("dim", x.dims);
  v("inner_bytes", x.inner_bytes);
  v("semaphore", x.semaphore);
  v("to_peer", x.to_peer);
  v("arg_shift", x.arg_shift);
}

template <class V>
void VisitFields(V& v, KernelWork& x) {
  v("flops", x.flops);
  v("mxu_flops", x.mxu_flops);
  v("transcendentals", x.transcendentals);
  v("hbm_bytes", x.hbm_bytes);
}

template <class V>
void VisitFields(V& v, Kernel& x) {
  v("name", x.name);
  v("fingerprint", x.fingerprint);
  v("note", x.note);
  v("work", x.work);
  v("arg", x.args);
  v("grid", x.grid);
  v("megacore_dim", x.megacore_dim);
  v("window", x.windows);
  v("dma", x.descriptors);
  v("num_semaphores", x.num_semaphores);
  v("scratch_bytes", x.scratch_bytes);
  v("scratch_offset", x.scratch_offset);
  v("vmem_bytes", x.vmem_bytes);
  v("smem_bytes", x.smem_bytes);
  v("entry", x.entry);
  v("step", x.step);
  v("exit", x.exit);
}

template <class V>
void VisitFields(V& v, Buffer& x) {
  v("id", x.id);
  v("name", x.name);
  v("bytes", x.bytes);
  v("space", x.space);
  v("offset", x.offset);
  v("alias", x.alias);
  v("label", x.label);
}

template <class V>
void VisitFields(V& v, BufferSlice& x) {
  v("buffer", x.buffer);
  v("offset", x.offset);
}

template <class V>
void VisitFields(V& v, TiledLayout& x) {
  v("dims", x.dims);
  v("minor_to_major", x.minor_to_major);
  v("tiles", x.tiles);
  v("bits", x.bits);
}

template <class V>
void VisitFields(V& v, Leaf& x) {
  v("name", x.name);
  v("shape", x.shape);
  v("layout", x.layout);
  v("where", x.where);
}

template <class V>
void VisitFields(V& v, Program::Constant& x) {
  v("where", x.where);
  v("bytes", x.bytes);
}

template <class V>
void VisitFields(V& v, OpInfo& x) {
  v("name", x.name);
  v("opcode", x.opcode);
  v("layer", x.layer);
  v("source_file", x.source_file);
  v("source_line", x.source_line);
  v("flops", x.flops);
  v("bytes", x.bytes);
}

template <class V>
void VisitFields(V& v, MovingArg& x) {
  v("arg", x.arg);
  v("index", x.index);
  v("is_unsigned", x.is_unsigned);
  v("last", x.last);
  v("stride", x.stride);
}
template <class V>
void VisitFields(V& v, Call& x) {
  v("kernel", x.kernel);
  v("arg", x.args);
  v("cores", x.cores);
  v("moving", x.moving);
}
template <class V>
void VisitFields(V& v, CopyStart& x) {
  v("id", x.id);
  v("from", x.from);
  v("to", x.to);
  v("bytes", x.bytes);
  v("pieces", x.pieces);
  v("from_stride", x.from_stride);
}
template <class V>
void VisitFields(V& v, CopyDone& x) {
  v("id", x.id);
}
template <class V>
void VisitFields(V& v, std::pair<int64_t, int64_t>& x) {
  v("source", x.first);
  v("target", x.second);
}
template <class V>
void VisitFields(V& v, CollectiveStart& x) {
  v("id", x.id);
  v("kind", x.kind);
  v("groups", x.groups);
  v("pair", x.pairs);
  v("reduction", x.reduction);
  v("dtype", x.dtype);
  v("bytes", x.bytes);
  v("from", x.from);
  v("to", x.to);
}
template <class V>
void VisitFields(V& v, CollectiveDone& x) {
  v("id", x.id);
}
template <class V>
void VisitFields(V& v, While& x) {
  v("trips", x.trips);
  v("basis", x.basis);
  v("reason", x.reason);
  v("predicate", x.predicate);
  v("condition", x.condition);
  v("body", x.body);
}

struct Branch {
  Schedule op;
};
template <class V>
void VisitFields(V& v, Branch& x) {
  v("op", x.op);
}
template <class V>
void VisitFields(V& v, Conditional& x) {
  v("selector", x.selector);
  v("by_pred", x.by_pred);
  v("taken", x.taken);
  v("reason", x.reason);
  v("branch", x.branches);
}
template <class V>
void VisitFields(V& v, HostTransfer& x) {
  v("to_host", x.to_host);
  v("buffer", x.buffer);
  v("bytes", x.bytes);
}
template <class V>
void VisitFields(V&, Barrier&) {}

template <class V>
void VisitFields(V& v, Op& x) {
  v("info", x.info);
  v.template Alternative<Call>("call", x.action);
  v.template Alternative<CopyStart>("copy_start", x.action);
  v.template Alternative<CopyDone>("copy_done", x.action);
  v.template Alternative<CollectiveStart>("collective_start", x.action);
  v.template Alternative<CollectiveDone>("collective_done", x.action);
  v.template Alternative<While>("while", x.action);
  v.template Alternative<Conditional>("conditional", x.action);
  v.template Alternative<HostTransfer>("host_transfer", x.action);
  v.template Alternative<Barrier>("barrier", x.action);
}

template <class V>
void VisitFields(V& v, Program& x) {
  v("name", x.name);
  v("chip", x.chip);
  v("num_partitions", x.num_partitions);
  v("scoped_vmem_bytes", x.scoped_vmem_bytes);
  v("buffer", x.buffers);
  v("parameter", x.parameters);
  v("output", x.outputs);
  v("constant", x.constants);
  v("kernel", x.kernels);
  v("op", x.schedule);
}

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_FIELDS_H_
