"""The page for when pages cannot be made: the relay or its record failed.

Needs no template, no setting and no record, for any of these may be what failed. It keeps to the two static files of
every page, which the server still gives.
"""

from __future__ import annotations

from html import escape

from fastapi.responses import HTMLResponse

_PAGE = """\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{message} · relay</title>
<link rel="icon" href="/static/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/static/relay.css">
</head>
<body>
<header class="top"><nav aria-label="Main"><a class="brand" href="/">relay</a></nav></header>
<main id="content">
<section class="empty"><h1>{message}</h1>
<p>{hint}</p>
<p><a href="">Try again</a></p></section>
</main>
</body>
</html>
"""


def failure_page(message: str, hint: str, status: int) -> HTMLResponse:
    """What happened, what to do, and a way to try again."""
    return HTMLResponse(_PAGE.format(message=escape(message), hint=escape(hint)), status)
