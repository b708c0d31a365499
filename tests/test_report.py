"""The report: its numbers, against independent ones; and its page, in a real browser without a network."""

import base64
import json
import os
import re
import struct
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import browsing
import numpy as np
import pytest
import screenshot
from browsing import drawn, pixels, until
from conftest import STRUCTURES, close, sweep

import dalembert as da
from dalembert.files import load_states
from dalembert.files.layout import column_names
from dalembert.studies import report
from dalembert.studies.report import (
    analysis,
    charts,
    computing,
    figures,
    header,
    model_sections,
    motion_sections,
    page,
    panels,
    scene,
)
from dalembert.studies.report.motion import ends, follow

pytest.importorskip("latex2mathml", reason="needs the study extra")
pytest.importorskip("trimesh", reason="needs the study extra")

HOSTILE = "<script>alert(1)</script>\"'&</style>"


def robots():
    arms = [da.random_robot(5, joints, parents) for joints, parents in STRUCTURES]
    arms += [da.robot(name) for name in ("stanford", "two_link", "rp")]
    return [*arms, da.robot("puma560").with_friction(damping=0.4, coulomb=0.2).with_armature(0.3)]


def name_of(robot):
    return f"{robot.name}-{'friction' if robot.links[0].joint.damping else 'free'}"


ARMS = robots()
arms = pytest.mark.parametrize("robot", sweep(ARMS, quick=(7, 9)), ids=name_of)


def hostile():
    link = da.Link(f"l{HOSTILE}", "base", da.Joint(f"=j{HOSTILE}"), inertia=da.Inertia.from_com(1.0, (0.3, 0, 0), 0.02))
    frame = da.Frame(f"f{HOSTILE}", link.name, da.Pose.of((0.5, 0, 0)))
    return da.Robot(f"r{HOSTILE}", (link,), frames=(frame,), source=f"s{HOSTILE}", notes=((link.name, f"n{HOSTILE}"),))


def bare():
    """The last link has no mass: no forward dynamics."""
    first = da.Link("a", "base", da.Joint("a"), inertia=da.Inertia.from_com(1.0, (0.3, 0, 0), 0.02))
    return da.Robot("bare", (first, da.Link("b", "a", da.Joint("b"), before=da.Pose.of((0.5, 0, 0)))))


# --- numbers ----------------------------------------------------------------------------------------------------------------


@arms
def test_the_move_keeps_to_the_limits(robot):
    motion = follow(robot)
    assert (motion.q >= robot.lower - 1e-12).all() and (motion.q <= robot.upper + 1e-12).all()
    assert np.ptp(motion.q, axis=0).min() > 0.01
    close(np.gradient(motion.q, motion.time, axis=0)[1:-1], motion.qd[1:-1], 1e-3)
    close(np.gradient(motion.qd, motion.time, axis=0)[1:-1], motion.qdd[1:-1], 1e-3)


@pytest.mark.parametrize("name", ["solo12", "humanoid", "space_arm", "panda"])
def test_charts_of_the_motion_have_each_position_under_its_own_name(name):
    robot = da.robot(name)
    rng = np.random.default_rng(0)
    time = np.linspace(0.0, 1.0, 11)
    velocity = rng.normal(size=robot.n)
    q = np.stack([robot.integrate(robot.random_configuration(1), t * velocity) for t in time])
    qd, qdd = np.broadcast_to(velocity, (11, robot.n)), np.zeros((11, robot.n))
    motion = follow(robot, SimpleNamespace(time=time, q=q, qd=qd, qdd=qdd))
    (figure,) = motion_sections.motion(robot, motion).figures
    series = [line for panel in figure.panels for line in panel.series]
    shown = {line.column: line for line in series}
    states = {"q": q, "qd": qd, "qdd": qdd}
    assert sorted(shown) == sorted(column_names(robot, list(states)))
    for part, values in states.items():
        for column, expected in zip(column_names(robot, [part]), values.T, strict=True):
            assert shown[column].name == column.removeprefix(f"{part}_")
            close(shown[column].values, expected, 0.0)
    (panel,) = [p for p in figure.panels if (p.title, p.unit) == ("Position", "rad")]
    for line in panel.series:
        slope = np.gradient(line.values, time)
        close(slope, shown[line.column.replace("q_", "qd_", 1)].values, 1e-9)


