"""Say in one sentence what this machine lacks, before anything is downloaded. Standard library, any Python 3."""

import shutil
import sys

NEEDED = {
    "git": "git is not installed: it fetches upstream changes. On Debian or Ubuntu: apt install git",
    "g++": "g++ is not installed: the emulated device is compiled on this machine. On Debian or Ubuntu: apt install g++",
}


def main() -> int:
    missing = [sentence for program, sentence in NEEDED.items() if shutil.which(program) is None]
    if sys.version_info < (3, 11):
        missing.append(
            "Python 3.11 or newer is needed, this is %d.%d: name another one with make PYTHON=python3.11"
            % sys.version_info[:2]
        )
    try:
        import ensurepip  # noqa: F401, PLC0415 -- only whether it is there: Debian ships venv without it
    except ImportError:
        missing.append("Python's venv module is not complete. On Debian or Ubuntu: apt install python3-venv")
    for sentence in missing:
        print(sentence, file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
