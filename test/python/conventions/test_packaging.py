"""A clone is a package through links to its folders, and a wheel holds `tilework` and nothing else."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from wheels import PROJECT, ROOT, source_folders, wheel_of_tilework

import tilework

LINKS = ROOT / "tilework"


def test_the_package_links_to_every_folder_with_python():
    linked = {link.name: link.resolve() for link in LINKS.iterdir() if link.is_dir() and link.name != "__pycache__"}
    tops = {folder.parts[0] for folder in source_folders()} - {"tilework"}
    assert linked == {top: ROOT / top for top in tops}


def test_every_folder_is_a_package():
    assert [str(folder) for folder in source_folders() if not (ROOT / folder / "__init__.py").exists()] == []


def test_type_checking_includes_every_folder():
    included = {name.removesuffix("/*.py") for name in PROJECT["tool"]["pyright"]["include"]}
    assert included == {folder.parts[0] for folder in source_folders()}


def test_a_clone_is_imported_from_its_parent_folder(tmp_path: Path):
    """There the clone itself looks like a package of that name."""
    (tmp_path / "tilework").symlink_to(ROOT)
    assert imported_from(sys.executable, tmp_path) == ROOT / "tools"


def test_a_clone_is_imported_inside_itself_where_nothing_is_installed(tmp_path: Path):
    """`-S` leaves out what is installed; the packages that Tilework needs are given by path."""
    needed = os.pathsep.join(path for path in sys.path if path.endswith("-packages"))
    assert imported_from(sys.executable, ROOT, "-S", path=needed) == ROOT / "tools"


def imported_from(python: str, folder: Path, *options: str, path: str = "") -> Path:
    """The folder that `tilework.tools` is imported from by a process that runs in `folder`."""
    code = "from pathlib import Path; import tilework.tools; print(Path(tilework.tools.__file__).resolve().parent)"
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run([python, *options, "-c", code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return Path(done.stdout.strip())


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
        "/".join(["tilework", *(part for part in folder.parts if part != "tilework"), file.name])
        for folder in source_folders()
        for file in (ROOT / folder).glob("*.py")
    }
    assert {name for name in wheel if name.endswith(".py")} == expected
    assert "tilework/py.typed" in wheel


def test_the_workflow_runs_what_ci_runs_on_every_python_that_is_declared():
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    [versions] = re.findall(r"python: \[(.*)\]", workflow)
    classifiers = PROJECT["project"]["classifiers"]
    declared = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert re.findall(r"[\d.]+", versions) == declared and f">={declared[0]}" == PROJECT["project"]["requires-python"]
    assert re.findall(r"- run: (.*)", workflow) == [".ci/run"]


def test_the_version_is_that_of_the_package():
    assert tilework.__version__ == PROJECT["project"]["version"]
    done = subprocess.run([sys.executable, "-m", "tilework", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"tilework {tilework.__version__}\n"


def test_every_public_name_is_there():
    assert set(tilework.__all__) <= set(dir(tilework))
    for name in tilework.__all__:
        assert name == "__version__" or callable(getattr(tilework, name))
    with pytest.raises(AttributeError, match="module 'tilework' has no attribute 'compil'"):
        tilework.compil  # noqa: B018
