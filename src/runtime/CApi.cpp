// The C interface (include/ingot/ingot.h): argument checks, handles and error texts around Program.
#include "ingot/ingot.h"

#include "base/Json.h"
#include "base/Message.h"
#include "runtime/Cancel.h"
#include "runtime/CompilerApi.h"
#include "runtime/CopyCounter.h"
#include "runtime/Program.h"
#include "runtime/Random.h"
#include "runtime/States.h"
#include "runtime/threads/Pool.h"

#include <cmath>
#include <cstring>
#include <new>

using namespace ingot;

struct ingot_program {
  std::shared_ptr<Program> program;
};

struct ingot_session {
  std::shared_ptr<Program> program;
  std::unique_ptr<States> states; ///< goes before the program
};

struct ingot_result {
  std::vector<OutputTensor> outputs;
  std::vector<ingot_tensor> tensors;
};

#define X(name, torchName, bytes, code, safetensorsName, dlpackCode) +1
static constexpr int kDTypeCount = 0 INGOT_DTYPES(X);
#undef X
static_assert(static_cast<int>(DType::Bool) == INGOT_BOOL && static_cast<int>(DType::Float32) == INGOT_FLOAT32 &&
                  static_cast<int>(DType::Complex128) == INGOT_COMPLEX128 && kDTypeCount == INGOT_COMPLEX128 + 1,
              "ingot_dtype has to list the dtypes of DType.h in their order");
static_assert(static_cast<int>(ErrorKind::Usage) + 1 == INGOT_ERROR_USAGE &&
                  static_cast<int>(ErrorKind::Internal) + 1 == INGOT_ERROR_INTERNAL,
              "ingot_status has to list the kinds of ErrorKind in their order");

namespace {

std::string &lastError() {
  thread_local std::string text;
  return text;
}

ingot_status fail(const Error &error) {
  lastError() = messageText(error.str());
  if (error.message == kCancelled)
    return INGOT_ERROR_CANCELLED;
  return static_cast<ingot_status>(static_cast<int>(error.kind) + 1);
}

/// The boundary of the library: no exception passes.
template <typename Work> ingot_status guarded(Work work) {
  try {
    Status status = work();
    return status ? INGOT_OK : fail(status.error());
  } catch (const std::bad_alloc &) {
    return fail(ioError("out of memory"));
  } catch (const std::exception &exception) {
    return fail(internalError(exception.what()));
  }
}

/// C callers may put any number into an enum; reading one that has no name would be undefined here.
int numberOf(const ingot_dtype &dtype) {
  static_assert(sizeof(dtype) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &dtype, sizeof(number));
  return number;
}

bool isDType(const ingot_dtype &dtype) { return numberOf(dtype) >= 0 && numberOf(dtype) < kDTypeCount; }

Result<TensorView> viewOf(const ingot_tensor &tensor, const std::string &what) {
  std::string prefix = what + ": ";
  if (!isDType(tensor.dtype))
    return usageError(prefix + "dtype " + std::to_string(numberOf(tensor.dtype)) + " does not exist");
  if (tensor.rank < 0 || tensor.rank > 64 || (tensor.rank > 0 && !tensor.sizes))
    return usageError(prefix + "the rank or the sizes are not valid");
  TensorView view{tensor.data, {}};
  std::vector<int64_t> sizes(tensor.sizes, tensor.sizes + tensor.rank);
  view.desc = TensorDesc::contiguous(static_cast<DType>(tensor.dtype), std::move(sizes));
  if (tensor.strides)
    view.desc.strides.assign(tensor.strides, tensor.strides + tensor.rank);
  return view;
}

ingot_tensor tensorOf(const OutputTensor &output) {
  return {output.data.get(), static_cast<ingot_dtype>(output.desc.dtype),
          static_cast<int32_t>(output.desc.sizes.size()), output.desc.sizes.data(), output.desc.strides.data()};
}

ingot_result *resultOf(std::vector<OutputTensor> outputs) {
  auto made = std::make_unique<ingot_result>();
  made->outputs = std::move(outputs);
  for (const OutputTensor &output : made->outputs)
    made->tensors.push_back(tensorOf(output));
  return made.release();
}

/// What a program or a session is called with.
struct Arguments {
  const char *entry;
  std::span<const ingot_tensor> inputs;
  std::span<const ingot_state> states;
  ingot_result **result;

