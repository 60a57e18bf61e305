"""IREE on the CPU, from the exported program by iree-turbine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

PACKAGES = ("iree-base-compiler", "iree-base-runtime", "iree-turbine")
SUFFIX = ".vmfb"


def convert(model: Path, artifact: Path) -> None:
    import torch
    from iree.turbine import aot

    exported = aot.export(torch.export.load(model))
    exported.session.set_flags("--iree-llvmcpu-target-cpu=host")
    exported.compile(save_to=str(artifact), target_backends=["llvm-cpu"])


def load(artifact: Path, threads: int) -> Any:
    from iree import runtime

    runtime.flags.parse_flags(f"--task_topology_max_group_count={threads}")
    config = runtime.Config("local-task")
    module = runtime.load_vm_module(runtime.VmModule.mmap(config.vm_instance, str(artifact)), config)

    def call(inputs: Any) -> Any:
        results = module.main(*inputs)
        return [value.to_host() for value in (results if isinstance(results, list | tuple) else [results])]

    return call
