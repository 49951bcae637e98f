"""Profiles as data, and what the device does with them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.workers.spyre.device_process import ROOT, Run, claims, run_checks
from workers.spyre.profile import (
    RULES,
    ProfileError,
    evidence,
    known_profiles,
    load_profile,
)

RULE_CHECKS = Path(__file__).parent / "rules"
PACKAGE = ROOT / "workers" / "spyre"


@pytest.fixture(scope="module")
def outcomes(run_python: Run, device_library: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What the rule checks say in the profile that they are about."""
    report = tmp_path_factory.mktemp("rules") / "report.xml"
    return run_checks(run_python, RULE_CHECKS, report, SPYRE_LIBRARY=str(device_library), SPYRE_PROFILE="spyre-2026-06")


@pytest.mark.parametrize("claim", claims(RULE_CHECKS))
def test_the_profile_keeps_its_claim(claim: str, outcomes: dict[str, str]) -> None:
    """The check of this name ran and passed."""
    assert outcomes.get(claim, "did not run") == ""


def test_code_and_list_name_the_same_rules() -> None:
    """A rule that only one side knows would be a refusal nobody counts, or a row nobody explains."""
    named: set[str] = set()
    for source in [*(PACKAGE / "native").iterdir(), *PACKAGE.glob("*.py")]:
        text = source.read_text(encoding="utf-8")
        named |= set(re.findall(r'refus(?:e|al_text)\(\s*"([a-z-]+)"', text))
        named |= set(re.findall(r"refusal_prefix\(device_name\(\)\)\}([a-z-]+): ", text))
    assert named == set(RULES)


@pytest.mark.parametrize("name", known_profiles())
def test_every_rule_of_a_profile_has_evidence(name: str) -> None:
    """A refusal must be able to say why."""
    profile = load_profile(name)
    assert profile.name == name
    assert all(evidence(profile, rule) for rule in profile.tables["rules"])


def test_the_common_rules_are_in_every_profile() -> None:
    """What torch itself cannot do on such a device is not the profile's choice."""
    common = set(load_profile("compat").tables["rules"])
    assert {"sparse-layout", "quantized", "no-kernel"} <= common
    assert all(common <= set(load_profile(name).tables["rules"]) for name in known_profiles())


@pytest.mark.parametrize("chosen", ["", "compat"])
def test_without_a_choice_it_is_compat(chosen: str) -> None:
    """An unset variable and an empty one are the same."""
    assert load_profile(chosen).name == "compat"


@pytest.mark.parametrize("chosen", ["spyre", "../compat", "compat\nx", "x" * 5000, "nowhere/at/all.toml"])
def test_a_profile_that_is_not_there_is_one_sentence(chosen: str) -> None:
    """It names the ones that are."""
    with pytest.raises(ProfileError, match="compat, spyre-2026-06") as raised:
        load_profile(chosen)
    assert len(str(raised.value)) < 500


def test_a_file_may_extend_a_profile(tmp_path: Path) -> None:
    """Its own keys win, all others stay."""
    own = tmp_path / "own.toml"
    own.write_text('name = "own"\nextends = "spyre-2026-06"\n[rules.rank]\nmost = 4\n')
    settings = load_profile(str(own)).settings()
    assert "rank.most=4" in settings
    assert "rank.most=6" not in settings
    assert "operator-missing.compiled=aten::mm" in settings


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('name = "x"\n[rules.made-up]\nevidence = "none"\n', "rule that does not exist: 'made-up'"),
        ('extends = "{file}"\n', "extend each other"),
        ("name = \n", "cannot be read"),
    ],
)
def test_a_faulty_file_is_refused(text: str, complaint: str, tmp_path: Path) -> None:
    """Before anything is loaded."""
    file = tmp_path / "faulty.toml"
    file.write_text(text.replace("{file}", str(file)))
    with pytest.raises(ProfileError, match=complaint):
        load_profile(str(file))


def test_rules_can_be_read_without_torch() -> None:
    """Workers and reports do so."""
    program = "import sys; import workers.spyre.profile as p; p.load_profile(''); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True)


def test_a_setting_that_the_device_does_not_know_is_one_line(
    run_python: Run, device_library: Path, tmp_path: Path
) -> None:
    """A typing error in a file must not mean that a rule silently does not hold."""
    file = tmp_path / "typo.toml"
    file.write_text('name = "typo"\n[rules.rank]\nmots = 4\n')
    done = run_python("-c", "import torch", SPYRE_LIBRARY=str(device_library), SPYRE_PROFILE=str(file))
    assert "rank.mots" in done.stderr
    assert "Traceback" not in done.stderr


def test_int64_is_warned_about_once(run_python: Run, device_library: Path) -> None:
    """One warning a process, however many tensors."""
    done = run_python(
        "-c",
        "import torch; torch.tensor([1]).to('spyre'); torch.tensor([2], device='spyre')",
        SPYRE_LIBRARY=str(device_library),
        SPYRE_PROFILE="spyre-2026-06",
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("int64 is stored as int32") == 1


def test_the_strict_profile_refuses_what_a_core_cannot_hold(run_python: Run, device_library: Path) -> None:
    """The same call is only reported in the profile that it extends."""
    program = "import torch; x = torch.ones(2**25, device='spyre'); x + x"
    lenient, strict = (
        run_python("-c", program, SPYRE_LIBRARY=str(device_library), SPYRE_PROFILE=name)
        for name in ("spyre-2026-06", "spyre-2026-06-strict")
    )
    assert lenient.returncode == 0, lenient.stderr
    assert "spyre: unsupported: scratchpad: aten::" in strict.stderr
