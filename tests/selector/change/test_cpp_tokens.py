"""Tokens of C++: comments and formatting never show, everything a compiler sees always does."""

from __future__ import annotations

import time

import pytest

from selector.change.cpp_compare import CppText, Difference, compare_cpp
from selector.change.cpp_tokens import tokens

SOURCE = """#include <a.h>
#define TWICE(x) ((x) + (x)) // doubled
namespace at::native {
/* kernels */
static int helper(int x) { return x << 2; } // shifted
#ifdef USE_CUDA
int gpu() { return 1'000 / 0x1fp-3; }
#else
int cpu() { return '"' + '\\''; }
#endif
template <typename T> struct Box { T value; };
const char* words() { return "// no" R"d(/* no */)d" u8"\\"//"; }
REGISTER_DISPATCH(add_stub, &add_kernel)
TORCH_CHECK(a == b, "equal");
}
"""


def same_tokens(base: str, head: str) -> bool:
    return CppText(base).means_the_same_as(CppText(head))


def compared(base: str, head: str) -> Difference:
    return compare_cpp(CppText(base), CppText(head))


def texts(source: str) -> list[bytes]:
    return [token.text.strip() for token in tokens(source.encode())]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a // b", ["a"]),
        ("a /* b\n */ c", ["a", "c"]),
        ('x = "// a"; // b', ["x", "=", '"// a"', ";"]),
        ('R"(a " // )" b', ['R"(a " // )"', "b"]),
        ("1'000 'a'", ["1'000", "'a'"]),
        ("a \\\n b", ["a", "b"]),
        ("// a \\\n b\nc", ["c"]),
        ("x->y::z <<= 1", ["x", "->", "y", "::", "z", "<<=", "1"]),
        ('"open', ['"', "open"]),
        ("/* open", ["/", "*", "open"]),
        ("é = 1", ["é", "=", "1"]),
    ],
)
def test_the_tokens_of_a_text(source: str, expected: list[str]) -> None:
    assert texts(source) == [text.encode() for text in expected]


def test_every_token_that_is_taken_out_is_a_difference() -> None:
    source = SOURCE.encode()
    for token in tokens(source):
        if token.text != b"\n":
            end = token.start + len(token.text.strip())
            assert not same_tokens(SOURCE, (source[: token.start] + b" " + source[end:]).decode()), token
            assert compared(SOURCE, (source[: token.start] + b" " + source[end:]).decode()).changed, token


def test_comments_put_anywhere_between_tokens_are_no_difference() -> None:
    source = SOURCE.partition("REGISTER_DISPATCH")[0]  # in a macro's arguments a comment is a blank, which may show
    for token in tokens(source.encode()):
        if not token.directive:
            changed = source.encode()[: token.start] + b"/* note */" + source.encode()[token.start :]
            assert same_tokens(source, changed.decode()), token


@pytest.mark.parametrize(
    ("line", "guard"),
    [
        ("#ifdef USE_CUDA", "CUDA"),
        ("#if defined(USE_ROCM)", "HIP"),
        ("#if defined USE_MPS", "MPS"),
        ("# if USE_XPU", "XPU"),
        ("#if defined(USE_CUDA) || defined(USE_ROCM)", "CUDA"),
        ("#if defined(FAST) && defined(USE_CUDA)", "CUDA"),
        ("#if defined(USE_CUDA) || defined(FAST)", ""),
        ("#if !defined(USE_CUDA)", ""),
        ("#if CUDA_VERSION > 12000", ""),
        ("#ifndef USE_CUDA", ""),
        ("#ifdef USE_DISTRIBUTED", ""),
    ],
)
def test_only_a_condition_that_needs_another_backend_guards(line: str, guard: str) -> None:
    inside = next(token for token in tokens(f"{line}\nhere\n#endif\n".encode()) if token.text == b"here")
    assert inside.guard == guard


def test_unbalanced_conditions_are_read_to_the_end() -> None:
    assert texts("#endif\n#else\na\n#ifdef USE_CUDA\nb")[-1] == b"b"


@pytest.mark.parametrize("source", ["{" * 50_000, "#if X\n" * 5_000, '"' * 20_000, "/*" * 20_000, 'R"(' * 5_000])
def test_hostile_source_is_read_in_bounded_time(source: str) -> None:
    start = time.process_time()
    compared("", source)
    assert time.process_time() - start < 20


def test_a_difference_of_20000_lines_names_every_function() -> None:
    head = "".join(f"int f{n}() {{ return {n}; }}\n" for n in range(20_000))
    assert len(compared("", head).changed) == 20_000
