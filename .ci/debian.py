"""Packages of a release of Debian, for any processor, that checks use. They are unpacked under .build and not installed.

They come from the mirror in this machine's own apt configuration. So this needs Debian: apt and dpkg, and the keys of the package
debian-archive-keyring.
"""

import pathlib
import re
import shutil
import subprocess
import sys

KEYS = "/usr/share/keyrings/debian-archive-keyring.gpg"


def end(reason):
    sys.exit(f"packages of Debian cannot be had: {reason}, so nothing was checked")


def output(*command, folder=None):
    """What a command prints. One that fails ends the check with the command's own words."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    except FileNotFoundError:
        end(f"there is no {command[0]}")
    if done.returncode != 0:
        print(done.stdout)
        end(f"{command[0]} failed")
    return done.stdout


def mirror():
    codename = re.search(r"^VERSION_CODENAME=(\w+)$", pathlib.Path("/etc/os-release").read_text(), re.MULTILINE)
    uris = output("apt-get", "update", "--print-uris")
    found = codename and re.search(rf"^'(\S+)/dists/{codename.group(1)}/InRelease'", uris, re.MULTILINE)
    return found.group(1) if found else end("apt's configuration names no mirror of Debian")


def fetch(place, release, packages, architecture=None):
    """The folder with the files of packages. Downloads them unless an earlier run has; ends the check if that fails.

    `packages` has the name of each, and the folders or files of it that are wanted; none for all. The architecture is this
    machine's if none is named.
    """
    system, mark, wanted = place / "system", place / "whole", f"{release} {architecture} {packages}"
    if mark.exists() and mark.read_text() == wanted:
        return system
    shutil.rmtree(place, ignore_errors=True)
    for folder in ["state/lists/partial", "cache/archives/partial", "system"]:
        (place / folder).mkdir(parents=True)
    (place / "sources.list").write_text(f"deb [signed-by={KEYS}] {mirror()} {release} main\n")
    options = {"Dir::Etc::sourcelist": place / "sources.list", "Dir::Etc::sourceparts": "-", "Dir::State": place / "state",
               "Dir::State::status": "/dev/null", "Dir::Cache": place / "cache", "Acquire::Languages": "none",
               "APT::Update::Error-Mode": "any"}
    if architecture:
        options |= {"APT::Architecture": architecture, "APT::Architectures": architecture}
    apt = ["apt-get", *(word for option in options.items() for word in ("-o", "=".join(map(str, option))))]
    print(f"downloading {', '.join(packages)} of {release}, which are unpacked in .build and not installed", flush=True)
    output(*apt, "update")
    output(*apt, "download", *packages, folder=place)
    for name, parts in packages.items():
        file, = place.glob(f"{name}_*.deb")
        output("bash", "-c", 'set -o pipefail; dpkg-deb --fsys-tarfile "$1" | tar --extract --directory "$2" "${@:3}"',
               "bash", file, system, *(f"./{part}" for part in parts))
        file.unlink()
    mark.write_text(wanted)
    return system
