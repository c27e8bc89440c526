#include "reports/op_label.h"

#include "gtest/gtest.h"

namespace ptxla::reports {
namespace {

OpLabel Label(const std::string& path, const std::string& name,
              const std::string& opcode) {
  record::OpRecord op;
  op.set_layer(path);
  op.set_name(name);
  op.set_opcode(opcode);
  return LabelOf(op);
}

struct Case {
  const char *path, *name, *opcode, *layer, *kind;
};

TEST(OpLabelTest, TheTracedPathBecomesLayerAndKind) {
  const Case cases[] = {
      {"encoder.3.ffn/aten__mm", "fusion.1", "fusion", "encoder.*.ffn",
       "matmul"},
      {"encoder.3.ffn/backward/aten__mm", "convert_fusion.17", "fusion",
       "encoder.*.ffn", "matmul"},
      {"encoder.3.attention/aten__view", "reshape.4", "reshape",
       "encoder.*.attention", "reshape"},
      {"encoder.3.attention/backward/aten__sum", "reshape.4", "reshape",
       "encoder.*.attention", "sum reshape"},
      {"x/aten__softmax", "reduce_fusion.2", "fusion", "x", "softmax"},
      {"x/backward/aten___softmax_backward_data", "f", "fusion", "x",
       "softmax"},
      {"x/aten__native_batch_norm", "f", "fusion", "x", "batch norm"},
      {"AdamW/aten__addcdiv", "add_fusion.9", "fusion", "AdamW", "update"},
      {"reduce_gradients/xla__cross_replica_sum", "all-reduce.1", "all-reduce",
       "reduce_gradients", "all-reduce"},
      {"embeddings/backward/aten__index_put", "scatter.3", "scatter",
       "embeddings", "scatter"},
      {"aten__add", "add_fusion", "fusion", "", "add"},
  };
  for (const Case& c : cases) {
    const OpLabel label = Label(c.path, c.name, c.opcode);
    EXPECT_EQ(label.layer, c.layer) << c.path;
    EXPECT_EQ(label.kind, c.kind) << c.path;
  }
}

TEST(OpLabelTest, JaxWrappersAreDropped) {
  const OpLabel label = Label(
      "jit(f)/jit(main)/transpose(jvp(mlp))/dot_general", "fusion", "fusion");
  EXPECT_EQ(label.layer, "mlp");
  EXPECT_EQ(label.kind, "matmul");
}

TEST(OpLabelTest, WithoutAPathTheInstructionsNameIsLeft) {
  EXPECT_EQ(Label("", "add_fusion.3", "fusion").kind, "add_fusion");
  EXPECT_EQ(Label("", "dot.3", "dot").kind, "matmul");
  const OpLabel label = Label("encoder.1.ffn", "fusion.1", "fusion");
  EXPECT_EQ(label.layer, "encoder.*.ffn");
  EXPECT_EQ(label.kind, "fusion");
}

TEST(OpLabelTest, AFusionThatTheArrayBoundsHoldsAProduct) {
  record::OpRecord op;
  op.set_name("reduce_fusion.3");
  op.set_opcode("fusion");
  op.set_bound("mxu");
  EXPECT_EQ(LabelOf(op).kind, "matmul in reduce_fusion");
}

TEST(OpLabelTest, OnlyWholeNumbersBecomeStars) {
  EXPECT_EQ(LayerPattern("encoder.3.ffn.12"), "encoder.*.ffn.*");
  EXPECT_EQ(LayerPattern("layer_3/conv2d"), "layer_*/conv2d");
  EXPECT_EQ(LayerPattern("block2"), "block2");
  EXPECT_EQ(LayerPattern("3d.conv"), "3d.conv");
}

}  // namespace
}  // namespace ptxla::reports
