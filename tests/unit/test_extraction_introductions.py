"""What a speaker says that he is called."""

from __future__ import annotations

import time

import pytest

from pgrecall_extract.relations.introduction_frames import ASKED_AS, FRAMES
from pgrecall_extract.relations.introductions import introductions
from support.reading import facts, read


def introduced(text: str) -> set[str]:
    return {
        name
        for subject, label, name in facts(text, speaker="user")
        if subject == "user" and label in {"named", "also known as"}
    }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I'm Kofi", "Kofi"),
        ("Hi, I'm Kofi.", "Kofi"),
        ("Hello! I am Kofi Mensah, nice to meet you.", "Kofi Mensah"),
        ("Hey there, I'm Odalys and I need some help.", "Odalys"),
        ("i'm busy today. I'm Kofi by the way.", "Kofi"),
        ("Call me Wren", "Wren"),
        ("Just call me Wren, please.", "Wren"),
        ("You can call me Skip if you like.", "Skip"),
        ("Everyone calls me Bo.", "Bo"),
        ("I go by Wren.", "Wren"),
        ("Ilse here", "Ilse"),
        ("Ilse here, with another question about tiles.", "Ilse"),
        ("Hi, Ilse here again.", "Ilse"),
        ("sign it as Bo Lindgren", "Bo Lindgren"),
        ("Write to the landlord and sign it as Bo Lindgren.", "Bo Lindgren"),
        ("Please sign the letter with Bo Lindgren.", "Bo Lindgren"),
        ("Address me as Wren.", "Wren"),
        ("Please refer to me as Wren from now on.", "Wren"),
        ("It's Tariq again", "Tariq"),
        ("Hi, it's Zubin again. Can we go on?", "Zubin"),
        ("My name is Odile", "Odile"),
        ("my name's Odile, and I paint.", "Odile"),
        ("By the way, my full name is Odile de la Tour.", "Odile de la Tour"),
        ("this is Ana", "Ana"),
        ("This is Ana speaking.", "Ana"),
        ("Hello, this is Zora from accounting.", "Zora"),
        ("I'm called Xochitl.", "Xochitl"),
        ("Ich heiße Jörg.", "Jörg"),
        ("Hallo, mein Name ist Anke Meyer.", "Anke Meyer"),
        ("Nenn mich einfach Uli.", "Uli"),
        ("Du kannst mich Uli nennen.", "Uli"),
        ("Ich bin Sabine.", "Sabine"),
        ("Je m'appelle Odile.", "Odile"),
        ("Bonjour, mon nom est Luc Moreau.", "Luc Moreau"),
        ("Appelle-moi Lulu.", "Lulu"),
        ("Je suis Camille.", "Camille"),
        ("Me llamo Íñigo.", "Íñigo"),
        ("Hola, mi nombre es Lucía Pérez.", "Lucía Pérez"),
        ("Soy Lucia.", "Lucia"),
        ("Llámame Paco.", "Paco"),
        ("Ik heet Sanne.", "Sanne"),
        ("Mi chiamo Giulia.", "Giulia"),
        ("Chiamami Giulia.", "Giulia"),
        ("Chiamatemi Giulia.", "Giulia"),
        ("Meu nome é João.", "João"),
        ("My name is Odile, what's yours?", "Odile"),
        ("Salut! Mă numesc Ștefan.", "Ștefan"),
        ("Jag heter Åsa Lindgren.", "Åsa Lindgren"),
        ("Hej, mitt navn er Øystein.", "Øystein"),
        ("Jeg hedder Mette.", "Mette"),
        ("Nimeni on Väinö.", "Väinö"),
        ("Cześć, nazywam się Łukasz Nowak.", "Łukasz Nowak"),
        ("Mam na imię Kasia.", "Kasia"),
        ("Jmenuji se Řehoř.", "Řehoř"),
        ("Benim adım Ayşe.", "Ayşe"),
        ("Merhaba, adım Çağlar.", "Çağlar"),
        ("A nevem Zsófia.", "Zsófia"),
        ("Nama saya Budi.", "Budi"),
        ("Tên tôi là Nguyễn Lan.", "Nguyễn Lan"),
        ("Меня зовут Олег.", "Олег"),
        ("Привет! меня зовут Анна Петрова, я из Казани.", "Анна Петрова"),
        ("Моё имя — Тимур.", "Тимур"),
        ("Меня зовут Айгуль и я врач.", "Айгуль"),
        ("Зовите меня просто Лена.", "Лена"),
        ("Мене звати Олена.", "Олена"),
        ("Με λένε Μαρία.", "Μαρία"),
        ("مرحبا، اسمي أحمد.", "أحمد"),
        ("اسم من علی است.", "علی"),
        ("שלום, קוראים לי נועה.", "נועה"),
        ("สวัสดีครับ ผมชื่อสมชายครับ", "สมชาย"),
        ("मेरा नाम राहुल है।", "राहुल"),
        ("我叫李雷。", "李雷"),
        ("你好,我叫小明,来自上海。", "小明"),
        ("我的名字是欧阳静。", "欧阳静"),
        ("我叫 Kofi。", "Kofi"),
        ("大家都叫我阿强。", "阿强"),
        ("叫我老王就行。", "老王"),
        ("我叫王小明，你呢？", "王小明"),
        ("請叫我陳大文。", "陳大文"),
        ("私の名前は佐藤さくらです。", "佐藤さくら"),
        ("はじめまして、田中太郎と申します。", "田中太郎"),
        ("田中太郎と申しますが、席を予約したいです。", "田中太郎"),
        ("僕の名前はケンだよ。", "ケン"),
        ("さくらと呼んでください。", "さくら"),
        ("제 이름은 김민수입니다.", "김민수"),
        ("내 이름은 지우야.", "지우"),
        ("안녕하세요, 저는 박서연이라고 합니다.", "박서연"),
        ("그냥 민수라고 불러 주세요.", "민수"),
    ],
)
def test_a_speaker_is_called_what_he_says(text: str, name: str) -> None:
    assert name in introduced(text)
    about = {mention.name for mention in read(text, speaker="user").mentions if mention.is_about}
    assert "my name" in about


