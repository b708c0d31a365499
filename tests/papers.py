"""Documents through pdflatex."""

import subprocess


def compiled(document, folder):
    """Save it and run pdflatex: no error, and no formula beyond the margin by more than a letter."""
    path = document.save(folder / "paper.tex")
    done = subprocess.run(["pdflatex", "-interaction=nonstopmode", "-halt-on-error", path.name], cwd=folder, capture_output=True)
    said = done.stdout.decode(errors="replace")
    assert done.returncode == 0, said[-2000:]
    wide = [float(line.split("(")[1].split("pt")[0]) for line in said.splitlines() if line.startswith("Overfull \\hbox")]
    assert max(wide, default=0.0) < 8.0, said[-2000:]
