"""Many paths in few words, and back."""

from hypothesis import given
from hypothesis import strategies as st

from pubmill.names import by_folder, paths_of


def test_numbered_names_become_runs() -> None:
    paths = [f"a/pubmed26n{number:04d}.xml.gz" for number in (1, 2, 3, 7)] + ["b/one.tsv", "a/x"]
    assert by_folder(paths) == {
        "a": [["pubmed26n", "0001", "0003", ".xml.gz"], "pubmed26n0007.xml.gz", "x"],
        "b": ["one.tsv"],
    }


def test_a_number_of_another_width_is_of_another_run() -> None:
    assert by_folder(["a/9", "a/10", "a/11"]) == {"a": ["9", ["", "10", "11", ""]]}


@given(
    st.lists(
        st.tuples(st.sampled_from("ab"), st.from_regex(r"[x0-9.\[\]-]{1,6}", fullmatch=True)), unique=True
    )
)
def test_they_come_back_as_they_were(pairs: list[tuple[str, str]]) -> None:
    paths = [f"{folder}/{name}" for folder, name in sorted(pairs, key=lambda pair: pair[0])]
    assert list(paths_of(by_folder(paths))) == paths
