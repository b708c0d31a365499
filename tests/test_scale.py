"""Robots and kernels on dask threads, processes, a LocalCluster, and through xarray."""

import numpy as np
import pytest
from conftest import close, sweep

import dalembert as da

ARM = da.robot("puma560")
STATES = np.random.default_rng(0).uniform(-1, 1, (3, 120, 6))
EXPECTED = ARM.inverse_dynamics(*STATES, backend="numpy")


@pytest.fixture(autouse=True)
def dask():
    """Imported here: it takes a second, which processes that run other tests need not wait."""
    return pytest.importorskip("dask")


def blocks(function):
    from dask import array

    chunked = [array.from_array(x, chunks=(40, 6)) for x in STATES]
    return array.map_blocks(function, *chunked, dtype=float)


@pytest.mark.parametrize("scheduler", sweep(["threads", "processes"], quick=(0,)))
@pytest.mark.parametrize("kind", sweep(["robot", "kernel"], quick=(0,)))
def test_dask_schedulers(dask, scheduler, kind):
    function = ARM.inverse_dynamics if kind == "robot" else ARM.compile("inverse_dynamics")
    with dask.config.set(scheduler=scheduler, num_workers=2):
        close(blocks(function).compute(), EXPECTED, 1e-13)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_dask_local_cluster(tmp_path):
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "local_directory": str(tmp_path)}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        futures = client.map(lambda k: ARM.inverse_dynamics(*STATES[:, k * 40 : k * 40 + 40]), range(3))
        close(np.concatenate(client.gather(futures)), EXPECTED, 1e-13)
        close(blocks(ARM.compile("inverse_dynamics")).compute(), EXPECTED, 1e-13)


def test_xarray():
    xarray = pytest.importorskip("xarray")
    q, qd, qdd = (xarray.DataArray(x, dims=("time", "joint"), coords={"joint": list(ARM.joint_names)}) for x in STATES)
    tau = xarray.apply_ufunc(
        ARM.compile("inverse_dynamics"), q, qd, qdd, input_core_dims=[["joint"]] * 3, output_core_dims=[["joint"]]
    )
    assert tau.dims == ("time", "joint")
    close(tau.values, EXPECTED, 1e-13)
    lazy = xarray.apply_ufunc(
        ARM.inverse_dynamics, q.chunk(time=40), qd.chunk(time=40), qdd.chunk(time=40),
        input_core_dims=[["joint"]] * 3, output_core_dims=[["joint"]], dask="parallelized", output_dtypes=[float],
    )  # fmt: skip
    close(lazy.values, EXPECTED, 1e-13)
