"""What looks like a secret in a command line, what does not, and that none is ever shown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from roost.core.audit.secrets import secret_in

HF = "hf_" + "aB3" * 12
SECRETS = [
    (["mysql", "--password=hunter2-and-more"], "option", "mysql … --password=****"),
    (["mysql", "--password", "hunter2-and-more"], "option", "mysql … --password ****"),
    (["train", "--hf-token", "abcdefgh"], "option", "train … --hf-token ****"),
    (["train", "--wandb-api-key=0123456789abcdef"], "option", "train … --wandb-api-key=****"),
    (["sh", "-c", "curl -H x --token 's3cret words'"], "option", "sh … --token ****"),
    (["env", "WANDB_API_KEY=0123456789abcdef", "python"], "variable", "env … WANDB_API_KEY=****"),
    (["sh", "-c", "export HF_TOKEN=abcdefgh; python"], "variable", "sh … HF_TOKEN=****"),
    (["python", "x.py", HF], "hugging_face", "python … ****"),
    (["curl", "-H", f"Authorization: Bearer {HF}"], "hugging_face", "curl … ****"),
    (["x", "sk-" + "a1" * 15], "api_key", "x … ****"),
    (["git", "clone", "https://ghp_" + "a1" * 18 + "@github.com/x"], "github", "git … ****"),
    (["aws", "AKIA" + "A1" * 8], "aws", "aws … ****"),
    (
        ["psql", "postgres://ann:hunter2x@db.example/x"],
        "url",
        "psql … postgres://ann:****@db.example",
    ),
    (["x", "roost_" + "a" * 43], "roost", "x … ****"),
]
PLAIN = [
    [],
    [""],
    ["python", "train.py", "--max-tokens", "512", "--tokenizer", "/models/llama"],
    ["mysql", "--password"],
    ["mysql", "--password="],
    ["mysql", "-p"],
    ["x", "--token=/run/secrets/token"],
    ["x", "--token", "$HF_TOKEN"],
    ["x", "--password-file=/etc/x"],
    ["x", "--token", "--verbose"],
    ["x", "--secret", "123456"],
    ["x", "--password=********"],
    ["curl", "https://example.org:8443/x@y"],
    ["ssh", "ann@host:22"],
    ["sh", "-c", "echo token limits are fine; TOKENIZERS_PARALLELISM=false python"],
    ["python", "-m", "sk-learn"],
]


def words(given: list[str]) -> list[bytes]:
    return [word.encode() for word in given]


@pytest.mark.parametrize(("given", "kind", "shown"), SECRETS)
def test_it_is_found_and_masked(given: list[str], kind: str, shown: str) -> None:
    assert secret_in(words(given)) == (kind, shown)


@pytest.mark.parametrize("given", PLAIN)
def test_no_false_alarm(given: list[str]) -> None:
    assert secret_in(words(given)) is None


@given(
    st.text("abcdefXYZ0123456789-_.", min_size=12).filter(
        lambda s: s[0] != "-" and not s.isdigit()
    ),
    st.sampled_from(
        ["--password={}", "--token {}", "A_TOKEN={}", "http://u:{}@h/", "-c x --token={}"]
    ),
    st.booleans(),
)
def test_the_secret_is_never_in_what_is_shown(secret: str, how: str, split: bool) -> None:
    text = how.format(secret)
    found = secret_in([b"prog", *(words(text.split()) if split else [text.encode()])])
    assert found is None or secret not in found[1]


@given(st.lists(st.binary(max_size=60), max_size=6))
def test_no_bytes_make_it_fail(given: list[bytes]) -> None:
    found = secret_in(given)
    assert found is None or found[1].isprintable()


def test_a_program_named_like_a_secret_is_masked_too() -> None:
    found = secret_in([HF.encode(), b"--password=hunter2-and-more"])
    assert found is not None
    assert HF not in found[1]