def test_the_move_keeps_to_velocity_limits():
    panda = da.robot("panda")
    slow = np.array([x.joint.velocity_limit for x in panda.links])
    assert np.isfinite(slow).any()
    assert (np.abs(follow(panda).qd).max(axis=0) <= slow * (1 + 1e-9)).all()
    crawl = da.Link("a", "base", da.Joint("a", velocity_limit=0.01))
    assert np.abs(follow(da.Robot("slow", (crawl,))).qd).max() <= 0.01 * (1 + 1e-9)


def test_one_sided_limits_and_none():
    joints = [da.Joint("a", lower=5.0), da.Joint("b", upper=-5.0), da.Joint("c", lower=1.0, upper=1.0), da.Joint("d", "prismatic")]
    links = [da.Link(j.name, "base", j) for j in joints]
    start, goal = ends(da.Robot("limits", tuple(links)))
    assert min(start[0], goal[0]) >= 5.0 and max(start[1], goal[1]) <= -5.0
    assert start[2] == goal[2] == 1.0 and start[3] != goal[3]


@arms
def test_torque_parts_are_those_of_the_christoffel_symbols(robot):
    motion = follow(robot)
    found = analysis.torques(robot, motion)
    gamma, qd = robot.christoffel(motion.q), motion.qd
    all_of_it = np.einsum("tijk,tj,tk->ti", gamma, qd, qd)
    squares = np.einsum("tijj,tj,tj->ti", gamma, qd, qd)
    scale = max(np.abs(found.total).max(), 1.0)
    close(found.centrifugal, squares, 1e-11, scale)
    close(found.coriolis, all_of_it - squares, 1e-11, scale)
    close(found.inertial + found.coriolis + found.centrifugal + found.gravity + found.friction, found.total, 1e-11, scale)
    close(found.total, robot.inverse_dynamics(motion.q, qd, motion.qdd, method="lie_group"), 1e-11, scale)
    assert found.defect < 1e-12


def pushed():
    robot = da.robot("two_link")
    push = {"link2": da.Wrench((0.0, 8.0, 0.0), frame="world_aligned")}
    return robot, robot.simulate([0.1, 0.2], duration=0.2, wrenches=push)


def held():
    robot = da.robot("two_link").with_friction(coulomb=[30.0, 10.0])
    return robot, robot.simulate([0.0, 0.0], duration=0.1)


@pytest.mark.parametrize("simulated", [pushed, held])
def test_a_simulated_motion_has_the_forces_of_its_joints(simulated, tmp_path):
    """Not those that inverse dynamics would need without pushes and without friction that holds joints at rest."""
    robot, fall = simulated()
    motion = follow(robot, fall)
    needed = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    assert abs(needed).max() > 1.0
    parts = analysis.torques(robot, motion)
    close(parts.total, np.zeros_like(needed), 0.0)
    close(parts.others, -needed, 1e-12)
    assert parts.defect < 1e-12
    report.write.save_motion(tmp_path / "motion.csv", robot, motion)
    close(load_states(robot, tmp_path / "motion.csv", ["tau"])["tau"], np.zeros_like(needed), 0.0)
    section = motion_sections.torques(robot, motion)
    assert (
        "Others: what pushes, stops, and friction" in section.body
        and "Others" not in motion_sections.torques(robot, follow(robot)).body
    )
    assert "largest torque 0 N m" in header.header(robot, motion, "study")


def test_forces_of_another_robot_are_not_those_of_this_one():
    robot = da.robot("two_link")
    motion = follow(robot.with_payload(1.0), robot.simulate([0.1, 0.2], duration=0.1))
    assert motion.tau is None
    parts = analysis.torques(robot.with_payload(1.0), motion)
    assert not parts.others.any() and abs(parts.total).max() > 1.0


