// The container: layouts, weights, and what we say about files that are something else.
#include "pt2/Archive.h"

#include "base/test/ZipBuilder.h"
#include "pt2/test/Fixtures.h"

#include <gmock/gmock.h>

using namespace ingot;
using namespace ingot::pt2;
using namespace ingot::pt2::test;
using ingot::test::readFile;
using ingot::test::TemporaryFolder;
using ingot::test::ZipBuilder;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

Error failureOf(std::string_view bytes, const ReadOptions &options = {}) {
  TemporaryFolder folder;
  Result<Program> program = readProgram(folder.write("x.pt2", bytes), options);
  return program ? internalError("was read") : std::move(program.error());
}

ZipBuilder archive(std::string_view order = "little", std::string_view version = "0", std::string_view format = "pt2") {
  ZipBuilder builder;
  builder.add("x/archive_format", format);
  builder.add("x/archive_version", version).add("x/byteorder", order);
  return builder;
}

TEST(Archive, MapsWeightsInPlace) {
  Program program = readFixture("linear");
  EXPECT_EQ(program.modelName, "model");
  EXPECT_EQ(program.schemaVersion.major, 8);
  EXPECT_EQ(program.dialect, Dialect::Training);
  ASSERT_EQ(program.weights.size(), 2u);
  const Weight &weight = program.weights.at("fc.weight");
  EXPECT_THAT(weight.sizes, ElementsAre(3, 4));
  EXPECT_THAT(weight.strides, ElementsAre(4, 1));
  EXPECT_TRUE(weight.isParameter);
  EXPECT_TRUE(weight.isContiguous());
  EXPECT_EQ(weight.elementCount(), 12);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(weight.storage.data()) % 64, 0u);
  EXPECT_EQ(elementOf<float>(weight, {2, 3}), 11.0f);
  EXPECT_EQ(program.findWeight(program.signature.inputs[0]), &weight);
}

TEST(Archive, SpansOutliveTheProgram) {
  Weight bias;
  std::shared_ptr<const void> memory;
  {
    Program program = readFixture("linear");
    bias = program.weights.at("fc.bias");
    memory = program.memory;
  }
  EXPECT_EQ(elementOf<float>(bias, {1}), 2.0f);
}

void checkStridedWeights(const Program &program) {
  const Weight &w1 = program.weights.at("w1"), &w2 = program.weights.at("w2");
  EXPECT_EQ(w1.storageId, program.weights.at("tied").storageId);
  EXPECT_EQ(w1.storageId, w2.storageId);
  EXPECT_EQ(w2.storageOffset, 24);
  EXPECT_EQ(elementOf<float>(w2, {0, 1}), 25.0f);
  EXPECT_EQ(*reinterpret_cast<const float *>(w2.data()), 24.0f);
  const Weight &transposed = program.weights.at("transposed");
  EXPECT_THAT(transposed.strides, ElementsAre(1, 5));
  EXPECT_FALSE(transposed.isContiguous());
  EXPECT_EQ(elementOf<float>(transposed, {4, 3}), 19.0f);
  EXPECT_THAT(program.weights.at("expanded").strides, ElementsAre(0, 1));
  EXPECT_EQ(elementOf<int64_t>(program.weights.at("sliced"), {4}), 11);
  EXPECT_EQ(program.weights.at("empty").elementCount(), 0);
  EXPECT_EQ(program.weights.at("scalar").dtype, DType::Float64);
  EXPECT_EQ(elementOf<double>(program.weights.at("scalar"), {}), 2.0);
  EXPECT_EQ(program.weights.at("narrow").dtype, DType::BFloat16);
  EXPECT_EQ(program.constants.count("hidden"), 1u);
  for (const Storage &storage : program.storages)
    EXPECT_EQ(reinterpret_cast<uintptr_t>(storage.bytes.data()) % 64, 0u);
}

TEST(Archive, KeepsSharingAndStrides) { checkStridedWeights(readFixture("shared_strided")); }

TEST(Archive, ReadsFilesThatSomebodyZippedAgain) {
  checkStridedWeights(readFixture("shared_strided_stored"));
  checkStridedWeights(readFixture("shared_strided_deflated"));
}

TEST(Archive, VerifiesChecksumsOnRequest) {
  EXPECT_TRUE(readProgram(fixture("linear"), {.verifyChecksums = true}));
  std::string bytes = readFile(fixture("linear"));
  bytes[64] ^= 1; // the first weight's first byte
  EXPECT_THAT(failureOf(bytes, {.verifyChecksums = true}).message, HasSubstr("checksum"));
}

