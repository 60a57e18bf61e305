// libingot_fallback.so: the functions behind fallback/FallbackApi.h. Any operator that PyTorch's dispatcher knows is
// called by its schema, boxed.
#include "base/ForkSafeMutex.h"
#include "fallback/libtorch/Arguments.h"
#include "fallback/libtorch/PythonError.h"
#include "fallback/libtorch/Results.h"

#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <c10/util/Exception.h>
#include <torch/version.h>

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <unordered_map>

using nlohmann::json;

namespace ingot::fallback {
namespace {

/// What stays the same from call to call of one step.
struct ParsedCall {
  json arguments, returns;
  std::vector<std::string> writes;
  bool knowsWrites = false; ///< the operator's schema was known when the program was converted
};

Result<std::shared_ptr<const ParsedCall>> parseCall(const FallbackCall &call) {
  auto parsed = std::make_shared<ParsedCall>();
  INGOT_TRY(parsed->arguments, parseJson(call.arguments, 64));
  if (!parsed->arguments.is_object())
    return corruptError("the arguments of a call are no JSON object");
  if (*call.returns) {
    INGOT_TRY(parsed->returns, parseJson(call.returns, 8));
  }
  if (*call.writes) {
    INGOT_TRY(json writes, parseJson(call.writes, 8));
    parsed->knowsWrites = true;
    INGOT_TRY(parsed->writes, JsonRef(writes).list([](JsonRef name) { return name.string(); }));
  }
  return std::shared_ptr<const ParsedCall>(std::move(parsed));
}

/// Texts are parsed once. Schemas are looked up every time: Python may take an operator back.
Result<std::shared_ptr<const ParsedCall>> cachedCall(const FallbackCall &call) {
  static ForkSafeMutex mutex;
  static std::unordered_map<std::string, std::shared_ptr<const ParsedCall>> known;
  constexpr size_t kMaxKnown = 4096;
  std::string key = std::string(call.arguments) + '\n' + call.returns + '\n' + call.writes;
  std::lock_guard lock(mutex);
  if (auto it = known.find(key); it != known.end())
    return it->second;
  INGOT_TRY(std::shared_ptr<const ParsedCall> parsed, parseCall(call));
  if (known.size() >= kMaxKnown)
    known.clear();
  known.emplace(std::move(key), parsed);
  return parsed;
}

/// Libraries of custom operators register them when they are loaded.
Status loadOperatorLibraries() {
  const char *given = std::getenv(kOperatorLibrariesVariable);
  std::string paths = given ? given : "";
  for (size_t start = 0; start < paths.size();) {
    size_t end = std::min(paths.find(':', start), paths.size());
    std::string path = paths.substr(start, end - start);
    if (!path.empty() && !dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
      return usageError("a library of " + std::string(kOperatorLibrariesVariable) + " cannot be loaded: " + dlerror());
    start = end + 1;
  }
  return {};
}

Result<c10::OperatorHandle> findOperator(const std::string &target) {
  static const Status libraries = loadOperatorLibraries();
  if (!libraries)
    return Error(libraries.error());
  size_t dot = target.find('.', target.find("::") == std::string::npos ? 0 : target.find("::"));
  c10::OperatorName name(target.substr(0, dot), dot == std::string::npos ? "" : target.substr(dot + 1));
  if (std::optional<c10::OperatorHandle> found = c10::Dispatcher::singleton().findSchema(name))
    return *found;
  return unsupportedError("PyTorch " TORCH_VERSION " has no operator " + target + " in this process")
      .note("import the Python module that registers it first, or name its library in " +
            std::string(kOperatorLibrariesVariable));
}

/// The operator may write to an argument only if the program takes account of that.
Status checkWrites(const c10::FunctionSchema &schema, const ParsedCall &call) {
  if (call.knowsWrites)
    return {};
  for (const c10::Argument &argument : schema.arguments())
    if (argument.alias_info() && argument.alias_info()->isWrite())
      return unsupportedError("the operator writes to its argument '" + argument.name() +
                              "', which was not known when the program was converted")
          .note("convert it with ingot.convert in a Python process that has the operator");
  return {};
}

/// Writes the last operand through a view, one of what the operator returned, into the copy that it views.
Status copyInto(const std::vector<c10::IValue> &returns, int64_t number, ArgumentReader &reader) {
  std::vector<c10::IValue> flat;
  for (const c10::IValue &value : returns) {
    if (value.isList())
      flat.insert(flat.end(), value.toListRef().begin(), value.toListRef().end());
    else
      flat.push_back(value);
  }
  if (static_cast<size_t>(number) >= flat.size() || !flat[static_cast<size_t>(number)].isTensor())
    return corruptError("there is no such result to write to");
  const at::Tensor &view = flat[static_cast<size_t>(number)].toTensor();
  if (!view.defined() || view.layout() != c10::kStrided || reader.isOperandMemory(view))
    return corruptError("the result to write to is no view of a copy");
  INGOT_TRY(at::Tensor content, reader.lastOperand());
  view.copy_(content);
  return {};
}

Result<FallbackResults *> call(const FallbackCall &request) {
  INGOT_TRY(std::shared_ptr<const ParsedCall> parsed, cachedCall(request));
  INGOT_TRY(c10::OperatorHandle op, findOperator(request.target));
  const c10::FunctionSchema &schema = op.schema();
  INGOT_CHECK(checkWrites(schema, *parsed));
  at::NoGradGuard noGrad;
  at::AutoDispatchBelowADInplaceOrView inference;
  std::span<const FallbackValue> operands(request.operands, request.operandCount);
  ResultWriter writer;
  {
    ArgumentReader reader(operands);
    INGOT_TRY(std::vector<c10::IValue> stack, reader.read(schema, parsed->arguments, parsed->writes));
    std::vector<c10::IValue> written;
    for (const std::string &name : parsed->writes)
      if (std::optional<int> index = schema.argumentIndexWithName(name))
        written.push_back(stack[static_cast<size_t>(*index)]);
    op.callBoxed(&stack);
    if (request.into >= 0)
      INGOT_CHECK(copyInto(stack, request.into, reader));
    else
      INGOT_CHECK(writer.addReturns(std::move(stack), parsed->returns));
    for (const c10::IValue &argument : written)
      INGOT_CHECK(writer.addWritten(argument));
  }
  return writer.finish(operands);
}

Error errorOf(const std::exception &exception, ErrorKind kind) {
  // Operators in Python leave their exception in the interpreter and throw one without a text.
  std::string message = takePythonError();
  if (!message.empty())
    return {kind, std::move(message)};
  message = exception.what();
  if (message.starts_with("KeyboardInterrupt"))
    leaveInterrupt();
  return {kind, std::move(message)};
}

/// The boundary of the library: no exception passes, errors become a kind and a message.
template <typename Work> bool guarded(FallbackError *error, Work work) {
  Status status = [&]() -> Status {
    try {
      return work();
    } catch (const std::bad_alloc &) {
      return ioError("out of memory");
    } catch (const c10::OutOfMemoryError &) {
      return ioError("out of memory");
    } catch (const c10::NotImplementedError &e) {
      return unsupportedError(e.what_without_backtrace());
    } catch (const c10::Error &e) {
      return usageError(e.what_without_backtrace());
    } catch (const std::exception &e) {
      return errorOf(e, ErrorKind::Usage);
    } catch (...) {
      return internalError("an operator threw something that is no exception");
    }
  }();
  if (status)
    return true;
  error->kind = static_cast<int32_t>(status.error().kind);
  error->message = strdup(status.error().str().c_str());
  return false;
}

constexpr FallbackApi kApi = {
    kFallbackApiVersion,
    TORCH_VERSION,
    [](const char *target, FallbackError *error) {
      return guarded(error, [&]() -> Status {
        Result<c10::OperatorHandle> found = findOperator(target);
        return found ? Status() : Status(std::move(found.error()));
      });
    },
    [](const FallbackCall *request, FallbackResults **results, FallbackError *error) {
      return guarded(error, [&]() -> Status {
        INGOT_TRY(*results, call(*request));
        return {};
      });
    },
    [](const FallbackResults *results) { return results->values.size(); },
    [](const FallbackResults *results, size_t index) {
      return index < results->values.size() ? &results->values[index] : nullptr;
    },
    [](FallbackResults *results) { delete results; },
    [](char *message) { std::free(message); },
};

} // namespace
} // namespace ingot::fallback

extern "C" __attribute__((visibility("default"))) const ingot::FallbackApi *ingot_fallback_api() {
  return &ingot::fallback::kApi;
}
