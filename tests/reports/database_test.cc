#include "reports/database.h"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/files.h"
#include "reports/sqlite.h"
#include "tests/reports/sample_run.h"
#include "tests/support/status_matchers.h"

namespace ptxla::reports {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::SampleRun;

class DatabaseTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/ptxla_db_XXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    path_ = folder_ + "/runs.sqlite";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  int64_t Count(Database* db, const std::string& what) {
    auto s = db->connection().Prepare("SELECT count(*) FROM " + what);
    EXPECT_OK(s);
    EXPECT_OK(s->Step());
    return s->Int(0);
  }

  std::string folder_, path_;
};

TEST_F(DatabaseTest, ARunComesBackAsItWasSaved) {
  const record::RunRecord run = SampleRun();
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  ASSERT_OK(db.Save(run));
  ASSERT_OK_AND_ASSIGN(const record::RunRecord again, db.Load(run.run_id()));
  EXPECT_EQ(PrintTextProto(again), PrintTextProto(run));
  ASSERT_OK(db.Load("01JD8").status());
}

TEST_F(DatabaseTest, EveryViewShowsTheRun) {
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  ASSERT_OK(db.Save(SampleRun()));
  EXPECT_EQ(Count(&db, "v_run WHERE topology='v5e-8' AND mxu_ps=59000000000"),
            1);
  EXPECT_EQ(Count(&db, "v_op WHERE run_id LIKE '01JD8%'"), 2);
  EXPECT_EQ(Count(&db, "v_compile WHERE hlo_instructions=26000"), 1);
  EXPECT_EQ(Count(&db, "v_memory WHERE verdict='FITS'"), 1);
}

TEST_F(DatabaseTest, EqualProgramsAreStoredOnce) {
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  record::RunRecord run = SampleRun();
  ASSERT_OK(db.Save(run));
  run.set_run_id("01JD8QK5ZZZZZZZZZZZZZZZZZZ");
  ASSERT_OK(db.Save(run));
  EXPECT_EQ(Count(&db, "op"), 2);
  EXPECT_EQ(Count(&db, "config"), 1);
  EXPECT_EQ(Count(&db, "v_op"), 4);
}

TEST_F(DatabaseTest, AFailedSaveLeavesNothingOfTheRun) {
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  record::RunRecord run = SampleRun();
  *run.add_steps() = run.steps(0);  // the same key twice
  EXPECT_FALSE(db.Save(run).ok());
  EXPECT_EQ(Count(&db, "run"), 0);
  EXPECT_EQ(Count(&db, "config"), 0);
}

TEST_F(DatabaseTest, TablesAreStrictAndTheJournalIsWal) {
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  EXPECT_EQ(Count(&db,
                  "sqlite_master WHERE type='table' AND name NOT LIKE "
                  "'sqlite_%' AND sql NOT LIKE '%STRICT%'"),
            0);
  ASSERT_OK_AND_ASSIGN(sqlite::Statement s,
                       db.connection().Prepare("PRAGMA journal_mode"));
  ASSERT_OK(s.Step());
  EXPECT_EQ(s.Text(0), "wal");
}

TEST_F(DatabaseTest, ANewerSchemaIsRefused) {
  {
    ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
    ASSERT_OK(db.connection().Execute("PRAGMA user_version = 99"));
  }
  EXPECT_THAT(Database::Open(path_).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("schema version 99")));
}

TEST_F(DatabaseTest, PathsThatCannotBeWrittenAreNamedAndNothingIsCreated) {
  EXPECT_THAT(Database::CheckWritable(folder_ + "/no/such/runs.sqlite"),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr(folder_ + "/no/such"),
                             HasSubstr("No such file or directory"))));
  EXPECT_THAT(Database::CheckWritable(folder_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("it is a directory")));
  ASSERT_OK(WriteFile(path_, "this is not a database, it is a text file"));
  EXPECT_THAT(Database::CheckWritable(path_),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("not a database")));
  EXPECT_EQ(ReadFile(path_).value(),
            "this is not a database, it is a text file");
}

TEST_F(DatabaseTest, TheDatabaseOfAnotherProgramIsLeftAlone) {
  {
    ASSERT_OK_AND_ASSIGN(sqlite::Connection other,
                         sqlite::Connection::Open(path_));
    ASSERT_OK(other.Execute("CREATE TABLE mine (x)"));
  }
  EXPECT_THAT(Database::Open(path_).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("another program")));
}

TEST_F(DatabaseTest, CheckWritableCreatesNoFile) {
  EXPECT_OK(Database::CheckWritable(path_));
  struct stat info {};
  EXPECT_NE(stat(path_.c_str(), &info), 0);
}

// Processes that create the database and write to it at the same time wait
// for each other and all succeed.
TEST_F(DatabaseTest, ManyProcessesWriteOneDatabase) {
  constexpr int kProcesses = 4, kRuns = 5;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = fork();
    if (child == 0) {
      auto db = Database::Open(path_);
      if (!db.ok()) _exit(1);
      record::RunRecord run = SampleRun();
      for (int i = 0; i < kRuns; ++i) {
        run.set_run_id(absl::StrCat("run", p, "x", i));
        if (!db->Save(run).ok()) _exit(2);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
  }
  ASSERT_OK_AND_ASSIGN(Database db, Database::Open(path_));
  EXPECT_EQ(Count(&db, "run"), kProcesses * kRuns);
}

}  // namespace
}  // namespace ptxla::reports
