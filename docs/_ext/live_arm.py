"""The directive `live ROBOT`: the live page of a built-in robot in a frame, from a file beside the pages that loads when seen."""

from html import escape
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import dalembert as da

FOLDER = "live"


class LiveArm(SphinxDirective):
    """A frame with the live page."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Write the page into the folder of the built pages, and refer to it."""
        name = self.arguments[0]
        if name not in da.robot_names():
            raise self.error(f"live: {name!r} is not a built-in robot")
        folder = Path(self.env.app.outdir) / FOLDER
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / f"{name}.html").exists():
            da.live(name, folder / f"{name}.html")
        up = "../" * self.env.docname.count("/")
        frame = f'<iframe class="live" src="{up}{FOLDER}/{name}.html" title="{escape(name)}, live" loading="lazy"></iframe>'
        link = f'<p><a href="{up}{FOLDER}/{name}.html">The same page alone</a>: it computes offline.</p>'
        return [nodes.raw("", frame + link, format="html")]


def setup(app: Sphinx) -> dict[str, bool]:
    """Tell Sphinx."""
    app.add_directive("live", LiveArm)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
