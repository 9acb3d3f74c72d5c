"""A drawing as a tree of SVG elements: what is put into it is text, never markup."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from xml.etree import ElementTree as xml

from windrow.view.templates import text_of
from windrow.view.text.characters import in_xml

LETTER = 6.7
"""About how wide a letter is, in the units of the drawing."""
CLASS = "windrow-picture"
"""The class of the drawing; those of its parts begin alike, as a page may have classes of its own."""


@dataclass
class Shapes:
    """A drawing that grows. Its parts have classes, and the style says their colours, by day and by night."""

    width: float
    height: float
    title: str
    description: str
    is_inline: bool = False
    """Whether it stands in a page of HTML, which knows what SVG is; a file of its own has to say it."""
    root: xml.Element = field(init=False)

    def __post_init__(self) -> None:
        name = sha256(f"{self.title}\n{self.description}\n{self.width}".encode()).hexdigest()[:10]
        space = {} if self.is_inline else {"xmlns": "http://www.w3.org/2000/svg"}
        self.root = xml.Element(
            "svg",
            {
                **space, "class": CLASS, "viewBox": f"0 0 {self.width:g} {self.height:g}",
                "width": f"{self.width:g}", "height": f"{self.height:g}", "role": "img",
                "aria-labelledby": f"windrow-title-{name} windrow-text-{name}",
            },
        )  # fmt: skip
        self._add("title", id=f"windrow-title-{name}").text = in_xml(self.title)
        self._add("desc", id=f"windrow-text-{name}").text = in_xml(self.description)
        self._add("style").text = text_of("picture.css")
        self.rect("ground", 0, 0, self.width, self.height)

    def rect(self, kind: str, x: float, y: float, width: float, height: float, hint: str = "", **more: str) -> None:
        size = {"x": _number(x), "y": _number(y), "width": _number(width), "height": _number(height)}
        self._hinted(self._add("rect", kind, **size, **more), hint)

    def line(self, kind: str, x1: float, y1: float, x2: float, y2: float) -> None:
        self._add("line", kind, x1=_number(x1), y1=_number(y1), x2=_number(x2), y2=_number(y2))

    def path(self, kind: str, points: Sequence[tuple[float, float]]) -> None:
        self._add("polyline", kind, points=" ".join(f"{_number(x)},{_number(y)}" for x, y in points))

    def circle(self, kind: str, x: float, y: float, radius: float, hint: str = "") -> None:
        self._hinted(self._add("circle", kind, cx=_number(x), cy=_number(y), r=_number(radius)), hint)

    def text(self, kind: str, x: float, y: float, text: str) -> None:
        self._add("text", kind, x=_number(x), y=_number(y)).text = in_xml(text)

    def __str__(self) -> str:
        xml.indent(self.root, "")
        return xml.tostring(self.root, encoding="unicode") + "\n"

    def _hinted(self, element: xml.Element, hint: str) -> None:
        if hint:
            xml.SubElement(element, "title").text = in_xml(hint)

    def _add(self, name: str, kind: str = "", **attributes: str) -> xml.Element:
        classes = " ".join(f"windrow-{one}" for one in kind.split())
        return xml.SubElement(self.root, name, {"class": classes, **attributes} if kind else attributes)


def width_of(text: str) -> float:
    """About how wide a text is."""
    return len(text) * LETTER


def shortened(text: str, width: float) -> str:
    """As much of the text as fits."""
    most = max(1, int(width // LETTER))
    return text if len(text) <= most else f"{text[: most - 1]}\N{HORIZONTAL ELLIPSIS}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
