"""The commands by which the package is built, for checks that compile or link parts of it in another way."""

import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEBUG = ROOT / ".build/debug"
# Of a module's compilation: what it leaves behind, and whether it takes what it left the last time.
OUTPUT = {"-emit-dependencies", "-emit-module", "-emit-objc-header", "-incremental", "-enable-batch-mode", "-c",
          "-serialize-diagnostics", "-parseable-output", "-emit-executable"}
OUTPUT_WITH_VALUE = {"-emit-module-path", "-output-file-map", "-index-store-path", "-emit-objc-header-path", "-module-cache-path"}


def build():
    """Builds everything, the tests too. Returns the words of the command that compiles each module, and of the one that links
    each program."""
    subprocess.run(["swift", "build", "--build-tests", "--quiet"], cwd=ROOT, check=True)
    return listed(ROOT / ".build/debug.yaml")


def listed(file):
    """The words of the commands in a file in which SwiftPM has written how it builds: of the one that compiles each module, and of
    the one that links each program."""
    compile, link = {}, {}
    for line in file.read_text().split("\n"):
        if not re.match(r'    args: \["[^"]*swiftc"', line):
            continue
        words = json.loads(line.removeprefix("    args: "))
        if words[1] == "-module-name":
            compile[words[2]] = words
        elif "-emit-executable" in words:
            link[pathlib.Path(words[words.index("-o") + 1]).name] = words
    return compile, link


def without_output(command):
    """The words of a compilation without those that say what it leaves behind."""
    words, result = iter(command), []
    for word in words:
        if word in OUTPUT_WITH_VALUE:
            next(words)
        elif word not in OUTPUT:
            result.append(word)
    return result
