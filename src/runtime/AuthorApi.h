// The part of the compiler's seam that writes programs by hand: functions of the dialect, built op by op.
#pragma once

#include "ingot/plugin.h"

#include <cstddef>
#include <cstdint>

namespace ingot {

struct CompilerError;
/// A module that is being written.
struct AuthoredModule;
struct CompilerProgram;

/// An input or output of a graph.
struct AuthorPort {
  const char *name;
  ingot_type type;
  const char *const *dims; ///< inputs only: a text for each dimension, "4" or the name of a size
};

struct AuthorGraph {
  const char *name;
  const AuthorPort *inputs;
  size_t inputCount;
  const AuthorPort *outputs;
  size_t outputCount;
  bool isPrivate;            ///< only called from other graphs
  bool noInline;             ///< stays a function of its own
  const char *compositeDecl; ///< what the function is, for who knows it; null or empty for none
};

/// Functions return false or null and fill `error` when they fail. One thread at a time for each module.
struct AuthorApi {
  const ingot_builder_api *builder;
  AuthoredModule *(*create)();
  void (*free)(AuthoredModule *module);
  /// Starts a graph, in whose body the builder stands until endGraph or dropGraph. Graphs may be nested in time.
  ingot_builder *(*beginGraph)(AuthoredModule *module, const AuthorGraph *graph, CompilerError *error);
  ingot_value (*argument)(ingot_builder *builder, size_t index);
  /// Gives the results, which must be what was declared.
  bool (*endGraph)(AuthoredModule *module, ingot_builder *builder, const ingot_value *results, size_t count,
                   CompilerError *error);
  void (*dropGraph)(AuthoredModule *module, ingot_builder *builder);
  /// Calls a finished graph; `results` has room for all of its outputs.
  bool (*call)(AuthoredModule *module, ingot_builder *builder, const char *graph, const ingot_value *operands,
               size_t count, ingot_value *results, CompilerError *error);
  bool (*verify)(AuthoredModule *module, CompilerError *error);
  /// Released with CompilerApi::freeMessage.
  char *(*print)(AuthoredModule *module);
  /// Released with CompilerApi::freeMessage.
  char *(*bytecode)(AuthoredModule *module, size_t *bytes, CompilerError *error);
  /// An optimised copy as a converted program, which belongs to the caller.
  bool (*convert)(AuthoredModule *module, CompilerProgram **program, CompilerError *error);
};

} // namespace ingot