@arms
def test_mass_matrix_parts(robot):
    motion = follow(robot)
    found = analysis.inertias(robot, motion)
    close(found.translation + found.rotation + found.rotors, robot.mass_matrix(motion.q), 1e-11)
    book = robot.dalembert_terms(motion.q[::50], motion.qd[::50])
    close(found.translation[::50], book.D_tran, 1e-11, 1.0)
    close(found.rotation[::50], book.D_rot, 1e-11, 1.0)
    assert found.defect < 1e-11


@arms
def test_quasi_velocities_carry_the_kinetic_energy_and_the_power(robot):
    motion = follow(robot)
    found = analysis.quasi(robot, motion)
    assert isinstance(found, analysis.Quasi)
    M = robot.mass_matrix(motion.q)
    close((found.nu**2).sum(axis=-1), np.einsum("ti,tij,tj->t", motion.qd, M, motion.qd), 1e-9, 1.0)
    tau = robot.inverse_dynamics(motion.q, motion.qd, motion.qdd)
    close((found.nu * found.epsilon).sum(axis=-1), (motion.qd * tau).sum(axis=-1), 1e-9, 1.0)
    close(np.prod(found.D, axis=-1), np.linalg.det(M), 1e-9)


def test_a_free_fall_keeps_its_energy():
    for robot, most in ((da.robot("puma560"), 1e-6), (da.robot("two_link").with_friction(damping=0.5), 1e-6)):
        found = analysis.free(robot, follow(robot))
        assert isinstance(found, analysis.Free)
        assert found.drift < most and found.kinetic.max() > 1.0
        close(found.kinetic + found.potential + found.dissipated - found.potential[0], found.balance, 1e-9, 1.0)
        assert (found.dissipated[-1] > 0.1) == bool(robot.links[0].joint.damping)


@pytest.mark.slow
def test_a_stiff_fall_takes_shorter_steps_or_time_stepping():
    for damping, words in ((0.3, "0.1 ms"), (5.0, "Moreau")):  # the last link has 4e-5 kg m^2: time constants of 0.13 and 0.008 ms
        stiff = da.robot("puma560").with_friction(damping=damping)
        found = analysis.free(stiff, follow(stiff))
        assert isinstance(found, analysis.Free) and words in found.told and found.drift < 1e-3


def test_a_fall_with_coulomb_friction_sticks():
    rubs = da.robot("two_link").with_friction(damping=0.5, coulomb=10.0)
    found = analysis.free(rubs, follow(rubs))
    assert isinstance(found, analysis.Free) and "Moreau" in found.told and found.drift < 1e-4 and not found.doubt
    assert found.dissipated[-1] > 1.0 and (found.qd == 0).any()


def test_a_robot_without_forward_dynamics_says_so():
    robot = bare()
    for function in (analysis.quasi, analysis.free):
        assert isinstance(function(robot, follow(robot)), str)


def test_rounding_is_not_shown_and_numbers_are_short():
    text = figures.packed(np.array([1 / 3, 2.0, -1e-17, np.inf, np.nan]), 1e-15, "<f4")
    assert np.array_equal(np.frombuffer(base64.b64decode(text), "<f4"), np.float32([1 / 3, 2, 0, np.inf, np.nan]), equal_nan=True)
    assert charts.span(charts.Panel("t", "u", (charts.Series("s", np.full(3, 1e-17), "s0"),)), 1e-15) == (-1.0, 1.0)


def test_charts_draw_what_they_are_given():
    time = np.linspace(0, 2, 5)
    text = charts.line_chart(charts.Panel("a & b", "N m", (charts.Series("s", np.array([0, 1, np.nan, -1, 3.0]), "s0"),)), time)
    path = re.search(r'class="line s0" d="([^"]+)"', text)[1]
    pieces = re.findall(r"([ML])([\d.]+) ([\d.]+)", path)
    assert [p[0] for p in pieces] == ["M", "L", "M", "L"]  # lifted over what is not a number
    left, right, top, bottom = map(float, re.search(r'data-box="([^"]+)"', text)[1].split())
    _, _, low, high = map(float, re.search(r'data-span="([^"]+)"', text)[1].split())
    x, y = np.array([[float(a), float(b)] for _, a, b in pieces]).T
    close(x, left + time[[0, 1, 3, 4]] / 2 * (right - left), 1e-3)
    close((bottom - y) / (bottom - top) * (high - low) + low, [0, 1, -1, 3], 1e-2)
    assert "a &amp; b" in text


