"""VS Code in Chromium, as code-server has it: the extension as it is packaged, in a browser of a fixed size."""

from __future__ import annotations

import io
import json
import re
import shutil
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote
from urllib.request import urlopen

from tests.editors.install import EDITORS, ROOT, Unavailable
from tests.editors.screenshots.scene import scene
from tests.editors.screenshots.terminal import SECONDS, NotShown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

    from tests.editors.screenshots.scene import Scene

_RELEASE, _NODE = "4.100.3", 20
_EXTENSION = ROOT / "lsp" / "editors" / "vscode"
_FOLDER = EDITORS / "code-server"
_CODE = _FOLDER / "node_modules" / "code-server" / "lib" / "vscode"
_BUILT = ("@vscode/spdlog", "native-watchdog", "node-pty")
"""What VS Code does not start without, and what has to be compiled."""
_WIDTH, _HEIGHT = 1040, 700
_THEMES = {"dark": "Default Dark Modern", "light": "Default Light Modern"}
_SETTINGS = {
    "breadcrumbs.enabled": False,
    "chat.commandCenter.enabled": False,
    "editor.cursorBlinking": "solid",
    "editor.fontFamily": "'DejaVu Sans Mono', monospace",
    "editor.fontSize": 13,
    "editor.glyphMargin": True,
    "editor.minimap.enabled": False,
    "extensions.autoCheckUpdates": False,
    "security.workspace.trust.enabled": False,
    "telemetry.telemetryLevel": "off",
    "update.mode": "none",
    "window.commandCenter": False,
    "workbench.activityBar.location": "hidden",
    "workbench.layoutControl.enabled": False,
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "workbench.reduceMotion": "on",
}


def install() -> None:
    """Fetch VS Code and build what of it is compiled, where that was not done.

    Raises:
        Unavailable: it cannot be had here.
    """
    if (_FOLDER / "ready").exists():
        return
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        raise Unavailable("node and npm are not on PATH")
    version = _run(node, "--version").strip()
    if not version.startswith(f"v{_NODE}."):
        raise Unavailable(f"code-server {_RELEASE} wants node {_NODE}, this is {version}")
    above = Path(node).resolve().parents[1]
    if not (above / "include" / "node" / "node.h").exists():
        raise Unavailable("node's headers are not installed")
    if shutil.which("c++") is None:
        raise Unavailable("there is no C++ compiler")
    shutil.rmtree(_FOLDER, ignore_errors=True)
    _FOLDER.mkdir(parents=True)
    (_FOLDER / "package.json").write_text('{"private": true}\n', encoding="utf-8")
    quiet = ("--ignore-scripts", "--no-audit", "--no-fund")
    _run(npm, "install", f"code-server@{_RELEASE}", *quiet, folder=_FOLDER)
    _run(npm, "install", "--omit=dev", *quiet, folder=_CODE)
    for name in _BUILT:
        _run(
            npm,
            "exec",
            "--yes",
            "node-gyp",
            "--",
            "rebuild",
            f"--nodedir={above}",
            folder=_CODE / "node_modules" / name,
        )
    (_CODE / "node_modules.asar").symlink_to("node_modules")
    (_FOLDER / "ready").touch()


def fix(work: Path, theme: str) -> bytes:
    """The slip of the pen, with what is found and what is offered."""
    with _code(scene(work, slip=True), theme, "dashcam.vgl") as page:
        _until_shown(page, "0 events")
        _until_shown(page, "never exercised")
        page.keyboard.press("Control+g")
        page.keyboard.type("6:46\n", delay=30)
        page.wait_for_timeout(800)
        page.keyboard.press("Control+.")
        page.get_by_text("Write `transform`").wait_for()
        return _picture(page)


def witness(work: Path, theme: str) -> bytes:
    """The calls that break a statement, beside it."""
    with _code(scene(work, slip=False), theme, "dashcam.vgl") as page:
        page.set_viewport_size({"width": _WIDTH, "height": 960})  # so that the calls are seen
        page.get_by_text("violated in 1 of 2 runs").first.click()
        end = time.monotonic() + SECONDS
        while not any(frame.get_by_text("was consumed before anything").count() for frame in page.frames):
            if time.monotonic() > end:
                raise NotShown("the page with the calls is not shown")
            page.wait_for_timeout(200)
        return _picture(page)


