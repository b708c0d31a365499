"""The PUMA's inverse dynamics and mass matrix as one C file that needs nothing else; compiled and tested where there is a compiler.

python examples/export_c.py [FOLDER]
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import dalembert as da


def built(source, folder):
    """Compile the file with its self-test, run it, and return what it says; None without a compiler."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return None
    program = folder / "selftest"
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-DDALEMBERT_SELF_TEST"]
    subprocess.run([compiler, *flags, source, "-o", program, "-lm"], check=True)  # noqa: S603
    return subprocess.run([program], check=True, capture_output=True, text=True).stdout  # noqa: S603


if __name__ == "__main__":
    code = da.robot("puma560").generate("c", ["inverse_dynamics", "mass_matrix"])
    with tempfile.TemporaryDirectory() as scratch:
        source = code.save(sys.argv[1] if len(sys.argv) > 1 else scratch)
        print(f"{source.name}: {code.count(chr(10))} lines")
        print("\n".join(re.findall(r"^void \w+\([^;{]*\);", code, re.MULTILINE)))
        said = built(source, Path(scratch))
    print("no C compiler here: not compiled" if said is None else said.strip())
