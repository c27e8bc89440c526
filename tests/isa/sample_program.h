// A program that uses every field and every kind of op.
#ifndef PTXLA_TESTS_ISA_SAMPLE_PROGRAM_H_
#define PTXLA_TESTS_ISA_SAMPLE_PROGRAM_H_

#include <string>

#include "isa/program.h"

namespace ptxla::isa::testing {

inline Kernel SampleKernel() {
  Kernel k;
  k.name = "fusion.1 \"quoted\"\n";
  k.fingerprint = 0xFEDCBA9876543210u;
  k.args = {{"a", Space::kHbm, Direction::kIn, 1 << 20},
            {"o", Space::kCmem, Direction::kInOut, 4096}};
  k.grid = {4, 8};
  k.megacore_dim = 0;
  Window w;
  w.dims = {{16, 100, 4096, 512, 1, 2, 3, -1}, {}};
  w.inner_bytes = 512;
  w.slot_bytes = 8192;
  k.windows = {w, w};
  k.windows[1].direction = Direction::kOut;
  k.descriptors = {{0, -1, Space::kSmem, {{4, 100, 200}, {}}, 64, 1}};
  k.num_semaphores = 2;
  k.work = {1, 2, 3, 4};
  Block block;
  block.label = "body";
  block.AddNop(7);
  Instr load{Opcode::kVld};
  load.dst = 1;
  load.a = 2;
  load.imm = -512;
  Instr mov{Opcode::kSmov};
  mov.dst = 4;
  mov.imm = -1;
  block.Add({load, mov});
  block.Add({});
  k.entry = {block};
  k.step = {Loop{5, 16, -4, {When{1, When::Kind::kNotLast, {block}}}},
            Loop{kNoReg, 2, 1, {block, Loop{6, 3, 1, {block}, 7}}}};
  return k;
}

inline Program SampleProgram() {
  Program p;
  p.name = "step";
  p.chip = "v5e";
  p.num_partitions = 8;
  p.kernels = {SampleKernel()};
  p.buffers = {{0, "p0", 4096, Space::kHbm, 0, -1, "encoder.0/ffn"},
               {1, "t", 64, Space::kVmem, 1024, 0, ""}};
  TiledLayout layout{{1024, 768}, {1, 0}, {{8, 128}, {2, 1}}, 16};
  p.parameters = {{"p0", "bf16[1024,768]{1,0:T(8,128)(2,1)}", layout, {0, 0}}};
  p.outputs = {{"{0}", "f32[]", {}, {1, 32}}};
  p.constants = {{{1, 4}, std::string("\0\xFF\"\n", 4)}};
  OpInfo info{"fusion.1", "fusion", "encoder/0", "model.py", 12, 100, 200};
  CollectiveStart c{3,
                    CollectiveKind::kReduceScatter,
                    {{0, 1}, {2, 3}},
                    {{0, 1}},
                    Reduction::kSum,
                    "bf16",
                    77,
                    {{0, 1}},
                    {{1, 2}}};
  p.schedule.push_back(
      {info, Call{0, {{0, 0}, {1, 16}}, 2, {{0, {1, 8}, true, 3, 512}}}});
  p.schedule.push_back({info, CopyStart{1, {0, 0}, {1, 0}, 64, 2, 128}});
  p.schedule.push_back({info, CopyDone{1}});
  p.schedule.push_back({info, c});
  p.schedule.push_back({info, CollectiveDone{3}});
  p.schedule.push_back({info, HostTransfer{false, {0, 0}, 8}});
  p.schedule.push_back({{}, Barrier{}});
  Schedule body = {p.schedule[0], p.schedule[6]};
  p.schedule.push_back(
      {info, While{12, TripCount::kAssumed, "flag", {0, 4}, body, body}});
  p.schedule.push_back(
      {info, Conditional{{0, 4}, true, 1, "taken", {body, {}, body}}});
  return p;
}

}  // namespace ptxla::isa::testing

#endif  // PTXLA_TESTS_ISA_SAMPLE_PROGRAM_H_
