"""The live page: what a reader does, in real browsers without a network; and every number against the library's."""

import json
import os
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import browsing
import numpy as np
import pytest
from browsing import drawn, pixels, until
from conftest import close, sweep
from test_report import HOSTILE, bare, hostile

import dalembert as da
from dalembert.studies.report import computing, scene, write
from dalembert.studies.report.charted import charted
from dalembert.studies.report.header import margin
from dalembert.studies.report.motion import follow
from dalembert.studies.report.page import own_file
from dalembert.studies.report.panels import shared, short_names
from dalembert.visuals.read import Visuals
from dalembert.visuals.shapes import Box, Mesh, Visual

pytest.importorskip("trimesh", reason="needs the study extra")

TREE = replace(da.random_robot(5, "RRPRR", (-1, 0, 1, 0, 3)), name="tree")
ROBOTS = {
    "tree": lambda: TREE,
    "placed": lambda: da.robot("rp").with_base(da.Pose.of((1, 2, 3), (0.3, 1, 2))).with_gravity((1.0, 2.0, -9.0)),
    "gripper": lambda: gripper(da.Frame("tool", "lower", da.Pose.of((0.3, 0.1, 0), (0.2, 0.1, 0)))),
    "damped": lambda: da.robot("two_link").with_friction(damping=0.4).with_armature(0.1),
    "rough": lambda: da.robot("two_link").with_friction(coulomb=1.0, static_friction=1.5, stribeck_speed=0.3),
    "rough_puma": lambda: da.robot("puma560").with_friction(coulomb=0.5, damping=0.1, load_friction=0.05),
    "stiff": lambda: da.robot("puma560").with_friction(damping=5.0),
    "coupled": lambda: (
        TREE.with_coupling({"joint5": {"joint4": -0.5, "joint1": 1.0}}, offset={"joint5": 0.2})
        .with_transmission([[9, 0, 0, 0], [0, 5, 5, 0], [0, 5, -5, 0], [0, 0, 0, 7]], rotor_inertia=1e-3)
        .with_friction(damping=0.3)
    ),
    "rough_gripper": lambda: TREE.with_coupling({"joint5": {"joint4": -0.5}}).with_friction(coulomb=0.5),
    "large": lambda: da.random_robot(1, "R" * (computing.MOST_JOINTS + 1)),
    "long": lambda: da.random_robot(1, "R" * 20),
    "hostile": hostile,
    "bare": bare,
    "nothing": lambda: da.Robot("nothing", ()),
    "flying": lambda: da.Robot(
        "arm", da.random_robot(1, "R").links, base_inertia=da.Inertia.box(1.0, (0.1, 0.2, 0.3))
    ).with_free_base(),
}


def gripper(*frames):
    """A head, and an arm with two fingers."""
    inertia = da.Inertia.from_com(1.0, (0.1, 0.02, 0), 0.02)
    chain = [("head", "base"), ("upper", "base"), ("lower", "upper"), ("left", "lower"), ("right", "lower")]
    links = [
        da.Link(name, parent, da.Joint(name), da.Pose.of((0.3, 0, 0.1), (0.4, 0, 0)), inertia=inertia) for name, parent in chain
    ]
    return da.Robot("gripper", tuple(links), frames=frames)


def robot(name):
    return ROBOTS[name]() if name in ROBOTS else da.robot(name)


