"""Say in one sentence what this machine lacks, before anything is downloaded. Standard library, any Python 3.7+."""

import shutil
import sys

NEEDED = {
    "git": "git is not installed: it fetches upstream changes. On Debian or Ubuntu: apt install git",
    "g++": "g++ is not installed: the emulated device is compiled here. On Debian or Ubuntu: apt install g++",
}
# What works without, but not as well.
WANTED = {
    "bwrap": "bubblewrap is not installed: tests of upstream changes will run unconfined on this machine. "
    "On Debian or Ubuntu: apt install bubblewrap libseccomp2",
}


def main() -> int:
    missing = [sentence for program, sentence in NEEDED.items() if shutil.which(program) is None]
    if sys.version_info < (3, 11):
        found = f"{sys.version_info[0]}.{sys.version_info[1]}"
        missing.append(f"Python 3.11 or newer is needed, this is {found}: name another one, make PYTHON=python3.11")
    try:
        import ensurepip  # noqa: F401, PLC0415 -- only whether it is there: Debian ships venv without it
    except ImportError:
        missing.append("Python's venv module is not complete. On Debian or Ubuntu: apt install python3-venv")
    lacking = [sentence for program, sentence in WANTED.items() if shutil.which(program) is None]
    for sentence in missing + lacking:
        print(sentence, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
