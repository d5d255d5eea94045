"""Where markers sit on the 48-DOF human: known suits, the names that laboratories use, and a user's own file.

A marker's place is where the fit begins, in fractions of the stature in the axes of its body (x to the right, y
forward, z up). The fit moves it. Which segment carries which marker follows the published model of the paper's
authors (cooper-markers.txt); places on the skin are typical of an adult.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import ArgumentError, FileFormatError, MarkerError
from ..io.files import as_text, read_bytes
from ..model.library.human48_table import CHIRAL, MIRROR
from ..typing import Array


@dataclass(frozen=True)
class Attachment:
    """A marker on a body: its first place (fractions of the stature), its weight, and whether it marks a landmark.

    `firm` markers sit on a bone that can be felt, so that their first place can be believed; the others are only
    known to be somewhere on their segment.
    """

    body: str
    at: tuple[float, float, float]
    weight: float = 1.0
    firm: bool = True


# right side and middle: landmark -> (body without side, x, y, z, weight, firm)
LANDMARKS: dict[str, tuple[str, float, float, float, float, bool]] = {
    "FHD": ("head", 0.040, 0.055, 0.075, 0.8, True), "BHD": ("head", 0.040, -0.050, 0.075, 0.8, True),
    "HEAD": ("head", 0.0, 0.012, 0.115, 0.8, True),
    "C7": ("neck", 0.0, -0.030, 0.000, 1.0, True), "CLAV": ("upper_torso", 0.0, 0.052, 0.125, 1.0, True),
    "SCL": ("upper_torso", 0.018, 0.050, 0.128, 1.0, True),
    "STRN": ("lower_torso", 0.0, 0.082, 0.120, 1.0, True), "T10": ("lower_torso", 0.0, -0.055, 0.130, 1.0, True),
    "RBAC": ("upper_torso", 0.050, -0.060, 0.090, 0.5, False),
    "SHO": ("collar", 0.090, -0.025, 0.036, 1.0, True), "ASH": ("collar", 0.090, 0.010, 0.000, 0.6, False),
    "PSH": ("collar", 0.090, -0.062, 0.000, 0.6, False), "SJC": ("upper_arm", 0.0, 0.0, 0.0, 1.0, True),
    "UPA": ("upper_arm", 0.030, 0.0, -0.090, 0.5, False),
    "ELB": ("upper_arm", 0.024, -0.004, -0.172, 1.0, True), "MELB": ("upper_arm", -0.024, -0.004, -0.172, 1.0, True),
    "EJC": ("lower_arm", 0.0, 0.0, 0.0, 1.0, True),
    "FRM": ("lower_arm", 0.024, 0.0, -0.070, 0.5, False), "WRI": ("lower_arm", 0.010, -0.015, -0.146, 1.0, False),
    "WRA": ("lower_arm", -0.019, 0.004, -0.142, 1.0, True), "WRB": ("lower_arm", 0.019, 0.004, -0.142, 1.0, True),
    "FIN": ("hand", 0.0, -0.012, -0.050, 0.8, True),
    "ASIS": ("pelvis", 0.070, 0.032, 0.046, 1.5, True), "PSIS": ("pelvis", 0.027, -0.062, 0.058, 1.5, True),
    "SACR": ("pelvis", 0.0, -0.064, 0.050, 1.5, True), "HJC": ("upper_leg", 0.0, 0.0, 0.0, 1.0, True),
    "THI": ("upper_leg", 0.048, 0.0, -0.120, 0.5, False),
    "KNE": ("upper_leg", 0.034, 0.0, -0.242, 1.5, True), "MKNE": ("upper_leg", -0.034, 0.0, -0.242, 1.5, True),
    "KJC": ("lower_leg", 0.0, 0.0, 0.0, 1.0, True),
    "SHN": ("lower_leg", 0.026, 0.010, -0.110, 0.5, False),
    "ANK": ("lower_leg", 0.024, -0.004, -0.244, 1.5, True), "MANK": ("lower_leg", -0.023, 0.004, -0.238, 1.5, True),
    "AJC": ("heel", 0.0, 0.0, 0.0, 1.0, True),
    "HEE": ("heel", 0.0, -0.036, -0.022, 1.5, True), "TOE": ("toes", -0.004, 0.012, 0.016, 1.0, True),
    "MT5": ("toes", 0.030, -0.006, 0.010, 1.0, True), "MT1": ("toes", -0.026, 0.004, 0.010, 1.0, True),
}  # fmt: skip

# what laboratories write, after the side has been taken off: pattern -> landmark
VOCABULARY: tuple[tuple[str, str], ...] = (
    (r"asis|asi|fwt", "ASIS"), (r"psis|psi|bwt", "PSIS"), (r"s2|sacr|sacrum|sacral|mpsis|vsacral", "SACR"),
    (r"fhd|fronthead|headfront", "FHD"), (r"bhd|backhead|headback", "BHD"), (r"head|tophead|tophd", "HEAD"),
    (r"c7", "C7"), (r"clav|clavicle|ij|sjn|jug", "CLAV"), (r"strn|sternum|xyph|px|ster", "STRN"),
    (r"t10|t8|t12", "T10"),
    (r"bac|bak|scap", "RBAC"), (r"hjc|hjc_?reg|hip", "HJC"), (r"kjc", "KJC"), (r"ajc", "AJC"), (r"sjc", "SJC"),
    (r"ejc", "EJC"), (r"sho|shoulder|acr|acromion|acromium", "SHO"), (r"ash", "ASH"), (r"psh", "PSH"),
    (r"upa|upb|upc|biceps|humerus|ua\d|uparm", "UPA"),
    (r"elb|elbow|elbow_?lat|lelb|lel|latelbow|lat_?elbow", "ELB"), (r"melb|mel|elbow_?med|med_?elbow", "MELB"),
    (r"frm|frm[abc]|forearm|fasuperior|fa\d", "FRM"), (r"wra|wrist_?rad(ius)?|faradius|radius", "WRA"),
    (r"wrb|wrist_?ulna|faulna|ulna", "WRB"), (r"wri|wrist", "WRI"), (r"fin|finger|hand|hnd|mc3", "FIN"),
    (r"kne|knee|lfc|lkne|lat_?knee|lknee", "KNE"), (r"mfc|mkne|mknee|med_?knee|knem|knee_?med", "MKNE"),
    (r"thi|thigh|th\d|thigh\d|thi\d|dth|pth", "THI"), (r"shn|tib|sh\d|tb\d|tib\d|shank|shank_?\w*|tibia", "SHN"),
    (r"ank|ankle|lmal|lat_?ankle|lankle", "ANK"), (r"mmal|mank|mankle|med_?ankle|medial_?ankle", "MANK"),
    (r"hee|heel|cal|calc|calcaneus", "HEE"), (r"toe|mt2|2meta|mtp2|dt", "TOE"),
    (r"mt5|5meta|mtp5|d5m|fifth", "MT5"), (r"mt1|1meta|mtp1|d1m", "MT1"),
)  # fmt: skip
_WORDS = tuple((re.compile(rf"(?:{pattern})$"), landmark) for pattern, landmark in VOCABULARY)
_MIDDLE = {"C7", "CLAV", "STRN", "T10", "SACR", "HEAD"}

_HEAD_AND_ARMS = (
    "LFHD", "RFHD", "LBHD", "RBHD", "C7", "T10", "CLAV", "STRN", "LSHO", "LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN",
    "RSHO", "RUPA", "RELB", "RFRM", "RWRA", "RWRB", "RFIN",
)  # fmt: skip
CMU = (
    *_HEAD_AND_ARMS, "RBAC", "LFWT", "RFWT", "LBWT", "RBWT", "LTHI", "LKNE", "LSHN", "LANK", "LHEE", "LTOE", "LMT5",
    "RTHI", "RKNE", "RSHN", "RANK", "RHEE", "RTOE", "RMT5",
)  # fmt: skip
PLUGIN_GAIT = (
    *_HEAD_AND_ARMS, "RBAK", "LASI", "RASI", "LPSI", "RPSI", "LTHI", "LKNE", "LTIB", "LANK", "LHEE", "LTOE",
    "RTHI", "RKNE", "RTIB", "RANK", "RHEE", "RTOE",
)  # fmt: skip
UNUSED_LEDS = tuple(f"{side}{finger}" for side in "LR" for finger in ("TH", "IDX", "MID", "RNG", "PNK"))
SETS: dict[str, tuple[str, ...]] = {
    "cmu": tuple(CMU),
    "plugin_gait": tuple(PLUGIN_GAIT),
    "phasespace": (*CMU, *UNUSED_LEDS),
}
"""Labels of the known suits; `phasespace` is the paper's: 51 diodes, of which the ten on fingers are not used."""


