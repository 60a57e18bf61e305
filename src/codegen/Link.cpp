#include "codegen/Link.h"

#include <cmath>
#include <mutex>

#include <dlfcn.h>

#include <lld/Common/Driver.h>
#include <llvm/Support/FileSystem.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

// What the macro LLD_HAS_DRIVER(elf) declares, in a form that tools without a preprocessor can read.
namespace lld::elf {
bool link(llvm::ArrayRef<const char *> args, llvm::raw_ostream &stdoutOS, llvm::raw_ostream &stderrOS, bool exitEarly,
          bool disableOutput);
} // namespace lld::elf

namespace ingot::codegen {

namespace {

/// A folder for the linker's files, which reads and writes files only; gone at the end of the scope.
class TemporaryFolder {
public:
  Status create() {
    if (std::error_code error = llvm::sys::fs::createUniqueDirectory("ingot-link", path))
      return ioError("cannot create a temporary folder: " + error.message());
    return {};
  }
  ~TemporaryFolder() {
    if (!path.empty())
      llvm::sys::fs::remove_directories(path);
  }
  std::string file(llvm::StringRef name) const {
    llvm::SmallString<128> full(path);
    llvm::sys::path::append(full, name);
    return std::string(full);
  }

private:
  llvm::SmallString<128> path;
};

Status writeFile(const std::string &path, const std::string &bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error, llvm::sys::fs::OF_None);
  if (!error) {
    stream << bytes;
    stream.close();
    error = stream.error();
  }
  stream.clear_error();
  if (error)
    return ioError("cannot write " + path + ": " + error.message());
  return {};
}

/// The library that this process takes its mathematics from; empty if it is linked statically.
std::string mathLibrary() {
  Dl_info info{};
  auto function = static_cast<double (*)(double)>(&std::erf);
  if (dladdr(reinterpret_cast<void *>(function), &info) == 0 || !info.dli_fname)
    return "";
  llvm::StringRef path = info.dli_fname;
  return llvm::sys::path::filename(path).starts_with("libm") ? path.str() : "";
}

Status runLinker(const std::vector<std::string> &arguments) {
  static std::mutex mutex;
  static bool isUsable = true;
  std::lock_guard lock(mutex);
  if (!isUsable)
    return internalError("the linker failed before and cannot be used again in this process");
  std::vector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string messages;
  llvm::raw_string_ostream log(messages);
  lld::Result result = lld::lldMain(pointers, log, log, {{lld::Gnu, &lld::elf::link}});
  isUsable = result.canRunAgain;
  if (result.retCode != 0)
    return internalError("the compiled clusters do not link: " + log.str());
  return {};
}

} // namespace

Result<std::string> linkSharedLibrary(const std::vector<std::string> &objects) {
  TemporaryFolder folder;
  INGOT_CHECK(folder.create());
  std::string output = folder.file("kernels.so");
  // One thread: the linker's pool would outlive the call. -z defs: nothing but libm may be needed.
  std::vector<std::string> arguments = {"ld.lld",      "-shared", "--threads=1", "-Bsymbolic", "--as-needed", "-z",
                                        "noexecstack", "-s",      "-soname",     "kernels.so", "-o",          output};
  for (size_t i = 0; i < objects.size(); ++i) {
    arguments.push_back(folder.file("kernels" + std::to_string(i) + ".o"));
    INGOT_CHECK(writeFile(arguments.back(), objects[i]));
  }
  if (std::string math = mathLibrary(); !math.empty()) {
    arguments.push_back(math);
    arguments.insert(arguments.end(), {"-z", "defs"});
  }
  INGOT_CHECK(runLinker(arguments));
  auto library = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!library)
    return ioError("cannot read " + output + ": " + library.getError().message());
  return (*library)->getBuffer().str();
}

} // namespace ingot::codegen