def computed(name):
    """What the page of a robot computes."""
    arm = robot(name)
    motion = follow(arm)
    return computing.live(arm, motion, scene.looking(arm, motion))


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Live pages by name, each made once."""
    made, folder = {}, tmp_path_factory.mktemp("live")

    def page_of(name, everything=False):
        if (name, everything) not in made:
            made[name, everything] = da.live(robot(name), folder / f"{name}{everything}.html", everything=everything)
        return made[name, everything]

    return page_of


@pytest.fixture
def visit(browser, pages):
    with browsing.visiting(browser) as go:
        yield lambda name, everything=False, **options: go(pages(name, everything), **options)


def set_range(tab, key, value):
    """Move a slider; the value that it took."""
    tab.evaluate("([k, v]) => { const e = $(k); e.value = v; e.dispatchEvent(new Event('input')); }", [key, value])
    return float(tab.evaluate("k => $(k).value", key))


def put(tab, q, qd=None):
    tab.evaluate("([q, v]) => { state.q.set(q); state.qd.set(v); ask(); }", [list(q), list(np.zeros(len(q)) if qd is None else qd)])


# --- numbers ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "tree", "placed", "damped", "gripper", "coupled"])
def test_every_program_computes_what_the_library_computes(visit, name):
    """With any load, gravity and tilt, set by the page's own controls, at random states, to 1e-9."""
    arm, tab, rng = robot(name), visit(name), np.random.default_rng(3)
    hands = tab.evaluate("spec.hands.map((h) => h.name)")
    tab.uncheck("#stops")
    for load, tilt, field in ((0.0, 0, None), (0.4, 30, "1.62"), (0.7, -70, "0.0")):
        load = set_range(tab, "load", load * tab.evaluate("spec.load"))
        set_range(tab, "tilt", tilt)
        if field:
            tab.check(f"input[name=gravity][value='{field}']", force=True)
        which = int(rng.integers(len(hands)))
        if len(hands) > 1:
            tab.select_option("#which", str(which))
        other = arm.without_friction().with_gravity(tab.evaluate("arm.world.field"))
        other = other.with_payload(load, link=hands[which]) if load else other
        q, qd, x = rng.uniform(-1, 1, (3, arm.n))
        given = [list(a) for a in (q, qd, x)]
        found = tab.evaluate(
            """([q, v, x]) => { const all = [arm.world.bodies, arm.world.gravity], h = arm.hand(q);
              return [arm.torques(q, v, x), programs.forward_dynamics(q, v, x, ...all), arm.massMatrix(q), h.pose, h.J, arm.mobility(q)].map((y) => Array.from(y)); }""",
            given,
        )
        J = arm.jacobian(q, hands[which], frame="world_aligned")
        expected = [
            other.inverse_dynamics(q, qd, x),
            other.forward_dynamics(q, qd, x),
            other.mass_matrix(q).ravel(),
            arm.pose(q, hands[which])[:3].ravel(),
            J.ravel(),
            (J[3:] @ np.linalg.solve(other.mass_matrix(q), J[3:].T)).ravel(),
        ]
        for y, wanted in zip(found, expected, strict=True):
            close(y, wanted, 1e-9, max(1e-3, np.abs(wanted).max()))
        energy = tab.evaluate("([q, v]) => arm.energy({ q, qd: v })", given[:2])
        close([energy["kinetic"], energy["potential"]], [other.kinetic_energy(q, qd), other.potential_energy(q)], 1e-9, 1.0)
        link, point, force = int(rng.integers(arm.n)), rng.uniform(-0.3, 0.3, 3), rng.uniform(-50, 50, 3)
        felt = tab.evaluate(
            "([q, link, local, force]) => Array.from(arm.pushed(q, { link, local, force }))",
            [given[0], link, list(point), list(force)],
        )
        close(felt, arm.jacobian(q, arm.link_names[link], "world_aligned", point=point)[3:].T @ force, 1e-9, 1.0)


FALLS = ["panda", "damped", "rough", "placed", "tree", "rough_puma", "stiff", "coupled", "rough_gripper"]


@pytest.mark.filterwarnings("ignore::dalembert.errors.LimitWarning")
@pytest.mark.parametrize("name", sweep(FALLS, quick=(2,)))
def test_a_fall_is_that_of_simulate(visit, name):
    """One second, as the page's own loop steps; with friction as modelled; again with a load on the Moon."""
    arm, tab = robot(name), visit(name)
    tab.uncheck("#stops")
    hand, step = tab.evaluate("spec.hands[0].name"), tab.evaluate("spec.step")
    for load, field in ((0.0, None), (0.5, "1.62")):
        load = set_range(tab, "load", load * tab.evaluate("spec.load"))
        if field:
            tab.check(f"input[name=gravity][value='{field}']", force=True)
        q0 = follow(arm).q[100]
        put(tab, q0)
        fall = "([h, k]) => { const s = { q: state.q.slice(), qd: state.qd.slice(), t: 0 }, e = arm.energy(s).total; for (let i = 0; i < k; i += 1) arm.step(s, h, zeros(), null); return [Array.from(s.q), Array.from(s.qd), arm.energy(s).total - e]; }"
        q, qd, drift = tab.evaluate(fall, [step, round(1 / step)])
        other = arm.with_gravity(tab.evaluate("arm.world.field"))
        other = other.with_payload(load, link=hand) if load else other
        integrator = "moreau" if tab.evaluate("programs.sticking_step !== undefined") else "rk4"
        wanted = other.simulate(q0, duration=1.0, step=step, integrator=integrator, progress=False)
        close(q, wanted.q[-1], 1e-9, 1.0)
        close(qd, wanted.qd[-1], 1e-9, max(1.0, np.abs(wanted.qd[-1]).max()))
        if not any(link.joint.rubs for link in arm.links):
            assert abs(drift) < 1e-6 * max(wanted.kinetic_energy.max(), 1.0)
        else:
            close(-drift, wanted.dissipated[-1], 1e-3)


def test_friction_holds_an_arm_to_the_last_bit(visit):
    """A joint that friction can hold does not creep, as it would with the sign of its speed."""
    tab = visit("rough")
    q0 = [0.1, -0.7]
    tab.check("input[name=gravity][value='0.0']", force=True)
    script = "(q) => { const s = { q: Float64Array.from(q), qd: zeros(), t: 0 }; for (let k = 0; k < 300; k += 1) arm.step(s, spec.step, Float64Array.from([0.9, -0.8]), null); return Array.from(s.q); }"
    assert tab.evaluate(script, q0) == q0


