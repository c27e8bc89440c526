// The shapes that each maker infers, and how modules print with options.
#include "hlo_backend/ir/builder.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr PrimitiveType kBf16 = PrimitiveType::kBf16;
constexpr PrimitiveType kU64 = PrimitiveType::kU64;

class BuilderTest : public ::testing::Test {
 protected:
  ~BuilderTest() override {
    // Whatever a test has made is valid.
    module_.SetEntry(b_.computation());
    EXPECT_OK(VerifyModule(module_));
    const std::string text = Print(module_);
    auto again = ParseModule(text);
    EXPECT_OK(again.status());
    if (again.ok()) {
      EXPECT_EQ(Print(**again), text);
    }
  }
  Instruction* P(PrimitiveType type, std::vector<int64_t> dims) {
    return b_.Parameter(next_++, Shape::Array(type, dims), "p");
  }
  static std::string S(const Instruction* i) { return i->shape().ToString(); }

  Module module_{"t"};
  Builder b_{module_.AddComputation("main")};
  int64_t next_ = 0;
};

TEST_F(BuilderTest, Elementwise) {
  Instruction* x = P(kF32, {2, 3});
  EXPECT_EQ(S(b_.Tanh(x)), "f32[2,3]");
  EXPECT_EQ(S(b_.Compare(x, x, CompareDirection::kLt)), "pred[2,3]");
  EXPECT_EQ(S(b_.IsFinite(x)), "pred[2,3]");
  EXPECT_EQ(S(b_.Convert(x, kBf16)), "bf16[2,3]");
  EXPECT_EQ(S(b_.Binary(Opcode::kComplex, x, x)), "c64[2,3]");
  EXPECT_EQ(S(b_.Unary(Opcode::kReal, b_.Binary(Opcode::kComplex, x, x))),
            "f32[2,3]");
  EXPECT_EQ(S(b_.BitcastConvert(x, Shape::Array(kU32, {2, 3}))), "u32[2,3]");
  EXPECT_EQ(S(b_.BitcastConvert(x, Shape::Array(kBf16, {2, 3, 2}))),
            "bf16[2,3,2]");
  EXPECT_EQ(S(b_.Clamp(b_.Zero(kF32), x, b_.One(kF32))), "f32[2,3]");
}

TEST_F(BuilderTest, Extremes) {
  EXPECT_EQ(b_.MinValue(kF32)->literal().ToString(), "-inf");
  EXPECT_EQ(b_.MinValue(kS32)->literal().ToString(), "-2147483648");
  EXPECT_EQ(b_.MaxValue(PrimitiveType::kU8)->literal().ToString(), "255");
  EXPECT_EQ(b_.MaxValue(kU64)->literal().ToString(), "18446744073709551615");
}

TEST_F(BuilderTest, Movement) {
  Instruction* x = P(kF32, {2, 3});
  EXPECT_EQ(S(b_.Broadcast(x, {2, 4, 3}, {0, 2})), "f32[2,4,3]");
  EXPECT_EQ(S(b_.Transpose(x, {1, 0})), "f32[3,2]");
  EXPECT_EQ(S(b_.Concatenate({x, x}, 1)), "f32[2,6]");
  EXPECT_EQ(S(b_.Slice(x, {0, 0}, {2, 3}, {1, 2})), "f32[2,2]");
  EXPECT_EQ(S(b_.Pad(x, b_.Zero(kF32), {{1, 0, 2}, {-1, 0, 0}})), "f32[5,2]");
  Instruction* i = P(kS32, {});
  EXPECT_EQ(S(b_.DynamicSlice(x, {i, i}, {1, 3})), "f32[1,3]");
  EXPECT_EQ(S(b_.DynamicUpdateSlice(x, b_.Slice(x, {0, 0}, {1, 1}), {i, i})),
            "f32[2,3]");
  Instruction* table = P(kF32, {30, 8});
  Instruction* ids = P(kS32, {4, 5});
  GatherAttrs gather;
  gather.offset_dims = {2};
  gather.collapsed_slice_dims = {0};
  gather.start_index_map = {0};
  gather.index_vector_dim = 2;
  gather.slice_sizes = {1, 8};
  Instruction* rows = b_.Gather(table, ids, gather);
  EXPECT_EQ(S(rows), "f32[4,5,8]");
  ScatterAttrs scatter;
  scatter.update_window_dims = {2};
  scatter.inserted_window_dims = {0};
  scatter.scatter_dims_to_operand_dims = {0};
  scatter.index_vector_dim = 2;
  EXPECT_EQ(S(b_.Scatter({table}, ids, {rows}, b_.Scalar2(Opcode::kAdd, kF32),
                         scatter)),
            "f32[30,8]");
}

