"""The directive `beside`: equations on the left, the lines of the source that compute them on the right.

    :::{beside} newton_euler outward
    :from: vd = vd + j.sigma
    :to: vd = vd + swing

    equations in Markdown
    :::

The first argument is a module of `dalembert.formulations` (or of `dalembert`), the second a function, class or method in it.
The lines from the first that holds `from` to the next that holds `to` are shown; a text that is not there stops the build, so that
pages cannot drift from the source.
"""

from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from source import SOURCE, lines, path
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Beside(SphinxDirective):
    """Equations beside source lines."""

    has_content = True
    required_arguments = 1
    optional_arguments = 1
    option_spec: ClassVar = {"from": directives.unchanged_required, "to": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Two containers side by side; style sheets make the columns."""
        module, name = self.arguments[0], self.arguments[1] if len(self.arguments) > 1 else None
        file = path(module)
        self.env.note_dependency(str(file))
        try:
            code = lines(module, name, self.options.get("from"), self.options.get("to"))
        except (ValueError, OSError) as problem:
            raise self.error(f"beside: {problem}") from None
        where = file.relative_to(SOURCE)
        place = f"{where}, {name}, lines {code.first} to {code.last}" if name else f"{where}, lines {code.first} to {code.last}"
        left = nodes.container("", *self.parse_content_to_nodes(), classes=["beside-equations"])
        block = nodes.literal_block(code, code, language="python")
        right = nodes.container("", nodes.caption("", place), block, classes=["beside-code"])
        return [nodes.container("", left, right, classes=["beside"])]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("beside", Beside)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