@pytest.mark.slow
def test_what_is_shown_is_what_is_computed(visit):
    """Sliders by keyboard; torques beside them; playing the motion drives the same panels."""
    arm, tab = da.robot("panda"), visit("panda")
    before = tab.inner_text("#effort1"), tab.inner_text("#matrix")
    tab.focus("#q1")
    for _ in range(4):
        tab.keyboard.press("PageUp")
    drawn(tab)
    assert tab.inner_text("#effort1") != before[0] and tab.inner_text("#matrix") != before[1]
    q = np.array(tab.evaluate("Array.from(state.q)"))
    g = arm.gravity_force(q)
    close(tab.evaluate("live.shown.needed"), g, 1e-9)
    assert tab.inner_text("#effort1").replace("−", "-") == f"{g[1]:.1f} N m"
    motion = follow(arm)
    tab.evaluate("t => setTime(t)", float(motion.time[60]))
    drawn(tab)
    close(tab.evaluate("live.shown.motor"), arm.inverse_dynamics(motion.q[60], motion.qd[60], motion.qdd[60]), 1e-9)
    assert tab.evaluate("$('play').getAttribute('aria-pressed')") == "true"


@pytest.mark.slow
def test_panels_of_coupled_joints_have_the_independent_ones(visit):
    arm, tab = robot("coupled"), visit("coupled")
    q = np.array([0.3, -0.4, 0.1, 0.7])
    put(tab, q)
    drawn(tab)
    M, J = arm.mass_matrix(q), arm.jacobian(q, tab.evaluate("spec.hands[0].name"), frame="world_aligned")[3:]
    shares = np.abs(M) / np.sqrt(np.outer(np.diag(M), np.diag(M)))
    shown = tab.evaluate("[...document.querySelectorAll('#matrix td')].map((x) => parseInt(x.style.getPropertyValue('--share')))")
    close(shown, (80 * shares).ravel(), 1e-2)
    sizes = np.linalg.svd(J, compute_uv=False)
    ratio = sizes[tab.evaluate("spec.hands[0].rank") - 1] / sizes[0]
    assert abs(int(tab.inner_text("#dexterity").split()[0]) - 100 * ratio) < 1


@pytest.mark.slow
def test_prismatic_joints_read_millimetres_and_newtons(visit):
    arm, tab = robot("placed"), visit("placed")
    q = [0.3, 0.8125]
    put(tab, q)
    drawn(tab)
    assert [tab.inner_text(f"#place{i}") for i in range(2)] == ["17.2°", "812.5 mm"]
    units = zip(arm.gravity_force(q), ("N m", "N"), strict=True)
    assert [tab.inner_text(f"#effort{i}").replace("−", "-") for i in range(2)] == [
        f"{x:.{2 if abs(x) < 10 else 1}f} {u}" for x, u in units
    ]
    assert tab.inner_text("section:has(#matrix) .what").startswith("kg m², kg m, kg.")


@pytest.mark.parametrize("name", sweep(["rough", "rough_puma"], quick=(0,)))
def test_a_motion_has_the_torques_of_its_friction(visit, name):
    """Levels that depend on speed and on load are in them; and are not without friction."""
    arm, tab = robot(name), visit(name)
    motion = follow(arm)
    state = motion.q[70], motion.qd[70], motion.qdd[70]
    for choice, other in (("model", arm), ("none", arm.without_friction())):
        tab.check(f"input[name=friction][value={choice}]", force=True)
        tab.evaluate("t => setTime(t)", float(motion.time[70]))
        drawn(tab)
        close(tab.evaluate("live.shown.motor"), other.inverse_dynamics(*state), 1e-9)


@pytest.mark.slow
def test_torques_beyond_a_limit_stand_out(visit):
    tab = visit("panda")
    set_range(tab, "load", 5)
    tab.evaluate("spec.efforts[1] = 1; ask()")
    drawn(tab)
    assert tab.evaluate("$('row1').classList.contains('over')") and not tab.evaluate("$('row0').classList.contains('over')")


# --- what a reader does -------------------------------------------------------------------------------------------------


def place(tab):
    return tab.evaluate("stage.screen(arm.hand(state.q).at)")


ON_A_LINK = """() => { const { links } = arm.poses(state.q), [x, y] = stage.screen(placed(links[1], spec.middles[1]));
  for (let r = 0; r < 80; r += 4) for (let a = 0; a < 6.3; a += 0.3) {
    const at = { clientX: x + r * Math.cos(a), clientY: y + r * Math.sin(a) }, hit = over(at);
    if (hit && hit.link >= 1) return [at.clientX, at.clientY];
  } }"""


