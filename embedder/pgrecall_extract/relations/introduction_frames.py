"""The words by which speakers say what they are called, by language: data of introductions()."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from pgrecall_extract.sentences import UPPER

__all__ = ["ASKED_AS", "FRAMES", "Frame"]

ASKED_AS: Final = {
    "english": ("my name",),
    "german": ("mein Name", "wie heiße ich"),
    "french": ("mon nom", "je m'appelle"),
    "spanish": ("mi nombre", "me llamo"),
    "dutch": ("mijn naam", "hoe heet ik"),
    "italian": ("il mio nome", "mi chiamo"),
    "portuguese": ("meu nome", "me chamo"),
    "romanian": ("numele meu", "mă numesc", "mă cheamă"),
    "swedish": ("mitt namn", "heter jag"),
    "danish": ("mit navn", "hedder jeg"),
    "norwegian": ("mitt navn", "navnet mitt", "heter jeg"),
    "finnish": ("nimeni",),
    "polish": ("moje imię", "nazywam się", "mam na imię"),
    "czech": ("moje jméno", "mé jméno", "jmenuji se", "se jmenuji", "jmenuju"),
    "turkish": ("benim adım", "adım ne", "ismim"),
    "hungarian": ("a nevem", "nevem"),
    "indonesian": ("nama saya", "nama aku"),
    "vietnamese": ("tên tôi", "tên mình", "tôi tên"),
    "russian": ("меня зовут", "мое имя", "моё имя"),
    "ukrainian": ("мене звати", "мене звуть", "моє ім'я"),
    "greek": ("το όνομά μου", "με λένε"),
    "arabic": ("اسمي",),
    "persian": ("اسم من", "نام من"),
    "hebrew": ("קוראים לי", "השם שלי"),
    "thai": ("ผมชื่อ", "ฉันชื่อ", "ชื่อของผม", "ชื่อของฉัน", "ชื่อผม", "ชื่อฉัน"),
    "hindi": ("मेरा नाम",),
    "chinese": ("我的名字", "我叫什么", "我叫什麼"),
    "japanese": ("私の名前", "僕の名前", "俺の名前", "わたしの名前"),
    "korean": ("내 이름", "제 이름"),
}
"""How one asks for one's own name, by the language in which it was told; English always. "Who am I" is not
among them: it begins "Who am I meeting?" as well."""


@dataclass(frozen=True, slots=True)
class Frame:
    """Words around a name that its speaker gives himself.

    Attributes:
        pattern: To the end of what must follow; the group "name" is the name.
        cues: A sentence without any of them, in lower case, cannot match; cheaper than the pattern.
        language: Their language.
        label: As in Introduction.
        known: The name must be a known given name.
        opens: Only at the begin of the text, after a greeting at most.
        shows: It may show somebody else, of whom the text then speaks.
    """

    pattern: re.Pattern[str]
    cues: tuple[str, ...]
    language: str = "english"
    label: str = "named"
    known: bool = False
    opens: bool = False
    shows: bool = False


_PART: Final = rf"[{UPPER}][^\W\d_]*(?:['’-][{UPPER}]?[^\W\d_]+)*"
_NAME: Final = (
    rf"(?:(?:Dr|Mr|Mrs|Ms|Prof)\.? )?(?P<name>{_PART}(?:(?: (?:van|von|de|da|del|der|la|el|bin"
    rf"|al))* {_PART}){{0,2}})"
    r"(?!['’]s\b|[\w'’-])"
)
_END: Final = (
    r"(?=\s*(?:$|[.!,;:)\n\"”—–]| [—–-] | (?:and|but|from|by the way|btw|again|here|und|et|y|e|en|aus|de"
    r"|och|og|från|fra|ja|i|z|a|és|și|ve|dan|dari|và|и|из|та|з|και)\b))"
)
_ONLY: Final = (
    r"(?=\s*(?:$|[.!\n)—–]| [—–-] |, (?!(?:my|our|his|her|their|the|a|an|she|he|who|which|not)\b)))"
)
_NICKNAME: Final = (
    r"(?=\s*(?:$|[.!,;)\n\"”]"
    r"| (?:please|instead|from now on|if|for short|and|but|by the way|btw|when|around|in)\b))"
)


_STOP: Final = r"(?=\s*(?:$|[，。！、；,.!;\n]))"
# The commonest surnames, and what stands before a given name among friends. No name ends in a particle.
_CHINESE: Final = (
    "(?:欧阳|歐陽|司马|司馬|诸葛|諸葛|[王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何林罗羅高郑鄭梁谢謝宋唐许許韩韓邓鄧冯馮"
    "曹彭曾肖萧蕭田董潘袁蔡蒋蔣余于杜叶葉程魏苏蘇吕呂丁任卢盧姚沈钟鍾姜崔谭譚陆陸范汪廖石金韦韋贾賈夏付傅方邹鄒熊孟秦邱"
    "江尹薛闫閻雷龙龍段郝孔邵史毛贺賀顾顧武钱錢戴严嚴莫]|[小阿老](?![心声聲时時姨师師板实實]))"
    "[一-鿿]{0,1}[^\\W\\d_a-zA-Z了吗嗎呢吧的着著过過来來去他她你我它们們到票]"
)
_JAPANESE: Final = rf"[ァ-ヺー・]{{2,12}}|[一-鿿々ァ-ヺー]{{1,6}}[ぁ-ゖ]{{0,4}}?|[ぁ-ゖ]{{2,5}}?|{_PART}"
_NOT_SAID: Final = "(?![^、。と]{0,14}[はをがに])"  # a particle: not a name alone
_KOREAN: Final = (
    "[김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민진나][가-힣]{1,2}?"
)


def _of(cues: str, pattern: str, **fields: object) -> Frame:
    return Frame(re.compile(pattern.replace("NAME", _NAME)), tuple(cues.split("|")), **fields)  # type: ignore[arg-type]


FRAMES: Final = (
    _of("name", rf"\b[Mm]y (?:(?:full|first|real) )?name(?: is|['’]s)(?: actually)? NAME{_END}"),
    _of("name", rf"\b(?:[Tt]he )?[Nn]ame['’]s NAME{_END}", opens=True),
    _of("called|named", rf"\b(?:I['’]m|I am|I was) (?:called|named) NAME{_END}"),
    _of("call me", rf"\b(?:[Pp]lease )?(?:[Jj]ust )?[Cc]all me NAME{_NICKNAME}", label="also known as"),
    _of(
        "calls me|call me",
        r"\b(?:[Yy]ou (?:can|may|could) (?:just )?|(?:[Ee]very(?:one|body)|[Pp]eople|[Ff]riends|[Mm]y friends"
        rf"|[Mm]ost people|[Tt]hey all) (?:just )?)calls? me NAME{_NICKNAME}",
        label="also known as",
    ),
    _of("go by", rf"\bI go by (?:the name )?NAME{_END}", label="also known as"),
    _of(
        "sign",
        r"\b[Ss]ign (?:it|this|that|them|me|the (?:letter|e-?mail|mail|card|note|message))"
        rf" (?:off )?(?:as|with|from) NAME{_END}",
    ),
    # Not "address it with Karen" nor "address the letter from Karen", which asks for something to be done.
    _of(
        "address me|refer to me",
        rf"\b(?:[Aa]ddress|[Rr]efer to) me as NAME{_NICKNAME}",
        label="also known as",
    ),
    _of("i'm|i’m|i am|im ", rf"\b(?:I['’]?m|I am) (?:just )?NAME{_ONLY}", opens=True),
    _of("i'm|i’m|i am|im ", r"\b(?:I['’]?m|I am) NAME(?= (?:from|and I|by the way)\b)", opens=True),
    _of("i'm|i’m|i am|im ", rf"\b(?:I['’]?m|I am) NAME(?:{_ONLY}| (?:by the way|btw)\b)", known=True),
    _of(
        "it's|it’s|it is|this is",
        r"(?:\b(?:it['’]s|[Ii]t is|It['’]s|[Tt]his is) )NAME(?: (?:here|speaking|again|calling"
        r"|from [A-Za-z]))",
        opens=True,
    ),
    _of(
        "it's|it’s|it is|this is",
        rf"\b(?:it['’]s|It['’]s|[Ii]t is|[Tt]his is) NAME{_ONLY}",
        shows=True,
        known=True,
        opens=True,
    ),
    _of(
        " here",
        r"\bNAME(?: here)(?=\s*(?:$|[.,!;:\n—–]| [—–-] | (?:again|from|with)\b))",
        known=True,
        opens=True,
    ),
    _of("heiß|heiss", rf"\b[Ii]ch hei(?:ß|ss)e NAME{_END}", language="german"),
    _of("name", rf"\b[Mm]ein (?:voller )?Name (?:ist|lautet) NAME{_END}", language="german"),
    _of(
        "mich",
        rf"\b[Nn]enn(?:en Sie|t|e)? mich (?:einfach |bitte )?NAME{_END}",
        language="german",
        label="also known as",
    ),
    _of("nennen", r"\bmich (?:einfach |gerne? )?NAME nennen\b", language="german", label="also known as"),
    _of(
        "bin|hier",
        rf"\b(?:[Ii]ch bin(?:['’]?s)?(?: (?:die|der))?|[Hh]ier (?:ist|spricht)) NAME{_ONLY}",
        language="german",
        known=True,
    ),
    _of("appelle", rf"\b[Jj]e m['’]appelle NAME{_END}", language="french"),
    _of("nom", rf"\b[Mm]on (?:pré)?nom (?:est|c['’]est) NAME{_END}", language="french"),
    _of("appel", rf"\b[Aa]ppel(?:le|ez)-moi NAME{_END}", language="french", label="also known as"),
    _of(
        "moi|suis|ici",
        rf"\b(?:[Mm]oi,? c['’]est|[Jj]e suis|[Ii]ci) NAME{_ONLY}",
        language="french",
        known=True,
    ),
    _of("llamo", rf"\b[Mm]e llamo NAME{_END}", language="spanish"),
    _of("nombre", rf"\b[Mm]i nombre es NAME{_END}", language="spanish"),
    _of("lam|lám", rf"\b[Ll]l[áa]m(?:ame|enme|eme) NAME{_END}", language="spanish", label="also known as"),
    _of("soy|aquí|habla", rf"\b(?:[Ss]oy|[Aa]quí|[Hh]abla) NAME{_ONLY}", language="spanish", known=True),
    _of("heet", rf"\b[Ii]k heet NAME{_END}", language="dutch"),
    _of("naam", rf"\b[Mm]ijn naam is NAME{_END}", language="dutch"),
    _of("noem", rf"\b[Nn]oem me (?:maar )?NAME{_END}", language="dutch", label="also known as"),
    _of("chiamo", rf"\b[Mm]i chiamo NAME{_END}", language="italian"),
    _of("nome", rf"\b[Ii]l mio nome è NAME{_END}", language="italian"),
    _of("chiama", rf"\b[Cc]hiama(?:te)?mi NAME{_END}", language="italian", label="also known as"),
    _of("nome", rf"\b(?:[Oo] )?[Mm]eu nome é NAME{_END}", language="portuguese"),
    _of("chamo", rf"\b(?:[Ee]u )?[Mm]e chamo NAME{_END}", language="portuguese"),
    _of("numesc|cheam", rf"\b[Mm]ă (?:numesc|cheamă) NAME{_END}", language="romanian"),
    _of("heter", rf"\b[Jj]ag heter NAME{_END}", language="swedish"),
    _of("namn", rf"\b[Mm]itt namn är NAME{_END}", language="swedish"),
    _of("hedder", rf"\b[Jj]eg hedder NAME{_END}", language="danish"),
    _of("heter", rf"\b[Jj]eg heter NAME{_END}", language="norwegian"),
    _of("navn", rf"\b(?:[Mm]itt navn|[Nn]avnet mitt) er NAME{_END}", language="norwegian"),
    _of("navn", rf"\b[Mm]it navn er NAME{_END}", language="danish"),
    _of("nimeni", rf"\b(?:[Mm]inun )?[Nn]imeni on NAME{_END}", language="finnish"),
    _of("nazywam", rf"\b[Nn]azywam się NAME{_END}", language="polish"),
    _of("mam na imi", rf"\b[Mm]am na imię NAME{_END}", language="polish"),
    _of("jmenuj", rf"\b[Jj]menuj[iu] se NAME{_END}", language="czech"),
    _of("adım|smim", rf"\b(?:(?:[Bb]enim )?[Aa]dım|[İi]smim) NAME{_END}", language="turkish"),
    _of("nevem", rf"\b(?:[Aa]z? )?[Nn]evem NAME{_END}", language="hungarian"),
    _of("nama", rf"\b[Nn]ama (?:saya|aku|ku) (?:adalah )?NAME{_END}", language="indonesian"),
    _of("tên", rf"\b[Tt]ên (?:tôi|mình|em) là NAME{_END}", language="vietnamese"),
    _of("зовут", rf"\b[Мм]еня зовут NAME{_END}", language="russian"),
    _of("имя", rf"\b[Мм]о[её] имя(?: [—–-]|,)? NAME{_END}", language="russian"),
    _of(
        "зови",
        # Not "зови меня Леной", which is not how she is called where she is the subject.
        rf"\b[Зз]ови(?:те)? меня (?:просто )?(?!\w+(?:о[йм]|[её]м|[иь]ей)\b)NAME{_NICKNAME}",
        language="russian",
        label="also known as",
    ),
    _of("зват|звут|звуть", rf"\b[Мм]ене зв(?:ати|уть) NAME{_END}", language="ukrainian"),
    _of("λένε", rf"\b[Μμ]ε λένε NAME{_END}", language="greek"),
    _of("όνομά μου", rf"\b[Ττ]ο όνομά μου είναι NAME{_END}", language="greek"),
    _of(
        "اسمي",
        r"(?<![ء-ي])اسمي (?:هو )?(?!ليس|على|في|مكتوب)(?P<name>[ء-ي]{2,14})(?![ء-ي])",
        language="arabic",
    ),
    _of("من", r"(?:اسم|نام) من (?!چ)(?P<name>[ء-ي\u067e-\u06cc]{2,14}) (?:است|هست)", language="persian"),
    _of(
        "לי|שמי",
        r"(?<![א-ת])(?:קוראים לי|שמי|השם שלי(?: הוא)?) (?!לא|מה)(?P<name>[א-ת]{2,12})(?![א-ת])",
        language="hebrew",
    ),
    _of(
        "ชื่อ",
        r"(?:ผม|ฉัน|หนู)ชื่อ ?(?!อะไร)(?P<name>[ก-\u0e4e]{2,20}?)(?=\s|$|[,.]|ครับ|ค่ะ|คะ|จ้ะ|และ)",
        language="thai",
    ),
    _of("नाम", r"मेरा नाम (?!नहीं|क्या)(?P<name>[ऀ-ॿ]{2,16}(?: [ऀ-ॿ]{2,16})?) है", language="hindi"),
    _of(
        "我的名字|我名叫",
        rf"我(?:的名字(?:是|叫)|名叫) ?(?!秘密|什)(?P<name>[一-鿿]{{2,4}}|{_PART}){_STOP}",
        language="chinese",
    ),
    # 叫 also means to call or to order: a surname opens the name, or a word of endearment.
    _of("我叫", rf"(?<![向对對跟让讓])我叫(?:做)? ?(?P<name>{_CHINESE}|{_PART}){_STOP}", language="chinese"),
    _of(
        "叫我",
        rf"(?:(?:请|請|可以|就|大家都?|朋友们?都?)叫我|(?:^|[，。！,.!\s])叫我(?=[^，。！,.!]{{0,30}}(?:吧|就行|就好|就可以|好了)))"
        rf" ?(?P<name>{_CHINESE}|{_PART})(?:吧|就行|就好|就可以|好了)?{_STOP}",
        language="chinese",
        label="also known as",
    ),
    _of(
        "の名前は",
        rf"(?:私|わたし|あたし|僕|ぼく|俺)の名前は(?!秘密|内緒|有名|まだ|なん|何)(?P<name>{_JAPANESE})"
        r"(?:です(?!か)|だ(?!か|っ)|と(?:いい|言い|申し)ます)",
        language="japanese",
    ),
    _of(
        "申します",
        rf"(?:^|[、。！!,\s]|(?<=[私僕]は)){_NOT_SAID}(?P<name>{_JAPANESE})と申します",
        language="japanese",
    ),
    _of(
        "呼んで",
        rf"(?:^|[、。！!,\s]|(?<=のことは)){_NOT_SAID}(?P<name>{_JAPANESE})(?:と|って)呼んで(?:ください|下さい|くれ|ね|$|。)",
        language="japanese",
        label="also known as",
    ),
    _of(
        "이름은",
        rf"(?<![가-힣])(?:제|내|저의|나의) 이름은 (?!비밀|무엇|몰라)(?P<name>[가-힣]{{2,4}}?|{_PART})"
        r"(?:입니다|이에요|예요|이예요|이야|야|(?:이)?라고 (?:합니다|해요|해))(?![가-힣])",
        language="korean",
    ),
    _of(
        "라고",
        rf"(?<![가-힣])(?:저는|나는|전|난) (?P<name>{_KOREAN}|{_PART})(?:이)?라고 "
        r"(?:합니다|해요|해)(?![가-힣])",
        language="korean",
    ),
    _of(
        "라고",
        rf"(?<![가-힣])(?!오빠|언니|누나|선생|자기|여보|그냥)(?P<name>[가-힣]{{2,4}}?|{_PART})"
        r"(?:이)?라고 불러 ?(?:주세요|줘|도 돼)",
        language="korean",
        label="also known as",
    ),
)
