"""What a recipe gets and gives."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dalembert.trace.differentiate import differentiate
from dalembert.trace.program import Program, trace

Body = Callable[..., Any]  # arrays by name -> an array, or a tuple of arrays
Recipe = Callable[..., Body | Program]  # (model, make, method, optional, **options)


@dataclass(frozen=True)
class Make:
    """Makes the programs that a recipe starts from, for the same robot and recorded in the same way as its result."""

    program: Callable[[str, str | None, tuple[str, ...]], Program]
    folding: bool
    sharing: bool
    cut: Callable[..., Program]  # (quantity, method, optional, **options), of the robot with its loops open

    def __call__(self, quantity: str, method: str | None = None, optional: tuple[str, ...] = ()) -> Program:
        """The program of another quantity."""
        return self.program(quantity, method, optional)

    def recorded(self, function: Callable[..., Any], shapes: Mapping[str, Sequence[int]]) -> Program:
        """The program of a function of arrays."""
        return trace(function, shapes, folding=self.folding, sharing=self.sharing)

    def derivative(
        self, program: Program, wrt: Sequence[str], mode: Literal["forward", "reverse"], *, keep: bool = False
    ) -> Program:
        """The Jacobians of a program."""
        return differentiate(program, wrt, mode=mode, keep=keep, folding=self.folding, sharing=self.sharing)
