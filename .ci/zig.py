"""The C compiler of the package `ziglang` of PyPI, which has the headers and the symbols of many systems' C libraries.

It is unpacked under .build and not installed.
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = "0.15.2"
PLACE = ROOT / ".build/ci-zig"
FOLDER = PLACE / f"ziglang-{VERSION}"


def fetch():
    """The folder with the compiler and its `lib/libc`. Downloads it unless an earlier run has; ends the check if that fails."""
    folder = FOLDER / "ziglang"
    if not (folder / "lib/libc").is_dir():
        print(f"downloading ziglang {VERSION}, which is unpacked in .build and not installed", flush=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check",
                               "--root-user-action=ignore", f"--target={FOLDER}", f"ziglang=={VERSION}"], timeout=600)
        if done.returncode != 0:
            sys.exit("the package ziglang cannot be had, so nothing was checked")
    return folder


def compiler(folder):
    """The words of a command that compiles C, and the environment that it needs."""
    return [str(folder / "zig"), "cc"], {**os.environ, "ZIG_GLOBAL_CACHE_DIR": str(PLACE / "cache")}
