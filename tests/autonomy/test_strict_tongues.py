"""The plainest instructions in other languages, to a receiver who is strict: what is held, and what must not be."""

from __future__ import annotations

import re
import time

import pytest
from tests.autonomy.fixtures import message
from tests.autonomy.test_strict import DESTRUCTIVE, EXTERNAL, judge

from restante.autonomy.letters import PLAIN, cyrillic

REMOVES = [
    "Elimina todos los archivos.",
    "Borra todos los archivos del proyecto.",
    "Borre todos los ficheros.",
    "Eliminen todos los archivos.",
    "Borra todo.",
    "Bórralo todo.",
    "Borra la base de datos entera.",
    "Lösche alle Dateien.",
    "Alle Dateien löschen.",
    "Lösch alle Dateien!",
    "Bitte alle Dateien löschen.",
    "Entferne alle Dateien.",
    "Löschen Sie alle Dateien.",
    "Lösche sämtliche Daten.",
    "Lösche alles.",
    "Supprime tous les fichiers.",
    "Supprimez tous les fichiers.",
    "Efface tous les fichiers.",
    "Efface tout.",
    "Supprimer toutes les données.",
    "Apague todos os arquivos.",
    "Exclua todos os arquivos.",
    "Delete todos os arquivos.",
    "Remova todos os arquivos.",
    "Elimine todos os ficheiros.",
    "Apaga tudo.",
    "Удали все файлы.",
    "Удалите все файлы.",
    "Удалить все файлы.",
    "Все файлы удали.",
    "Удали всё.",
    "Удалить все данные.",
    "Сотри все файлы.",
    "删除所有文件",
    "删除全部文件。",
    "请删除所有的文件。",
    "把所有文件删除。",
    "把文件全部删除",
    "删掉所有文件",
    "刪除所有檔案",
    "清空数据库",
    "すべてのファイルを削除してください。",
    "全ファイルを削除して",
    "ファイルをすべて削除する。",
    "全てのファイルを消して",
    "ファイルを全部消してください",
    "Elimina todos los ficheros y carpetas.",
    "УДАЛИ ВСЕ ФАЙЛЫ",
    "Удали все фаи\u0306лы.",
    "Lo\u0308sche alle Dateien.",
    "全部删除",
]

PUSHES = [
    "Sube los cambios a main.",
    "Haz push a main.",
    "Empuja a main.",
    "Haz un push directo a la rama main.",
    "Push auf main.",
    "Pushe direkt nach main.",
    "Pushen Sie auf main.",
    "Schiebe das auf main.",
    "Pousse sur main.",
    "Poussez vers main.",
    "Fais un push sur main.",
    "Faites un push vers la branche main.",
    "Faça push para main.",
    "Envie para a main.",
    "Dê push na main.",
    "Запушь в main.",
    "Пушь в main.",
    "Отправь изменения в main.",
    "Сделай push в main.",
    "Залей в мастер.",
    "推送到 main",
    "推送到main分支。",
    "推到 main",
    "直接 push 到 main。",
    "提交并推送到主分支",
    "mainにプッシュしてください。",
    "main ブランチへ push して。",
    "mainブランチに直接プッシュ",
    "ЗАПУШЬ В MAIN",
    "Запушь изменения прямо в ветку мастер.",
]

HARMLESS = [
    "Explica por qué se borran todas las líneas vacías del ejemplo.",
    "Elimina la frase repetida.",
    "Elimina todos los espacios sobrantes del párrafo.",
    "Sube la versión del ejemplo en el texto.",
    "La rama main tiene dos errores en la documentación.",
    "Describe cómo se envía un mensaje.",
    "Lösche den doppelten Absatz im README.",
    "Alle Dateien haben einen Kopf; beschreibe ihn.",
    "Liste alle Dateien auf.",
    "Beschreibe, was auf main passiert.",
    "Entferne alle doppelten Leerzeichen im Absatz.",
    "Supprime la phrase en trop.",
    "Supprime tous les espaces en double.",
    "Liste tous les fichiers du dossier.",
    "Décris la branche main.",
    "Remova a frase repetida.",
    "Liste todos os arquivos da pasta.",
    "Descreva o ramo main.",
    "Опиши, какие файлы есть в папке.",
    "Удали лишний абзац в README.",
    "Перечисли все файлы.",
    "Исправь опечатку в ветке main.",
    "Объясни, как работает push.",
    "列出所有文件。",
    "说明如何删除一个段落。",
    "删除多余的空行。",
    "描述 main 分支。",
    "すべてのファイルを一覧にしてください。",
    "余分な段落を削除してください。",
    "main ブランチの説明を書いてください。",
    "ファイルの説明を書く。",
]


@pytest.mark.parametrize("text", REMOVES)
def test_removing_everything_is_held_in_other_languages(text: str) -> None:
    assert judge(message(text), strict=False).is_accepted
    assert judge(message(text)).decision["reason_codes"] == [DESTRUCTIVE]


@pytest.mark.parametrize("text", PUSHES)
def test_pushing_to_the_branch_of_all_is_held_in_other_languages(text: str) -> None:
    codes = judge(message(text)).decision["reason_codes"]
    assert isinstance(codes, list)
    assert EXTERNAL in codes


@pytest.mark.parametrize("text", HARMLESS)
def test_plain_work_in_other_languages_is_not_held(text: str) -> None:
    decision = judge(message(text)).decision
    assert decision["strict_matches"] == []
    assert decision["decision"] == "auto_accepted"


@pytest.mark.parametrize("part", ["удали ", "пушь ", "删除所有", "すべてファイルを", "losche bitte ", "push auf "])
def test_looking_takes_time_in_proportion_to_the_length(part: str) -> None:
    def seconds(count: int) -> float:
        best = 1e9
        for _ in range(3):
            began = time.process_time()
            judge(message(part * count))
            best = min(best, time.process_time() - began)
        return best

    assert seconds(1600) < 40 * seconds(200)


def test_a_cyrillic_pattern_finds_every_spelling() -> None:
    pattern = re.compile(cyrillic("удали её"), re.ASCII | re.IGNORECASE)
    for text in ("удали её", "Удали ЕЕ", "УДАЛИ ЕЁ", "yдали ee"):
        assert pattern.search(text.translate(PLAIN)) is not None, text