def landmark_of(label: str) -> tuple[str, str] | None:
    """Return (side, landmark) of a label such as "R.ASIS", "l_knee" or "RTOE"; None where it says nothing."""
    text = label.strip()
    match = re.match(r"^(?:(right|left)|([rl])(?=[._ -]))[._ -]?(.*)$", text, re.IGNORECASE)
    if match is not None:
        side = (match[1] or match[2])[0].lower()
        found = _look_up(match[3].lower())
        if found is not None:
            return ("" if found in _MIDDLE - {"CLAV", "STRN"} else side), found
    whole = _look_up(text.lower())
    if whole in _MIDDLE:
        return "", whole
    if text[:1].lower() in ("l", "r") and len(text) > 2:
        found = _look_up(text[1:].lower())
        if found == "RBAC":
            return "r" if text[0].lower() == "r" else "l", found
        if found is not None:
            return ("" if found in _MIDDLE - {"CLAV", "STRN"} else text[0].lower()), found
    return None


def _look_up(word: str) -> str | None:
    word = word.strip("._- ")
    return next((landmark for pattern, landmark in _WORDS if pattern.match(word)), None)


def attachment_of(label: str) -> Attachment | None:
    """Return where a marker of this name sits, or None where its name says nothing."""
    found = landmark_of(label)
    if found is None:
        return None
    side, landmark = found
    if landmark in ("CLAV", "STRN") and side:
        landmark = "SCL"
    body, x, y, z, weight, firm = LANDMARKS[landmark]
    place = np.array([x, y, z])
    if side == "l":
        place = place * MIRROR
    name = body if body not in CHIRAL else ("left_" if side == "l" else "right_") + body
    if body in CHIRAL and not side:
        return None
    return Attachment(name, (float(place[0]), float(place[1]), float(place[2])), weight, firm)


