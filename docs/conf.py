"""How Sphinx builds these pages; `make docs` calls it."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import dalembert  # noqa: E402

project = "dalembert"
author = "The dalembert developers"
copyright = "The dalembert developers, MIT licence"
version = release = dalembert.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "beside",
    "counts",
    "docstrings",
    "growth_charts",
    "live_arm",
    "printed_tables",
    "misprints",
    "concordance_pages",
]
exclude_patterns = ["_build", "_ext", "images/*.md"]
templates_path = []

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "attrs_inline", "tasklist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True
nb_execution_mode = "force"
nb_execution_show_tb = True  # a cell that fails is a warning, and so an error of the build
nb_execution_timeout = 600  # a minute on an idle machine; a busy one must not fail
nb_merge_streams = True
nb_render_markdown_format = "myst"
nb_ipywidgets_js = {}  # no page has widgets, and their scripts come from the network

smartquotes = False  # quotes in the text are often Python

html_theme = "furo"
html_title = "dalembert"
html_static_path = ["_static"]
html_css_files = ["dalembert.css"]
html_copy_source = False
html_show_sphinx = False

# MathJax comes from npm when the pages are built: `make docs` puts it there. One file, which holds its fonts as drawings.
mathjax_path = "mathjax/tex-svg-full.js"
mathjax3_config = {
    "svg": {"displayAlign": "left", "displayIndent": "0"},
    "tex": {"macros": {"T": r"^{\mathsf{T}}", "Ad": r"\operatorname{Ad}", "ad": r"\operatorname{ad}", "tr": r"\operatorname{Tr}"}},
}
FETCHED = HERE.parent / "build" / "docs" / "static"
if not (FETCHED / mathjax_path).exists():
    raise SystemExit(f"{FETCHED / mathjax_path} is missing: `make docs` fetches it from npm")
html_static_path.append(str(FETCHED))

autodoc_default_options = {"member-order": "bysource"}
autodoc_preserve_defaults = True
autodoc_typehints = "none"  # shapes say more than types, and the docstrings give them
autosummary_generate = False
add_module_names = False
toc_object_entries = True  # a line in the side bar for every function
toc_object_entries_show_parents = "hide"
