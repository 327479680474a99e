"""Packages of PyPI that checks use. They are unpacked under .build and not installed."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# The version of each. A later one may lay its files elsewhere.
VERSIONS = {"ziglang": "0.15.2", "cmake": "4.4.5"}


def fetch(package):
    """The package's folder. Downloads it unless an earlier run has; ends the check if that fails."""
    wanted = f"{package}=={VERSIONS[package]}"
    place = ROOT / ".build/ci-pypi" / wanted
    if not (place / "whole").exists():
        print(f"downloading {wanted}, which is unpacked in .build and not installed", flush=True)
        done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--disable-pip-version-check",
                               "--root-user-action=ignore", "--upgrade", f"--target={place}", wanted], timeout=600)
        if done.returncode != 0:
            sys.exit(f"{wanted} cannot be had, so nothing was checked")
        (place / "whole").touch()
    return place / package