@pytest.mark.slow
def test_the_mouse_takes_the_hand_and_pushes_links(visit):
    tab = visit("puma560")
    x, y = place(tab)
    before = tab.inner_text("#hand-at")
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x - 40, y + 50, steps=6)
    drawn(tab)
    there = place(tab)
    assert np.hypot(there[0] - x + 40, there[1] - y - 50) < 1.5  # px: the hand is under the mouse
    tab.mouse.up()
    assert tab.inner_text("#hand-at") != before
    tab.click("#reset")
    drawn(tab)
    held = tab.evaluate("live.shown.motor")
    middle = tab.evaluate(ON_A_LINK)
    tab.mouse.move(*middle)
    tab.mouse.down()
    tab.mouse.move(middle[0] + 60, middle[1] - 30, steps=4)
    drawn(tab)
    pushed, force, told = tab.evaluate("live.shown.motor"), tab.evaluate("state.push.force"), tab.inner_text("#push")
    assert np.abs(np.subtract(pushed, held)).max() > 1 and told == f"{np.linalg.norm(force):.0f} N"
    tab.mouse.up()
    drawn(tab)
    close(tab.evaluate("live.shown.motor"), held, 1e-9)
    assert not tab.is_visible("#push")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["two_link", "puma560", "stanford"])
def test_the_hand_keeps_its_orientation_where_it_can(visit, name):
    """If a planar arm did, its hand would hardly move."""
    tab = visit(name)
    assert tab.is_checked("#keep") == (name != "two_link")
    error = tab.evaluate(
        """() => { const { at, pose } = arm.hand(state.q), to = at.map((x, k) => x + [-0.05, 0.02, 0][k] * spec.radius);
          return arm.reach(state.q, to, $("keep").checked ? pose.slice() : null, 100).error / spec.radius; }"""
    )
    assert error < 1e-6


COUNTED = """() => {
  let calls = {};
  for (const [name, program] of Object.entries(programs)) {
    programs[name] = (...x) => { calls[name] = (calls[name] || 0) + 1; return program(...x); };
  }
  const count = (part) => { calls = {}; part(); return calls; };
  setMode("drop");
  advance(0);
  return [16, 32].map((stamp) => [count(() => advance(stamp)), count(() => show(stamp))]);
}"""


@pytest.mark.slow
def test_the_script_of_a_frame_is_short(visit):
    """Falling takes the four stages of each step and one sample a frame, all panels together a few programs."""
    tab = visit("panda")
    assert tab.evaluate("spec.step") == 1e-3
    for falling, showing in tab.evaluate(COUNTED):
        assert falling["forward_dynamics"] in (60, 64, 68) and falling["friction"] == falling["forward_dynamics"]
        assert falling.get("mass_matrix", 0) <= 1 and falling.get("hand0", 0) <= 2
        assert sum(showing.values()) <= 8


def test_a_dropped_arm_falls_and_holds_again(visit):
    tab = visit("two_link")
    before, still = tab.evaluate("Array.from(state.q)"), pixels(tab)
    tab.click("[data-mode=drop]")
    until(tab, "state.t > 0.3")
    drawn(tab)
    assert tab.inner_text("#effort0") == "0 N m" and tab.inner_text("#status") == "Motors are off: the arm falls."
    tab.click("[data-mode=hold]")
    drawn(tab)
    assert np.abs(np.subtract(tab.evaluate("Array.from(state.q)"), before)).max() > 0.01 and pixels(tab) != still
    assert not any(tab.evaluate("Array.from(state.qd)")) and tab.evaluate("$('line-kinetic').getAttribute('d').length") > 20
    stopped = tab.evaluate("[state.t, live.frames]")
    tab.wait_for_timeout(200)
    assert tab.evaluate("[state.t, live.frames]") == stopped  # nothing is computed while nothing moves
    tab.click("#reset")
    close(tab.evaluate("Array.from(state.q)"), follow(da.robot("two_link")).q[100], 1e-15)
    middle = float(follow(da.robot("two_link")).time[100])
    assert tab.evaluate("Array.from(state.q)") == before and tab.inner_text("#clock") == f"{middle:.2f} s"  # as when it opened


@pytest.mark.slow
def test_a_floating_arm_carries_its_weight(visit):
    tab = visit("puma560")
    found = tab.evaluate(
        "() => { setMode('float'); const s = { q: state.q.slice(), qd: zeros(), t: 0 }, q = s.q.slice(); for (let k = 0; k < 500; k += 1) arm.step(s, spec.step, motors(), null); return Math.max(...s.q.map((x, i) => Math.abs(x - q[i]))); }"
    )
    assert found < 1e-9
    drawn(tab)
    close(tab.evaluate("live.shown.motor"), tab.evaluate("live.shown.needed"), 1e-6)


