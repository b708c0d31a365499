"""The machine: which vectors it likes, and assembly to code at an address. Loads llvmlite on first use."""

import os
import threading
from functools import cache
from typing import Any, NamedTuple

from dalembert.errors import Error, brief

VARIABLE = "DALEMBERT_LANES"
X86_LEVELS = {2: "x86-64", 4: "x86-64-v3"}  # SSE2, where a fused multiply-add is a call of the C library; AVX2
LARGE = 10_000  # operations from which on a program is optimized less: a quarter less time to compile, at most 2 % more to run
_lock = threading.RLock()


if hasattr(os, "register_at_fork"):  # a fork waits until nobody compiles, or the child would find LLVM's locks taken by nobody
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


class Host(NamedTuple):
    """What code is made for; part of every cache key."""

    triple: str
    cpu: str
    features: str
    llvm: str
    lanes: int

    @property
    def processor(self) -> str:
        """Its family, by one name each: "x86_64", "aarch64", or another."""
        family = self.triple.partition("-")[0]
        return {"amd64": "x86_64", "arm64": "aarch64"}.get(family, family)


@cache
def llvm() -> Any:
    """The llvmlite binding, ready to compile; ImportError if it is not there, broken or too old."""
    try:
        import llvmlite.binding as binding
    except OSError as error:
        raise ImportError(f"llvmlite is installed but does not load: {error}") from None
    if binding.llvm_version_info < (20,):
        raise ImportError(
            f"llvmlite has LLVM {'.'.join(map(str, binding.llvm_version_info))}, 20 or newer is needed (llvmlite 0.45)"
        )
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


@cache
def host() -> Host:
    """The machine we run on. States go across the lanes of its vectors: 8 doubles with AVX-512, 4 with AVX2, else 2."""
    with _lock:
        binding = llvm()
        features = binding.get_host_cpu_features()
        lanes = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
        version = ".".join(map(str, binding.llvm_version_info))
        here = Host(binding.get_default_triple(), binding.get_host_cpu_name(), features.flatten(), version, lanes)
        return _with_lanes(here, os.environ[VARIABLE]) if VARIABLE in os.environ else here


def _with_lanes(here: Host, chosen: str) -> Host:
    """The host as it would be with other vectors; where it has none that long, LLVM splits them. The results are the same."""
    if chosen not in ("2", "4", "8"):
        raise Error(f"{VARIABLE} must be 2, 4 or 8, not {brief(chosen)}")
    lanes = int(chosen)
    if here.processor == "x86_64" and lanes < here.lanes:
        return here._replace(cpu=X86_LEVELS[lanes], features="", lanes=lanes)
    return here._replace(lanes=lanes)


def _target(optimize: int = 2) -> Any:
    binding, here = llvm(), host()
    return binding.Target.from_triple(here.triple).create_target_machine(
        opt=optimize, cpu=here.cpu, features=here.features, codemodel="jitdefault", jit=True
    )


def object_code(assembly: str, size: int = 0) -> bytes:
    """Object code of a module in LLVM assembly; of large ones (`size` is in operations) with less optimization."""
    with _lock:
        return _object_code(assembly, 2 if size < LARGE else 1)  # what it makes also dies under the lock


def _object_code(assembly: str, optimize: int) -> bytes:
    target = _target(optimize)
    module = llvm().parse_assembly(assembly, llvm().create_context())
    module.triple, module.data_layout = host().triple, str(target.target_data)
    module.verify()
    return target.emit_object(module)


def _engine(data: bytes) -> Any:
    binding = llvm()
    engine = binding.create_mcjit_compiler(binding.parse_assembly("", binding.create_context()), _target())
    engine.add_object_file(binding.ObjectFileRef.from_data(data))
    engine.finalize_object()
    return engine


class Code:
    """Object code in memory; freed with this object."""

    def __init__(self, data: bytes) -> None:
        with _lock:
            self._engine = _engine(data)

    def __del__(self, lock: Any = _lock) -> None:
        with lock:
            self.__dict__.clear()

    def address_of(self, name: str) -> int:
        """Where a function of it begins."""
        with _lock:
            address: int = self._engine.get_function_address(name)
        if not address:
            raise ValueError(f"the object code has no function {name!r}")
        return address
