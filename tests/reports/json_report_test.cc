#include "reports/json_report.h"

#include <nlohmann/json.hpp>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/reports/sample_run.h"

namespace ptxla::reports {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::ElementsAre;
using testing::SampleRun;

std::vector<std::string> Keys(const Json& object) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys;
}

TEST(JsonReportTest, KeysAreThoseOfTheContractInOrder) {
  const Json json = Json::parse(RunJson(SampleRun()));
  EXPECT_THAT(
      Keys(json),
      ElementsAre("schema_version", "run_id", "config_hash", "result_hash",
                  "status", "config", "step_time_s", "throughput", "mfu", "hfu",
                  "model_flops_per_step_per_chip",
                  "matmul_flops_per_step_per_chip", "time_by_bound_s", "bound",
                  "device_time_s", "trace_time_s", "memory", "compile", "cost",
                  "top_ops", "assumed", "warnings", "tool"));
  EXPECT_THAT(Keys(json["status"]), ElementsAre("code", "message", "where"));
  EXPECT_THAT(Keys(json["step_time_s"]),
              ElementsAre("value", "low", "high", "basis"));
  EXPECT_THAT(Keys(json["time_by_bound_s"]),
              ElementsAre("mxu", "vpu", "hbm", "ici", "dcn", "host", "input",
                          "overhead"));
  EXPECT_THAT(Keys(json["top_ops"][0]),
              ElementsAre("name", "layer", "count", "time_s", "share", "bound",
                          "fraction_of_peak", "estimated"));
  EXPECT_THAT(Keys(json["assumed"][0]),
              ElementsAre("name", "value", "unit", "effect_on_step"));
}

TEST(JsonReportTest, TheBoundsSumToTheStep) {
  const Json json = Json::parse(RunJson(SampleRun()));
  double sum = 0;
  for (const auto& [key, value] : json["time_by_bound_s"].items()) {
    sum += value.get<double>();
  }
  EXPECT_NEAR(sum, json["step_time_s"]["value"].get<double>(), 1e-12);
}

TEST(JsonReportTest, WhatDoesNotApplyIsNull) {
  record::RunRecord run;
  run.mutable_config()->set_topology("v6e-1");
  const Json json = Json::parse(RunJson(run));
  for (const char* key : {"step_time_s", "throughput", "mfu", "hfu", "memory",
                          "compile", "cost", "device_time_s", "bound"}) {
    EXPECT_TRUE(json[key].is_null()) << key;
  }
  EXPECT_TRUE(json["config"]["global_batch"].is_null());
  EXPECT_TRUE(json["config"]["workload"].is_null());
}

TEST(JsonReportTest, EffectsAreFractionsOfTheStep) {
  const Json json = Json::parse(RunJson(SampleRun()));
  EXPECT_NEAR(json["assumed"][0]["effect_on_step"].get<double>(), 0.9 / 124.1,
              1e-12);
  EXPECT_TRUE(json["assumed"][1]["effect_on_step"].is_null());
}

TEST(JsonReportTest, AnErrorIsAnObjectToo) {
  const Json json = Json::parse(
      ErrorJson(absl::InvalidArgumentError("3:7: bad \xff"), "parse"));
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_EQ(json["status"]["code"], "INVALID_ARGUMENT");
  EXPECT_EQ(json["status"]["where"], "parse");
}

}  // namespace
}  // namespace ptxla::reports
