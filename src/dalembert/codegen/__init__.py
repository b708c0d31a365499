"""Programs as text in C, Python, MATLAB, Julia, JavaScript and WebAssembly, and files that test themselves.

May import: algebra, engine, model, storage, trace.
"""

from dalembert.codegen.c import c_file
from dalembert.codegen.common import Function as Function
from dalembert.codegen.javascript import javascript_file
from dalembert.codegen.julia import julia_file
from dalembert.codegen.matlab import matlab_file
from dalembert.codegen.python import python_file
from dalembert.codegen.wasm import wasm_file

# by language: the ending of its files, and the function that writes one from a name, the lines of a head, and functions
PRINTERS = {
    "c": (".c", c_file),
    "python": (".py", python_file),
    "matlab": (".m", matlab_file),
    "julia": (".jl", julia_file),
    "javascript": (".js", javascript_file),
    "wasm": (".wasm.js", wasm_file),
}
