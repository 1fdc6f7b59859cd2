"""Names and sources of environments come from people: each is taken for what it is, or refused."""

from __future__ import annotations

import pytest

from roost.core.environments.names import split
from roost.core.environments.sources import (
    SourceError,
    SourceKind,
    conda_spec,
    is_locked,
    kind_of,
    pins,
)

HASH = "--hash=sha256:" + "0" * 64


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "../x", "a/../b", "a/b/c", "/a", "a/", ".hidden", "-x", "a b", "a\n", "a\0",
     "é", "x" * 65, "~/x", "a/.b", "$(id)", "a;b", "%2e%2e"],
)  # fmt: skip
def test_a_name_that_could_lead_elsewhere_is_none(text: str):
    assert split(text) is None


@pytest.mark.parametrize(
    ("text", "parts"),
    [("ml", ("", "ml")), ("ann/ml-2.0", ("ann", "ml-2.0")), ("a.b@lab/x+1", ("a.b@lab", "x+1"))],
)
def test_names_and_references(text: str, parts: tuple[str, str]):
    assert split(text) == parts


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("requirements.txt", "torch>=2\n", SourceKind.REQUIREMENTS),
        ("requirements.txt", f"# all\ntorch==2.0 \\\n    {HASH}\n", SourceKind.LOCKED),
        ("x.lock", f"torch==2.0 {HASH}\n--pre\n", SourceKind.LOCKED),
        ("requirements.txt", f"torch==2.0 {HASH}\nnumpy\n", SourceKind.REQUIREMENTS),
        ("tools.txt", "# platform\n@EXPLICIT\nhttps://x\n", SourceKind.CONDA_LOCK),
        ("/a/b/environment.yml", "", SourceKind.CONDA),
        ("pyproject.toml", "[project]\n", SourceKind.PYPROJECT),
        ("other.toml", 'lock-version = "1.0"\n', SourceKind.PYLOCK),
        ("pylock.gpu.toml", "", SourceKind.PYLOCK),
        ("uv.lock", "version = 1\n", SourceKind.UV_LOCK),
    ],
)
def test_what_a_file_is(name: str, text: str, kind: SourceKind):
    assert kind_of(name, text) is kind


def test_a_file_of_another_kind_is_refused():
    with pytest.raises(SourceError):
        kind_of("setup.py", "x")


def test_a_list_is_locked_only_with_a_hash_on_every_line():
    assert not is_locked("")
    assert not is_locked(f"torch>=2.0 {HASH}")
    assert is_locked(f"torch[x]==2.0 ; python_version>'3' {HASH}\n\n# end\n")


def test_conda_packages_and_pip_ones():
    spec = conda_spec(
        {"name": "x", "prefix": "/etc", "channels": ["conda-forge"],
         "dependencies": ["python=3.12", "numpy >=2,<3", {"pip": ["torch==2.0"]}]}
    )  # fmt: skip
    assert spec.packages == ("python=3.12", "numpy >=2,<3")
    assert (spec.channels, spec.pip) == (("conda-forge",), ("torch==2.0",))


@pytest.mark.parametrize(
    "document",
    [None, [], "x", {}, {"dependencies": []}, {"dependencies": "numpy"}, {"dependencies": [1]},
     {"dependencies": ["--file=/etc/shadow"]}, {"dependencies": ["a\nb"]},
     {"dependencies": ["numpy"], "channels": ["-c"]}, {"dependencies": ["numpy; rm -rf /"]},
     {"dependencies": [{"pip": "x"}]}, {"dependencies": [{"npm": ["x"]}]},
     {"dependencies": ["numpy$(id)"]}, {"dependencies": ["x" * 400]}],
)  # fmt: skip
def test_a_conda_file_of_anything_else_is_refused(document: object):
    with pytest.raises(SourceError):
        conda_spec(document)


def test_pins_of_a_lock():
    text = (
        f"torch==2.13.0+cu130 \\\n    {HASH}\nx @ file:///w/x-1.2%2Bcpu-py3-none-any.whl {HASH}\n"
    )
    assert pins(text) == {"torch": "2.13.0+cu130", "x": "1.2+cpu"}
    assert pins('lock-version = "1.0"\n[[packages]]\nname = "a"\nversion = "1"\n') == {"a": "1"}