def test_a_power_of_ten_stands_beside_the_unit():
    """4 on an axis whose unit is 10^-3 N m must not be read as 4 N m."""
    time = np.linspace(0, 1, 3)
    small, usual = (charts.Panel("a", "N m", (charts.Series("s", k * np.array([0, 1, 4.0]), "s0"),)) for k in (1e-3, 1.0))
    texts = [figures.panel_html(panel, time) for panel in (small, usual)]
    assert "<span>×10⁻³ N m</span>" in texts[0] and "<span>N m</span>" in texts[1]
    labels = [re.findall(r'text-anchor="end">([\d.]+)<', text) for text in texts]
    assert labels[0] == labels[1] and labels[0][-1] == "4"


def test_lanes_show_how_near_torques_are_to_their_limits():
    robot = da.robot("two_link")
    fast = robot.fastest([[0.0, 0.0], [1.0, -0.5], [1.5, 0.5]], torque=[40.0, 15.0])
    motion = follow(robot, fast)
    assert np.ptp(np.diff(motion.time)) < 1e-12 and "fastest" in motion.told
    np.testing.assert_allclose(motion.qd, fast(motion.time).qd)
    body = motion_sections.torques(robot, motion).body
    full = [float(x) for x in re.findall(r'class="full" x="[\d.]+" width="([\d.]+)"', body)]
    share = np.abs(robot.inverse_dynamics(motion.q, motion.qd, motion.qdd) / [40.0, 15.0]) >= 0.99
    np.testing.assert_allclose(sum(full), 100 * share.sum() / 200, atol=1.5)
    assert body.count('<svg class="lane"') == 2 and "<td>100%</td>" in body
    assert "lane" not in motion_sections.torques(robot, follow(robot)).body  # it has no limits of its own


def test_all_of_the_report_has_the_limits_of_the_motion():
    """With less torque than the robot has, charts, lanes and the headline say the same, short peaks included."""
    robot = da.robot("panda")
    path = 0.7 * robot.random_configuration(np.random.default_rng(0), 5)
    fast = robot.fastest(path, torque=[60.0, 60.0, 60.0, 60.0, 8.0, 8.0, 8.0])
    motion = follow(robot, fast)
    assert header._margin(robot, motion, robot.inverse_dynamics(*motion[1:4]))[0].startswith("torque margin 0 % at panda_joint")
    live = computing.live(robot, motion, scene.stage(robot, motion)).data
    assert live["efforts"] == [60.0] * 4 + [8.0] * 3
    assert 'title="limit 60 N m, for which the motion was made"' in panels.hero(robot, motion, live)
    section = motion_sections.torques(robot, motion)
    assert sorted(panel.limit for panel in section.figures[0].panels) == [8.0] * 3 + [60.0] * 4
    assert "the limit for which the motion was made" in section.body
    told = dict(re.findall(r'aria-label="(panda_joint\d): at most (\d+)% of the torque limit"', section.body))
    peaks = np.abs(fast.saturation).max(axis=0)
    assert all(int(told[name]) >= round(100 * x) for name, x in zip(robot.joint_names, peaks, strict=True))


@pytest.mark.slow
def test_many_joints_stay_readable():
    robot = da.random_robot(2, "R" * 14)
    motion = follow(robot)
    section = motion_sections.motion(robot, motion)
    panel = section.figures[0].panels[0]
    assert len(panel.series) == 14 and sum(bool(s.style) for s in panel.series) == motion_sections.LINES
    torques = motion_sections.torques(robot, motion)
    assert len(torques.figures[0].panels) == 14
    folded = torques.body.index('<details class="more">')
    assert torques.body[:folded].count('<svg class="chart"') == figures.SHOWN
    assert len(motion_sections.entries(np.ones((3, 14, 14)))) == motion_sections.ENTRIES


