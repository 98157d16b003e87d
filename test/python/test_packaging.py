"""What is installed: every folder with Python is listed in pyproject.toml, and a wheel holds `tilework` and no more."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest
from wheels import ROOT, SETUP, source_folders, wheel_of_tilework

import tilework


def package_of(folder: Path) -> str:
    """The name under which a folder is imported."""
    return ".".join(folder.parts if folder.parts[0] == "tilework" else ("tilework", *folder.parts))


def test_every_folder_with_python_is_listed_once():
    assert sorted(SETUP["packages"]) == sorted(package_of(folder) for folder in source_folders())


def test_every_folder_is_a_package():
    assert [str(folder) for folder in source_folders() if not (ROOT / folder / "__init__.py").exists()] == []


def test_folders_at_the_root_are_mapped():
    tops = {folder.parts[0] for folder in source_folders()}
    assert SETUP["package-dir"] == {package_of(Path(top)): top for top in tops}


def test_type_checkers_find_every_folder():
    linked = {link.name for link in (ROOT / ".typing" / "tilework").iterdir()}
    assert linked >= {folder.parts[0] for folder in source_folders()} - {"tilework"}


def test_entry_points_can_be_imported():
    from importlib.metadata import entry_points

    points = [*entry_points(group="console_scripts"), *entry_points(group="xdsl.universe")]
    ours = {point.name: point for point in points if point.value.startswith("tilework.")}
    assert ours.keys() >= {"opt-tool", "tilework"}
    for point in ours.values():
        point.load()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names of the files in a wheel built from a copy of the sources."""
    return ZipFile(wheel_of_tilework(tmp_path_factory.mktemp("wheel"))).namelist()


def test_wheel_holds_tilework_and_no_more(wheel: list[str]):
    tops = {name.partition("/")[0] for name in wheel}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"tilework"}


def test_wheel_holds_every_source_file(wheel: list[str]):
    expected = {
        f"{package_of(folder).replace('.', '/')}/{file.name}"
        for folder in source_folders()
        for file in (ROOT / folder).glob("*.py")
    }
    assert {name for name in wheel if name.endswith(".py")} == expected
    assert "tilework/py.typed" in wheel


def test_every_public_name_is_there():
    assert set(tilework.__all__) <= set(dir(tilework))
    for name in tilework.__all__:
        assert callable(getattr(tilework, name))
    with pytest.raises(AttributeError, match="module 'tilework' has no attribute 'compil'"):
        tilework.compil  # noqa: B018
