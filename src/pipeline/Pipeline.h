// The whole flow: a .pt2 program becomes an asset, an asset becomes a plan for this CPU.
#pragma once

#include "asset/Writer.h"
#include "base/Result.h"
#include "import/IoNames.h"
#include "ingot/plugin.h"
#include "pipeline/Phase.h"
#include "pt2/Archive.h"

#include <set>
#include <string>
#include <vector>

namespace ingot {

struct PipelineOptions {
  /// Nothing after this phase runs. An asset is written only when Optimise is reached.
  std::optional<Phase> stopAfter;
  /// Passes to leave out, by name. Passes that a later phase needs cannot be left out.
  std::set<std::string> disabledPasses;
  /// Nodes without a native form stay in the program and run with PyTorch, through the libtorch plugin.
  bool fallback = false;
  /// Norms, pooling, attention and a few other operators become functions with a declaration each.
  bool composites = false;
  /// Every node that PyTorch can run stays for it, whether it has a native form or not: eager, to compare with.
  bool byTorch = false;
  /// Schemas of custom operators, as PyTorch prints them.
  std::vector<std::string> schemas;
  /// Lowerings of this conversion, asked before the built-in ones. The later of two for one operator counts.
  std::vector<ingot_lowering> lowerings;
  /// Source files keep the absolute paths that they have on this machine.
  bool keepPaths = false;
  /// Print the time of every pass on stderr.
  bool timePasses = false;
  /// Folder that receives the IR after every phase as NN-name.mlir; empty: none.
  std::string dumpFolder;
};

/// An exported program that becomes an entry point.
struct EntryPart {
  const pt2::Program *program = nullptr;
  std::string name = "main";
  IoNames names = {};
  bool hasPlaceholderNames = false; ///< states of buffers are called as the exported graph's inputs, not as the buffers
};

/// An exported program that is the body of an operator which the entry points (or other bodies) have as a node.
struct BodyPart {
  const pt2::Program *program = nullptr;
  std::string op;               ///< "coreai_torch_ext::norm_1f0c9a7e"
  std::string symbol;           ///< the function's name
  std::string weightPrefix;     ///< "block.norm."
  std::string declaration;      ///< of a composite, as an MLIR dictionary; empty for plain bodies
  std::string metalKernel = {}; ///< that the body is the reference of, as an MLIR dictionary; empty for other bodies
};

/// What is converted together: entry points share weights and states.
struct Parts {
  std::vector<EntryPart> entries;
  std::vector<BodyPart> bodies = {};
};

/// A program converted up to Optimise: what an asset is written from. The weights point into the exported programs.
struct Converted {
  asset::Content content;
  std::string bytecode; ///< content.program views it
};

/// .pt2 program ► import ► functionalise ► lower ► optimise.
Result<Converted> convertProgram(const Parts &parts, const PipelineOptions &options);

/// The text of a program, or of one of its functions; `withLocations` also where every op comes from.
Result<std::string> programText(std::span<const std::byte> bytecode, const std::string &function, bool withLocations);

/// The program as the text of a graph document.
Result<std::string> programDocument(std::span<const std::byte> bytecode);

/// The same program without a trace of where its operations come from.
Result<std::string> withoutLocations(std::span<const std::byte> bytecode);

/// What runs on this CPU: plan.json's text, and the shared library of its clusters (may be empty).
struct Specialised {
  std::string planText;
  std::string kernelLibrary;
};

/// Bytecode of an asset ► fuse ► codegen ► plan.
Result<Specialised> specialiseProgram(std::span<const std::byte> bytecode, const PipelineOptions &options);

/// One pass of the pipeline, for tools and documents.
struct PassInfo {
  Phase phase;
  std::string_view name;
  bool required; ///< later phases rely on it
};
std::vector<PassInfo> listPasses();

/// Makes every pass known by its name, for ingot-opt.
void registerIngotPasses();

} // namespace ingot
