#!/usr/bin/env python3
"""Writes unicode14.bin, the character database of package str, from the running CPython.

Run it with CPython 3.11, whose Unicode data is 14.0.0: python3.11 unicode14.py unicode14.bin

All integers are little-endian.
  u32 counts of: numeric values, long mappings, records, pages, page index
  f64 numeric values
  long mappings: u32 length, then that many u32 code points
  records of 24 bytes: u8 category (two letters as index), u8 flags, i8 decimal, i8 digit, u16 numeric index + 1,
    u16 unused, i32 lower, upper, title, fold (a difference, or 0x40000000 + index of a long mapping)
  pages of 128 u16 record numbers
  page index: u16 per 128 code points
"""
import struct
import sys
import unicodedata

CATEGORIES = "Lu Ll Lt Lm Lo Mn Mc Me Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So Zs Zl Zp Cc Cf Cs Co Cn".split()
LONG = 0x40000000

assert unicodedata.unidata_version == "14.0.0", unicodedata.unidata_version


def flags(ch):
    # How a character acts around a capital sigma tells what the interpreter keeps to itself.
    cased = (ch + "\u03a3").lower().endswith("\u03c2")
    ignorable = not cased and ("A" + ch + "\u03a3").lower().endswith("\u03c2")
    bits = [ch.isspace(), ch.isprintable(), ch.islower(), ch.isupper(), cased, ignorable,
            ch.isidentifier(), ("a" + ch).isidentifier()]
    return sum(1 << i for i, b in enumerate(bits) if b)


numerics, longs, records, pages = {}, {}, {}, {}


def mapping(cp, to):
    if len(to) == 1:
        return ord(to) - cp
    return LONG + longs.setdefault(to, len(longs))


def record(cp):
    ch = chr(cp)
    number = unicodedata.numeric(ch, None)
    return struct.pack(
        "<BBbbHHiiii", CATEGORIES.index(unicodedata.category(ch)), flags(ch),
        unicodedata.decimal(ch, -1), unicodedata.digit(ch, -1),
        0 if number is None else numerics.setdefault(number, len(numerics)) + 1, 0,
        mapping(cp, ch.lower()), mapping(cp, ch.upper()), mapping(cp, ch.title()), mapping(cp, ch.casefold()))


index = []
for start in range(0, 0x110000, 128):
    page = struct.pack("<128H", *(records.setdefault(record(cp), len(records)) for cp in range(start, start + 128)))
    index.append(pages.setdefault(page, len(pages)))

with open(sys.argv[1], "wb") as out:
    out.write(struct.pack("<5I", len(numerics), len(longs), len(records), len(pages), len(index)))
    out.write(b"".join(struct.pack("<d", v) for v in numerics))
    for text in longs:
        out.write(struct.pack("<I%dI" % len(text), len(text), *map(ord, text)))
    out.write(b"".join(records))
    out.write(b"".join(pages))
    out.write(struct.pack("<%dH" % len(index), *index))
