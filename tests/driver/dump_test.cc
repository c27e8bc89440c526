#include "driver/dump.h"

#include "base/files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::StatusIs;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

TEST(DumpTest, FilesAreNumberedInOrderAndNamesAreMadeSafe) {
  TemporaryFolder folder;
  ASSERT_OK_AND_ASSIGN(DumpWriter dump,
                       DumpWriter::Create(folder.path() + "/a/b"));
  ASSERT_OK(dump.Write("input.hlo", "x"));
  ASSERT_OK(dump.Write("jit(f)/g.hlo", "y"));
  EXPECT_EQ(ReadFile(folder.path() + "/a/b/000.input.hlo").value(), "x");
  EXPECT_EQ(ReadFile(folder.path() + "/a/b/001.jit_f__g.hlo").value(), "y");
}

// Two runs with different numbers of stages are not told apart in one folder.
TEST(DumpTest, StagesOfAnEarlierRunAreRemovedAndOtherFilesStay) {
  TemporaryFolder folder;
  folder.Write("000.input.hlo", "old");
  folder.Write("017.jit_f.program.tpuasm", "old");
  folder.Write("1000.jit_f.cse.hlo", "old");
  for (const char* name : {"17.hlo", "017.md", "notes.hlo"}) {
    folder.Write(name, "mine");
  }
  ASSERT_OK_AND_ASSIGN(DumpWriter dump, DumpWriter::Create(folder.path()));
  ASSERT_OK(dump.Write("input.hlo", "new"));
  EXPECT_EQ(ReadFile(folder.path() + "/000.input.hlo").value(), "new");
  EXPECT_FALSE(ReadFile(folder.path() + "/017.jit_f.program.tpuasm").ok());
  EXPECT_FALSE(ReadFile(folder.path() + "/1000.jit_f.cse.hlo").ok());
  for (const char* name : {"17.hlo", "017.md", "notes.hlo"}) {
    EXPECT_EQ(ReadFile(folder.path() + "/" + name).value(), "mine") << name;
  }
}

TEST(DumpTest, AFileInTheWayIsAnError) {
  TemporaryFolder folder;
  const std::string file = folder.Write("taken", "");
  EXPECT_THAT(DumpWriter::Create(file).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("taken")));
}

TEST(DumpTest, WithoutAFolderNothingIsWritten) {
  DumpWriter dump;
  EXPECT_FALSE(dump.enabled());
  EXPECT_OK(dump.Write("x", "y"));
}

}  // namespace
}  // namespace ptxla::driver