@pytest.mark.slow
def test_stops_keep_the_joints_and_the_energy(visit):
    tab = visit("panda")
    low, high = np.array(tab.evaluate("spec.limits")).T
    q, worst = tab.evaluate(
        "() => { const s = { q: state.q.slice(), qd: zeros(), t: 0 }, e = arm.energy(s).total; arm.world.rubs = false; let worst = 0, q = []; for (let k = 0; k < 4000; k += 1) { arm.step(s, spec.step, zeros(), null); worst = Math.max(worst, Math.abs(arm.energy(s).total - e)); q.push(...s.q); } return [q, worst]; }"
    )
    q = np.reshape(q, (-1, 7))
    assert (q > high + 1e-3).any() or (q < low - 1e-3).any()  # it does meet them
    assert (q < high + 1.0).all() and (q > low - 1.0).all() and worst < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["panda", "puma560", "tree"])
def test_the_hand_reaches_where_it_can_be(visit, name):
    """Poses of the arm itself, from positions nearby; within the limits."""
    arm, tab, rng = robot(name), visit(name), np.random.default_rng(7)
    low, high = np.array(tab.evaluate("spec.ranges")).T
    errors = []
    for _ in range(20):
        start = rng.uniform(0.7 * low + 0.3 * high, 0.3 * low + 0.7 * high)
        goal = np.clip(start + rng.uniform(-0.3, 0.3, arm.n), low, high)
        script = "([a, b]) => { const { pose, at } = arm.hand(b), q = Float64Array.from(a), r = arm.reach(q, at, pose.slice(), 100); return [r.error, Array.from(q)]; }"
        error, q = tab.evaluate(script, [list(start), list(goal)])
        assert (np.array(q) >= low - 1e-12).all() and (np.array(q) <= high + 1e-12).all()
        errors.append(error)
    assert np.median(errors) < 1e-6


def test_keys_do_all_of_it(visit):
    tab = visit("two_link")
    tab.uncheck("#keep")
    tab.focus("#scene")
    before = tab.evaluate("arm.hand(state.q).at")
    for _ in range(3):
        tab.keyboard.press("a")
    assert tab.evaluate("arm.hand(state.q).at") != before and "hand is at" in tab.inner_text("#status")
    held = tab.evaluate("(show(1), live.shown.motor)")
    tab.keyboard.down("i")
    drawn(tab)
    assert "Pushing link2" in tab.inner_text("#status")
    assert np.abs(np.subtract(tab.evaluate("live.shown.motor"), held)).max() > 0.1
    tab.keyboard.up("i")
    drawn(tab)
    close(tab.evaluate("live.shown.motor"), held, 1e-9)
    tab.keyboard.press("[")
    assert "link1" in tab.inner_text("#status")
    for key, mode in ((" ", "drop"), (" ", "hold"), ("g", "float"), ("p", "play"), ("h", "hold")):
        tab.keyboard.press(key)
        assert tab.evaluate("state.mode") == mode
    home = pixels(tab)
    tab.keyboard.press("ArrowLeft")
    assert pixels(tab) != home
    tab.keyboard.press("?")
    assert tab.is_visible("#keys") and "push it along x" in tab.inner_text("#keys")
    tab.keyboard.press("Escape")
    assert not tab.is_visible("#keys")
    tab.click("#help")
    tab.click("#keys button")
    assert not tab.is_visible("#keys")


@pytest.mark.slow
def test_everything_can_be_reached_and_has_a_name(visit):
    """By the tab key, and for a screen reader."""
    tab = visit("panda")
    tab.evaluate("document.body.focus()")
    reached = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.id || document.activeElement.dataset.mode || document.activeElement.name"))
    assert reached >= {
        "scene",
        "play",
        "hold",
        "float",
        "drop",
        "reset",
        "speed",
        "time",
        "load",
        "gravity",
        "tilt",
        "friction",
        "keep",
        "stops",
        "help",
        "theme",
    }
    assert reached >= {f"q{i}" for i in range(7)}
    nameless = tab.evaluate(
        """() => [...document.querySelectorAll("button, input, select, canvas, svg[role=img]")].filter((e) =>
          !(e.getAttribute("aria-label") || e.textContent.trim() || e.labels?.length)).map((e) => e.outerHTML.slice(0, 80))"""
    )
    assert nameless == []


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_enough_contrast(visit, scheme):
    assert visit("panda", color_scheme=scheme).evaluate(browsing.CONTRAST) == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [360, 768, 1300])
def test_no_width_overflows_and_the_view_stays(visit, width):
    tab = visit("panda", viewport={"width": width, "height": 800}, has_touch=width < 500)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.evaluate("$('speed').getBoundingClientRect().right <= document.querySelector('.dock').getBoundingClientRect().right")
    covered = tab.evaluate(
        "() => { const dock = document.querySelector('.dock').getBoundingClientRect(), view = $('view').getBoundingClientRect(); return dock.bottom <= view.bottom && dock.top >= view.top; }"
    )
    assert covered  # the dock is inside the view: it covers no text
    if width == 360:
        tab.evaluate("window.scrollTo(0, 700)")
        drawn(tab)
        assert tab.evaluate("$('view').getBoundingClientRect().top") == 0
    assert tab.evaluate(browsing.SMALLEST) >= 12  # px


