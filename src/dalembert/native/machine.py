"""The machine: which vectors it likes, and assembly to code at an address. Loads llvmlite on first use."""

import ctypes
import ctypes.util
import os
import platform
import sys
import threading
from functools import cache
from typing import Any, NamedTuple

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
    x86: bool


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
        x86 = platform.machine().lower() in ("x86_64", "amd64")
        lanes = 8 if features.get("avx512f") else 4 if features.get("avx2") else 2
        version = ".".join(map(str, binding.llvm_version_info))
        return Host(
            binding.get_default_triple(),
            binding.get_host_cpu_name(),
            features.flatten(),
            version,
            lanes,
            x86,
        )


def _target() -> Any:
    binding, here = llvm(), host()
    return binding.Target.from_triple(here.triple).create_target_machine(
        opt=2, cpu=here.cpu, features=here.features, codemodel="jitdefault", jit=True
    )


def object_code(assembly: str) -> bytes:
    """Object code of a module in LLVM assembly."""
    with _lock:
        return _object_code(assembly)  # what it makes also dies under the lock


def _object_code(assembly: str) -> bytes:
    target = _target()
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


@cache
def library() -> Any:
    """Addresses of the C library's sin and cos, for angles too large for the vector code."""
    names = {"win32": "ucrtbase", "darwin": "libSystem.dylib"}
    found = ctypes.CDLL(names.get(sys.platform) or ctypes.util.find_library("m") or None)
    return (ctypes.c_void_p * 2)(*(ctypes.cast(getattr(found, name), ctypes.c_void_p).value for name in ("sin", "cos")))


def address_of(table: Any) -> int:
    """The address of a ctypes array."""
    return ctypes.addressof(table)