TEST(Archive, ChoosesAmongSeveralPrograms) {
  EXPECT_THAT(*listModels(fixture("two_models")), ElementsAre("first", "second"));
  EXPECT_EQ(readFixture("two_models", {.modelName = "first"}).weights.size(), 2u);
  EXPECT_EQ(readFixture("two_models", {.modelName = "second"}).weights.size(), 0u);
  Result<Program> unclear = readProgram(fixture("two_models"));
  ASSERT_FALSE(unclear);
  EXPECT_EQ(unclear.error().kind, ErrorKind::Usage);
  EXPECT_THAT(unclear.error().message, HasSubstr("'first', 'second'"));
  EXPECT_EQ(readProgram(fixture("linear"), {.modelName = "x"}).error().kind, ErrorKind::Usage);
}

TEST(Archive, SaysWhatAForeignFileIs) {
  EXPECT_EQ(readProgram("/nonexistent.pt2").error().kind, ErrorKind::Io);
  EXPECT_THAT(failureOf("").message, HasSubstr("empty"));
  EXPECT_THAT(failureOf("\x80\x02pickle").message, HasSubstr("pickle"));
  EXPECT_THAT(failureOf(std::string("\x10\0\0\0\0\0\0\0{\"a\":1}", 15)).message, HasSubstr("safetensors"));
  EXPECT_THAT(failureOf("hello world, this is text").message, HasSubstr("not a .pt2"));
  EXPECT_THAT(failureOf(ZipBuilder().add("m/data.pkl", "").finish()).message, HasSubstr("torch.save checkpoint"));
  EXPECT_THAT(failureOf(ZipBuilder().add("m/data.pkl", "").add("m/constants.pkl", "").finish()).message,
              HasSubstr("TorchScript"));
  EXPECT_THAT(failureOf(ZipBuilder().add("readme.txt", "").finish()).message, HasSubstr("archive_format"));
  std::string bytes = readFile(fixture("linear"));
  EXPECT_THAT(failureOf(bytes.substr(0, bytes.size() / 2)).str(), HasSubstr("copy or export"));
}

TEST(Archive, SaysWhatToDoAboutOldLayouts) {
  Error old = failureOf(ZipBuilder().add("version", "8.7").add("serialized_exported_program.json", "{}").finish());
  EXPECT_EQ(old.kind, ErrorKind::Unsupported);
  EXPECT_THAT(old.message, HasSubstr("2.5 to 2.7"));
  Error pickled = failureOf(archive().add("x/models/model.json", "{}").add("x/data/weights/model.pt", "").finish());
  EXPECT_EQ(pickled.kind, ErrorKind::Unsupported);
  EXPECT_THAT(pickled.message, HasSubstr("torch 2.8"));
}

TEST(Archive, SaysWhatIsWrongWithAnArchive) {
  EXPECT_THAT(failureOf(archive().finish()).message, HasSubstr("failed half-way"));
  EXPECT_THAT(failureOf(archive().add("x/data/aotinductor/model/a.so", "").finish()).message, HasSubstr("AOTInductor"));
  EXPECT_THAT(failureOf(archive("big").finish()).message, HasSubstr("big-endian"));
  EXPECT_THAT(failureOf(archive("little", "1").finish()).message, HasSubstr("version '1'"));
  EXPECT_THAT(failureOf(archive("little", "0", "zip").finish()).message, HasSubstr("'zip'"));
  EXPECT_THAT(failureOf(ZipBuilder().add("x/archive_format", "pt2").finish()).message, HasSubstr("archive_version"));
  EXPECT_THAT(failureOf(archive().add("x/models/model.json", "{}").finish()).message,
              HasSubstr("model_weights_config.json"));
}

constexpr std::string_view minimalProgram = R"({
  "schema_version": {"major": 8, "minor": 20}, "verifiers": ["ATEN"],
  "graph_module": {"graph": {
      "inputs": [{"as_tensor": {"name": "w"}}], "outputs": [{"as_tensor": {"name": "w"}}],
      "nodes": [], "tensor_values": {"w": {"dtype": 7, "sizes": [{"as_int": 2}, {"as_int": 3}],
        "strides": [{"as_int": 3}, {"as_int": 1}], "storage_offset": {"as_int": 0},
        "device": {"type": "cpu", "index": null}, "layout": 7, "requires_grad": false}}},
    "signature": {
      "input_specs": [{"parameter": {"arg": {"name": "w"}, "parameter_name": "fc.w"}}],
      "output_specs": [{"user_output": {"arg": {"as_tensor": {"name": "w"}}}}]},
    "module_call_graph": [{"fqn": "", "signature": {"inputs": [], "outputs": [],
      "in_spec": "[1, {\"type\": \"builtins.tuple\", \"context\": \"null\", \"children_spec\": []}]",
      "out_spec": "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]"}}]}})";

