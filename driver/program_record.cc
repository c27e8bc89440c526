#include "driver/program_record.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"

namespace ptxla::driver {
namespace {

using record::BoundBreakdown;
using record::DeviceTrace;
using record::OpRecord;
using record::OpTrace;

void Add(const BoundBreakdown& b, int64_t times, BoundBreakdown* to) {
  to->set_mxu_ps(to->mxu_ps() + times * b.mxu_ps());
  to->set_vpu_ps(to->vpu_ps() + times * b.vpu_ps());
  to->set_hbm_ps(to->hbm_ps() + times * b.hbm_ps());
  to->set_ici_ps(to->ici_ps() + times * b.ici_ps());
  to->set_dcn_ps(to->dcn_ps() + times * b.dcn_ps());
  to->set_overhead_ps(to->overhead_ps() + times * b.overhead_ps());
  to->set_host_ps(to->host_ps() + times * b.host_ps());
}

const char* Largest(const BoundBreakdown& b) {
  const std::pair<int64_t, const char*> bounds[] = {
      {b.mxu_ps(), "mxu"},          {b.vpu_ps(), "vpu"}, {b.hbm_ps(), "hbm"},
      {b.ici_ps(), "ici"},          {b.dcn_ps(), "dcn"}, {b.host_ps(), "host"},
      {b.overhead_ps(), "overhead"}};
  return std::max_element(
             std::begin(bounds), std::end(bounds),
             [](const auto& x, const auto& y) { return x.first < y.first; })
      ->second;
}

// One HLO instruction over all its executions.
struct Group {
  OpRecord op;
  BoundBreakdown bound;
  int64_t cycles = 0, valu_cycles = 0, mxu_peak_ps = 0;
};

// Achieved over possible, for the resource that bounds the op. Unset where the
// trace does not tell.
void SetFractionOfPeak(const Group& g, const chips::Slice& slice,
                       OpRecord* op) {
  const double seconds = ToSeconds(Picoseconds(op->time_ps()));
  // Of a copy that ran beside other kernels only the rest is waited for.
  if (seconds <= 0 || op->opcode() == "copy-done") return;
  if (op->bound() == "mxu" && g.mxu_peak_ps > 0) {
    op->set_fraction_of_peak(static_cast<double>(g.mxu_peak_ps) /
                             static_cast<double>(op->time_ps()));
  } else if (op->bound() == "hbm" && op->bytes() > 0) {
    const double bandwidth =
        slice.chip.hbm().bandwidth.count() / slice.topology.devices_per_chip();
    op->set_fraction_of_peak(static_cast<double>(op->bytes()) /
                             (bandwidth * seconds));
  } else if (op->bound() == "vpu" && g.cycles > 0 && g.valu_cycles > 0) {
    op->set_fraction_of_peak(static_cast<double>(g.valu_cycles) /
                             static_cast<double>(g.cycles));
  }
}

// Of the links that a collective uses, while it runs.
void SetFractionOfLinks(const DeviceTrace& trace, const chips::Slice& slice,
                        std::vector<Group>* groups,
                        const absl::flat_hash_map<std::string, int>& index) {
  const double link = slice.chip.ici().link.count();
  for (const record::CollectiveTrace& c : trace.collective()) {
    const auto it = index.find(c.name());
    const double seconds = ToSeconds(Picoseconds(c.end_ps() - c.start_ps()));
    if (it == index.end() || seconds <= 0 || link <= 0) continue;
    OpRecord& op = (*groups)[it->second].op;
    if (op.bound() != "ici" || c.bytes_per_link() == 0) continue;
    op.set_fraction_of_peak(static_cast<double>(c.bytes_per_link()) /
                            (link * seconds));
  }
}

void AddCollectives(const DeviceTrace& trace, record::ProgramRecord* program) {
  absl::flat_hash_map<std::pair<std::string, int64_t>, int> index;
  for (const record::CollectiveTrace& c : trace.collective()) {
    const auto [it, is_new] = index.try_emplace({c.kind(), c.group_size()},
                                                program->collectives_size());
    if (is_new) {
      record::CollectiveRecord* r = program->add_collectives();
      r->set_kind(c.kind());
      r->set_group_size(c.group_size());
    }
    record::CollectiveRecord* r = program->mutable_collectives(it->second);
    const int64_t repeat = std::max<int64_t>(1, c.repeat());
    r->set_count(r->count() + repeat);
    r->set_bytes(r->bytes() + repeat * c.bytes());
    r->set_time_ps(r->time_ps() + repeat * (c.end_ps() - c.start_ps()));
    r->set_exposed_ps(r->exposed_ps() + repeat * c.exposed_ps());
  }
}

}  // namespace

FlopsPerSecond DevicePeak(const chips::Slice& slice, const std::string& dtype) {
  chips::MatmulType type = chips::MatmulType::kBf16;
  if (dtype == "f32") type = chips::MatmulType::kF32;
  if (dtype == "int8" || dtype == "s8") type = chips::MatmulType::kInt8;
  if (dtype == "fp8") type = chips::MatmulType::kFp8;
  return FlopsPerSecond(slice.chip.PeakMatmul(type).count() /
                        slice.topology.devices_per_chip());
}

record::ProgramRecord MakeProgramRecord(const DeviceTrace& trace,
                                        const chips::Slice& slice) {
  record::ProgramRecord program;
  program.set_name(trace.program());
  program.set_device_time_ps(trace.total_ps());
  program.set_device_cycles(trace.total_cycles());
  program.set_matmul_flops(trace.matmul_flops());
  program.set_mxu_peak_ps(trace.mxu_peak_ps());
  program.set_hbm_bytes(trace.hbm_bytes());
  const BoundBreakdown& b = trace.bound();
  record::BoundTimes* times = program.mutable_time_by_bound();
  times->set_mxu_ps(b.mxu_ps());
  times->set_vpu_ps(b.vpu_ps());
  times->set_hbm_ps(b.hbm_ps());
  times->set_ici_ps(b.ici_ps());
  times->set_dcn_ps(b.dcn_ps());
  times->set_host_ps(b.host_ps());
  times->set_overhead_ps(b.overhead_ps());

  std::vector<Group> groups;
  absl::flat_hash_map<std::string, int> index;
  for (const OpTrace& t : trace.op()) {
    const auto [it, is_new] =
        index.try_emplace(t.name(), static_cast<int>(groups.size()));
    if (is_new) {
      groups.emplace_back();
      OpRecord& op = groups.back().op;
      op.set_name(t.name());
      op.set_opcode(t.opcode());
      op.set_layer(t.layer());
      op.set_source(t.source());
    }
    Group& g = groups[it->second];
    const int64_t repeat = std::max<int64_t>(1, t.repeat());
    g.op.set_count(g.op.count() + repeat);
    // An entry's numbers are those of one of its executions.
    g.op.set_time_ps(g.op.time_ps() + repeat * (t.end_ps() - t.start_ps()));
    g.op.set_flops(g.op.flops() + repeat * t.flops());
    g.op.set_bytes(g.op.bytes() + repeat * t.bytes());
    g.op.set_estimated(g.op.estimated() || t.estimated());
    g.cycles += repeat * t.cycles();
    g.valu_cycles += repeat * t.busy().valu();
    g.mxu_peak_ps += repeat * t.mxu_peak_ps();
    Add(t.bound(), repeat, &g.bound);
  }
  for (Group& g : groups) {
    g.op.set_bound(Largest(g.bound));
    SetFractionOfPeak(g, slice, &g.op);
  }
  SetFractionOfLinks(trace, slice, &groups, index);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& x, const Group& y) {
                     return x.op.time_ps() > y.op.time_ps();
                   });
  for (Group& g : groups) *program.add_ops() = std::move(g.op);
  AddCollectives(trace, &program);
  return program;
}

}  // namespace ptxla::driver
