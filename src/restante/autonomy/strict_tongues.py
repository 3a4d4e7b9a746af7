"""What our own hard stops look for in other languages than English: a short list, which is no promise of all of them.

Written for text whose letters have lost their accents. Nothing here is taken back by a negation: those of other
languages are not known, and who is asked once too often can say no.
"""

from __future__ import annotations

from restante.autonomy.letters import PLAIN, cyrillic
from restante.domain.screening.rule import Rule

_SHARED = r"(?:main|master|trunk)(?![\w/]|\.\w|-(?!branch))"
_WORDS = r"(?:[ \t\n]+[\w'’`#./-]{1,40}){0,5}?[ \t\n]+"
_END = r"(?=[ \t]*(?:[-.,;:!?)\]\"'`*\r\n]|$)|[ \t]+(?:branch|push|merg|quando|quand|wenn|cuando|sobald))"

_STOP = r"(?=[ \t]*(?:[.;:!?\r\n]|$))"
_ALL = r"(?:alle[ns]?|samtliche|tou(?:t|s|tes)|tod[oa]s?|tutt[eaio]|wszystkie)"
_THINGS = (
    r"(?:dateien|daten|ordner|verzeichnisse|tabellen|branches|zweige|fichiers|donnees|dossiers|tables|archivos|ficheros"
    r"|ficheiros|datos|carpetas|tablas|ramas|arquivos|dados|pastas|tabelas|file|dati|cartelle|tabelle|bestanden|gegevens|pliki)"
)
_REMOVE = (
    r"(?:losche?[nt]?|entferne?[nt]?|supprime[rz]?|efface[rz]?|detrui(?:s|sez|re)|borr(?:a|ar|ad|en|e)"
    r"|elimin(?:a|ar|are|ad|e|en|er)|apag(?:a|ar|ue|uem)|exclu(?:a|am|i|ir)|delet(?:a|ar|e|em)|remov(?:a|am|e|er)"
    r"|cancella(?:re)?|rimuovi|verwijder|usun)"
)
_STORE = r"(?:datenbank|base[ \t]+de[ \t]+(?:datos|donnees|dados)|banco[ \t]+de[ \t]+dados)"
_RU_REMOVE = r"(?:удали(?:те|ть)?|удаляй(?:те)?|сотри(?:те)?|стереть|стирай(?:те)?|снеси(?:те)?)"
_RU_THINGS = r"(?:файлы|данные|папки|каталоги|таблицы|ветки)"
_ZH_REMOVE = r"(?:删除|删掉|删光|清除|移除|刪除|刪掉|刪光)"
_ZH_THINGS = r"(?:文件夹|文件|数据库|数据|目录|代码|分支|檔案|資料夾|資料庫|資料|目錄|程式碼)"
_ZH_STORE = r"(?:数据库|資料庫|目录|目錄|仓库|文件夹|資料夾)"
_JA_ALL = r"(?:すべて|全て|全部)"
_JA_THINGS = r"(?:ファイル|データ|フォルダ|ディレクトリ|テーブル|ブランチ)"
_JA_REMOVE = r"(?:削除|消去|消[しすせ])"

