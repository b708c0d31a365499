"""The pages of the documentation, their code, and a small arm as the file that readers are told to have."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = {page.relative_to(DOCS).with_suffix("").as_posix(): page for page in sorted(DOCS.rglob("*.md"))}


def read(name):
    """The text of a page, such as "howto/batches"."""
    return PAGES[name].read_text(encoding="utf-8")


def blocks(text, language):
    """The fenced blocks of a language, or the cells with `{code-cell}`."""
    return re.findall(rf"^```{re.escape(language)}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


URDF = """<robot name="small"><link name="base"/>
<joint name="turn" type="revolute"><parent link="base"/><child link="column"/><axis xyz="0 0 1"/><origin xyz="0 0 0.2"/>
<limit lower="-3" upper="3" effort="1" velocity="1"/></joint>
<link name="column"><inertial><origin xyz="0.01 0 0.2"/><mass value="4"/>
<inertia ixx="0.05" iyy="0.05" izz="0.02" ixy="0.001" ixz="0" iyz="0.002"/></inertial></link>
<joint name="lift" type="prismatic"><parent link="column"/><child link="arm"/><axis xyz="0 0 1"/><origin xyz="0 0.1 0.4" rpy="0.2 0 0"/>
<limit lower="-0.2" upper="0.3" effort="1" velocity="1"/></joint>
<link name="arm"><inertial><origin xyz="0.2 0 0" rpy="0 0 0.3"/><mass value="2"/>
<inertia ixx="0.01" iyy="0.03" izz="0.03" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="wrist" type="revolute"><parent link="arm"/><child link="hand"/><axis xyz="0 1 0"/><origin xyz="0.4 0 0"/>
<limit lower="-2" upper="2" effort="1" velocity="1"/></joint>
<link name="hand"><inertial><origin xyz="0.1 0 0.02"/><mass value="1"/>
<inertia ixx="0.002" iyy="0.003" izz="0.004" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>"""