def run(work: Path, theme: str) -> bytes:
    """The call at fault in a recorded run."""
    with _code(scene(work, slip=False), theme, "violating.jsonl") as page:
        page.locator(".squiggly-error").first.wait_for()
        page.keyboard.press("Control+g")
        page.keyboard.type("6:30\n", delay=30)
        page.wait_for_timeout(800)
        page.keyboard.press("Control+k")
        page.keyboard.press("Control+i")
        _until_shown(page, "Mentioned by")
        return _picture(page)


def _until_shown(page: Page, text: str) -> None:
    page.get_by_text(re.compile(re.escape(text).replace(r"\ ", r"\s"))).first.wait_for()


def _picture(page: Page) -> bytes:
    from PIL import Image

    page.wait_for_timeout(1500)
    taken = Image.open(io.BytesIO(page.screenshot(animations="disabled", caret="initial"))).convert("RGB")
    written = io.BytesIO()
    taken.quantize(colors=256, dither=Image.Dither.NONE).save(written, "PNG", optimize=True)
    return written.getvalue()


@contextmanager
def _code(project: Scene, theme: str, file: str) -> Iterator[Page]:
    """A page of VS Code with a file open."""
    from playwright.sync_api import TimeoutError, sync_playwright  # noqa: A004

    install()
    data = project.work / "data"
    settings = data / "data" / "User" / "settings.json"
    settings.parent.mkdir(parents=True)
    vigil = str(project.home / "bin" / "vigil")
    chosen = {**_SETTINGS, "workbench.colorTheme": _THEMES[theme], "vigil.server.command": vigil}
    settings.write_text(json.dumps(chosen), encoding="utf-8")
    package = project.work / "vigil.vsix"
    _package(package)
    node = str(shutil.which("node"))
    server = [
        node,
        str(_CODE / "out" / "server-main.js"),
        "--accept-server-license-terms",
        "--server-data-dir",
        str(data),
    ]
    _run(*server, "--install-extension", str(package))
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    nothing = subprocess.DEVNULL
    with subprocess.Popen(
        [*server, "--host", "127.0.0.1", "--port", str(port), "--without-connection-token"],
        env=project.environment,
        stdin=nothing,
        stdout=nothing,
        stderr=nothing,
    ) as served:
        try:
            address = f"http://127.0.0.1:{port}/"
            _wait(address)
            opened = [["openFile", f"vscode-remote://127.0.0.1:{port}{project.project / file}"]]
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(
                    executable_path=shutil.which("chromium"), args=["--no-sandbox", "--font-render-hinting=none"]
                )
                page = browser.new_page(
                    viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="dark" if theme == "dark" else "light"
                )
                page.set_default_timeout(SECONDS * 1000)
                page.goto(f"{address}?folder={quote(str(project.project))}&payload={quote(json.dumps(opened))}")
                try:
                    page.locator(".monaco-editor .view-line").first.wait_for()
                    page.keyboard.press("Control+b")  # the list of files goes
                    yield page
                except TimeoutError as error:
                    raise NotShown(f"VS Code does not show it: {error}") from error
                finally:
                    browser.close()
        finally:
            served.terminate()
            served.wait(20)


def _package(path: Path) -> None:
    if not (_EXTENSION / "node_modules").exists():
        _run(str(shutil.which("npm")), "ci", folder=_EXTENSION)
    _run(str(shutil.which("node")), "package.mjs", str(path), folder=_EXTENSION)


def _wait(address: str) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        try:
            with urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise NotShown("VS Code does not start")


def _run(*command: str, folder: Path | None = None) -> str:
    """What a command prints.

    Raises:
        Unavailable: it fails, with the end of its complaint.
    """
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=280, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{Path(command[0]).name}: {type(error).__name__}") from error
    if done.returncode != 0:
        raise Unavailable(f"{Path(command[0]).name} {command[1]}: {done.stderr.strip()[-300:]}")
    return done.stdout
