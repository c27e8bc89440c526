// A module, its proto, and the module again: nothing is lost.
#include "hlo_backend/proto/module_proto.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

std::string ThroughProto(absl::string_view text) {
  auto module = ParseModule(text);
  EXPECT_OK(module.status());
  auto message = ToProto(**module);
  EXPECT_OK(message.status());
  proto::HloModuleProto copy;
  EXPECT_TRUE(copy.ParseFromString(message->SerializeAsString()));
  auto again = FromProto(copy);
  EXPECT_OK(again.status());
  EXPECT_OK(VerifyModule(**again));
  EXPECT_EQ(FingerprintOf(**module), FingerprintOf(**again));
  return Print(**again);
}

void ExpectIdentity(absl::string_view text) {
  auto module = ParseModule(text);
  ASSERT_OK(module.status());
  EXPECT_EQ(ThroughProto(text), Print(**module));
}

TEST(ModuleProtoTest, HeaderAndStackFramesStay) {
  ExpectIdentity(
      R"(HloModule m, input_output_alias={ {0}: (1, {}, must-alias) }, buffer_donor={ (0, {}) }, entry_computation_layout={(f32[2]{0:T(128)}, f32[2]{0})->(f32[2]{0}, f32[2]{0})}, allow_spmd_sharding_propagation_to_output={true,false}, replica_count=2, num_partitions=4, frontend_attributes={a="b"}

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 column=2}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY e {
  p = f32[2]{0:T(128)} parameter(0), metadata={op_name="x" stack_frame_id=1}
  q = f32[2]{0} parameter(1)
  ROOT t = (f32[2]{0}, f32[2]{0}) tuple(p, q)
})");
}

TEST(ModuleProtoTest, TextsCountParentsOfFramesFromOneAndProtosFromZero) {
  auto module = ParseModule(R"(HloModule m

FileNames
1 "a.py"

FunctionNames
1 "f"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=1 parent_frame_id=2}

ENTRY e {
  ROOT p = f32[2]{0} parameter(0)
})");
  ASSERT_OK(module.status());
  auto message = ToProto(**module);
  ASSERT_OK(message.status());
  const auto& frames = message->stack_frame_index().stack_frames();
  EXPECT_EQ(frames[0].parent_frame_id(), 0);
  EXPECT_EQ(frames[1].parent_frame_id(), 1);
}

TEST(ModuleProtoTest, TheEntryOfADomainIsTheProtosExit) {
  auto module = ParseModule(R"(HloModule m
ENTRY e {
  p = f32[2]{0} parameter(0)
  ROOT d = f32[2]{0} domain(p), domain={kind="sharding", entry={maximal device=0}, exit={maximal device=1}}
})");
  ASSERT_OK(module.status());
  auto message = ToProto(**module);
  ASSERT_OK(message.status());
  const auto& d = message->computations(0).instructions(1);
  EXPECT_EQ(d.domain_exit_sharding().tile_assignment_devices(0), 0);
  EXPECT_EQ(d.domain_entry_sharding().tile_assignment_devices(0), 1);
}

TEST(ModuleProtoTest, AllOfAnAsynchronousChainNamesItsThread) {
  auto module = ParseModule(R"(HloModule m
slow {
  x = f32[2]{0} parameter(0)
  ROOT n = f32[2]{0} negate(x)
}, execution_thread="sparsecore"
ENTRY e {
  p = f32[2]{0} parameter(0)
  s = ((f32[2]{0}), f32[2]{0}, s32[]) async-start(p), async_execution_thread="sparsecore", calls=slow
  u = ((f32[2]{0}), f32[2]{0}, s32[]) async-update(s)
  ROOT d = f32[2]{0} async-done(u)
})");
  ASSERT_OK(module.status());
  auto message = ToProto(**module);
  ASSERT_OK(message.status());
  for (int i = 1; i < 4; ++i) {
    EXPECT_EQ(message->computations(1).instructions(i).async_execution_thread(),
              "sparsecore");
  }
}

TEST(ModuleProtoTest, EveryPartOfALayoutStays) {
  for (const char* layout :
       {"{1,0:D(D,C)}", "{1,0:D(C+,S~)}", "{1,0:D(H,D)T(8,128)}",
        "{1,0:SC(0:2)}", "{1,0:SC(1:2,4)(0:2)}",
        "{0,1:T(8,128)(2,1)SC(1:4)S(1)}",
        "{1,0:D(D,C)P((s32[2]{0}, f32[4]{0}))}", "{1,0:L(128)E(4)M(16)}"}) {
    SCOPED_TRACE(layout);
    ExpectIdentity(absl::StrCat("HloModule m\n\nENTRY e {\n  ROOT p = f32[4,8]",
                                layout, " parameter(0)\n}"));
  }
}

