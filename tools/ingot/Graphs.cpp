#include "Graphs.h"

#include "base/AtomicWrite.h"
#include "graph/FromProgram.h"
#include "graph/Reader.h"
#include "pt2/Archive.h"
#include "runtime/CompilerApi.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

using namespace ingot;
using namespace ingot::cli;
namespace fs = std::filesystem;

namespace {

/// Where nobody has named the model, the file does.
void nameAfterFile(graph::Document &document, const std::string &path) {
  if (document.modelName.empty() || document.modelName == "model")
    document.modelName = fs::path(path).stem().string();
}

Result<graph::Document> graphOfAsset(const std::string &path) {
  INGOT_TRY(const CompilerApi *api, compilerApi());
  CompilerError error;
  CompilerProgram *opened = nullptr;
  if (!api->programs->open(path.c_str(), &opened, &error))
    return compilerFailure(*api, error);
  std::unique_ptr<CompilerProgram, void (*)(CompilerProgram *)> program(opened, api->programs->free);
  char *text = nullptr;
  if (!api->programs->document(program.get(), &text, &error))
    return compilerFailure(*api, error);
  Result<graph::Document> document = graph::readDocument(text);
  api->freeMessage(text);
  return document;
}

Result<graph::Document> graphOfFile(const std::string &path) {
  if (isJson(path))
    return graph::readDocumentFile(path);
  INGOT_TRY(pt2::Program program, pt2::readProgram(path));
  return graph::documentOf(program);
}

} // namespace

bool cli::isJson(const std::string &path) {
  if (path.ends_with(".json"))
    return true;
  std::error_code failure;
  if (!fs::is_regular_file(path, failure)) // a pipe would keep us
    return false;
  std::ifstream file(path, std::ios::binary);
  char first = 0;
  return file >> first && first == '{'; // after white space
}

Result<graph::Document> cli::loadGraph(const std::string &path) {
  std::error_code failure;
  if (!fs::exists(path, failure))
    return ioError("file not found: " + path);
  INGOT_TRY(graph::Document document, fs::is_directory(path, failure) ? graphOfAsset(path) : graphOfFile(path));
  nameAfterFile(document, path);
  return document;
}

Status cli::writeText(const std::string &path, std::string_view text) {
  if (path.empty()) {
    std::cout << text << (text.ends_with('\n') ? "" : "\n");
    return {};
  }
  std::error_code failure;
  if (fs::path folder = fs::path(path).parent_path(); !folder.empty())
    fs::create_directories(folder, failure);
  if (failure)
    return ioError("the folder of " + path + " cannot be made: " + failure.message());
  return writeFileAtomically(path, std::string(text) + (text.ends_with('\n') ? "" : "\n"), AtomicFile::Links::Follow);
}