@pytest.mark.parametrize(
    "text",
    [
        "I'm tired",
        "I'm Dutch",
        "I'm Tired.",
        "I'm American and proud of it.",
        "I'm Catholic.",
        "I'm Vegan.",
        "I'm Buddhist.",
        "I'm OK.",
        "I'm CEO at a bank.",
        "I'm Team Blue.",
        "I'm Gemini.",
        "I'm Googling it.",
        "I'm Kofi's brother.",
        "I'm Python developer.",
        "I'm Berlin based.",
        "I'm in Ghent.",
        "I'm not Kofi.",
        "I'm sure Kofi knows.",
        "I'm meeting Kofi.",
        "I'm Kofi?",
        "If I'm Kofi, who are you",
        "Tom says I'm Kofi.",
        "He said \"I'm Kofi\" and left.",
        "I'm Siemens' customer.",
        "I'm Google certified.",
        "call me later",
        "call me a taxi",
        "Call me an Uber.",
        "Call me Monday.",
        "Call me Uber now.",
        "call me back, Kofi",
        "Call me when Kofi arrives.",
        "Call me Maybe.",
        "Call me Tomorrow.",
        "Don't call me Skip.",
        "They never call me Skip.",
        "Why do you call me Skip?",
        "My boss told Tom to call me Skip.",
        "it's Monday again",
        "It's Monday again.",
        "It's Christmas again.",
        "It's Berlin again.",
        "It's May again.",
        "It's Easter!",
        "It's Kofi's turn.",
        "It's Google.",
        "It's Tuesday here.",
        "coffee here",
        "Coffee here is great.",
        "Nothing here.",
        "Engineer here, with a question.",
        "Berlin here we come.",
        "Sunshine here all day.",
        "Kofi works here.",
        "Everybody here likes Kofi.",
        "This is Spain.",
        "This is Ana, my sister.",
        "This is Ana's bike.",
        "This is Max. He is so playful.",
        "This is Max – he's so playful.",
        "This is Anna! My sister, you know.",
        "This is Python.",
        "This is Sparta!",
        "Is this Ana?",
        "this is great",
        "My name is not Kofi.",
        "My name isn't Kofi.",
        "Is my name Kofi?",
        "My cat's name is Kofi.",
        "Her name is Kofi.",
        "My brother's name is Kofi.",
        "The name of my street is Kofi Lane.",
        "My name is on the list.",
        "If my name is Kofi, I will laugh.",
        "Pretend my name is Kofi.",
        "She thinks my name is Kofi.",
        "What is my name?",
        "Who am I?",
        "Sign it as soon as you can.",
        "Sign it with a pen.",
        "Sign it as Anonymous.",
        "Address it with Karen. It bothers me.",
        "Address the letter from Karen. It is for me.",
        "Please tell me more. Refer to it as Karen.",
        "Ich bin müde.",
        "Ich bin Lehrer.",
        "Ich bin Berliner.",
        "Wie heiße ich?",
        "Je suis Charlie et toi?",
        "Je suis fatigué.",
        "Je suis Français.",
        "Soy Médico.",
        "Soy de Sevilla.",
        "Me llamo mucho la atención.",
        "Aquí Madrid.",
        "Nazywam się inaczej niż ty.",
        "Jag heter inte Åsa.",
        "Как меня зовут?",
        "Меня зовут на помощь.",
        "Меня зовут Google купить.",
        "Зови меня Леной.",
        "Если меня зовут Олег, то смешно.",
        "Он думает, что меня зовут Олег.",
        "我叫什么?",
        "我的名字是秘密。",
        "I'm Kofi, right?",
        "我叫什么名字？",
        "我叫外卖了。",
        "我叫车来了。",
        "我叫他别走。",
        "妈妈叫我小心。",
        "请叫我起床。",
        "大家都叫我小心。",
        "如果我叫李雷呢。",
        "私の名前は何ですか",
        "私の名前は秘密です。",
        "私の名前を知っていますか？",
        "明日、母を呼んでください。",
        "これは桜といいます。",
        "部長がすると申します。",
        "내 이름이 뭐야?",
        "내 이름은 비밀이야.",
        "저는 아니라고 합니다.",
        "저는 학생이라고 합니다.",
        "오빠라고 불러 줘.",
        "اسمي ليس أحمد.",
        "मेरा नाम क्या है?",
        "ผมชื่ออะไร",
        "השם שלי לא נועה",
        "اسم من چیست؟",
    ],
)  # fmt: skip
def test_what_only_looks_like_it_names_nobody(text: str) -> None:
    assert introduced(text) == set()
    names = {mention.name for mention in read(text, speaker="user").mentions}
    assert "my name" not in names


