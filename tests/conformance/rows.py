"""The rows of the conformance list (crcr-protocol 6): which there are, which differ by mode, which are not ours.

A row is named by its section's two letters and a number that counts from 1 without a gap.
"""

from __future__ import annotations

#: Section -> how many rows it has.
SECTIONS = {
    "WH": 22,
    "EV": 27,
    "LB": 13,
    "RR": 17,
    "CB": 10,
    "OI": 15,
    "BK": 15,
    "AC": 9,
    "SM": 32,
    "CK": 16,
    "NI": 14,
    "SH": 10,
    "ZC": 25,
    "HF": 8,
    "HA": 7,
    "HX": 22,
    "UI": 3,
    "AL": 30,
    "AT": 10,
    "CF": 7,
    "OB": 10,
    "MB": 10,
    "CP": 1,
    "DR": 2,
    "AX": 11,
    "PX": 4,
    "DM": 7,
    "TV": 13,
    "DB": 20,
}

ROWS = tuple(f"{section}{number:02}" for section, count in SECTIONS.items() for number in range(1, count + 1))

#: Rows of which the list says that we deliberately differ from the original: shown in both modes.
DIFFER = frozenset(
    (
        "WH10",
        "WH20",
        "EV07",
        "EV08",
        "EV12",
        "EV13",
        "EV20",
        "CB08",
        "CB10",
        "OI10",
        "AC08",
        "SM07",
        "SM14",
        "SM15",
        "SM17",
        "SM27",
        "SM28",
        "CK15",
        "NI10",
        "NI11",
        "NI12",
        "ZC18",
        "ZC21",
        "ZC22",
        "ZC23",
        "ZC24",
        "HX20",
        "HX21",
        "AX08",
        "AX11",
        "DB12",
        "DB13",
        "DB17",
        "DB18",
    )
)

#: Section -> why it concerns no part of this project.
NOT_APPLICABLE = {
    "OB": "the bot that pings people on call is upstream's own",
    "MB": "what may be merged is decided by upstream's merge bot",
    "CP": "tags are pushed by upstream's label bot",
    "DR": "the comment on failures is written by upstream's bot",
}
