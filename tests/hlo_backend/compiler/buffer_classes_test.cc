#include "hlo_backend/compiler/buffer_classes.h"

#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

class BufferClassesTest : public ::testing::Test {
 protected:
  BufferClassesTest() {
    module_ = *ParseModule(R"(HloModule m
ENTRY e {
  a = f32[8] parameter(0)
  b = f32[8] parameter(1)
  c = f32[8] parameter(2)
  ROOT t = (f32[8], (f32[8], f32[8])) custom-call(a, b, c), custom_call_target="x"
}
)");
    entry_ = module_->entry();
  }
  std::unique_ptr<Module> module_;
  Computation* entry_;
};

TEST_F(BufferClassesTest, LeavesOfNestedTuplesFollowOneAnother) {
  BufferClasses classes({entry_});
  const Instruction* t = entry_->root();
  EXPECT_EQ(classes.Leaf(t, {0}), classes.First(t));
  EXPECT_EQ(classes.Leaf(t, {1, 1}), classes.First(t) + 2);
}

TEST_F(BufferClassesTest, OffsetsAddUpThroughTies) {
  BufferClasses classes({entry_});
  const int a = classes.First(entry_->parameter(0));
  const int b = classes.First(entry_->parameter(1));
  const int c = classes.First(entry_->parameter(2));
  ASSERT_TRUE(classes.Tie(a, b, 100));
  ASSERT_TRUE(classes.Tie(b, c, 20));
  EXPECT_EQ(classes.Find(c).root, classes.Find(a).root);
  EXPECT_EQ(classes.Find(c).offset - classes.Find(a).offset, 120);
}

TEST_F(BufferClassesTest, AContradictionIsRefused) {
  BufferClasses classes({entry_});
  const int a = classes.First(entry_->parameter(0));
  const int b = classes.First(entry_->parameter(1));
  ASSERT_TRUE(classes.Tie(a, b, 0));
  EXPECT_TRUE(classes.Tie(a, b, 0));
  EXPECT_FALSE(classes.Tie(a, b, 64));
}

}  // namespace
}  // namespace ptxla::hlo
