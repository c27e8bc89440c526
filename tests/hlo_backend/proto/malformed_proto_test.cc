// Broken protos are refused by name, never followed.
#include <functional>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/proto/module_proto.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::HasSubstr;

absl::Status ReadAfter(
    const std::function<void(proto::HloModuleProto*)>& damage) {
  auto module = ParseModule(R"(
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT c = f32[] add(a, b)
}
ENTRY e {
  p = f32[4]{0} parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(p, z), dimensions={0}, to_apply=sum
})");
  EXPECT_OK(module.status());
  auto message = ToProto(**module);
  EXPECT_OK(message.status());
  damage(&*message);
  return FromProto(*message).status();
}

proto::HloInstructionProto* Root(proto::HloModuleProto* m) {
  return m->mutable_computations(1)->mutable_instructions(2);
}

TEST(MalformedProtoTest, TheInstructionAndTheFaultAreNamed) {
  EXPECT_OK(ReadAfter([](auto*) {}));
  EXPECT_THAT(
      ReadAfter([](auto* m) { Root(m)->set_opcode("reducee"); }).message(),
      HasSubstr("computation \"e\": instruction \"r\": unknown opcode"));
  EXPECT_THAT(
      ReadAfter([](auto* m) { Root(m)->set_operand_ids(0, 77); }).message(),
      HasSubstr("instruction \"r\": no instruction before it"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                Root(m)->set_called_computation_ids(0, 9);
              }).message(),
              HasSubstr("no computation before its own has the id 9"));
  EXPECT_THAT(ReadAfter([](auto* m) { Root(m)->set_name("p"); }).message(),
              HasSubstr("its name exists already"));
  EXPECT_THAT(ReadAfter([](auto* m) { Root(m)->set_name("a b"); }).message(),
              HasSubstr("no name of an instruction"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                (*Root(m)->mutable_frontend_attributes()->mutable_map())[""] =
                    "x";
              }).message(),
              HasSubstr("a frontend attribute has no name"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                Root(m)->mutable_shape()->set_element_type(
                    static_cast<proto::PrimitiveType>(99));
              }).message(),
              HasSubstr("element type number 99"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                Root(m)->mutable_shape()->add_dimensions(-2);
              }).message(),
              HasSubstr("a dimension has the size -2"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                m->mutable_computations(1)
                    ->mutable_instructions(0)
                    ->mutable_shape()
                    ->mutable_layout()
                    ->add_tiles()
                    ->add_dimensions(0);
              }).message(),
              HasSubstr("a tile has at least one element, not 0"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                m->mutable_computations(0)
                    ->mutable_instructions(1)
                    ->set_parameter_number(0);
              }).message(),
              HasSubstr("parameter 0 exists already"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                m->mutable_computations(0)
                    ->mutable_instructions(1)
                    ->set_parameter_number(5);
              }).message(),
              HasSubstr("parameter 1 is missing"));
  EXPECT_THAT(ReadAfter([](auto* m) {
                m->mutable_computations(1)->set_root_id(99);
              }).message(),
              HasSubstr("no instruction has the id 99 of its root"));
  EXPECT_THAT(ReadAfter([](auto* m) { m->clear_computations(); }).message(),
              HasSubstr("no computation"));
}

// Texts spell a convolution's dimensions out; a proto can name any.
TEST(MalformedProtoTest, DimensionsOfAConvolutionAreThoseOfItsArrays) {
  using Numbers = proto::ConvolutionDimensionNumbers;
  const auto read_after = [](const std::function<void(Numbers*)>& damage) {
    auto module = ParseModule(R"(
ENTRY e {
  x = f32[8,4,4,16]{3,2,1,0} parameter(0)
  k = f32[3,3,16,32]{3,2,1,0} parameter(1)
  ROOT c = f32[8,2,2,32]{3,2,1,0} convolution(x, k), window={size=3x3}, dim_labels=b01f_01io->b01f
})");
    EXPECT_OK(module.status());
    auto message = ToProto(**module);
    EXPECT_OK(message.status());
    damage(message->mutable_computations(0)
               ->mutable_instructions(2)
               ->mutable_convolution_dimension_numbers());
    auto again = FromProto(*message);
    return again.ok() ? VerifyModule(**again) : again.status();
  };
  EXPECT_OK(read_after([](Numbers*) {}));
  const auto fault = HasSubstr("are not numbered once each");
  for (const int64_t wrong : {3, 4, 400, -1}) {
    EXPECT_THAT(read_after([&](Numbers* n) {
                  n->set_kernel_input_feature_dimension(wrong);
                }).message(),
                fault)
        << wrong;
  }
  // Each array's are numbered once, but one has fewer.
  EXPECT_THAT(read_after([](Numbers* n) {
                n->clear_kernel_spatial_dimensions();
                n->set_kernel_input_feature_dimension(0);
                n->set_kernel_output_feature_dimension(1);
              }).message(),
              fault);
}

TEST(MalformedProtoTest, NamesThatNoTextCanHaveAreMadeReadable) {
  auto module =
      ParseModule("HloModule m\nENTRY e { ROOT p = f32[] parameter(0) }");
  ASSERT_OK(module.status());
  auto message = ToProto(**module);
  ASSERT_OK(message.status());
  message->mutable_computations(0)->set_name("body$1");
  message->set_entry_computation_name("body$1");
  message->mutable_computations(0)->mutable_instructions(0)->set_name("g/x~1");
  auto read = FromProto(*message);
  ASSERT_OK(read.status());
  const std::string text = Print(**read);
  EXPECT_THAT(text, HasSubstr("ENTRY %body_1 "));
  EXPECT_THAT(text, HasSubstr("%g_x_1 = f32[] parameter(0)"));
  EXPECT_OK(ParseModule(text).status());
}

}  // namespace
}  // namespace ptxla::hlo
