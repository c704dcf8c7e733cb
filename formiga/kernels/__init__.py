"""Kernels: functions compiled by numba, kept on disk, run without Python's lock, with the divisions of IEEE 754.

    @kernel
    def drive_world(w, wheels, position): ...

A compiled kernel is kept under a hash of what it does (`cache.py`), so it is compiled once for all processes and all
checkouts of a user. `program.py` runs a list of kernels, each tied to its arrays, as one compiled call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, overload

from numba import njit as _njit
from numba.core.registry import CPUDispatcher

from formiga.kernels.cache import Cache

njit: Any = _njit

# Without the lock, threads can run different worlds at the same time. `error_model`: x / 0 is infinite, not an exception; the
# check would cost time in every division. The entry point for C is needed by stages alone, and would take an eighth of the time
# of compiling.
OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


class OnlyCompiled(TypeError):
    """Python called a kernel that was made for other kernels."""


class Inner(CPUDispatcher):
    """A compiled function that only other kernels call."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        """Refuse: no entry point for Python was compiled, and numba would jump to address 0."""
        raise OnlyCompiled(f"{self.py_func.__name__}() is for kernels alone; from Python, call its py_func.")


@overload
def kernel(function: Callable[..., Any], /) -> Any: ...
@overload
def kernel(*signatures: str, allocates: bool = False, inner: bool = False,
           **options: Any) -> Callable[[Callable[..., Any]], Any]: ...
def kernel(*given: Any, allocates: bool = False, inner: bool = False, **options: Any) -> Any:
    """Decorator for a function that numba compiles: `@kernel`; `@kernel(allocates=True)` for one that makes arrays of its own.

    The arrays of all others belong to a caller that outlives the call, so their references need not be counted. Counting is an
    atomic addition for every array at every call: more than half of the time of a small world's step.

    inner: only other kernels call it. Then the code that unpacks Python objects is left out; for a kernel with many arrays it
    takes longer to compile than the kernel itself.
    """

    bare = len(given) == 1 and callable(given[0])
    signatures = () if bare else given

    def compiled(function: Callable[..., Any]) -> Any:
        made = njit(**OPTIONS, _nrt=allocates, no_cpython_wrapper=inner, **options)(function)
        if inner:
            made.__class__ = Inner
        made._cache = Cache(function, f"{sorted(made.targetoptions.items())}")
        if signatures:
            _compile_at_first_use(made, signatures)
        return made

    return compiled(given[0]) if bare else compiled


def _compile_at_first_use(made: Any, signatures: tuple[str, ...]) -> None:
    """Fix the types of a kernel's arguments, but let an import compile and load nothing: that takes numba half a second."""

    def settle() -> None:
        del made.get_call_template, made._compile_for_args  # from now on, those of its class
        for signature in signatures:
            made.compile(signature)
        made.disable_compile()

    def called_by_a_kernel(*given: Any) -> Any:
        settle()
        return made.get_call_template(*given)

    def called_from_python(*given: Any, **named: Any) -> Any:
        settle()
        return made  # numba calls what it gets here

    made.get_call_template, made._compile_for_args = called_by_a_kernel, called_from_python


__all__ = ["Inner", "OPTIONS", "OnlyCompiled", "kernel"]
