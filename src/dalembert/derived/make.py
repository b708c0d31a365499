"""What a recipe gets and gives."""

from collections.abc import Callable
from typing import Any

from dalembert.trace.program import Program

Body = Callable[..., Any]  # arrays by name -> an array, or a tuple of arrays
Make = Callable[..., Program]  # (quantity, method=None, optional=()) -> its program for the same robot
Recipe = Callable[..., Body | Program]  # (model, make, method, optional, **options)
