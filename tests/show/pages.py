"""Reads an HTML page and finds what must not be in it."""

import re
from html.parser import HTMLParser

VOID = {"meta", "br", "hr", "img", "link", "input"}
LINKS = {"href", "src", "srcset", "xlink:href", "action", "data", "poster"}


class Page(HTMLParser):
    """A page: its tags, texts, ids and links; raises if elements are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.ids, self.links, self.open = [], [], [], []
        self.pieces = []
        self.feed(text)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self._meet(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self._meet(tag, attrs)

    def _meet(self, tag, attrs):
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value)
            if name in LINKS:
                self.links.append(value.strip())
            if name == "style":
                self.links += re.findall(r"url\(([^)]*)\)", value)

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open[-1] == tag, f"</{tag}> closes <{self.open[-1]}>"
        self.open.pop()

    def handle_data(self, data):
        self.pieces.append(data)

    @property
    def text(self):
        return "".join(self.pieces)

    def external(self):
        """Links that leave the page."""
        return [link for link in self.links if not link.startswith(("#", "data:"))]

    def dangling(self):
        """Links to ids that are not there."""
        return [link for link in self.links if link.startswith("#") and link[1:] not in self.ids]