TEST(ModuleProtoTest, AScheduleIsTheOrderOfInstructions) {
  const std::string text = ThroughProto(R"(HloModule m, is_scheduled=true
ENTRY e {
  p = f32[2]{0} parameter(0)
  late = f32[2]{0} negate(p)
  early = f32[2]{0} exponential(p)
  ROOT s = f32[2]{0} add(early, late)
})");
  EXPECT_THAT(text, ::testing::HasSubstr("is_scheduled=true"));
  EXPECT_LT(text.find("%late"), text.find("%early"));
}

TEST(ModuleProtoTest, AttributesOfEveryFamilyStay) {
  ExpectIdentity(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = pred[] compare(a, b), direction=LT, type=TOTALORDER
}
fused {
  a = f32[4,6]{1,0} parameter(0)
  ROOT n = f32[4,6]{1,0} negate(a)
}
ENTRY e {
  p = f32[4,6]{1,0} parameter(0), sharding={devices=[2,1]0,1 metadata={op_name="y"}}
  z = f32[] constant(0)
  i = s32[2]{0} constant({1, 2})
  f = f32[4,6]{1,0} fusion(p), kind=kLoop, calls=fused, backend_config={"x":[1,2]}
  d = f32[4,4]{1,0} dot(p, f), lhs_contracting_dims={1}, rhs_contracting_dims={1}, operand_precision={highest,default}
  r = f32[4]{0} reduce(f, z), dimensions={1}, to_apply=sum
  sl = f32[2,3]{1,0} slice(f), slice={[0:4:2], [1:4:1]}
  pd = f32[4,8]{1,0} pad(f, z), padding=0_0x1_1
  ga = f32[2,6]{1,0} gather(f, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
  sc = f32[4,6]{1,0} scatter(f, i, ga), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=sum
  so = f32[4,6]{1,0} sort(sc), dimensions={1}, is_stable=true, to_apply=less
  rw = f32[4,5]{1,0} reduce-window(so, z), window={size=1x2}, to_apply=sum
  ar = f32[4,5]{1,0} all-reduce(rw), channel_id=3, replica_groups=[2,2]<=[2,2]T(1,0), use_global_device_ids=true, to_apply=sum
  cp = f32[4,5]{1,0} collective-permute(ar), source_target_pairs={{0,1},{1,0}}
  cc = (f32[4,5]{1,0}, s32[]) custom-call(cp), custom_call_target="f\"g", operand_layout_constraints={f32[4,5]{1,0}}, custom_call_has_side_effect=true, output_to_operand_aliasing={{0}: (0, {})}, api_version=API_VERSION_TYPED_FFI, backend_config="opaque \001"
  rp = f32[4]{0} reduce-precision(r), exponent_bits=5, mantissa_bits=10, frontend_attributes={k="v"}
  ROOT t = (f32[4,4]{1,0}, f32[2,3]{1,0}, f32[4,8]{1,0}, (f32[4,5]{1,0}, s32[]), f32[4]{0}) tuple(d, sl, pd, cc, rp), control-predecessors={so}, origin={({"a"}, {}, {"b" {1}}, ({}, {}), {})}, statistics={visualizing_index=0,flops=1.5}
})");
}

TEST(ModuleProtoTest, ShardingsAndGroupsKeepTheirForm) {
  ExpectIdentity(R"(HloModule m
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[4,6]{1,0} parameter(0), sharding={mesh['x'=2,'y'=2], [{'x'}, {}], unreduced={'y'}}
  q = f32[4,6]{1,0} copy(p), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}
  r = f32[4,6]{1,0} copy(q), sharding={maximal device=3}
  s = f32[4,6]{1,0} all-reduce(r), replica_groups=mesh['x'=2,'y'=2] {'x'}, to_apply=sum
  u = f32[4,6]{1,0} all-reduce(s), replica_groups={}, to_apply=sum
  ROOT t = (f32[4,6]{1,0}, f32[4,6]{1,0}) tuple(q, u), sharding={{replicated}, {manual}}
})");
}

TEST(ModuleProtoTest, WhatNoStructureHoldsIsWrittenBack) {
  auto module = ParseModule("e { ROOT p = f32[] parameter(0) }");
  ASSERT_OK(module.status());
  auto message = ToProto(**module);
  ASSERT_OK(message.status());
  message->set_device_type("tpu");
  auto* i = message->mutable_computations(0)->mutable_instructions(0);
  i->mutable_backend_config_payload()->set_id(7);
  i->GetReflection()->MutableUnknownFields(i)->AddVarint(999, 42);
  auto again = FromProto(*message);
  ASSERT_OK(again.status());
  auto written = ToProto(**again);
  ASSERT_OK(written.status());
  EXPECT_EQ(written->device_type(), "tpu");
  const auto& j = written->computations(0).instructions(0);
  EXPECT_EQ(j.backend_config_payload().id(), 7);
  const auto& unknown = j.GetReflection()->GetUnknownFields(j);
  ASSERT_EQ(unknown.field_count(), 1);
  EXPECT_EQ(unknown.field(0).varint(), 42);
}

}  // namespace
}  // namespace ptxla::hlo
