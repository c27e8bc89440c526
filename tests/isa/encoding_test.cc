#include "isa/encoding.h"

#include "base/files.h"
#include "isa/isa_page.h"
#include "sample_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;

TEST(EncodingTest, DecodeInvertsEncode) {
  const Program program = testing::SampleProgram();
  const std::string bytes = Encode(program);
  ASSERT_OK_AND_ASSIGN(const Program back, Decode(bytes));
  EXPECT_TRUE(back == program);
  EXPECT_EQ(Encode(back), bytes);
}

TEST(EncodingTest, OtherBytesAreRefused) {
  EXPECT_THAT(Decode("hello"), StatusIs(absl::StatusCode::kInvalidArgument,
                                        ::testing::HasSubstr("not an")));
  EXPECT_THAT(Decode(""), StatusIs(absl::StatusCode::kInvalidArgument,
                                   ::testing::HasSubstr("another")));
  std::string bytes = Encode(testing::SampleProgram());
  for (size_t i = 12; i < bytes.size(); i += 5) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x15);
    const absl::StatusOr<Program> result = Decode(damaged);
    if (!result.ok()) continue;
    // What it accepts is a value like any other.
    ASSERT_OK_AND_ASSIGN(const Program again, Decode(Encode(*result)));
    EXPECT_TRUE(again == *result);
  }
}

TEST(IsaPageTest, TheCheckedInPageIsFresh) {
  ASSERT_OK_AND_ASSIGN(const std::string page,
                       ReadFile(PTXLA_SOURCE_DIR "/docs/generated/isa.md"));
  EXPECT_TRUE(page == IsaPage())
      << "run build/isa/ptxla_isa_page > docs/generated/isa.md";
}

}  // namespace
}  // namespace ptxla::isa