@arms
def test_shapes_are_where_the_links_are(robot):
    """A tube of a link that carries others ends where their joints are."""
    motion = follow(robot)
    made = scene.scene(robot, motion)
    assert json.dumps(made, allow_nan=False)
    tubes = [(s["link"], p) for s in made["shapes"] if s["kind"] == "tube" for p in s["points"]]
    for link, parent in zip(robot.links, robot.parents, strict=True):
        own = np.array([p for where, p in tubes if where == parent] or [np.zeros(3)])
        reach = np.linalg.norm(own - link.before.translation, axis=1).min()
        assert reach < 1e-4 + made["thick"]
    middle, half, up = (np.array(made[k]) for k in ("middle", "half", "up"))
    assert np.linalg.norm(scene.points(robot, motion.q).reshape(-1, 3) - middle, axis=1).max() <= np.linalg.norm(half) + 1e-3
    close(up, -robot.gravity / np.linalg.norm(robot.gravity), 1e-4)


# --- the file ---------------------------------------------------------------------------------------------------------------


class Outline(HTMLParser):
    """Elements and their attributes, as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.attributes, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *a) for a in attrs]

    def handle_data(self, data):
        self.words.append(data)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Reports by name, each made once."""
    made = {}
    folder = tmp_path_factory.mktemp("reports")

    def page_of(name):
        if name not in made:
            robot = {"hostile": hostile, "bare": bare, "nothing": lambda: da.Robot("nothing", ())}.get(
                name, lambda: da.robot(name)
            )()
            made[name] = report.study(robot, folder / name, progress=False)
        return made[name]

    return page_of


OPEN, FOLDED = ["motion", "torques", "energy"], ["parameters", "mass-matrix", "quasi-velocities", "comparison", "conventions"]


@pytest.mark.parametrize("name", sweep(["two_link", "rp", "hostile", "bare", "nothing"], quick=(0, 4)))
def test_a_report_has_every_section_and_asks_for_nothing(pages, name):
    text = pages(name).read_text()
    found = Outline(text)
    sections = [value for tag, key, value in found.attributes if tag == "section" and key == "id"]
    readable = "<math" in text
    assert sections == ([*["equations"] * readable, *OPEN, *["equations"] * (not readable), *FOLDED])
    assert [key for key in FOLDED if text.index(f'id="{key}"') < text.index('<details class="fold"')] == []
    assert found.tags.count("script") == (9 if name == "nothing" else 10)  # the data, three.js, the programs and seven of our own
    for tag, key, value in found.attributes:
        assert key != "src" and not key.startswith("on"), (tag, key, value)
        assert key != "style", (tag, value)  # the policy forbids it
        if key == "href":
            assert value.startswith(("#", "data:,")), value
    assert len(text) < 3e6


def test_every_page_names_the_version_that_wrote_it(pages, tmp_path):
    """Study and live pages, and those without scripts, which sizing and identification write."""
    plain = page.save_section(tmp_path / "plain.html", da.robot("two_link"), figures.Section("sizing", "Sizing", ""))
    for path in (pages("two_link"), report.live("two_link", tmp_path / "live.html"), plain):
        assert re.search(rf"<footer><p>Made [^<]* UTC, dalembert {re.escape(da.__version__)}, Python ", path.read_text())


def test_names_from_files_are_only_words(pages):
    text = pages("hostile").read_text()
    assert "<script>alert" not in text and '</style>"' not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)[1])
    assert data["links"] == [f"l{HOSTILE}"]
    assert any(HOSTILE in word for word in Outline(text).words)


def test_what_cannot_be_computed_is_told(pages):
    text = pages("bare").read_text()
    assert text.count("Not for this robot") == 1 and "No simulation" in text and "no forward dynamics" in text.lower()


def test_small_arms_have_equations_and_large_ones_a_reason(pages):
    text = pages("two_link").read_text()
    assert text.count("<math") > 8 and "Coriolis matrix" in text
    assert "da.equations" in model_sections.closed_forms(da.robot("puma560")).body
    assert "trees only; <code>da.equations" in model_sections.closed_forms(da.robot("four_bar")).body
    assert "one degree of freedom" in model_sections.closed_forms(da.robot("space_arm")).body


