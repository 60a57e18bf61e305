"""IR tests: every `.mlir` in a `test/` folder beside the sources, checked with ingot-opt and FileCheck.

Loaded through build/tests/lit/lit.site.cfg.py. Run one test with `lit -v build/tests/lit --filter NAME`.
"""

import os

import lit.formats

# lit puts `config` into the namespace of its configuration files.
config.name = "ingot"  # noqa: F821
config.test_format = lit.formats.ShTest(execute_external=False)  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = os.path.join(config.ingot_source_root, "src")  # noqa: F821
config.test_exec_root = os.path.join(config.ingot_build_root, "tests", "lit", "out")  # noqa: F821

tools = [os.path.join(config.ingot_build_root, "bin"), config.llvm_tools_dir]  # noqa: F821
config.environment["PATH"] = os.pathsep.join([*tools, os.environ.get("PATH", "")])  # noqa: F821
config.environment["FILECHECK_OPTS"] = "--dump-input-filter=all"  # noqa: F821
