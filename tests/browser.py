"""A headless Chromium that tests drive: pages are opened, clicked and asked what they show.

It speaks the DevTools protocol through a pair of pipes, messages separated by NUL, so that nothing
but Chromium itself is needed.
"""

import base64
import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from select import select

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--host-resolver-rules=MAP * ~NOTFOUND", "--remote-debugging-pipe", "--hide-scrollbars"),
    *("--disable-dev-shm-usage", "--disable-extensions", "--force-color-profile=srgb"),
)
PATIENCE = 60.0  # seconds for an answer of the browser on a busy machine
# Chromium reads from file 3 and writes to file 4.
LAUNCHER = """
import os, sys
reading, writing = (os.dup2(int(fd), high) for fd, high in zip(sys.argv[1:3], (50, 51)))
os.dup2(reading, 3), os.dup2(writing, 4)
os.closerange(50, 52)
os.execv(sys.argv[3], sys.argv[3:])
"""


class Browser:
    """A running Chromium."""

    def __init__(self, profile):
        theirs, self._out = os.pipe()
        self._in, their_end = os.pipe()
        ends = [str(theirs), str(their_end)]
        command = [sys.executable, "-c", LAUNCHER, *ends, CHROMIUM, *FLAGS]
        self._process = subprocess.Popen(
            [*command, f"--user-data-dir={profile}", "about:blank"],
            pass_fds=(theirs, their_end),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(theirs)
        os.close(their_end)
        self._unread, self._last, self.events = b"", 0, []

    def call(self, method, session=None, **params):
        """Send a command and return its result; events that arrive meanwhile are kept."""
        self._last += 1
        message = {"id": self._last, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self._out, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._last:
            self.events.append(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _receive(self):
        deadline = time.monotonic() + PATIENCE
        while b"\0" not in self._unread:
            if not select([self._in], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError(f"no answer from Chromium in {PATIENCE} s")
            if not (block := os.read(self._in, 1 << 20)):
                raise RuntimeError("Chromium has ended")
            self._unread += block
        message, _, self._unread = self._unread.partition(b"\0")
        return json.loads(message)

    def close(self):
        """End the browser."""
        with suppress(OSError, RuntimeError, TimeoutError):
            self.call("Browser.close")
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._out)
        os.close(self._in)

    @contextmanager
    def page(self, path, width=1280, height=900, *, phone=False, dark=False):
        """Open a file in a window of the given size; at the end there must be no complaints."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        page.prepare(width, height, phone, dark)
        page.open(path)
        yield page
        complaints = page.complaints()
        self.call("Target.closeTarget", targetId=target)
        assert complaints == []


class Page:
    """A page in the browser."""

    def __init__(self, browser, session):
        self._browser, self._session = browser, session

    def call(self, method, **params):
        return self._browser.call(method, self._session, **params)

    def prepare(self, width, height, phone, dark):
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self._width = width
        size = {"width": width, "height": height, "mobile": phone}
        self.call("Emulation.setDeviceMetricsOverride", deviceScaleFactor=2 if phone else 1, **size)
        if phone:
            self.call("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, path):
        self.call("Page.navigate", url=path.as_uri())
        ready = "document.readyState === 'complete' && location.protocol === 'file:'"
        deadline = time.monotonic() + PATIENCE
        while not self.see(ready):
            assert time.monotonic() < deadline, f"{path} was not loaded in {PATIENCE} s"
            time.sleep(0.02)

    def see(self, expression):
        """The value of a JavaScript expression; promises are awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def settle(self):
        """Wait until what was done is drawn."""
        self.see("new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))")

    def text(self, selector):
        return self.see(f"document.querySelector({json.dumps(selector)}).innerText")

    def box(self, selector):
        """Left, top, width and height of an element, scrolled into view."""
        return self.see(
            f"(e => {{ e.scrollIntoView({{block: 'center'}}); const b = e.getBoundingClientRect();"
            " return [b.left, b.top, b.width, b.height]; })"
            f"(document.querySelector({json.dumps(selector)}))"
        )

    def mouse(self, kind, x, y, **more):
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def hover(self, x, y):
        self.mouse("Moved", x, y)
        self.settle()

    def click(self, x, y, count=1):
        for k in range(count):
            for kind in ("Pressed", "Released"):
                self.mouse(kind, x, y, button="left", clickCount=k + 1)
        self.settle()

    def drag(self, start, end, y, steps=5):
        self.mouse("Moved", start, y)
        self.mouse("Pressed", start, y, button="left", buttons=1, clickCount=1)
        for k in range(1, steps + 1):
            self.mouse("Moved", start + (end - start) * k / steps, y, button="left", buttons=1)
        self.mouse("Released", end, y, button="left", clickCount=1)
        self.settle()

    def touch(self, *paths):
        """Move fingers along paths of (x, y) of equal length, and lift them."""
        for k, places in enumerate(zip(*paths, strict=True)):
            points = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(places)]
            kind = "touchMove" if k else "touchStart"
            self.call("Input.dispatchTouchEvent", type=kind, touchPoints=points)
        self.call("Input.dispatchTouchEvent", type="touchEnd", touchPoints=[])
        self.settle()

    def key(self, name, modifiers=0):
        more = {"text": name} if len(name) == 1 else {}
        for kind in ("keyDown", "keyUp"):
            more = more if kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=name, modifiers=modifiers, **more)
        self.settle()

    def choose(self, selector, value):
        """Choose an option, as a user does."""
        self.see(
            f"(e => {{ e.value = {json.dumps(str(value))};"
            " e.dispatchEvent(new Event('change', {bubbles: true})); })"
            f"(document.querySelector({json.dumps(selector)}))"
        )
        self.settle()

    def fits(self):
        """Whether the page is not wider than the window; that of a phone would grow with it."""
        return self.see(
            "document.documentElement.scrollWidth <= WIDTH && document.body.scrollWidth <= WIDTH"
            " && innerWidth <= WIDTH".replace("WIDTH", str(self._width))
        )

    def screenshot(self, path, *, whole=False):
        shot = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(shot["data"]))

    def complaints(self):
        """Messages on the console, exceptions, and requests that leave the file."""
        found = []
        for event in self._browser.events:
            if event.get("sessionId") != self._session:
                continue
            kind, params = event["method"], event["params"]
            if kind in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded"):
                found.append(params)
            elif kind == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file:", "data:", "about:")):
                    found.append(url)
        return found
