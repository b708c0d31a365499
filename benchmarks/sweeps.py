"""Sweeps of the PUMA: beside the bare kernel, 10^9 states on two threads, and two Dask workers beside two bare processes."""

import subprocess
import sys
import time
from importlib.util import find_spec

import numpy as np
from reporting import heading, report

import dalembert as da
from dalembert.native import compile_program

OVER = {"qd": (-1.0, 1.0), "qdd": (-1.0, 1.0)}
KEPT = ["extremes", "sums", "histogram"]
BATCHES, STATES, SAMPLES = (1 << 10, 1 << 12, 1 << 14, 1 << 16), 1 << 20, 10**9
SETTING = f"OVER, KEPT, SAMPLES = {OVER!r}, {KEPT!r}, {SAMPLES}\n"
BILLION = """
import re, dalembert as da
da.set_threads(2)
found = da.robot("puma560").sweep(over=OVER, samples=SAMPLES, reduce=KEPT)
status = open("/proc/self/status").read()  # getrusage would count what the process that started this one had
print(found.seconds, int(re.search("VmHWM:[^0-9]*([0-9]+)", status)[1]) / 1024)
"""
HALF = """
import sys, dalembert as da
job = da.robot("puma560").sweep(over=OVER, samples=1000, reduce=KEPT).job
import dataclasses
job = dataclasses.replace(job, samples=SAMPLES)
job.run([0])
print("ready", flush=True)
for line in sys.stdin:
    job.run(range(int(sys.argv[1]), job.leaves, 2))
    print("done", flush=True)
"""


def figures():
    heading("sweeps of the PUMA's inverse dynamics")
    arm = da.robot("puma560")
    for kept, bar in ((KEPT[:2], 0.9), (KEPT, 0.75)):
        share, state = beside_the_kernel(arm, kept)
        words = f"sweep of the PUMA, {', '.join(kept)}"
        report(f"{words}: a state, one thread", state, "ns")
        report(f"{words}: of the rate of the bare kernel", share, "x", at_least=bar)
    seconds, memory = map(float, run(BILLION).split())
    report("10^9 states of the PUMA with histograms, two threads", seconds, "s", at_most=20)
    report("10^9 states of the PUMA with histograms: memory of the process", memory, "MB", at_most=250)
    if find_spec("distributed"):
        on_dask(arm)


def beside_the_kernel(arm, kept):
    """The rate of a sweep as a share of that of the kernel on arrays, at its best of several batches; and nanoseconds of a state.

    Time is that of the thread: what others do on the machine does not count.
    """
    kernel, found = compile_program(arm.program("inverse_dynamics")), arm.sweep(over=OVER, samples=STATES, reduce=kept)
    bare = []
    for batch in BATCHES:
        states = found.states(np.arange(batch))
        given, out = [states[name] for name in ("q", "qd", "qdd")], np.empty((batch, 6))
        bare.append((lambda given=given, out=out, batch=batch: [kernel.here(*given, out=out) for _ in range(STATES // batch)]))
    times = [[seconds(f) for f in (lambda: found.job.run(range(found.job.leaves)), *bare)] for _ in range(25)]
    swept, *others = (min(column) for column in zip(*times, strict=True))
    return min(others) / swept, swept / STATES * 1e9


def seconds(function):
    """That this thread takes."""
    start = time.thread_time()
    function()
    return time.thread_time() - start


def on_dask(arm):
    """Two workers beside two processes that do nothing but compute, in turn, so that both meet the same weather."""
    from distributed import Client, LocalCluster

    command, pipes = [sys.executable, "-c", SETTING + HALF], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    halves = [subprocess.Popen([*command, str(k)], **pipes) for k in (0, 1)]
    for half in halves:
        half.stdout.readline()

    def alone():
        start = time.perf_counter()
        for half in halves:
            half.stdin.write("go\n")
            half.stdin.flush()
        for half in halves:
            half.stdout.readline()
        return time.perf_counter() - start

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        together = lambda: arm.sweep(over=OVER, samples=SAMPLES, reduce=KEPT, cluster=client).seconds  # noqa: E731
        together()  # compiled
        bare, ours = (min(column) for column in zip(*((alone(), together()) for _ in range(4)), strict=True))
    for half in halves:
        half.communicate()
    report("10^9 states on two Dask workers", ours, "s")
    report("10^9 states on two Dask workers: of the rate of two bare processes", bare / ours, "x", at_least=0.9)


def run(code):
    """What a fresh process prints."""
    return subprocess.run([sys.executable, "-c", SETTING + code], capture_output=True, text=True, check=True).stdout