def read_markerset(path: str | os.PathLike[str], bodies: Iterable[str]) -> dict[str, Attachment]:
    """Read a user's own marker set: a TOML file with a table [markers.LABEL] of body, at and, if wanted, weight."""
    try:
        content = tomllib.loads(as_text(path, read_bytes(path)))
    except tomllib.TOMLDecodeError as error:
        raise FileFormatError(path, "", f"is not a TOML file ({error})") from None
    known, found = set(bodies), {}
    table = content.get("markers")
    if not isinstance(table, dict) or not table:
        raise FileFormatError(
            path, "[markers]", "is missing: give a table [markers.LABEL] with body and at for each marker"
        )
    for label, own in table.items():
        where = f"[markers.{label}]"
        if not isinstance(own, dict) or own.get("body") not in known:
            raise FileFormatError(path, where, f"body must be one of {', '.join(sorted(known))}")
        at = own.get("at", [0.0, 0.0, 0.0])
        if not (isinstance(at, list) and len(at) == 3 and all(isinstance(v, (int, float)) and abs(v) < 1 for v in at)):
            raise FileFormatError(path, where, "at must be three fractions of the stature")
        weight = own.get("weight", 1.0)
        if not isinstance(weight, (int, float)) or not 0 <= weight < 1e6:
            raise FileFormatError(path, where, "weight must be a number that is not negative")
        x, y, z = (float(v) for v in at)
        found[label] = Attachment(str(own["body"]), (x, y, z), float(weight), bool(own.get("firm", True)))
    return found


def recognise(labels: Iterable[str]) -> str:
    """Return the name of the known suit that the labels are of, or "by name" where only their words are known."""
    own = {label.upper() for label in labels}
    shares = {name: len(own & set(known)) / len(known) for name, known in SETS.items()}
    best = max(shares, key=lambda name: (round(shares[name], 6), len(SETS[name])))
    return best if shares[best] >= 0.75 else "by name"


def attachments(
    labels: Iterable[str], markerset: str | os.PathLike[str], bodies: Iterable[str]
) -> tuple[str, dict[str, Attachment], list[str]]:
    """Return the set's name, an attachment for each label that has one, and the labels that have none."""
    labels = list(labels)
    name = os.fspath(markerset)
    if name in ("auto", *SETS):
        chosen = recognise(labels) if name == "auto" else name
        allowed = set(SETS.get(chosen, ())) - set(UNUSED_LEDS)
        found: dict[str, Attachment] = {}
        for label in labels:
            if chosen in SETS and name != "auto" and label.upper() not in allowed:
                continue
            own = attachment_of(label)
            if own is not None and label.upper() not in UNUSED_LEDS:
                found[label] = own
    elif name.endswith(".toml"):
        chosen, known = name, read_markerset(name, bodies)
        found = {label: known[label] for label in labels if label in known}
    else:
        raise ArgumentError(f"markerset is {name!r}: use 'auto', {', '.join(map(repr, SETS))} or a .toml file")
    if len(found) < 4:
        raise MarkerError(
            f"only {len(found)} of {len(labels)} labels are known to the marker set {chosen!r}; the trial has "
            f"{', '.join(labels[:12])}{' ...' if len(labels) > 12 else ''}: give markerset='own.toml'"
        )
    return chosen, found, [label for label in labels if label not in found]


def places(found: dict[str, Attachment], height: float) -> Array:
    """Return the first places of the markers in their bodies [m], shape [m, 3]."""
    return height * np.array([own.at for own in found.values()]).reshape(-1, 3)
