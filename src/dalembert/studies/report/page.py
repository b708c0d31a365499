"""The page: sections, style, scripts and data in one file that loads nothing from the network."""

import base64
import datetime
import hashlib
import json
import platform
import re
import zipfile
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from dalembert.errors import Error, optional
from dalembert.model.model import Model
from dalembert.storage.saving import save_text
from dalembert.studies.report.computing import Live
from dalembert.studies.report.figures import Section, counted, figure_data, number
from dalembert.version import __version__

SCRIPTS = ("mechanics.js", "orbit.js", "scene.js", "visuals.js", "charts.js", "panels.js", "live.js")
FOLDED = {"parameters": "parameters", "conventions": "conventions"}
FOLDED |= dict.fromkeys(("mass-matrix", "quasi-velocities", "comparison"), "theory")


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


def policy(scripts: Sequence[str], styles: Sequence[str], wasm: bool = False) -> str:
    """A content security policy that runs these texts and nothing else, WebAssembly in them if need be, and loads nothing."""

    def digests(texts: Sequence[str]) -> str:
        return " ".join(f"'sha256-{base64.b64encode(hashlib.sha256(t.encode()).digest()).decode()}'" for t in texts)

    own = f"script-src {digests(scripts)}{' ' + repr('wasm-unsafe-eval') if wasm else ''}; style-src {digests(styles)}"
    return f"default-src 'none'; {own}; img-src data: blob:; base-uri 'none'; form-action 'none'"


def page(title: str, top: str, sections: Sequence[Section], data: dict[str, Any], live: Live, note: str) -> str:
    """A live page: the whole HTML text. `top` and `note`, which ends it, are HTML."""
    figures = [f for s in sections for f in s.figures]
    data = {**data, "live": live.data, "figures": {f.key: figure_data(f) for f in figures}}
    scripts = [three(), *([live.script] if live.script else []), *map(own_file, SCRIPTS)]
    after = [f'<script type="application/json" id="data">{embedded(data)}</script>', *(f"<script>{x}</script>" for x in scripts)]
    return _document(title, f"{top}\n{_body(sections)}", note, scripts, live.wasm, after)


def save_section(path: Any, robot: Model, part: Section, *facts: str, mass: str = "") -> Path:
    """A section as a page of its own, without scripts, which loads nothing; `facts` follow those about the robot.

    mass: words after the total mass.
    """
    told = escape(", ".join([counted(robot.n, "joint"), f"{number(robot.total_mass)} kg{mass}", *facts]))
    kind = f"dalembert {part.key}"
    top = f'<header><p class="kind">{kind}</p><h1>{escape(robot.name)}</h1><p class="facts"><span>{told}</span></p></header>'
    return save_text(path, _document(f"{robot.name} · {kind}", f"{top}\n<main>{_section(part)}</main>"))


def _document(
    title: str, body: str, note: str = "", scripts: Sequence[str] = (), wasm: bool = False, after: Sequence[str] = ()
) -> str:
    """The whole file: its head with the policy for these scripts, the body, when and with what it was made, and what follows."""
    style = own_file("report.css")
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy(scripts, [style], wasm)}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            '<link rel="icon" href="data:,">',
            f"<title>{escape(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n{body}",
            f"<footer><p>Made {_made()}. {note}</p></footer>",
            *after,
            "</body>\n</html>\n",
        ]
    )


def _made() -> str:
    """When and with what the page was made."""
    now = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"{now}, dalembert {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"


def _body(sections: Sequence[Section]) -> str:
    """The sections in order; neighbours of one fold share it."""
    if not sections:
        return ""
    links, parts = "", ""
    for fold, group in groupby(sections, lambda s: FOLDED.get(s.key, "")):
        members = list(group)
        if not fold:
            links += "".join(f'<a href="#{s.key}">{s.label}</a>' for s in members)
            parts += "".join(_section(s) for s in members)
            continue
        badges = " ".join(s.badge for s in members)
        links += f'<a href="#{fold}">{fold.capitalize()}{badges and " " + badges}</a>'
        inside = "".join(_section(s, heading=len(members) > 1) for s in members)
        own = "" if len(members) == 1 else f' id="{fold}"'
        parts += f'<details class="fold"{own}><summary><h2>{fold.capitalize()}</h2> {badges}</summary>{inside}</details>'
    return f'<nav aria-label="Sections">{links}</nav>\n<main>{parts}</main>'


def _section(section: Section, heading: bool = True) -> str:
    title = f"<h2>{escape(section.title)}</h2>" if heading else ""
    return f'<section id="{section.key}">{title}{section.body}</section>'