@pytest.mark.slow
def test_a_long_list_of_controls_does_not_stretch_the_view(visit):
    tab = visit("bare")
    tab.evaluate("document.querySelector('.controls').style.minHeight = '2000px'")
    assert tab.evaluate("$('view').getBoundingClientRect().height <= 0.78 * innerHeight + 1")
    tab.evaluate("scrollTo(0, 900)")
    assert tab.evaluate("document.querySelector('.dock').getBoundingClientRect().bottom <= innerHeight")


@pytest.mark.slow
def test_reduced_motion(visit):
    tab = visit("two_link", reduced_motion="reduce")
    assert tab.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"
    assert tab.evaluate("state.playing") is False


# --- what is not live, and who else ---------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("nothing", "no joints"),
        ("large", "too large for a page"),
        ("bare", "No falling"),
    ],
)
def test_what_is_not_live_is_told(visit, name, words):
    tab = visit(name)
    assert words in tab.inner_text(".controls")
    assert tab.locator("[data-mode]").count() == (3 if name == "bare" else 0)
    tab.evaluate("setMode('drop')")
    drawn(tab)
    assert tab.evaluate("state.mode") == "hold" and tab.inner_text("#status") not in ("", "Motors are off: the arm falls.")
    tab.evaluate("setTime(1.0)")
    assert tab.inner_text("#clock") == "1.00 s"


@pytest.mark.slow
def test_a_step_that_is_too_long_is_told(visit, pages, monkeypatch):
    """Friction whose step does not fit into a page: falls are without it, and the page says so."""
    monkeypatch.setattr(computing, "LARGE", 10)
    ROBOTS["heavy"] = lambda: robot("rough")
    tab = visit("heavy")
    assert "falls are without friction" in tab.inner_text(".controls")
    tab.click("[data-mode=drop]")
    assert tab.evaluate("state.mode") == "hold" and "Choose friction: none" in tab.inner_text("#status")
    tab.check("input[name=friction][value=none]", force=True)
    tab.click("[data-mode=drop]")
    assert tab.evaluate("state.mode") == "drop"
    tab.check("input[name=friction][value=model]", force=True)
    assert tab.evaluate("state.mode") == "hold"


@pytest.mark.slow
@pytest.mark.parametrize("angle", [1.2, 1.56])
def test_a_free_body_begins_anew_at_a_right_angle(visit, angle):
    """Three angles stand for its rotation; they fail where the second is a right angle."""
    tab = visit("flying")
    status, mode, time = tab.evaluate(
        """(q) => { setMode("drop"); state.q.set(q); advance(0); advance(50);
          return [$("status").textContent, state.mode, state.t]; }""",
        [0.1, angle, 0.2, 0, 0, 0, 0.3],
    )
    if angle > 1.5:
        assert mode == "hold" and status.startswith("A ball or free joint reached a right angle about y")
    else:
        assert mode == "drop" and status == "Motors are off: the arm falls."
        assert time == pytest.approx(0.05, abs=tab.evaluate("spec.step"))


def test_a_free_body_is_where_its_angles_say():
    free = robot("flying")
    q = free.integrate(free.neutral(), np.linspace(0, 1, 9)[:, None] * [0.5, -0.8, 0.3, 1.0, 0.2, -0.4, 0.7])
    zero = np.zeros((9, free.n))
    motion = follow(free)._replace(time=np.linspace(0, 1, 9), q=q, qd=zero, qdd=zero)
    shown, moved = charted(free, motion)
    assert shown.n == shown.nq == 7
    close(shown.pose(moved.q), free.pose(q), 1e-14)


def test_which_falls_need_time_stepping():
    plain = da.robot("two_link")
    assert not computing.sticks(plain, 0.0) and not computing.sticks(plain.with_friction(damping=1.0), 500.0)
    assert computing.sticks(plain.with_friction(damping=1.0), 5000.0) and computing.sticks(plain.with_friction(coulomb=0.1), 0.0)


@pytest.mark.slow
def test_a_page_may_have_every_formulation(visit):
    """As WebAssembly, which its policy then allows: each is chosen, and agrees."""
    tab = visit("two_link", everything=True)
    methods = tab.evaluate("spec.methods")
    for quantity in ("inverse_dynamics", "forward_dynamics"):
        assert set(methods[quantity]) == set(da.methods(quantity))
        for method in methods[quantity]:
            tab.click(f"[data-quantity={quantity}][data-method={method}]")
            assert tab.evaluate("live.formulation.apart") < 1e-10
            assert method in tab.inner_text(f"#told-{quantity}")
    drawn(tab)
    close(tab.evaluate("live.shown.needed"), da.robot("two_link").gravity_force(tab.evaluate("Array.from(state.q)")), 1e-9)


