"""Programs as source text in other languages: one self-contained file, with a self-test in it. Knows no robots."""

from dalembert.trace.printers.c import c_file
from dalembert.trace.printers.common import Function as Function
from dalembert.trace.printers.julia import julia_file
from dalembert.trace.printers.matlab import matlab_file
from dalembert.trace.printers.python import python_file

# by language: the ending of its files, and the function that writes one from a name, the lines of a head, and functions
PRINTERS = {
    "c": (".c", c_file),
    "python": (".py", python_file),
    "matlab": (".m", matlab_file),
    "julia": (".jl", julia_file),
}
