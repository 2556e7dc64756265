"""Looks at the texts of the repository: lines of at most 120 characters, links that lead somewhere, tables whose rows
have as many cells as their heads, one address and one version.

Run by ./check: python3 docs/lint.py. Needs nothing but Python. Links to the outside are not followed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import unicodedata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WIDTH = 120
# The first sign of a comment in each language.
COMMENTS = {".rs": "//", ".py": "#", ".pyi": "#", ".toml": "#", ".sh": "#", ".yml": "#", ".js": "//", "": "#"}
LINK = re.compile(r"(!?)\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)>\s]+)>?[^)]*\)")
HEADING = re.compile(r"#{1,6} +(.*?)(?: +#+)?$")
ADDRESS = re.compile(r"(?:github\.com|githubusercontent\.com)/([\w.-]+/reluctant)\b|//([\w-]+)\.github\.io/reluctant\b")


def main() -> int:
    """Prints what is wrong, a line each; 1 if anything is."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    files = [ROOT / name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    cargo = (ROOT / "Cargo.toml").read_text("utf-8")
    home = re.search(r'repository = "https://github\.com/([^"/]+/[^"/]+)"', cargo)
    assert home, "Cargo.toml names the repository"
    faults = other_versions(cargo)
    for file in files:
        markdown = file.suffix == ".md"
        if not markdown and file.suffix not in COMMENTS:
            continue
        text = file.read_text(encoding="utf-8")
        where = file.relative_to(ROOT)
        faults += [f"{where}:{number}: {fault}" for number, fault in too_wide(text, file.suffix)]
        if markdown:
            faults += [f"{where}:{number}: {fault}" for number, fault in dead_links(file, text) + ragged_tables(text)]
        for number, line in enumerate(text.splitlines(), 1):
            for owner, pages in ADDRESS.findall(line):
                if owner not in ("", home[1]) or pages not in ("", home[1].split("/")[0]):
                    faults.append(f"{where}:{number}: another address than that in Cargo.toml")
    print(
        "\n".join(faults)
        if faults
        else f"{len(files)} files: lines, links, tables, addresses and versions are in order"
    )
    return bool(faults)


def other_versions(cargo: str) -> list[str]:
    """Files that name another version than the workspace."""
    version = re.search(r'^version = "(.*?)"', cargo, re.M)
    assert version, "Cargo.toml names the version"
    named = [("Cargo.toml", other) for other in re.findall(r'path = "crates/[\w-]+", version = "(.*?)"', cargo)]
    for file, line in (
        ("CITATION.cff", r"^version: (.*)$"),
        ("crates/reluctant-web/Cargo.toml", r'^version = "(.*?)"'),
    ):
        named += [(file, other) for other in re.findall(line, (ROOT / file).read_text("utf-8"), re.M)]
    return [
        f"{file}: version {other}, where Cargo.toml has {version[1]}" for file, other in named if other != version[1]
    ]


def too_wide(text: str, suffix: str) -> list[tuple[int, str]]:
    """Lines of Markdown but tables, pictures and lone addresses; elsewhere comments."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) <= WIDTH:
            continue
        if suffix == ".md":
            excused = line.lstrip().startswith(("|", "![")) or re.fullmatch(r"\S*https?://\S+", line.strip())
        else:
            mark, _, comment = line.partition(COMMENTS[suffix])
            table = comment.lstrip("/!# ").startswith("|")
            excused = not comment or table or '"' in line or len(mark) > WIDTH
        if not excused:
            found.append((number, f"{len(line)} characters, where {WIDTH} are allowed"))
    return found


def dead_links(file: Path, text: str) -> list[tuple[int, str]]:
    """Links within the repository to what is not there."""
    found = []
    plain = without_code(text)
    for match in LINK.finditer(plain):
        target, _, anchor = match[2].partition("#")
        if re.match(r"[a-z][a-z+.-]*:", target):
            continue
        number = plain.count("\n", 0, match.start()) + 1
        other = (file.parent / target).resolve() if target else file
        if not other.exists():
            found.append((number, f"there is no {target}"))
        elif anchor and other.suffix == ".md" and anchor not in anchors(other.read_text(encoding="utf-8")):
            found.append((number, f"{target or file.name} has no heading #{anchor}"))
    return found


def ragged_tables(text: str) -> list[tuple[int, str]]:
    """Rows of tables with more or fewer cells than the row above them, and tables that a blank line cuts in two."""
    found = []
    lines = without_code(text).splitlines()
    above = 0
    for number, line in enumerate(lines, 1):
        cells = len(re.findall(r"(?<!\\)\|", line)) - 1 if line.startswith("|") else 0
        if above and cells and cells != above:
            found.append((number, f"{cells} cells, where the row above has {above}"))
        elif cells and not above and not (number < len(lines) and re.match(r"\|[ :-]*-[ |:-]*$", lines[number])):
            found.append((number, "a row without the head of a table above it"))
        above = cells
    return found


def anchors(text: str) -> set[str]:
    """The names that headings get, as forges and mkdocs make them."""
    names: set[str] = set()
    for line in without_code(text, spans=False).splitlines():
        if heading := HEADING.match(line):
            kept = unicodedata.normalize("NFKD", re.sub(r"[`*]|\[|\]\([^)]*\)", "", heading[1])).lower()
            for word in (kept, kept.encode("ascii", "ignore").decode()):
                names.add(re.sub(r"[^\w\- ]", "", word).strip().replace(" ", "-"))
                names.add(re.sub(r"[\s-]+", "-", re.sub(r"[^\w\- ]", "", word).strip()))
    return names


def without_code(text: str, spans: bool = True) -> str:
    """The text with blocks (and spans) of code blanked out, lines kept."""
    blank = re.sub(r"^( *)```.*?^\1```", lambda code: "\n" * code[0].count("\n"), text, flags=re.S | re.M)
    return re.sub(r"`[^`\n]*`", "", blank) if spans else blank


if __name__ == "__main__":
    sys.exit(main())