@pytest.mark.slow
def test_large_programs_run_as_webassembly():
    assert computed("long").wasm and not computed("tree").wasm


def test_the_policy_is_strict(pages):
    plain, every = (pages("two_link", everything).read_text() for everything in (False, True))
    assert "'wasm-unsafe-eval'" not in plain and "'wasm-unsafe-eval'" in every
    for text in (plain, every):
        assert "unsafe-inline" not in text and "'unsafe-eval'" not in text and "default-src 'none'" in text


@pytest.mark.slow
def test_hostile_names_are_only_words(visit):
    tab = visit("hostile")
    assert HOSTILE in tab.inner_text("h1")
    tab.focus("#scene")
    tab.keyboard.press("]")
    assert HOSTILE in tab.inner_text("#status")


@pytest.mark.slow
def test_a_notebook_shows_the_page(pages, browser):
    """In a frame that may run scripts, and nothing else."""
    shown = pages("two_link")._repr_html_()
    assert 'sandbox="allow-scripts allow-downloads"' in shown and pages("two_link").name.endswith(".html")
    tab = browser.new_page()
    tab.set_default_timeout(browsing.PATIENCE)
    tab.set_content(f"<html><body>{shown}</body></html>")
    frame = tab.frames[1]
    frame.wait_for_selector("html[data-ready]", state="attached")
    frame.click("[data-mode=float]")
    assert frame.evaluate("state.mode") == "float"
    tab.close()


def test_short_names_can_be_told_apart():
    assert shared(["a_b_1", "a_b_2"]) == 4 and shared(["x1", "y1"]) == 0
    assert short_names(["arm_joint_1", "arm_joint_2"]) == ["joint_1", "joint_2"]
    fingers = [f"{side}_gripper_{finger}_finger_joint" for side in "rl" for finger in "rl"]
    short = short_names([*fingers, "RShoulderPitch_joint"])
    assert len(set(short)) == 5 and max(map(len, short)) <= 14 and short[-1] == "RShoulderPitch"
    assert short_names(same := ["a" * 40 + "x", "a" * 40 + "y"]) == same  # rather long than the same


def test_hands():
    """Arms come before heads, and a gripper is one hand; without a frame that says so, fingers are two."""

    def names(robot):
        return [robot.link_names[i] for i, _ in scene.hands(robot)]

    at = da.Pose.of((0.1, 0, 0))
    assert names(gripper()) == names(gripper(da.Frame("camera", "lower", at))) == ["left", "right", "head"]
    one = gripper(da.Frame("camera", "lower", da.Pose.of((9, 0, 0))), da.Frame("gripper", "lower", at))
    assert names(one) == ["lower", "head"] and scene.hands(one)[0][1] == at
    rod = da.Inertia.from_com(1.0, (0, 0, 0), 0.01)
    links = [da.Link("palm", "base", da.Joint("roll"), inertia=rod), da.Link("moving_jaw", "palm", da.Joint("jaw"), inertia=rod)]
    picker = da.Robot("picker", tuple(links), frames=(da.Frame("tcp", "palm", at),))
    assert names(picker) == ["palm"] and scene.hands(picker)[0][1] == at
    assert names(da.Robot("picker", tuple(links))) == ["palm"]  # without a frame: its own


def test_margins():
    panda = da.robot("panda")
    tau = np.zeros((3, 7))
    tau[1, 1] = -panda.links[1].joint.effort_limit / 4
    motion = follow(panda)
    assert margin(panda, motion, tau) == (0.75, "panda_joint2")
    assert margin(panda, motion._replace(limits=np.array([[-43.5], [50.0]]) * np.ones(7)), tau) == (0.5, "panda_joint2")


def test_where_the_page_goes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert da.live("two_link").name == "live-two_link.html"
    for wrong in (3.0, None):
        with pytest.raises(da.Error, match="live takes a robot"):
            da.live(wrong)


@pytest.mark.slow
def test_the_size_and_the_paper(browser, tmp_path):
    """The report of the PUMA is less than 1.2 MB, and A4 when it is printed, with everything that is folded."""
    path = da.study("puma560", tmp_path, progress=False)
    assert path.stat().st_size < 1_200_000
    tab = browser.new_page()
    tab.set_default_timeout(browsing.PATIENCE)
    tab.goto(path.resolve().as_uri())
    tab.wait_for_selector("html[data-ready]", state="attached")
    drawn(tab)
    text = tab.pdf(prefer_css_page_size=True)
    box = re.search(rb"/MediaBox\s*\[\s*0\s+0\s+([\d.]+)\s+([\d.]+)", text)
    close([float(box[1]), float(box[2])], [595.0, 842.0], 2e-3)
    tab.emulate_media(media="print")
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator("details:not(.numbers):not([open])").count() == 0
    assert tab.locator("[data-figure=mass-matrix] svg.chart").last.is_visible()
    assert not tab.is_visible(".dock") and not tab.is_visible("nav")
    tab.close()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::dalembert.errors.LimitWarning")