  bool areValid() const { return result && (inputs.empty() || inputs.data()) && (states.empty() || states.data()); }
};

Status runProgram(Program &program, States *states, const Arguments &arguments) {
  *arguments.result = nullptr;
  // Before any is looked at: a wrong count may lead behind the caller's memory.
  INGOT_TRY(const Function *function, program.entry(arguments.entry ? arguments.entry : ""));
  const size_t most = function->inputs.size() + function->states.size();
  if (arguments.inputs.size() > most || arguments.states.size() > most)
    return usageError("`" + function->name + "` has " + std::to_string(function->inputs.size()) + " inputs and " +
                      std::to_string(function->states.size()) + " states, got " +
                      std::to_string(arguments.inputs.size()) + " inputs and " +
                      std::to_string(arguments.states.size()) + " states");
  std::vector<TensorView> views;
  views.reserve(arguments.inputs.size());
  for (const ingot_tensor &input : arguments.inputs) {
    INGOT_TRY(TensorView view, viewOf(input, "input " + std::to_string(views.size())));
    views.push_back(std::move(view));
  }
  std::vector<NamedTensor> given;
  for (const ingot_state &state : arguments.states) {
    if (!state.name)
      return usageError("the name of state " + std::to_string(given.size()) + " is NULL");
    INGOT_TRY(TensorView view, viewOf(state.tensor, "state `" + std::string(state.name) + "`"));
    given.push_back({state.name, std::move(view)});
  }
  INGOT_TRY(std::vector<OutputTensor> outputs,
            program.run(arguments.entry ? arguments.entry : "", views, given, states));
  *arguments.result = resultOf(std::move(outputs));
  return {};
}

Status readState(const States *states, const char *name, ingot_result **result) {
  if (!states || !name || !result)
    return usageError("an argument is NULL");
  *result = nullptr;
  std::vector<OutputTensor> values(1);
  INGOT_TRY(values[0], states->read(name));
  *result = resultOf(std::move(values));
  return {};
}

Status writeState(States *states, const char *name, const ingot_tensor *value) {
  if (!states || !name || !value)
    return usageError("an argument is NULL");
  INGOT_TRY(TensorView view, viewOf(*value, "state `" + std::string(name) + "`"));
  return states->write(name, view);
}

Status resetStates(States *states) {
  if (!states)
    return usageError("an argument is NULL");
  return states->reset();
}

Status cancel(States *states) {
  if (!states)
    return usageError("an argument is NULL");
  states->cancellation().request();
  return {};
}

States *statesOf(ingot_program *program) { return program ? &program->program->states() : nullptr; }
States *statesOf(ingot_session *session) { return session ? session->states.get() : nullptr; }

Status convertFile(const char *pt2Path, const char *assetPath, bool overwrite, const char *optionsJson) {
  if (!pt2Path || !assetPath)
    return usageError("a path is NULL");
  INGOT_TRY(const CompilerApi *api, compilerApi());
  CompilerError error;
  if (!api->convert(pt2Path, assetPath, overwrite, optionsJson, &error))
    return compilerFailure(*api, error);
  return {};
}

constexpr double kLongestLimit = 1e9; // seconds: 31 years

bool isTimeLimit(double seconds) { return seconds >= 0 && seconds <= kLongestLimit; }

/// A limit that is not 0 stays one.
uint64_t millisecondsOf(double seconds) { return static_cast<uint64_t>(std::ceil(seconds * 1000)); }

/// Null or empty text means the defaults; an unknown key is an error.
Result<LoadOptions> parseLoadOptions(const char *json) {
  LoadOptions options;
  if (!json || !*json)
    return options;
  Result<nlohmann::json> parsed = parseJson(json, 8);
  if (!parsed || !parsed->is_object())
    return usageError("options must be a JSON object, not `" + std::string(json) + "`");
  const nlohmann::json &object = *parsed;
  for (const auto &[key, value] : object.items()) {
    const bool isNames =
        value.is_array() && std::ranges::all_of(value, [](const auto &item) { return item.is_string(); });
    if (key == "fallback" && value.is_boolean())
      options.fallback = value.get<bool>();
    else if (key == "disable_passes" && isNames)
      options.disabledPasses = value.get<std::vector<std::string>>();
    else if (key == "memory_limit" && value.is_number_unsigned())
      options.memoryLimit = value.get<uint64_t>();
    else if (key == "time_limit" && value.is_number() && isTimeLimit(value.get<double>()))
      options.timeLimit = millisecondsOf(value.get<double>());
    else if (key == "matmul_precision" && value.is_string() && precisionNamed(value.get<std::string>()))
      options.precision = *precisionNamed(value.get<std::string>());
    else if (key == "keep_constants" && value.is_boolean())
      options.keepsConstants = value.get<bool>();
    else if (key == "method" && value.is_string() && methodNamed(value.get<std::string>()))
      options.method = methodNamed(value.get<std::string>());
    else if (key == "fallback" || key == "keep_constants")
      return usageError("option `" + key + "` must be true or false");
    else if (key == "disable_passes")
      return usageError("option `" + key + "` must be a list of pass names");
    else if (key == "memory_limit")
      return usageError("option `" + key + "` must be a number of bytes, or 0 for none");
    else if (key == "time_limit")
      return usageError("option `" + key + "` must be a number of seconds up to 1e9, or 0 for none");
    else if (key == "matmul_precision")
      return usageError("option `" + key + "` must be \"highest\", \"medium\" or \"int8\"");
    else if (key == "method")
      return usageError("option `" + key + "` must be \"usual\", \"panels\", \"winograd\" or \"onednn\"");
    else
      return usageError("there is no option `" + key + "`");
  }
  return options;
}

} // namespace

const char *ingot_version(void) { return INGOT_VERSION; }

const char *ingot_last_error(void) { return lastError().c_str(); }