TONGUES = (
    Rule(
        "destructive.all_of_it",
        "removes everything of a kind",
        (
            *("losch", "entfern", "supprim", "effac", "detrui", "borr", "elimin", "apag", "exclu", "delet", "remov"),
            *("cancell", "rimuov", "verwijder", "usun", "删", "刪", "清", "移除", "削除", "消"),
        ),
        rf"\b{_REMOVE}[ \t]+(?:(?:sie|bitte)[ \t]+){{0,2}}{_ALL}[ \t]+"
        rf"(?:(?:les|los|las|os|as|i|gli|le|die|der)[ \t]+)?{_THINGS}\b"
        rf"|\b{_ALL}[ \t]+(?:die[ \t]+)?{_THINGS}[ \t]+(?:[\w'’-]{{1,30}}[ \t]+){{0,3}}?(?:losch|entfern)e[nt]?\b"
        rf"|\b{_REMOVE}(?:lo)?[ \t]+(?:(?:sie|bitte)[ \t]+){{0,2}}(?:alles|tout|todo|tudo|tutto){_STOP}"
        rf"|\b{_REMOVE}[ \t]+(?:(?:sie|bitte|la|a|o|die|ganze|toda|toute)[ \t]+){{1,3}}{_STORE}\b"
        rf"|{_ZH_REMOVE}(?:了|掉)?(?:所有|全部|一切|整个|整個)的?{_ZH_THINGS}|清空(?:整个|整個|所有)?{_ZH_STORE}"
        rf"|(?:所有|全部)的?{_ZH_THINGS}(?:全部|都|全)?{_ZH_REMOVE}|{_ZH_THINGS}(?:全部|都|全){_ZH_REMOVE}"
        rf"|{_JA_ALL}[^\n]{{0,12}}削除|(?:{_JA_ALL}の?|全){_JA_THINGS}を?[^\n。]{{0,6}}{_JA_REMOVE}"
        rf"|{_JA_THINGS}を?[ \t]*{_JA_ALL}[^\n。]{{0,6}}{_JA_REMOVE}|(?:删除|全部)(?:文件|数据|削除|删除)",
    ),
    Rule(
        "destructive.all_of_it_in_russian",
        "removes everything of a kind",
        tuple(word.translate(PLAIN) for word in ("дали", "даля", "сотри", "стере", "стира", "снеси")),
        cyrillic(rf"{_RU_REMOVE}[ \t]+(?:пожалуйста,?[ \t]+)?все[ \t]+(?:эти[ \t]+)?{_RU_THINGS}")
        + cyrillic(rf"|все[ \t]+{_RU_THINGS}[ \t]+{_RU_REMOVE}|{_RU_REMOVE}[ \t]+вс(?:е|ё){_STOP}")
        + cyrillic(rf"|{_RU_REMOVE}[ \t]+(?:всю[ \t]+)?базу[ \t]+данных"),
    ),
    Rule(
        "branch.push_elsewhere",
        "pushes to a branch that everybody works from",
        ("main", "master", "trunk"),
        r"\b(?:push(?:e[nrz]?|t|a|ea|ear)?|pouss(?:e|er|ez)|envoi(?:e|es)|sub(?:e|ir|a)|empuj(?:a|ar|e)|envi(?:a|ar|e)"
        r"|invia|schieb(?:e|en|t))\b"
        rf"(?:[ \t\n]+[\w'’`#./-]{{1,40}}){{0,5}}?[ \t\n]+(?:sur|vers|auf|nach|zu|a|al|en|na|para|su|sul|naar)"
        r"[ \t\n]+(?:(?:la|le|den|die|el|o|a|il|de|branche|branch|rama|ramo)[ \t]+){0,2}"
        rf"[`'\"*]{{0,3}}{_SHARED}{_END}"
        rf"|\b(?:merg(?:e|en|ez|er|ea|ear)|fusionn?(?:e|er|ez|a|ar|iere|ieren)|fuhre|fonde|mescla)\b{_WORDS}"
        rf"(?:in|dans|en|na|nel|auf|con)[ \t\n]+(?:(?:la|le|den|el|il)[ \t]+)?[`'\"*]{{0,3}}{_SHARED}{_END}"
        rf"|\b(?:auf|nach|in)[ \t]+(?:den[ \t]+)?[`'\"*]{{0,3}}{_SHARED}[`'\"*]{{0,3}}(?:-branch)?[ \t]+"
        r"(?:ge)?(?:push|merg|schieb|zusammenfuhr)\w{0,6}\b"
        rf"|(?:推送|推|push|合并|合併)[ \t]*(?:代码|程式碼|改动|改動|提交)?(?:到|至|进|進)[ \t]*[`'\"*]{{0,3}}{_SHARED}"
        rf"|{_SHARED}[`'\"*]{{0,3}}[ \t]*(?:ブランチ)?[ \t]*(?:に|へ)[^\n。]{{0,8}}(?:プッシュ|push|マージ)",
    ),
    Rule(
        "branch.push_named_elsewhere",
        "pushes to a branch that everybody works from",
        (
            "主分支",
            "主干",
            "主幹",
            "пуш",
            *(word.translate(PLAIN) for word in ("пуш", "отправ", "залей", "залить", "сделай")),
        ),
        r"(?:推送|推|push|合并|合併)[ \t]*(?:代码|程式碼|改动|改動|提交)?(?:到|至|进|進)[ \t]*(?:主分支|主干|主幹)|"
        + cyrillic(
            r"(?:(?:за)?пуш(?:ь(?:те)?|и(?:те|ть)?|нуть)|отправ(?:ь(?:те)?|ить)|зале(?:й(?:те)?)|залить"
            r"|сделай(?:те)?[ \t]+(?:push|пуш))(?:[ \t\n]+[^ \t\n.;!?]{1,40}){0,4}?[ \t\n]+(?:в|на)[ \t\n]+"
            r"(?:ветку[ \t]+)?[`'\"*]{0,3}(?:мастер|мейн|"
        )
        + rf"{_SHARED})",
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
