"""The NumPy path where Python has less than on Linux: what Windows or macOS lacks is taken away, then a day's work is done."""

import pytest
from conftest import run, sweep

# what each system's Python does not have
WINDOWS = """
modules = "fcntl grp pwd resource syslog termios tty pty readline posix_ipc _posixshmem _curses".split()
names = {
    "os": '''fork forkpty register_at_fork getuid geteuid getgid getegid getgroups getpgid getpgrp getsid setsid setuid setgid chown lchown
        fchown fchmod lchmod chroot killpg mkfifo mknod nice openpty pipe2 posix_fallocate posix_fadvise posix_spawn pread pwrite preadv
        pwritev readv writev sched_getaffinity sched_setaffinity sched_yield sendfile statvfs fstatvfs sync sysconf confstr uname wait
        wait3 wait4 waitid getloadavg getrandom memfd_create eventfd copy_file_range splice getxattr setxattr ctermid tcgetpgrp
        O_NOFOLLOW O_NONBLOCK O_CLOEXEC O_DIRECTORY O_SYNC O_NOCTTY O_TMPFILE O_PATH WNOHANG RTLD_NOW RTLD_GLOBAL''',
    "signal": '''SIGPIPE SIGHUP SIGALRM SIGUSR1 SIGUSR2 SIGCHLD SIGQUIT SIGKILL SIGSTOP SIGTSTP SIGWINCH alarm setitimer getitimer pause
        pthread_kill pthread_sigmask sigwait siginterrupt''',
    "time": "tzset pthread_getcpuclockid clock_gettime clock_settime",
    "select": "poll epoll",
}
"""
MACOS = """
modules = ["_posixshmem", "spwd"]
names = {
    "os": '''sched_getaffinity sched_setaffinity memfd_create eventfd copy_file_range splice pipe2 getrandom getxattr setxattr
        posix_fadvise posix_fallocate O_TMPFILE O_PATH O_NOATIME''',
    "select": "epoll",
}
"""
TAKE_AWAY = """
import importlib, subprocess, sys
import numpy, rich.console, typer  # these go by the name of the system, which stays what it is

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in modules:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Finder())
for name in modules:
    sys.modules.pop(name, None)
for module, gone in names.items():
    found = importlib.import_module(module)
    for name in gone.split():
        if hasattr(found, name):
            delattr(found, name)
"""
NO_LLVM = "import sys; sys.modules['llvmlite'] = sys.modules['llvmlite.binding'] = None\n"
WORK = """
import pkgutil, tempfile
from pathlib import Path
import numpy as np
import dalembert as da

backend = {backend!r}
arm = da.robot("puma560")
q, qd, qdd = np.random.default_rng(0).uniform(-2, 2, (3, 5, 6))
tau = arm.inverse_dynamics(q, qd, qdd, backend=backend)
assert np.allclose(arm.forward_dynamics(q, qd, tau, backend=backend), qdd)
assert arm.compile("mass_matrix", backend=backend).backend == "numpy"
assert da.cache.info()["entries"] >= 0 and da.get_threads() >= 1
path = da.robot("two_link").simulate([0.1, 0.2], [0, 0], 0.02, step=0.01, backend=backend)
with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    arm.save(folder / "arm.toml")
    assert np.allclose(da.load(folder / "arm.toml").inverse_dynamics(q, qd, qdd, backend=backend), tau)
    path.to_csv(folder / "path.csv")
    path.to_npz(folder / "path.npz")
    for name in ("path.csv", "path.npz"):
        assert np.allclose(da.Trajectory.load(folder / name, path.robot).q, path.q)
    arm.generate("c").save(folder)
    assert any(file.suffix == ".c" for file in folder.iterdir())
    for module in pkgutil.walk_packages(da.__path__, "dalembert."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    from dalembert.cli import main
    assert main(["info", "puma560"]) == 0
    assert main(["check", str(folder / "arm.toml")]) == 1  # its inertias are the paper's
    (folder / "states.csv").write_text("0.1,0.2,0,0,0,0\\n")
    assert main(["inverse", "two_link", str(folder / "states.csv"), "-o", str(folder / "out.csv")]) == 0
    assert (folder / "out.csv").stat().st_size > 10
print("done")
"""


@pytest.mark.parametrize("system", sweep(["windows", "macos"], quick=(0,)))
@pytest.mark.parametrize("engine", sweep(["numpy", "no llvmlite"], quick=(1,)))
def test_a_day_of_work(system, engine):
    start = (WINDOWS if system == "windows" else MACOS) + TAKE_AWAY
    work = WORK.format(backend="numpy") if engine == "numpy" else NO_LLVM + WORK.format(backend="auto")
    out, _ = run(start + work)
    assert out.strip().endswith("done")