@pytest.mark.parametrize(
    "unit", ["Call me Kofi, ", "if I'm Kofi, ", "\"I'm Kofi, ", "اسمي ", "叫我 ", "さくら ", "と申します "]
)
def test_the_work_is_linear(unit: str) -> None:
    # It took minutes when each name looked through all before it.
    text = unit * (200_000 // len(unit)) + "と申します"
    begin = time.process_time()
    introductions(text)
    assert time.process_time() - begin < 5


def test_a_name_can_be_asked_for_in_each_language_in_which_it_is_told() -> None:
    assert {frame.language for frame in FRAMES} == {*ASKED_AS}


def test_a_program_introduces_nobody() -> None:
    assert facts("I'm Kofi.", speaker="assistant") == []
    assert "my name" not in {mention.name for mention in read("I'm Kofi.", speaker="assistant").mentions}


def test_a_known_speaker_is_not_named_again() -> None:
    assert facts("Hi, I'm Kofi.", speaker="Kofi Mensah") == []
    assert facts("Call me Skip.", speaker="Kofi Mensah") == [("Kofi Mensah", "also known as", "Skip")]


def test_without_a_speaker_the_memory_is_about_the_name() -> None:
    found = read("My name is Odile.")
    assert found.facts == ()
    assert {"my name", "Odile"} <= {mention.name for mention in found.mentions}
