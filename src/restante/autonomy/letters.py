"""Letters as a hurried reader sees them: without accents, and Latin where they look so.

One for one, so that places in a text stay what they were.
"""

from __future__ import annotations

from unicodedata import normalize

# Letters of other alphabets that look like Latin ones.
_LOOK_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0445\u0443\u043a\u043c\u0442\u0456\u0455\u0458\u0501\u04bb\u0261\u03bf\u03b1\u03c1"
    "\u03bd\u03b9\u0131\u0578\u0585\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425",
    "aeopcxykmtisjdhgoapviinoABEKMHOPCTX",
)
# Marks that stand by themselves are left out by the fold.
_BARE = {
    place: bare
    for place in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
    if (bare := normalize("NFD", chr(place))[0]).isascii() and bare.isalpha()
}
PLAIN = _BARE | _LOOK_ALIKE


def cyrillic(pattern: str) -> str:
    """Return a pattern whose Cyrillic letters are found in either case, and in text that was made plain by ``PLAIN``.

    Args:
        pattern: In lower case, without a set in brackets that holds Cyrillic letters.
    """
    parts = []
    for letter in pattern:
        if "\u0430" <= letter <= "\u0451":
            # A mark may have stood by itself.
            forms = {letter, letter.upper(), *(normalize("NFD", one)[0] for one in (letter, letter.upper()))}
            parts.append(f"[{''.join(sorted(form.translate(PLAIN) for form in forms))}]")
        else:
            parts.append(letter)
    return "".join(parts)
