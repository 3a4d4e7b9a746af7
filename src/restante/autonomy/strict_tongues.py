"""What our own hard stops look for in other languages than English: a short list, which is no promise of all of them.

Written for text whose letters have lost their accents. Nothing here is taken back by a negation: those of other
languages are not known, and who is asked once too often can say no.
"""

from __future__ import annotations

from restante.domain.screening.rule import Rule

_SHARED = r"(?:main|master|trunk)(?![\w/]|\.\w|-(?!branch))"
_WORDS = r"(?:[ \t\n]+[\w'’`#./-]{1,40}){0,5}?[ \t\n]+"
_END = r"(?=[ \t]*(?:[-.,;:!?)\]\"'`*\r\n]|$)|[ \t]+(?:branch|push|merg|quando|quand|wenn|cuando|sobald))"

TONGUES = (
    Rule(
        "destructive.all_of_it",
        "removes everything of a kind",
        (
            "losch",
            "supprim",
            "effac",
            "borr",
            "elimin",
            "apag",
            "cancell",
            "rimuov",
            "verwijder",
            "usun",
            "删除",
            "削除",
        ),
        r"\b(?:losche?[nt]?|supprime[rz]?|efface[rz]?|borr(?:a|ar|en|e)|elimin(?:a|ar|are|e|er)|apag(?:a|ar|ue)"
        r"|cancella(?:re)?|rimuovi|verwijder|usun)[ \t]+(?:bitte[ \t]+)?"
        r"(?:alle[ns]?|tou(?:t|s|tes)|tod[oa]s?|tutt[eaio]|wszystkie)[ \t]+"
        r"(?:(?:les|los|las|os|as|i|gli|le|die|der)[ \t]+)?(?:dateien|daten|ordner|verzeichnisse|tabellen"
        r"|branches|zweige|fichiers|donnees|dossiers|tables|branches|archivos|ficheros|datos|carpetas|tablas|ramas"
        r"|arquivos|dados|pastas|tabelas|file|dati|cartelle|tabelle|bestanden|gegevens|pliki)\b"
        r"|(?:删除|全部)(?:所有|全部)?(?:文件|数据|削除|删除)|(?:すべて|全て)[^\n]{0,12}削除",
    ),
    Rule(
        "branch.push_elsewhere",
        "pushes to a branch that everybody works from",
        ("main", "master", "trunk"),
        r"\b(?:push(?:e[nrz]?|t|a|ea|ear)?|pouss(?:e|er|ez)|envoi(?:e|es)|sub(?:e|ir|a)|empuj(?:a|ar)|envi(?:a|ar)|invia)\b"
        rf"(?:[ \t\n]+[\w'’`#./-]{{1,40}}){{0,5}}?[ \t\n]+(?:sur|vers|auf|nach|zu|a|al|en|na|para|su|sul|naar)"
        rf"[ \t\n]+(?:(?:la|le|den|die|el|o|il|de|branche|branch|rama|ramo)[ \t]+){{0,2}}[`'\"*]{{0,3}}{_SHARED}{_END}"
        rf"|\b(?:merg(?:e|en|ez|er|ea|ear)|fusionn?(?:e|er|ez|a|ar|iere|ieren)|fuhre|fonde|mescla)\b{_WORDS}"
        rf"(?:in|dans|en|na|nel|auf|con)[ \t\n]+(?:(?:la|le|den|el|il)[ \t]+)?[`'\"*]{{0,3}}{_SHARED}{_END}"
        rf"|\b(?:auf|nach|in)[ \t]+(?:den[ \t]+)?[`'\"*]{{0,3}}{_SHARED}[`'\"*]{{0,3}}(?:-branch)?[ \t]+"
        r"(?:ge)?(?:push|merg|schieb|zusammenfuhr)\w{0,6}\b"
        rf"|推送到[ \t]*{_SHARED}|{_SHARED}[ \t]*(?:に|へ)[^\n]{{0,6}}(?:プッシュ|push)",
    ),
    Rule(
        "release.now_elsewhere",
        "asks for a release at once",
        ("deplo", "despl", "publi", "veroff", "ausroll", "rolle", "implant", "distribu"),
        r"\b(?:deplo(?:ye?[nrz]?|ie|ya)|desplieg(?:a|ue)|desplegar|publi(?:e|er|ez|ca|car|que|ziere|zieren)"
        r"|veroffentliche?n?|ausrollen|rolle|implant(?:a|ar|e)|distribuisci)\b"
        r"(?:[ \t\n]+[\w'’`#./-]{1,40}){0,4}?[ \t\n]+"
        r"(?:jetzt|sofort|gleich|heute|maintenant|immediatement|tout[ \t]+de[ \t]+suite|ahora|ya|inmediatamente|hoy"
        r"|agora|imediatamente|adesso|subito|nu|teraz)\b",
    ),
)
