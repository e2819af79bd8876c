"""Servers, encodings and a small runner for `async def` tests."""

import asyncio
import inspect

import pytest

import messages
from server import Servers
from world import World


def pytest_configure(config):
    for line in (
        "profile(name): settings profile of the server",
        "mixed: also with both encodings in one room",
        "once: the encoding does not matter",
        "slow(seconds): may take longer than usual",
    ):
        config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc):
    if "hf" not in metafunc.fixturenames:
        return
    marks = {mark.name for mark in metafunc.definition.iter_markers()}
    encodings = ["json"] if "once" in marks else ["json", "protobuf"]
    if "mixed" in marks:
        encodings.append("mixed")
    metafunc.parametrize("hf", encodings, indirect=True)


def pytest_make_parametrize_id(config, val, argname):
    """Long or changing values do not stand in a test's name."""
    if isinstance(val, (str, bytes)) and (len(val) > 40 or not val.isascii()):
        return argname
    return None


@pytest.fixture(scope="session")
def servers(tmp_path_factory):
    messages.generate(tmp_path_factory.mktemp("proto"))
    running = Servers()
    yield running
    running.stop()


@pytest.fixture
def hf(request, servers):
    mark = request.node.get_closest_marker("profile")
    return World(servers, mark.args[0] if mark else "default", request.param)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = pyfuncitem._fixtureinfo.argnames
    arguments = {name: pyfuncitem.funcargs[name] for name in names}
    world = pyfuncitem.funcargs.get("hf")
    mark = pyfuncitem.get_closest_marker("slow")
    limit = mark.args[0] if mark else 20

    async def run():
        try:
            await asyncio.wait_for(pyfuncitem.obj(**arguments), limit)
        except BaseException:
            if world is not None:
                try:
                    await world.finish()
                except AssertionError as error:
                    pyfuncitem.add_report_section("call", "rules", str(error))
            raise
        if world is not None:
            await world.finish()

    asyncio.run(run())
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.failed and call.when == "call":
        world = item.funcargs.get("hf") if hasattr(item, "funcargs") else None
        if world is not None and world.profile in world.servers.running:
            server = world.servers.running[world.profile]
            report.sections.append(("server stderr", server.tail()))