TEST_F(BuilderTest, ProductsAndReductions) {
  Instruction* x = P(kBf16, {4, 8, 16});
  Instruction* y = P(kBf16, {4, 16, 32});
  EXPECT_EQ(S(b_.MatMul(x, y)), "bf16[4,8,32]");
  DotAttrs outer;
  EXPECT_EQ(S(b_.Dot(P(kF32, {3}), P(kF32, {5}), outer)), "f32[3,5]");
  ConvAttrs conv;
  conv.dims = ParseConvDims("b01f_01io->b01f").value();
  conv.window = ParseWindow("{size=3x3 stride=2x2 pad=1_1x1_1}").value();
  EXPECT_EQ(
      S(b_.Convolution(P(kF32, {1, 9, 9, 4}), P(kF32, {3, 3, 4, 6}), conv)),
      "f32[1,5,5,6]");
  Computation* add = b_.Scalar2(Opcode::kAdd, kBf16);
  EXPECT_EQ(S(b_.Reduce(x, b_.Zero(kBf16), {0, 2}, add)), "bf16[8]");
  EXPECT_EQ(
      S(b_.ReduceWindow({x}, {b_.Zero(kBf16)},
                        ParseWindow("{size=1x2x2 stride=1x2x2}").value(), add)),
      "bf16[4,4,8]");
  Instruction* f = P(kF32, {16});
  EXPECT_EQ(S(b_.BatchNormTraining(b_.Convert(x, kF32), f, f, 1e-5f, 2)),
            "(f32[4,8,16], f32[16], f32[16])");
  EXPECT_EQ(add, b_.Scalar2(Opcode::kAdd, kBf16));
}

TEST_F(BuilderTest, CallsLoopsAndCollectives) {
  Computation* body = module_.AddComputation("body");
  Builder in_body(body);
  in_body.Negate(in_body.Parameter(0, Shape::Scalar(kF32)));
  Computation* condition = module_.AddComputation("condition");
  Builder in_condition(condition);
  Instruction* state = in_condition.Parameter(0, Shape::Scalar(kF32));
  in_condition.Compare(state, in_condition.Zero(kF32), CompareDirection::kLt);
  Instruction* x = P(kF32, {});
  EXPECT_EQ(S(b_.While(x, condition, body)), "f32[]");
  EXPECT_EQ(S(b_.Conditional(P(kS32, {}), {x, x}, {body, body})), "f32[]");
  EXPECT_EQ(S(b_.Call(body, {x})), "f32[]");
  EXPECT_EQ(S(b_.Map({P(kF32, {7})}, body)), "f32[7]");
  Instruction* g = P(kF32, {8});
  Computation* add = b_.Scalar2(Opcode::kAdd, kF32);
  CollectiveAttrs attrs;
  attrs.groups = ReplicaGroups(ReplicaGroups::List{{0, 1}, {2, 3}});
  EXPECT_EQ(S(b_.AllReduce({g}, add, attrs)), "f32[8]");
  EXPECT_EQ(S(b_.AllReduce({g, g}, add, attrs)), "(f32[8], f32[8])");
  EXPECT_EQ(S(b_.AllGather(g, Shape::Array(kF32, {16}), 0, attrs)), "f32[16]");
  EXPECT_EQ(S(b_.ReduceScatter(g, Shape::Array(kF32, {4}), 0, add, attrs)),
            "f32[4]");
  EXPECT_EQ(S(b_.RngBitGenerator(P(kU64, {2}), Shape::Array(kU32, {5}),
                                 RngAlgorithm::kThreeFry)),
            "(u64[2], u32[5])");
  EXPECT_EQ(S(b_.CustomCall("f", {x}, Shape::Array(kF32, {3}))), "f32[3]");
}

TEST_F(BuilderTest, MakeGivesTheBrokenRule) {
  Instruction* x = P(kF32, {2, 3});
  Instruction* y = P(kF32, {2, 4});
  EXPECT_THAT(b_.Make(Opcode::kAdd, {x, y}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("add: operand shapes f32[2,3] and f32[2,4] "
                                 "differ")));
  EXPECT_THAT(b_.Make(Opcode::kReshape, {x}).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("cannot be inferred: write it")));
}

TEST(PrintOptionsTest, WhatIsLeftOut) {
  auto module = ParseModule(R"(HloModule t
    ENTRY main.7 {
      p.1 = f32[12]{0:T(128)} parameter(0), sharding={replicated}
      c.2 = f32[12]{0} constant({1,2,3,4,5,6,7,8,9,10,11,12})
      ROOT a.3 = f32[12]{0} add(p.1, c.2), metadata={op_name="x"},
          backend_config={"a":1}
    })")
                    .value();
  EXPECT_EQ(Print(*module->entry(), PrintOptions::Short()),
            R"(ENTRY main.7 (p.1: f32[12]) -> f32[12] {
  p.1 = f32[12] parameter(0)
  c.2 = f32[12] constant({...})
  ROOT a.3 = f32[12] add(p.1, c.2)
}
)");
  PrintOptions old_style;
  old_style.operand_shapes = true;
  EXPECT_EQ(Print(*module->entry()->root(), old_style),
            "%a.3 = f32[12]{0} add(f32[12]{0:T(128)} %p.1, f32[12]{0} %c.2), "
            "metadata={op_name=\"x\"}, backend_config={\"a\":1}");
  PrintOptions no_ids;
  no_ids.ids = no_ids.metadata = no_ids.backend_config = false;
  EXPECT_EQ(Print(*module->entry()->root(), no_ids),
            "%a = f32[12]{0} add(%p, %c)");
}

}  // namespace
}  // namespace ptxla::hlo