std::string weightsConfigOf(std::string_view sizes, std::string_view strides, std::string_view offset,
                            bool pickled = false) {
  return R"({"config": {"fc.w": {"path_name": "weight_0", "is_param": true, "use_pickle": )" +
         std::string(pickled ? "true" : "false") + R"(, "tensor_meta": {"dtype": 7, "sizes": )" + std::string(sizes) +
         R"(, "strides": )" + std::string(strides) + R"(, "storage_offset": {"as_int": )" + std::string(offset) +
         R"(}, "device": {"type": "cpu"}, "layout": 7}}}})";
}

Error payloadFailure(const std::string &config, size_t bytes = 24) {
  ZipBuilder builder = archive();
  builder.add("x/models/model.json", minimalProgram);
  builder.add("x/data/weights/weight_0", std::string(bytes, '\0'));
  builder.add("x/data/weights/model_weights_config.json", config);
  builder.add("x/data/constants/model_constants_config.json", R"({"config": {}})");
  return failureOf(builder.finish());
}

TEST(Archive, ChecksEveryView) {
  std::string sizes = R"([{"as_int": 2}, {"as_int": 3}])", strides = R"([{"as_int": 3}, {"as_int": 1}])";
  EXPECT_EQ(payloadFailure(weightsConfigOf(sizes, strides, "0")).message, "was read");
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, strides, "1")).message, HasSubstr("outside"));
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, strides, "-1")).message, HasSubstr("impossible"));
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, strides, "9223372036854775807")).message, HasSubstr("outside"));
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, strides, "0"), 23).message, HasSubstr("whole elements"));
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, strides, "0"), 0).message, HasSubstr("without data"));
  std::string huge = R"([{"as_int": 4294967296}, {"as_int": 4294967296}])";
  EXPECT_THAT(payloadFailure(weightsConfigOf(huge, R"([{"as_int": 0}, {"as_int": 0}])", "0")).message,
              HasSubstr("counted"));
  std::string wide = R"([{"as_int": 9223372036854775807}, {"as_int": 1}])";
  EXPECT_THAT(payloadFailure(weightsConfigOf(sizes, wide, "0")).message, HasSubstr("outside"));
  EXPECT_THAT(payloadFailure(weightsConfigOf(R"([{"as_int": 6}])", R"([{"as_int": 1}])", "0")).message,
              HasSubstr("rank"));
  std::string expanded = R"([{"as_int": 1000000000}, {"as_int": 3}])", repeated = R"([{"as_int": 0}, {"as_int": 1}])";
  EXPECT_THAT(payloadFailure(weightsConfigOf(expanded, repeated, "0")).message, HasSubstr("contiguous()"));
}

TEST(Archive, RefusesPickledTensors) {
  Error pickled = payloadFailure(weightsConfigOf("[]", "[]", "0", true));
  EXPECT_EQ(pickled.kind, ErrorKind::Unsupported);
  EXPECT_THAT(pickled.message, HasSubstr("pickle"));
}

TEST(Archive, ReadsFromMemory) {
  std::vector<float> values(6, 1.5f);
  MemoryWeight weight;
  weight.name = "fc.w";
  weight.sizes = {2, 3};
  weight.strides = {3, 1};
  weight.storage = std::as_bytes(std::span(values));
  MemoryWeight alias = weight;
  alias.name = "tied";
  Result<Program> program = readProgramFromMemory(minimalProgram, {weight, alias});
  ASSERT_TRUE(program) << program.error().str();
  EXPECT_EQ(program->weights.at("fc.w").data(), std::as_bytes(std::span(values)).data());
  EXPECT_EQ(program->storages.size(), 1u);
  EXPECT_EQ(program->dialect, Dialect::Aten);

  EXPECT_FALSE(readProgramFromMemory(minimalProgram, {weight, weight}));
  EXPECT_FALSE(readProgramFromMemory(minimalProgram, {alias}));
  weight.sizes = {3, 3};
  EXPECT_FALSE(readProgramFromMemory(minimalProgram, {weight}));
}

} // namespace
