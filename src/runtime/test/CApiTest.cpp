#include "ingot/ingot.h"

#include "asset/Cache.h"
#include "asset/Writer.h"
#include "runtime/CpuKey.h"
#include "runtime/PlanJson.h"
#include "runtime/test/TestPlan.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <unistd.h>

namespace ingot::test {
namespace {

using testing::HasSubstr;

/// An asset with a plan that needs no compiled code: y = x transposed, then the weight appended.
class CApi : public testing::Test {
protected:
  void SetUp() override {
    folder = testing::TempDir() + "ingot_capi_" + std::to_string(getpid());
    std::filesystem::create_directories(folder);
    path = folder + "/model.ingot";
    asset::Content content;
    content.manifest.weights["w"] = "w";
    content.manifest.entryPoints.push_back({"forward", {}, {}, {}, {}, "", ""});
    content.program = std::as_bytes(std::span("program", 7));
    content.weights.push_back({"w", DType::Float32, {1, 2}, {}, reinterpret_cast<const std::byte *>(weight)});
    Status written = asset::writeAsset(path, content);
    ASSERT_TRUE(written) << written.error().str();
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  void specialise() {
    FunctionBuilder b;
    ValueId x = b.input("x", {2, kDynamic}, {"2", "n"});
    ValueId w = b.tensor({1, 2});
    b.function.constants.push_back({w, "w", {}});
    ValueId t = b.step("permute", {x}, b.tensor({kDynamic, 2}), {{"dims", std::vector<int64_t>{1, 0}}});
    b.output("y", b.step("concat", {t, w}, b.tensor({kDynamic, 2}), {{"axis", int64_t(0)}}));
    Plan plan;
    plan.functions.push_back(b.function);
    auto asset = asset::readAsset(path);
    ASSERT_TRUE(asset) << asset.error().str();
    auto writer = asset::SpecialisationWriter::begin(*asset, cpuKey());
    ASSERT_TRUE(writer) << writer.error().str();
    std::ofstream(writer->folder() + "/plan.json") << planToJson(plan);
    auto committed = writer->commit();
    ASSERT_TRUE(committed) << committed.error().str();
  }

  float weight[2] = {7, 8};
  std::string folder, path;
};

TEST_F(CApi, LoadsAndRuns) {
  specialise();
  ingot_program *program = nullptr;
  ASSERT_EQ(ingot_program_load(path.c_str(), &program), INGOT_OK) << ingot_last_error();
  EXPECT_THAT(ingot_program_describe(program), HasSubstr("\"name\":\"x\""));
  float data[] = {1, 2, 3, 4, 5, 6};
  int64_t sizes[] = {2, 3};
  ingot_tensor input = {data, INGOT_FLOAT32, 2, sizes, nullptr};
  ingot_result *result = nullptr;
  ASSERT_EQ(ingot_program_run(program, nullptr, &input, 1, &result), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(ingot_result_count(result), 1u);
  const ingot_tensor *y = ingot_result_tensor(result, 0);
  EXPECT_EQ(y->sizes[0], 4);
  const float *values = static_cast<const float *>(y->data);
  EXPECT_EQ(std::vector<float>(values, values + 8), (std::vector<float>{1, 4, 2, 5, 3, 6, 7, 8}));
  EXPECT_EQ(ingot_result_tensor(result, 1), nullptr);
  ingot_program_free(program);
  EXPECT_EQ(values[7], 8); // results outlive the program
  ingot_result_free(result);
}

TEST_F(CApi, ReportsMistakes) {
  specialise();
  ingot_program *program = nullptr;
  EXPECT_NE(ingot_program_load((folder + "/nothing.ingot").c_str(), &program), INGOT_OK);
  EXPECT_THAT(ingot_last_error(), HasSubstr("nothing.ingot"));
  EXPECT_EQ(program, nullptr);
  EXPECT_EQ(ingot_program_load(nullptr, &program), INGOT_ERROR_USAGE);
  ASSERT_EQ(ingot_program_load(path.c_str(), &program), INGOT_OK) << ingot_last_error();
  double data[6] = {};
  int64_t sizes[] = {2, 3};
  ingot_tensor input = {data, INGOT_FLOAT64, 2, sizes, nullptr};
  ingot_result *result = nullptr;
  EXPECT_EQ(ingot_program_run(program, nullptr, &input, 1, &result), INGOT_ERROR_USAGE);
  EXPECT_STREQ(ingot_last_error(), "input `x`: expected dtype float32, got float64");
  input.dtype = static_cast<ingot_dtype>(99);
  EXPECT_EQ(ingot_program_run(program, nullptr, &input, 1, &result), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_run(program, "other", nullptr, 0, &result), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_run(program, nullptr, nullptr, 1, &result), INGOT_ERROR_USAGE);
  EXPECT_EQ(result, nullptr);
  ingot_program_free(program);
}

TEST_F(CApi, ChecksLoadOptions) {
  specialise();
  ingot_program *program = nullptr;
  EXPECT_EQ(ingot_program_load_with(path.c_str(), R"({"falback": true})", &program), INGOT_ERROR_USAGE);
  EXPECT_THAT(ingot_last_error(), HasSubstr("falback"));
  EXPECT_EQ(ingot_program_load_with(path.c_str(), R"({"fallback": 1})", &program), INGOT_ERROR_USAGE);
  EXPECT_NE(ingot_program_load_with(path.c_str(), "[", &program), INGOT_OK);
  ASSERT_EQ(ingot_program_load_with(path.c_str(), R"({"fallback": true})", &program), INGOT_OK) << ingot_last_error();
  ingot_program_free(program);
}

TEST(CApiNames, DTypes) {
  EXPECT_STREQ(ingot_dtype_name(INGOT_BFLOAT16), "bfloat16");
  EXPECT_EQ(ingot_dtype_size(INGOT_COMPLEX128), 16u);
  EXPECT_STREQ(ingot_dtype_name(static_cast<ingot_dtype>(-1)), "invalid");
  EXPECT_STRNE(ingot_version(), "");
  ingot_set_num_threads(3);
  EXPECT_EQ(ingot_get_num_threads(), 3);
  ingot_set_num_threads(0);
  ingot_program_free(nullptr);
  ingot_result_free(nullptr);
  EXPECT_EQ(ingot_result_count(nullptr), 0u);
}

TEST(CpuKey, IsStableAndAFolderName) {
  EXPECT_EQ(cpuKey(), cpuKey());
  EXPECT_EQ(cpuKey().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-"), std::string::npos);
}

} // namespace
} // namespace ingot::test
