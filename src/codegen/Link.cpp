#include "codegen/Link.h"

#include "base/ScratchFolder.h"

#include <cmath>
#include <exception>
#include <mutex>

#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <unwind.h>

#include <lld/Common/Driver.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/Path.h>

// What the macro LLD_HAS_DRIVER(elf) declares, in a form that tools without a preprocessor can read.
namespace lld::elf {
bool link(llvm::ArrayRef<const char *> args, llvm::raw_ostream &stdoutOS, llvm::raw_ostream &stderrOS, bool exitEarly,
          bool disableOutput);
} // namespace lld::elf

namespace ingot::codegen {

namespace {

/// The library called `name` that this process takes a function from; empty if it is linked statically.
std::string libraryOf(void *function, llvm::StringRef name) {
  Dl_info info{};
  if (dladdr(function, &info) == 0 || !info.dli_fname)
    return "";
  llvm::StringRef path = info.dli_fname;
  return llvm::sys::path::filename(path).starts_with(name) ? path.str() : "";
}

std::string mathLibrary() {
  auto function = static_cast<double (*)(double)>(&std::erf);
  return libraryOf(reinterpret_cast<void *>(function), "libm");
}

/// What code in C++ may need besides mathematics; every process that runs programs has it.
std::vector<std::string> cppRuntime() {
  std::vector<std::string> found;
  for (std::string library : {libraryOf(reinterpret_cast<void *>(&std::terminate), "libstdc++"),
                              libraryOf(reinterpret_cast<void *>(&_Unwind_GetIP), "libgcc_s"),
                              libraryOf(reinterpret_cast<void *>(&gnu_get_libc_version), "libc.")})
    if (!library.empty())
      found.push_back(std::move(library));
  return found;
}

Status runLinker(const std::vector<std::string> &arguments, LinkKind kind) {
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
    return kind == LinkKind::UserCode
               ? usageError("the custom kernels do not link; they may use the C and C++ libraries only:\n" + log.str())
               : internalError("the compiled clusters do not link: " + log.str());
  return {};
}

} // namespace

Result<std::string> linkSharedLibrary(const std::vector<std::string> &objects, LinkKind kind) {
  INGOT_TRY(ScratchFolder folder, ScratchFolder::make());
  std::string output = folder.file("kernels.so");
  // One thread: the linker's pool would outlive the call. -z defs: nothing but libm may be needed.
  std::vector<std::string> arguments = {"ld.lld",      "-shared", "--threads=1", "-Bsymbolic", "--as-needed", "-z",
                                        "noexecstack", "-s",      "-soname",     "kernels.so", "-o",          output};
  for (size_t i = 0; i < objects.size(); ++i) {
    INGOT_TRY(std::string object, folder.write("kernels" + std::to_string(i) + ".o", objects[i]));
    arguments.push_back(std::move(object));
  }
  if (std::string math = mathLibrary(); !math.empty()) {
    arguments.push_back(math);
    arguments.insert(arguments.end(), {"-z", "defs"});
    if (kind == LinkKind::UserCode) {
      arguments.emplace_back("--eh-frame-hdr"); // exceptions find their handlers by it
      llvm::append_range(arguments, cppRuntime());
    }
  }
  INGOT_CHECK(runLinker(arguments, kind));
  auto library = llvm::MemoryBuffer::getFile(output, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!library)
    return ioError("cannot read " + output + ": " + library.getError().message());
  return (*library)->getBuffer().str();
}

} // namespace ingot::codegen