const char *ingot_dtype_name(ingot_dtype dtype) {
  // The names are literals, so that they end with a zero byte.
  return isDType(dtype) ? dtypeName(static_cast<DType>(dtype)).data() : "invalid";
}

size_t ingot_dtype_size(ingot_dtype dtype) { return isDType(dtype) ? byteSize(static_cast<DType>(dtype)) : 0; }

void ingot_set_num_threads(int32_t count) { setNumThreads(count); }

void ingot_set_interrupt_check(int32_t (*check)(void)) { setInterruptCheck(check); }

void ingot_set_seed(uint64_t seed) { setSeed(seed); }

int32_t ingot_get_num_threads(void) { return numThreads(); }

ingot_status ingot_convert(const char *pt2_path, const char *asset_path, int32_t overwrite, const char *options_json) {
  return guarded([&] { return convertFile(pt2_path, asset_path, overwrite != 0, options_json); });
}

ingot_status ingot_program_load(const char *asset_path, ingot_program **program) {
  return ingot_program_load_with(asset_path, nullptr, program);
}

ingot_status ingot_program_load_with(const char *asset_path, const char *options_json, ingot_program **program) {
  return guarded([&]() -> Status {
    if (!asset_path || !program)
      return usageError("an argument of ingot_program_load is NULL");
    *program = nullptr;
    INGOT_TRY(LoadOptions options, parseLoadOptions(options_json));
    INGOT_TRY(std::shared_ptr<Program> loaded, Program::load(asset_path, options));
    *program = new ingot_program{std::move(loaded)};
    return {};
  });
}

void ingot_program_free(ingot_program *program) { delete program; }

const char *ingot_program_describe(const ingot_program *program) {
  return program ? program->program->description().c_str() : "";
}

ingot_status ingot_program_run(ingot_program *program, const char *entry, const ingot_tensor *inputs,
                               size_t input_count, ingot_result **result) {
  return ingot_program_run_with_states(program, entry, inputs, input_count, nullptr, 0, result);
}

ingot_status ingot_program_run_with_states(ingot_program *program, const char *entry, const ingot_tensor *inputs,
                                           size_t input_count, const ingot_state *states, size_t state_count,
                                           ingot_result **result) {
  return guarded([&]() -> Status {
    Arguments arguments{entry, {inputs, input_count}, {states, state_count}, result};
    if (!program || !arguments.areValid())
      return usageError("an argument of ingot_program_run is NULL");
    return runProgram(*program->program, nullptr, arguments);
  });
}

ingot_status ingot_program_read_state(ingot_program *program, const char *name, ingot_result **result) {
  return guarded([&] { return readState(statesOf(program), name, result); });
}

ingot_status ingot_program_write_state(ingot_program *program, const char *name, const ingot_tensor *value) {
  return guarded([&] { return writeState(statesOf(program), name, value); });
}

ingot_status ingot_program_reset_states(ingot_program *program) {
  return guarded([&] { return resetStates(statesOf(program)); });
}

ingot_status ingot_session_create(ingot_program *program, ingot_session **session) {
  return guarded([&]() -> Status {
    if (!program || !session)
      return usageError("an argument of ingot_session_create is NULL");
    *session = nullptr;
    INGOT_TRY(std::unique_ptr<States> states, program->program->newStates());
    *session = new ingot_session{program->program, std::move(states)};
    return {};
  });
}

void ingot_session_free(ingot_session *session) { delete session; }

ingot_status ingot_session_run(ingot_session *session, const char *entry, const ingot_tensor *inputs,
                               size_t input_count, const ingot_state *states, size_t state_count,
                               ingot_result **result) {
  return guarded([&]() -> Status {
    Arguments arguments{entry, {inputs, input_count}, {states, state_count}, result};
    if (!session || !arguments.areValid())
      return usageError("an argument of ingot_session_run is NULL");
    return runProgram(*session->program, session->states.get(), arguments);
  });
}

ingot_status ingot_session_read_state(ingot_session *session, const char *name, ingot_result **result) {
  return guarded([&] { return readState(statesOf(session), name, result); });
}

ingot_status ingot_session_write_state(ingot_session *session, const char *name, const ingot_tensor *value) {
  return guarded([&] { return writeState(statesOf(session), name, value); });
}

ingot_status ingot_program_cancel(ingot_program *program) {
  return guarded([&] { return cancel(statesOf(program)); });
}

ingot_status ingot_session_cancel(ingot_session *session) {
  return guarded([&] { return cancel(statesOf(session)); });
}

ingot_status ingot_session_reset_states(ingot_session *session) {
  return guarded([&] { return resetStates(statesOf(session)); });
}

uint64_t ingot_copied_bytes(void) { return copiedBytes.load(); }

size_t ingot_result_count(const ingot_result *result) { return result ? result->tensors.size() : 0; }

const ingot_tensor *ingot_result_tensor(const ingot_result *result, size_t index) {
  return result && index < result->tensors.size() ? &result->tensors[index] : nullptr;
}

void ingot_result_free(ingot_result *result) { delete result; }
