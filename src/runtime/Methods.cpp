#include "runtime/Methods.h"

#include "asset/Cache.h"
#include "base/AtomicWrite.h"
#include "base/Bytes.h"
#include "base/Json.h"
#include "runtime/Kernel.h"
#include "runtime/TensorDesc.h"
#include "runtime/threads/Pool.h"

#include <algorithm>
#include <array>

namespace ingot {
namespace {

constexpr int kFormat = 1;
/// Files with more are none of ours.
constexpr size_t kMaxBytes = 16 << 20;

constexpr std::array<std::string_view, 4> kNames = {"usual", "panels", "winograd", "onednn"};

} // namespace

std::string_view methodName(Method method) { return kNames[static_cast<size_t>(method)]; }

std::optional<Method> methodNamed(std::string_view name) {
  const auto found = std::ranges::find(kNames, name);
  if (found == kNames.end())
    return std::nullopt;
  return static_cast<Method>(found - kNames.begin());
}

std::string problemText(const Step &step, std::span<const BoundOperand> operands, Precision precision) {
  std::string text = step.kernel + " " + step.node;
  for (const BoundOperand &operand : operands)
    text += operand.present ? " " + describe(operand.desc) : " -";
  return text + ", " + std::to_string(numThreads()) + " threads, " + std::string(precisionName(precision));
}

MethodTable MethodTable::read(const std::string &path, const std::string &key) {
  MethodTable table;
  const std::shared_ptr<MappedFile> file = asset::mapCacheFile(path);
  if (!file || file->bytes().size() > kMaxBytes)
    return table;
  const Result<nlohmann::json> document = parseJson(asText(file->bytes()), 4);
  if (!document || !document->is_object() || document->value("format", nlohmann::json()) != kFormat ||
      document->value("program", nlohmann::json()) != key)
    return table;
  const auto methods = document->find("methods");
  if (methods == document->end() || !methods->is_object())
    return table;
  for (const auto &[problem, name] : methods->items())
    if (const std::optional<Method> method = name.is_string() ? methodNamed(name.get<std::string>()) : std::nullopt)
      table.set(problem, *method);
  return table;
}

Status MethodTable::write(const std::string &path, const std::string &key) const {
  nlohmann::json names = nlohmann::json::object();
  for (const auto &[problem, method] : methods)
    names[problem] = methodName(method);
  const nlohmann::json document = {{"format", kFormat}, {"program", key}, {"methods", std::move(names)}};
  return writeFileAtomically(path, document.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Method MethodTable::find(const std::string &problem) const {
  const auto found = methods.find(problem);
  return found == methods.end() ? fallback : found->second;
}

void MethodTable::set(const std::string &problem, Method method) {
  if (method == fallback)
    methods.erase(problem);
  else
    methods[problem] = method;
}

} // namespace ingot
