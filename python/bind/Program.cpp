// A loaded program: arrays in and out without copies.
#include "Bind.h"
#include "base/DType.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;
using namespace ingot;
using namespace ingot::bind;

namespace {

using InputArray = nb::ndarray<nb::ro>;
using OutputArray = nb::ndarray<>;

/// A loaded asset, with its own states or with those of a session.
class Program {
public:
  Program(const FilePath &path, const std::string &optionsJson) {
    GilRelease release;
    ingot_program *loaded = nullptr;
    check(ingot_program_load_with(path.c_str(), optionsJson.c_str(), &loaded));
    handle.reset(loaded, &ingot_program_free);
  }

  std::string describe() const { return ingot_program_describe(handle.get()); }
  std::vector<OutputArray> run(const std::string &entry, nb::list inputs,
                               const std::vector<std::optional<std::string>> &dtypes, bool forNumpy,
                               nb::dict states) const;
  OutputArray readState(const std::string &name, bool forNumpy) const;
  void writeState(const std::string &name, nb::handle array, const std::optional<std::string> &dtype) const;
  void resetStates() const;
  void cancel() const { check(session ? ingot_session_cancel(session.get()) : ingot_program_cancel(handle.get())); }
  Program newSession() const;

private:
  Program() = default;

  std::shared_ptr<ingot_program> handle;
  std::shared_ptr<ingot_session> session; ///< whose states are used; none: the program's
};

/// One input: the array keeps the memory, the rest is the C interface's view of it.
struct Argument {
  InputArray array;
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;

  ingot_tensor view() const {
    return {const_cast<void *>(array.data()), static_cast<ingot_dtype>(dtype), static_cast<int32_t>(sizes.size()),
            sizes.data(), strides.data()};
  }
};

/// `dtypeName` is for element types that the array's library passes under another one.
Argument makeArgument(nb::handle object, const std::string &place, const std::optional<std::string> &dtypeName) {
  Argument argument;
  if (!nb::try_cast(object, argument.array, false))
    throw Failure(ErrorKind::Usage, place + " is a " + std::string(nb::type_name(object.type()).c_str()) +
                                        " that gives no array on the CPU: pass a plain tensor or a numpy array");
  const InputArray &array = argument.array;
  if (array.device_type() != nb::device::cpu::value)
    throw Failure(ErrorKind::Usage, place + " is not in the CPU's memory");
  nb::dlpack::dtype type = array.dtype();
  std::optional<DType> dtype = dtypeName         ? dtypeFromName(*dtypeName)
                               : type.lanes == 1 ? dtypeFromDlpack(type.code, type.bits)
                                                 : std::nullopt;
  if (!dtype)
    throw Failure(ErrorKind::Usage, place + " has an element type that Ingot does not know");
  argument.dtype = *dtype;
  for (size_t i = 0; i < array.ndim(); ++i) {
    argument.sizes.push_back(static_cast<int64_t>(array.shape(i)));
    argument.strides.push_back(array.stride(i));
  }
  return argument;
}

/// Such types go to numpy as integers of the same size.
bool isUnknownToNumpy(DType dtype) {
  return dtype == DType::BFloat16 || dtypeName(dtype).starts_with("float8") || dtype == DType::Complex32;
}

/// An array over an output's memory, which the capsule keeps.
OutputArray makeOutput(const std::shared_ptr<ingot_result> &result, size_t index, bool forNumpy) {
  const ingot_tensor *tensor = ingot_result_tensor(result.get(), index);
  DType dtype = static_cast<DType>(tensor->dtype);
  auto *keeper = new std::shared_ptr<ingot_result>(result);
  nb::capsule owner(keeper,
                    [](void *pointer) noexcept { delete static_cast<std::shared_ptr<ingot_result> *>(pointer); });
  std::vector<size_t> shape(tensor->sizes, tensor->sizes + tensor->rank);
  uint8_t code = forNumpy && isUnknownToNumpy(dtype) ? dlpackCode(DType::UInt8) : dlpackCode(dtype);
  nb::dlpack::dtype type{code, static_cast<uint8_t>(byteSize(dtype) * 8), 1};
  return OutputArray(tensor->data, shape.size(), shape.data(), owner, tensor->strides, type);
}

/// Arrays that a call changes; their names and memory must stay while it runs.
struct StateArguments {
  std::vector<std::string> names;
  std::vector<Argument> arguments;

  explicit StateArguments(nb::dict states);

