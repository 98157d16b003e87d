"""A pass's options: the fields of its dataclass, read from and written as `key=value` text.

A field may be an `int`, `float`, `bool`, `str`, a `Literal` of strings, a tuple of these (`sizes=4,8`), or any of them
`| None`. Dashes in the text stand for underscores in the field's name; a lone `key` means `key=true`.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias, Union, get_args, get_origin, get_type_hints

from xdsl.passes import ModulePass

from tilework.algebra.errors import did_you_mean
from tilework.dialects.support.diagnostics import UsageError

OptionValue: TypeAlias = int | float | bool | str | tuple["OptionValue", ...] | None
SPECIAL = re.compile(r"[\"\\]")
PLAIN_WORD = re.compile(r"[^\s{},=()\"']+")


class Option(NamedTuple):
    """One option of a pass: its name as written in a pipeline, its type, and its default where it has one."""

    name: str
    type: str
    default: str | None


def options_of(pass_type: type[ModulePass]) -> list[Option]:
    """The options that passes of this type take."""
    hints = get_type_hints(pass_type)
    return [
        Option(_dashed(field.name), type_text(hints[field.name]), _default_text(field)) for field in _fields(pass_type)
    ]


def make_pass(pass_type: type[ModulePass], texts: Mapping[str, Sequence[str]]) -> ModulePass:
    """The pass of this type with the options in `texts`: for every key the values as written, none for a lone key."""
    values = _read_options(pass_type, texts)
    for field in _fields(pass_type):
        if field.name not in values and _default_text(field) is None:
            type_ = type_text(get_type_hints(pass_type)[field.name])
            raise UsageError(f"pass '{pass_type.name}' needs its option '{_dashed(field.name)}' ({type_})")
    return pass_type(**values)


def _with_texts(pass_: ModulePass, texts: Mapping[str, Sequence[str]]) -> ModulePass:
    """The pass with those of the options in `texts` that it has; the others are those of other passes."""
    fields = {_dashed(field.name) for field in _fields(type(pass_))}
    own = {written: words for written, words in texts.items() if _dashed(written) in fields}
    return dataclasses.replace(pass_, **_read_options(type(pass_), own))


def _read_options(pass_type: type[ModulePass], texts: Mapping[str, Sequence[str]]) -> dict[str, OptionValue]:
    """The values that options written as text give to the fields of a pass; UsageError for one that it has not."""
    hints = get_type_hints(pass_type)
    fields = {_dashed(field.name): field for field in _fields(pass_type)}
    values: dict[str, OptionValue] = {}
    for written, words in texts.items():
        field = fields.get(_dashed(written))
        if field is None:
            raise UsageError(_unknown_option(f"pass '{pass_type.name}'", written, list(fields)))
        try:
            values[field.name] = read_value(words, hints[field.name])
        except ValueError:
            given = f"'{','.join(words)}'" if words else "nothing"
            expected = type_text(hints[field.name])
            raise UsageError(
                f"option '{_dashed(written)}' of pass '{pass_type.name}' must be {expected}, given {given}"
            ) from None
    return values


def pipeline_with_texts(
    name: str, passes: Sequence[ModulePass], texts: Mapping[str, Sequence[str]]
) -> Sequence[ModulePass]:
    """A named pipeline whose passes get those of the options in `texts` that they have; UsageError if none has one."""
    known = sorted({option.name for p in passes for option in options_of(type(p))})
    for written in texts:
        if _dashed(written) not in known:
            raise UsageError(_unknown_option(f"pipeline '{name}'", written, known))
    return [_with_texts(p, texts) for p in passes] if texts else passes


def pass_text(pass_: ModulePass) -> str:
    """A pass as it is written in a pipeline, with the options that differ from their defaults."""
    options = [
        f"{_dashed(field.name)}={value_text(value)}"
        for field in _fields(type(pass_))
        if (value := getattr(pass_, field.name)) != _default(field)
    ]
    return f"{pass_.name}{{{' '.join(options)}}}" if options else pass_.name


def value_text(value: OptionValue) -> str:
    """A value of an option as it is written in a pipeline."""
    match value:
        case None:
            return "none"
        case bool():
            return "true" if value else "false"
        case tuple():
            return ",".join(value_text(element) for element in value)
        case str():
            return value if PLAIN_WORD.fullmatch(value) else '"' + SPECIAL.sub(r"\\\g<0>", value) + '"'
        case _:
            return repr(value)


def type_text(hint: Any) -> str:
    """The type of an option in words."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return " or ".join(f"'{choice}'" for choice in arguments)
    if origin is tuple:
        return f"{type_text(arguments[0])} values separated by commas"
    if origin in (Union, types.UnionType):
        return " or ".join(type_text(member) for member in arguments)
    return "none" if hint is types.NoneType else str(hint.__name__)


def read_value(words: Sequence[str], hint: Any) -> OptionValue:
    """The value of type `hint` that `words` spell; ValueError where they spell none."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _read_union(words, arguments)
    if origin is tuple:
        return _read_tuple(words, arguments)
    if hint is bool and not words:
        return True
    if len(words) != 1:
        raise ValueError
    return _read_word(words[0], hint)


def _read_union(words: Sequence[str], members: Sequence[Any]) -> OptionValue:
    for member in sorted(members, key=lambda member: member is str):  # every word is a string: that comes last
        try:
            return read_value(words, member)
        except ValueError:
            continue
    raise ValueError


def _read_tuple(words: Sequence[str], members: Sequence[Any]) -> OptionValue:
    if members[-1] is not Ellipsis and len(members) != len(words):
        raise ValueError
    hints = [members[0]] * len(words) if members[-1] is Ellipsis else members
    return tuple(read_value((word,), hint) for word, hint in zip(words, hints, strict=True))


def _read_word(word: str, hint: Any) -> OptionValue:
    if hint in (int, float, str):
        return hint(word)
    if hint is bool and word in ("true", "false"):
        return word == "true"
    if hint is types.NoneType and word == "none":
        return None
    if get_origin(hint) is Literal and word in get_args(hint):
        return word
    raise ValueError


def _fields(pass_type: type[ModulePass]) -> list[dataclasses.Field[Any]]:
    return [field for field in dataclasses.fields(pass_type) if field.init and field.name != "name"]


def _default(field: dataclasses.Field[Any]) -> Any:
    """The default of a field, or `dataclasses.MISSING`."""
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _default_text(field: dataclasses.Field[Any]) -> str | None:
    default = _default(field)
    return None if default is dataclasses.MISSING else value_text(default)


def _dashed(name: str) -> str:
    return name.replace("_", "-")


def _unknown_option(owner: str, written: str, known: list[str]) -> str:
    if not known:
        return f"{owner} has no option '{written}': it takes none"
    hint = did_you_mean(_dashed(written), known)
    return f"{owner} has no option '{written}': its options are {', '.join(known)}{hint}"