def test_firefox(pages):
    """The same in Firefox, which needs a screen for WebGL, if a virtual one, and puppeteer-core to be driven."""
    tools = {"firefox-esr": browsing.firefox(), "xvfb-run": shutil.which("xvfb-run"), "node": shutil.which("node")}
    missing = [name for name, there in tools.items() if not there]
    assert not (os.environ.get("CI") and missing), f"CI must install {missing}: see .ci/run"
    if missing or not browsing.PUPPETEER.exists():
        pytest.skip(f"needs {', '.join(missing) or 'puppeteer-core: make build/npm/node_modules/puppeteer-core'}")
    arm, (q, qd, x) = da.robot("puma560"), np.random.default_rng(0).uniform(-1, 1, (3, 6))
    script, state = Path(__file__).with_name("firefox.mjs"), json.dumps({"q": list(q), "qd": list(qd), "x": list(x)})
    command = ["xvfb-run", "-a", "-s", "-screen 0 1400x1000x24", "node", script, browsing.PUPPETEER.parent, tools["firefox-esr"]]
    done = subprocess.run([*map(str, command), str(pages("puma560").resolve()), state], capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    wanted = [arm.inverse_dynamics(q, qd, x), arm.forward_dynamics(q, qd, x), arm.mass_matrix(q).ravel()]
    for y, expected in zip(found["numbers"], wanted, strict=True):
        close(y, expected, 1e-9)
    close(found["fall"], arm.simulate(q, duration=1.0, step=1e-3, integrator="rk4", progress=False).q[-1], 1e-9, 1.0)
    assert found["before"] != found["after"] and found["modes"] == ["drop", "hold"]
    assert np.hypot(found["moved"][0] + 30, found["moved"][1] - 30) < 1.5
    assert found["log"] == []


def test_programs_of_a_page_run_in_node(tmp_path):
    """The script alone, without a browser: torques and a fall of the damped arm."""
    if not shutil.which("node"):
        pytest.skip("node is not installed")
    arm = robot("damped")
    made = computed("damped")
    (tmp_path / "mechanics.js").write_text(
        made.script
        + "\n"
        + own_file("mechanics.js")
        + f"\nconst spec = {json.dumps(made.data)};\nconst arm = mechanics(spec, programs); arm.weigh(); arm.world.stops = false;\nconst s = {{ q: Float64Array.from([0.3, -0.2]), qd: new Float64Array(2), t: 0 }};\nfor (let k = 0; k < 100; k += 1) arm.step(s, spec.step, new Float64Array(2), null);\nconsole.log(JSON.stringify(Array.from(s.q)));\n"
    )
    done = subprocess.run(["node", "mechanics.js"], cwd=tmp_path, capture_output=True, text=True, check=True)
    close(json.loads(done.stdout), arm.simulate([0.3, -0.2], duration=0.1, step=1e-3, progress=False).q[-1], 1e-12, 1.0)


@pytest.mark.slow
def test_a_robot_may_look_like_itself(browser, tmp_path, monkeypatch):
    """Meshes in links' frames stand for our shapes, and can be pushed; where there is none, ours stay."""
    corners = 0.4 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]]) - 0.2
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    mesh = Mesh(corners, faces, np.array([0, 0, 1, 1]), (None, (1.0, 0.0, 0.0)))
    place, green = da.Pose.identity(), (0.0, 1.0, 0.0)
    reasons = [f"link {k}: {HOSTILE} is missing" for k in range(5)]
    looks = Visuals(
        (Visual(1, place, mesh, None), Visual(-1, place, Box((0.1, 0.2, 0.3)), green)), tuple((0, why) for why in reasons)
    )
    monkeypatch.setattr(write, "_looks", lambda robot: looks)
    path = da.live("two_link", tmp_path / "looks.html")
    with browsing.visiting(browser) as go:
        tab = go(path)
        own = pixels(tab)
        x, y = tab.evaluate("stage.screen(placed(arm.poses(state.q).links[1], [-0.12, -0.12, -0.12]))")
        assert tab.evaluate("([x, y]) => stage.pick({ clientX: x, clientY: y }).link", [x, y]) == 1
        tab.uncheck("[data-show=skin]")
        assert pixels(tab) != own and not tab.is_checked("[data-show=com]")
        assert f"Not drawn: {reasons[0]}" in tab.inner_text(".controls") and "And 2 more" in tab.inner_text(".controls")
