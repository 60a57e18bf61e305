// What a plugin's handle `ingot_builder` is, and the functions behind ingot/plugin.h.
#pragma once

#include "dialect/Ops.h"
#include "ingot/plugin.h"

#include "mlir/IR/Builders.h"

#include <deque>
#include <memory>
#include <string>
#include <vector>

/// Where a plugin builds, and the node that it lowers. Everything handed out lives in here.
struct ingot_builder {
  ingot_builder(mlir::OpBuilder &builder, mlir::Location loc, ingot::AtenOp node = {});

  mlir::OpBuilder &builder;
  mlir::Location loc;
  ingot::AtenOp node; ///< null while a graph is written by hand
  std::vector<mlir::NamedAttribute> arguments;
  std::string error;
  std::vector<mlir::Value> results;
  bool hasResults = false;

  const char *keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
  ingot_type describe(mlir::Type type);
  int32_t fail(std::string message) {
    error = std::move(message);
    return INGOT_PLUGIN_FAILED;
  }

  /// A body that ops are created in, and where they went before.
  struct OpenBody {
    std::unique_ptr<mlir::Region> region;
    mlir::OpBuilder::InsertPoint around;
    mlir::OpBuilder::Listener *listener;
  };
  std::vector<OpenBody> open;
  std::vector<std::unique_ptr<mlir::Region>> bodies; ///< ended, and not used yet

  std::deque<std::string> texts;
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::vector<char>> blobs;
};

namespace ingot::lower {

const ingot_builder_api &builderApi();

/// Fills in the functions for bodies (PluginBodies.cpp).
void addBodyFunctions(ingot_builder_api &api);

/// What a declaration's text means: a dictionary, or else a plain name. Null where a dictionary does not parse.
mlir::Attribute declarationOf(llvm::StringRef text, mlir::MLIRContext *context);

inline ingot_value toHandle(mlir::Value value) { return static_cast<ingot_value>(value.getAsOpaquePointer()); }
inline mlir::Value toValue(ingot_value handle) { return mlir::Value::getFromOpaquePointer(handle); }

/// Null where the description is of no type that programs have.
mlir::Type toType(const ingot_type &type, mlir::MLIRContext *context);

} // namespace ingot::lower
