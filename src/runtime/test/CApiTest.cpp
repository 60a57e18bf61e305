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

  /// y = the buffer before the call; the buffer becomes x, and the argument `seen` too.
  static Function stateful() {
    FunctionBuilder b;
    ValueId x = b.input("x", {1, 2}), seen = b.input("seen", {1, 2});
    ValueId kept = b.tensor({1, 2});
    b.output("y", kept);
    b.function.states = {{"kept", kept, x, "w"}, {"seen", seen, x, ""}};
    return b.function;
  }

  void specialise() {
    FunctionBuilder b;
    ValueId x = b.input("x", {2, kDynamic}, {"2", "n"});
    ValueId w = b.tensor({1, 2});
    b.function.constants.push_back({w, "w", {}});
    ValueId t = b.step("permute", {x}, b.tensor({kDynamic, 2}), {{"dims", std::vector<int64_t>{1, 0}}});
    b.output("y", b.step("concat", {t, w}, b.tensor({kDynamic, 2}), {{"axis", int64_t(0)}}));
    specialise(b.function);
  }

  void specialise(Function function) {
    Plan plan;
    plan.functions.push_back(std::move(function));
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

TEST_F(CApi, StatesAndSessions) {
  specialise(stateful());
  ingot_program *program = nullptr;
  ingot_session *session = nullptr;
  ASSERT_EQ(ingot_program_load(path.c_str(), &program), INGOT_OK) << ingot_last_error();
  ASSERT_EQ(ingot_session_create(program, &session), INGOT_OK) << ingot_last_error();
  EXPECT_THAT(ingot_program_describe(program), HasSubstr(R"("state":"seen")"));
  int64_t sizes[] = {1, 2};
  float x[] = {1, 2}, seen[] = {0, 0}, mine[] = {5, 6};
  ingot_tensor input = {x, INGOT_FLOAT32, 2, sizes, nullptr}, value = {mine, INGOT_FLOAT32, 2, sizes, nullptr};
  ingot_state states[] = {{"seen", {seen, INGOT_FLOAT32, 2, sizes, nullptr}}, {"kept", value}};
  ingot_result *result = nullptr;
  auto taken = [&] {
    EXPECT_EQ(ingot_result_count(result), 1u) << ingot_last_error();
    const auto *values = static_cast<const float *>(ingot_result_tensor(result, 0)->data);
    std::vector<float> list(values, values + 2);
    ingot_result_free(result);
    result = nullptr;
    return list;
  };
  auto kept = [&] {
    EXPECT_EQ(ingot_session_read_state(session, "kept", &result), INGOT_OK);
    return taken();
  };
  using Floats = std::vector<float>;
  EXPECT_EQ(ingot_program_run(program, nullptr, &input, 1, &result), INGOT_ERROR_USAGE);
  EXPECT_THAT(ingot_last_error(), HasSubstr("`seen`"));
  ASSERT_EQ(ingot_program_run_with_states(program, nullptr, &input, 1, states, 1, &result), INGOT_OK);
  EXPECT_EQ(taken(), (Floats{7, 8}));
  EXPECT_EQ(seen[1], 2);
  ASSERT_EQ(ingot_program_read_state(program, "kept", &result), INGOT_OK);
  EXPECT_EQ(taken(), (Floats{1, 2}));
  EXPECT_EQ(kept(), (Floats{7, 8}));
  ASSERT_EQ(ingot_session_run(session, nullptr, &input, 1, states, 2, &result), INGOT_OK);
  EXPECT_EQ(taken(), (Floats{5, 6}));
  EXPECT_EQ(mine[0], 1);
  EXPECT_EQ(kept(), (Floats{7, 8})); // the caller's was used
  ASSERT_EQ(ingot_session_write_state(session, "kept", &value), INGOT_OK);
  EXPECT_EQ(kept(), (Floats{1, 2}));
  ASSERT_EQ(ingot_session_reset_states(session), INGOT_OK);
  EXPECT_EQ(kept(), (Floats{7, 8}));
  ASSERT_EQ(ingot_program_write_state(program, "kept", &value), INGOT_OK);
  ASSERT_EQ(ingot_program_reset_states(program), INGOT_OK);
  ASSERT_EQ(ingot_program_read_state(program, "kept", &result), INGOT_OK);
  EXPECT_EQ(taken(), (Floats{7, 8}));
  EXPECT_EQ(ingot_program_read_state(program, "seen", &result), INGOT_ERROR_USAGE);
  states[1].name = nullptr;
  EXPECT_EQ(ingot_program_run_with_states(program, nullptr, &input, 1, states, 2, &result), INGOT_ERROR_USAGE);
  ingot_program_free(program);
  EXPECT_EQ(kept(), (Floats{7, 8})); // a session outlives its program's handle
  ingot_session_free(session);
  EXPECT_EQ(ingot_session_run(nullptr, nullptr, nullptr, 0, nullptr, 0, &result), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_read_state(nullptr, "kept", &result), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_write_state(nullptr, "kept", nullptr), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_session_reset_states(nullptr), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_session_cancel(nullptr), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_cancel(nullptr), INGOT_ERROR_USAGE);
  ingot_session_free(nullptr);
}

TEST_F(CApi, ChecksLoadOptions) {
  specialise();
  ingot_program *program = nullptr;
  EXPECT_EQ(ingot_program_load_with(path.c_str(), R"({"falback": true})", &program), INGOT_ERROR_USAGE);
  EXPECT_THAT(ingot_last_error(), HasSubstr("falback"));
  EXPECT_EQ(ingot_program_load_with(path.c_str(), R"({"fallback": 1})", &program), INGOT_ERROR_USAGE);
  EXPECT_EQ(ingot_program_load_with(path.c_str(), R"({"disable_passes": [1]})", &program), INGOT_ERROR_USAGE);
  for (const char *options : {"[", "5", "{", "\xff", R"({"memory_limit": -1})", R"({"memory_limit": 1e3})"})
    EXPECT_EQ(ingot_program_load_with(path.c_str(), options, &program), INGOT_ERROR_USAGE) << options;
  ASSERT_EQ(ingot_program_load_with(path.c_str(), R"({"memory_limit": 18446744073709551615})", &program), INGOT_OK);
  ingot_program_free(program);
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