  std::vector<ingot_state> views() const {
    std::vector<ingot_state> list;
    for (size_t i = 0; i < names.size(); ++i)
      list.push_back({names[i].c_str(), arguments[i].view()});
    return list;
  }
};

/// Values are arrays, or pairs of an array and the name of its element type.
StateArguments::StateArguments(nb::dict states) {
  for (auto [key, value] : states) {
    names.push_back(nb::cast<std::string>(key));
    std::optional<std::string> dtype;
    nb::object array = nb::borrow(value);
    if (nb::isinstance<nb::tuple>(value) && nb::len(value) == 2) {
      array = value[0];
      dtype = nb::cast<std::optional<std::string>>(value[1]);
    }
    const std::string place = "state '" + names.back() + "'";
    arguments.push_back(makeArgument(array, place, dtype));
    nb::ndarray<> writable;
    if (!nb::try_cast(array, writable, false))
      throw Failure(ErrorKind::Usage, place + " is a read-only array, and the program changes it");
  }
}

std::vector<OutputArray> Program::run(const std::string &entry, nb::list inputs,
                                      const std::vector<std::optional<std::string>> &dtypes, bool forNumpy,
                                      nb::dict states) const {
  std::vector<Argument> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(
        makeArgument(inputs[i], "input " + std::to_string(i), i < dtypes.size() ? dtypes[i] : std::nullopt));
  std::vector<ingot_tensor> views;
  for (const Argument &argument : arguments)
    views.push_back(argument.view());
  StateArguments stateArguments(states);
  std::vector<ingot_state> given = stateArguments.views();
  ingot_result *raw = nullptr;
  ingot_status status;
  {
    GilRelease release;
    status = session ? ingot_session_run(session.get(), entry.c_str(), views.data(), views.size(), given.data(),
                                         given.size(), &raw)
                     : ingot_program_run_with_states(handle.get(), entry.c_str(), views.data(), views.size(),
                                                     given.data(), given.size(), &raw);
  }
  check(status);
  std::shared_ptr<ingot_result> result(raw, &ingot_result_free);
  std::vector<OutputArray> outputs;
  for (size_t i = 0; i < ingot_result_count(result.get()); ++i)
    outputs.push_back(makeOutput(result, i, forNumpy));
  return outputs;
}

OutputArray Program::readState(const std::string &name, bool forNumpy) const {
  ingot_result *raw = nullptr;
  {
    GilRelease release; // a call of another thread has the states, and may need Python to finish
    check(session ? ingot_session_read_state(session.get(), name.c_str(), &raw)
                  : ingot_program_read_state(handle.get(), name.c_str(), &raw));
  }
  return makeOutput(std::shared_ptr<ingot_result>(raw, &ingot_result_free), 0, forNumpy);
}

void Program::writeState(const std::string &name, nb::handle array, const std::optional<std::string> &dtype) const {
  Argument argument = makeArgument(array, "the value of state '" + name + "'", dtype);
  ingot_tensor view = argument.view();
  GilRelease release; // as in readState
  check(session ? ingot_session_write_state(session.get(), name.c_str(), &view)
                : ingot_program_write_state(handle.get(), name.c_str(), &view));
}

void Program::resetStates() const {
  GilRelease release; // as in readState
  check(session ? ingot_session_reset_states(session.get()) : ingot_program_reset_states(handle.get()));
}

Program Program::newSession() const {
  ingot_session *made = nullptr;
  {
    GilRelease release;
    check(ingot_session_create(handle.get(), &made));
  }
  Program result;
  result.handle = handle;
  result.session.reset(made, &ingot_session_free);
  return result;
}

} // namespace

void bind::initProgram(nb::module_ &module) {
  nb::class_<Program>(module, "Program", "A loaded asset.")
      .def(nb::init<const FilePath &, const std::string &>(), "path"_a, "options_json"_a = "")
      .def("describe", &Program::describe, "Entry points as JSON text.")
      .def("run", &Program::run, "entry"_a, "inputs"_a, "dtypes"_a, "for_numpy"_a, "states"_a = nb::dict())
      .def("read_state", &Program::readState, "name"_a, "for_numpy"_a)
      .def("write_state", &Program::writeState, "name"_a, "array"_a, "dtype"_a = nb::none())
      .def("reset_states", &Program::resetStates)
      .def("cancel", &Program::cancel)
      .def("session", &Program::newSession);
  module.def("copied_bytes", &ingot_copied_bytes);
}
