"""Tries the demo in Chromium, as a reader would: python docs/demo/test.py SITE, after mkdocs has built SITE.

Serves SITE on this machine alone, opens the page with a script at its end that clicks and reads, and looks at what the
script wrote down. Leaves out what it cannot try: without Chromium everything, and the audit of accessibility unless the
variable AXE names the file of axe-core.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from html import unescape
from pathlib import Path
from typing import Any

# Waits until the demo says something that fits, then goes on.
HELPERS = """
const failures = [];
addEventListener("error", (event) => failures.push(event.message));
addEventListener("unhandledrejection", (event) => failures.push(String(event.reason)));
const at = (id) => document.getElementById(`demo-${id}`);
const said = () => at("status").textContent;
const until = async (fits) => { while (!fits(said())) await new Promise((done) => setTimeout(done, 20)); };
const tell = (found) => {
  const note = document.createElement("pre");
  note.id = "found";
  note.textContent = JSON.stringify(found);
  document.body.append(note);
};
const colours = (id) => {
  const canvas = at(id);
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
};
"""

PLAY = """
await until((text) => text.startsWith("Ready"));
const policies = at("policy-0").options.length;
for (let i = 0; i < 40; i++) at("step").click();
const played = said();
const regrets = played.match(/lost ([0-9]+\\.[0-9])/g).map((text) => Number(text.slice(5)));
const drawn = ["truth", "belief-0", "belief-1", "regret"].map(colours);
at("policy-1").value = "uniform";
at("policy-1").dispatchEvent(new Event("change"));
const restarted = said();
for (let i = 0; i < 40; i++) at("step").click();
const chance = Number(said().match(/uniform has lost ([0-9]+\\.[0-9])/)[1]);
at("add").click();
const neurons = at("neurons").children.length;
const box = at("truth").getBoundingClientRect();
const point = (type, x, y) => at("truth").dispatchEvent(new PointerEvent(type, {
  pointerId: 1, clientX: box.left + x * box.width, clientY: box.top + y * box.height,
}));
const angle = () => at("neurons").querySelector("input").value;
const before = angle();
at("truth").setPointerCapture = () => {};
point("pointerdown", 0.5 + 0.25 * Math.cos(Math.PI / 6), 0.5 - 0.25 * Math.sin(Math.PI / 6));
point("pointermove", 0.5, 0.2);
point("pointerup", 0.5, 0.2);
const unnamed = [...document.querySelectorAll(".demo input, .demo select, .demo button, .demo canvas")]
  .filter((one) => !(one.labels?.length || one.textContent || one.getAttribute("aria-label"))).length;
tell({ policies, played, regrets, drawn, restarted, chance, neurons, before, after: angle(), unnamed, failures });
"""

# What axe-core finds that is serious, on the whole page.
AUDIT = """
await until((text) => text.startsWith("Ready"));
for (let i = 0; i < 5; i++) at("step").click();
const { violations } = await axe.run(document);
const grave = violations.filter((one) => ["serious", "critical"].includes(one.impact));
tell({ grave: grave.map((one) => [one.id, one.nodes.map((node) => node.html)]), failures });
"""

SAYS = """
await until((text) => !text.includes("loading"));
tell({ said: said(), hidden: at("board").hidden, failures });
"""


def main(site: Path) -> int:
    """0 if all is well."""
    known = [os.environ.get("CHROMIUM", "chromium"), "chromium-browser", "google-chrome"]
    browser = next(filter(shutil.which, known), None)
    if browser is None:
        print("demo: left out, as there is no Chromium: install it, or name it in the variable CHROMIUM")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "site"
        shutil.copytree(site, copy)
        handler = functools.partial(Quiet, directory=str(copy))
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            try_all(browser, copy / "demo" / "index.html", f"http://127.0.0.1:{server.server_port}/demo/", Path(folder))
            server.shutdown()
    print("demo: plays, draws, can be changed, and says what is missing where something is")
    return 0


def try_all(browser: str, page: Path, address: str, folder: Path) -> None:
    """Every case, one after the other."""
    plain = page.read_text(encoding="utf-8")

    def opened(script: str, prelude: str = "", scripts: str = "") -> dict[str, Any]:
        module = f'{scripts}<script type="module">{HELPERS}{script}</script></body>'
        text = plain.replace("</body>", module).replace("<head>", f"<head><script>{prelude}</script>", 1)
        page.write_text(text, "utf-8")
        found = re.search(r'<pre id="found">(.*?)</pre>', dump(browser, address, folder), re.S)
        assert found, "the script has not come to its end"
        return json.loads(unescape(found[1]))  # type: ignore[no-any-return]

    found = opened(PLAY)
    assert found["failures"] == [], found
    assert found["policies"] >= 15, found
    assert str(found["played"]).startswith("Round 40: plausible has lost"), found
    assert found["regrets"][0] < found["chance"] / 2, found
    assert min(found["drawn"]) > 10, found
    assert found["restarted"] == "Ready. Press Play.", found
    assert found["neurons"] == 4, found
    assert (found["before"], found["after"]) == ("30", "90"), found
    assert found["unnamed"] == 0, found

    if audit := os.environ.get("AXE"):
        shutil.copy(audit, page.parent / "axe.js")
        found = opened(AUDIT, scripts='<script src="axe.js"></script>')
        assert found["grave"] == [], found

    found = opened(SAYS, prelude="delete globalThis.WebAssembly;")
    assert "has no WebAssembly" in found["said"] and found["hidden"], found

    (page.parent / "reluctant.wasm.gz").unlink()
    found = opened(SAYS)
    assert "docs/demo/build makes it" in found["said"] and found["hidden"], found

    # Without scripts nobody changes the page: what helps must stand in it, and what does not work must be hidden.
    assert re.search(r"<noscript>.*?needs scripts.*?reluctant run.*?</noscript>", plain, re.S)
    assert re.search(r'<div id="demo-board" hidden', plain)


def dump(browser: str, address: str, folder: Path) -> str:
    """What the browser makes of the page."""
    fixed = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1200,900"]
    budget = ["--virtual-time-budget=60000", "--dump-dom", f"--user-data-dir={folder / 'profile'}"]
    command = [browser, *fixed, *budget, address]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Serves files and says nothing."""

    def log_message(self, *_: object) -> None:
        """Nothing."""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
