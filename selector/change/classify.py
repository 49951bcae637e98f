"""What kind of file a path of the PyTorch repository is.

One ordered table; the first rule that matches decides. A path that no rule knows stays `UNCLASSIFIED`, which widens the
selection: a forgotten rule costs time, never a missed test.
"""

from __future__ import annotations

import re

from selector.change.facts import Category

_NATIVE_SUFFIXES = r"c|cc|cpp|cxx|cu|cuh|h|hpp|hxx|inl|inc|mm|m|metal|S|s|asm|hip|proto"

_RULES: tuple[tuple[Category, re.Pattern[str]], ...] = tuple(
    (category, re.compile(pattern))
    for category, pattern in (
        (
            Category.CI,
            r"(\.github|\.ci|\.circleci|\.vscode|\.devcontainer|\.lintrunner_private|tools/linter|tools/stats)/",
        ),
        (Category.CI, r"tools/(testing|code_analyzer|github|alerts|test)/|scripts/"),
        (
            Category.CI,
            r"\.(lintrunner\.toml|gitignore|gitattributes|git-blame-ignore-revs|flake8|clang-(format|tidy))$",
        ),
        (Category.CI, r"\.(pre-commit-config\.yaml|editorconfig|cmakelintrc|isort\.cfg|ctags\.d/.*)$"),
        (Category.CI, r"(CODEOWNERS|mypy[\w-]*\.ini|pyrefly\.toml|pyrightconfig\.json|ufmt\.toml|codex_setup\.sh)$"),
        (Category.TEST_HARNESS, r"torch/testing/.*\.py$|test/(.*/)?conftest\.py$|pytest\.ini$"),
        (Category.TEST_HARNESS, r"test/(run_test|run_doctests|pytest_shard_custom|load_torchscript_model)\.(py|sh)$"),
        (Category.CODEGEN, r"(torchgen|tools/autograd|tools/jit|tools/dynamo|tools/lite_interpreter)/"),
        (Category.CODEGEN, r".*\.pyi?\.in$|aten/src/ATen/(native/.*\.ya?ml|templates/.*)$"),
        # named before the folders of native code, in which they stand too
        (Category.DOCS, r"(.*/)?(LICENSE|NOTICE|README|CITATION\.cff|RELEASE)$|.*\.(md|rst)$"),
        (Category.BUILD, r"(.*/)?(CMakeLists\.txt|BUILD(\.bazel)?|BUCK|WORKSPACE|Makefile|Dockerfile|MANIFEST\.in)$"),
        (Category.NATIVE, r"(aten|c10|caffe2|torch/csrc|torch/lib|functorch/csrc|third_party|android|ios|binaries)/"),
        (Category.NATIVE, rf".*\.({_NATIVE_SUFFIXES})$"),
        (
            Category.BUILD,
            r".*\.(cmake|bzl|bazel|buck|gradle)$|(cmake|docker|tools/(setup_helpers|build|config|rules))/",
        ),
        (Category.BUILD, r"(setup\.py|setup\.cfg|pyproject\.toml|version\.txt|\.bazelrc|\.bazelversion|\.gitmodules)$"),
        (Category.BUILD, r"tools/[^/]+\.py$|(.*/)?requirements[\w.-]*\.txt$|uv\.lock$"),
        (Category.DOCS, r"docs/"),
        (Category.TEST, r"(functorch/)?test/"),
        (Category.PYTHON_SOURCE, r"(torch|functorch)/.*\.pyi?$"),
    )
)

#: Categories that no test of the test tree can notice, with the sentence the report gives.
HARMLESS: dict[Category, str] = {
    Category.DOCS: "documentation: no test reads it",
    Category.CI: "continuous-integration settings of upstream: not used here",
}


def classify(path: str) -> Category:
    """The category of a path relative to the root of the tree."""
    return next((category for category, pattern in _RULES if pattern.match(path)), Category.UNCLASSIFIED)


def is_test_file(path: str) -> bool:
    """Whether upstream's test runner discovers the file: `test/**/test_*.py`, and functorch's before they moved there
    at the end of 2022."""
    return re.match(r"(functorch/)?test/(.*/)?test_[^/]*\.py$", path) is not None


def is_among_tests(path: str) -> bool:
    """Whether a path is in a folder of tests, whatever kind of file it is."""
    return path.startswith(("test/", "functorch/test/"))
