"""The page: sections, style, scripts and data in one file that loads nothing from the network."""

import base64
import hashlib
import json
import re
import zipfile
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

from dalembert.errors import Error, optional
from dalembert.studies.report.figures import Section, figure_data


def own_file(name: str) -> str:
    """The text of a file of this package."""
    return resources.files("dalembert.studies.report").joinpath(name).read_text(encoding="utf-8")


@cache
def three() -> str:
    """three.js with its licence, from the viewer that trimesh brings along.

    >>> "@license" in three()[:20] and len(three()) < 1_000_000
    True
    """
    folder = Path(optional("trimesh").__file__).parent / "resources" / "templates"
    try:
        with zipfile.ZipFile(folder / "viewer.zip") as archive:
            template = archive.read("viewer.html.template").decode("utf-8")
    except (OSError, KeyError) as error:
        raise Error(f"this version of trimesh has no three.js viewer ({error}); install trimesh 4.8.3 or newer") from None
    match = re.search(r"(/\*\*(?:(?!\*/)[\s\S])*@license(?:(?!\*/)[\s\S])*\*/)\s*(!function[^\n]*\.THREE=\{\}[^\n]*)", template)
    if match is None:
        raise Error("cannot find three.js in the viewer of this version of trimesh; install trimesh 4.8.3 or newer")
    return f"{match[1]}\n{match[2]}"


def embedded(data: Any) -> str:
    r"""JSON that is safe inside a script element for any strings.

    >>> embedded({"name": "</script>"})
    '{"name":"\\u003c/script>"}'
    """
    text = json.dumps(data, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """A content security policy that runs these texts and nothing else, and loads nothing."""

    def digests(texts: Sequence[str]) -> str:
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts)

    own = f"script-src {digests(scripts)}; style-src {digests(styles)}"
    return f"default-src 'none'; {own}; img-src data: blob:; base-uri 'none'; form-action 'none'"


def page(title: str, header: str, sections: Sequence[Section], data: dict[str, Any], footer: str) -> str:
    """The whole HTML text."""
    figures = [f for s in sections for f in s.figures]
    data = {**data, "figures": {f.key: figure_data(f) for f in figures}}
    style, scripts = own_file("report.css"), [three(), own_file("scene.js"), own_file("report.js")]
    links = "".join(f'<a href="#{s.key}">{s.label}</a>' for s in sections)
    body = "".join(f'<section id="{s.key}"><h2>{escape(s.title)}</h2>{s.body}</section>' for s in sections)
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy(scripts, [style])}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>",
            f'{header}\n<nav aria-label="Sections">{links}</nav>\n<main>{body}</main>\n{footer}',
            f'<script type="application/json" id="data">{embedded(data)}</script>',
            *(f"<script>{script}</script>" for script in scripts),
            "</body>\n</html>\n",
        ]
    )