def test_where_the_report_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = []
    assert report.study("two_link", progress=lambda k, n: done.append((k, n))) == Path("study-two_link/report.html")
    assert done == sorted(done) and done[-1] == (100, 100)
    (tmp_path / "file").write_text("")
    with pytest.raises(da.Error, match="cannot be written"):
        report.study("two_link", tmp_path / "file", progress=False)
    for wrong, words in ((3.0, "study takes a robot"), ("nonesuch", "nonesuch")):
        with pytest.raises(da.Error, match=words):
            report.study(wrong)


def test_motions_that_a_report_can_follow():
    arm = da.robot("two_link")
    own = follow(arm, da.quintic([0.0, 0.0], [1.0, -1.0], 2.0))
    assert own.time[-1] == 2.0 and own.q[-1].tolist() == [1.0, -1.0]
    fall = arm.simulate([0.0, 0.0], duration=0.5)
    close(follow(arm, fall).q[-1], fall.q[-1], 1e-15)
    for wrong in (3, da.quintic([0.0], [1.0], 2.0), arm.simulate([[0.0, 0.0]] * 2, duration=0.1)):
        with pytest.raises(da.Error):
            follow(arm, wrong)


def test_embedded_data_cannot_end_the_script():
    nasty = {"a": "</script><!--<script>\u2028"}
    text = page.embedded(nasty)
    assert "<" not in text and json.loads(text) == nasty


# --- the page in a browser --------------------------------------------------------------------------------------------------


@pytest.fixture
def visit(browser, pages):
    with browsing.visiting(browser) as go:
        yield lambda name, **options: go(pages(name), **options)


def slide(tab, t):
    tab.evaluate("t => { const s = document.getElementById('time'); s.value = t; s.dispatchEvent(new Event('input')); }", t)


def pose(tab, link):
    return np.array(tab.evaluate("i => Array.from(arm.poses(state.q).links[i])", link)).reshape(3, 4)


@pytest.mark.slow
def test_the_slider_moves_the_arm_and_the_cursors(visit):
    tab, arm = visit("rp"), da.robot("rp")
    motion = follow(arm)
    before = pixels(tab)
    for k in (40, 150):
        slide(tab, motion.time[k])
        for i in range(arm.n):
            close(pose(tab, i), arm.poses(motion.q[k])[i][:3], 1e-12)
    assert pixels(tab) != before
    moved = set(tab.eval_on_selector_all("[data-clock=motion] .cursor", "all => all.map(x => x.getAttribute('transform'))"))
    left, right = (float(x) for x in tab.eval_on_selector("svg.chart", "x => x.dataset.box").split()[:2])
    assert moved == {f"translate({left + 0.75 * (right - left):.1f} 0)"}
    assert tab.inner_text("#clock") == "2.25 s"


@pytest.mark.slow
def test_the_arm_moves_when_played(visit):
    tab = visit("two_link")
    before, still = pose(tab, 1), pixels(tab)
    tab.click("#play")
    until(tab, "state.now > first + 0.4")
    tab.click("#play")
    assert np.abs(pose(tab, 1) - before).max() > 0.01 and pixels(tab) != still
    stopped = tab.evaluate("state.now")
    drawn(tab)
    assert tab.evaluate("state.now") == stopped


@pytest.mark.slow
def test_the_mouse_turns_the_view_and_the_boxes_hide_things(visit):
    tab = visit("two_link")
    home = pixels(tab)
    box = tab.locator("#scene").bounding_box()
    tab.mouse.move(box["x"] + 60, box["y"] + 200)
    tab.mouse.down()
    tab.mouse.move(box["x"] + 180, box["y"] + 240, steps=4)
    tab.mouse.up()
    turned = pixels(tab)
    assert turned != home
    tab.click("#home")
    tab.uncheck("[data-show=com]")
    assert pixels(tab) not in (home, turned)


@pytest.mark.slow
def test_charts_answer_and_have_numbers_behind_them(visit):
    tab, arm = visit("two_link"), da.robot("two_link")
    chart = tab.locator("[data-figure=torques] svg.chart").first
    chart.scroll_into_view_if_needed()
    chart.hover()
    assert "gravity" in tab.inner_text(".tip") and "N m" in tab.inner_text(".tip")
    assert tab.evaluate("state.mode") == "hold"  # only a click takes the arm there
    chart.click()
    assert tab.evaluate("state.mode") == "play" and tab.evaluate("state.now") > 1.0
    details = tab.locator("[data-figure=torques] .numbers")
    details.locator("summary").click()
    details.locator("table").wait_for()
    assert details.locator("tbody tr").count() == 201
    with tab.expect_download() as download:
        details.locator(".csv").click()
    assert download.value.suggested_filename == "two_link-torques.csv"
    head, *rows = Path(download.value.path()).read_text().splitlines()
    assert head.endswith(',"joint2 gravity [N m]"') and len(rows) == 201
    states, motion = load_states(arm, download.value.path(), ["q", "qd", "qdd", "tau"]), follow(arm)
    for part, values in (("t", motion.time), ("q", motion.q), ("qd", motion.qd), ("qdd", motion.qdd)):
        np.testing.assert_array_equal(states[part], values)  # to the last digit
    close(states["tau"], arm.inverse_dynamics(motion.q, motion.qd, motion.qdd), 1e-14)


@pytest.mark.slow
def test_hostile_names_do_nothing_in_a_browser(visit):
    tab = visit("hostile")
    assert tab.evaluate("document.scripts.length") == 10
    assert HOSTILE in tab.inner_text("h1")
    details = tab.locator("[data-figure=torques] .numbers")
    details.locator("summary").click()
    with tab.expect_download() as download:
        details.locator(".csv").click()
    assert "\"'=j<script>" in Path(download.value.path()).read_text()  # no formula for a spreadsheet


@pytest.mark.slow
@pytest.mark.parametrize("name", sweep(["nothing", "bare"], quick=(0,)))
def test_odd_robots_show_without_errors(visit, name):
    tab = visit(name)
    slide(tab, 1.0)
    assert tab.inner_text("#clock") == "1.00 s"


def luminance(tab):
    return sum(map(int, re.findall(r"\d+", tab.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]))


@pytest.mark.slow
def test_dark_mode_and_its_button(visit):
    light, dark = (visit("two_link", color_scheme=scheme) for scheme in ("light", "dark"))
    assert luminance(light) > 600 and luminance(dark) < 150
    dark.click("#theme")
    assert luminance(dark) > 600
    light.click("#theme")
    assert luminance(light) < 150


@pytest.mark.parametrize("width", [320, 360, 768, 1920])
@pytest.mark.parametrize("name", sweep(["two_link", "hostile"], quick=()))
def test_no_width_overflows(visit, name, width):
    tab = visit(name, viewport={"width": width, "height": 800})
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.locator("svg.chart").first.bounding_box()["width"] > 240
    tab.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    assert tab.evaluate(browsing.SMALLEST) >= 12  # px


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(visit, scheme):
    tab = visit("two_link", color_scheme=scheme)
    tab.evaluate("document.querySelectorAll('details').forEach((x) => { x.open = true; })")
    drawn(tab)
    assert tab.evaluate(browsing.CONTRAST) == []


@pytest.mark.slow
def test_without_webgl_the_rest_works(browser, pages):
    context = browser.new_context(offline=True)
    context.set_default_timeout(browsing.PATIENCE)
    tab = context.new_page()
    tab.add_init_script("HTMLCanvasElement.prototype.getContext = () => null")
    tab.goto(pages("two_link").resolve().as_uri())
    assert "needs WebGL" in tab.inner_text("#view")
    slide(tab, 1.5)
    assert tab.inner_text("#clock") == "1.50 s"
    context.close()


@pytest.mark.slow
def test_a_picture_for_the_readme(browser, pages, tmp_path):
    browser.version  # noqa: B018 - skips without a browser
    code = f"import screenshot; from pathlib import Path; screenshot.picture(Path({str(pages('two_link'))!r}), Path('report.png'))"
    tools = str(Path(screenshot.__file__).parent)
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, env=os.environ | {"PYTHONPATH": tools})
    picture = (tmp_path / "report.png").read_bytes()
    assert struct.unpack(">II", picture[16:24]) == (1400, 900)
    assert 30_000 < len(picture) < 400_000
