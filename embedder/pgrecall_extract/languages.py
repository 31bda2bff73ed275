"""Languages other than English in which a capital tells a name."""

from __future__ import annotations

from typing import Final

from .words import word_set

__all__ = ["GENERIC_LANGUAGES"]

GENERIC_LANGUAGES: Final[dict[str, frozenset[str]]] = {
    "spanish": word_set("""
        el la los las un una unos unas en de del al a y e o por para con sin su sus se es fue no ni
        lo según tras desde durante cuando como si esta este estos estas aunque pero
    """),
    "french": word_set("""
        le la les l un une des du de d en dans au aux à et ou par pour avec sans son sa ses il elle
        ils elles ce cette ces c est on ne si selon depuis après avant pendant quand comme mais
    """),
    "italian": word_set("""
        il lo la i gli le l un uno una di del della dei delle nel nella in a al alla e o per con da
        dal dalla su sul si è non ma se come quando dopo secondo questo questa nei
    """),
    "portuguese": word_set("""
        o a os as um uma uns umas de do da dos das em no na nos nas ao à e ou por pelo pela para com
        sem seu sua se é foi não mas como quando após segundo este esta desde
    """),
    "catalan": word_set("""
        el la els les l un una de del dels d en al als a i o per amb sense es és no però si com quan
        segons
    """),
    "dutch": word_set("""
        de het een en of in op van voor met door bij naar uit aan om te is was niet maar als dit dat
        deze die er hij zij ze we wij ik
    """),
    "swedish": word_set("""
        en ett den det de och i på av för med till från om är var inte men som han hon vi jag detta
        denna
    """),
    "danish": word_set("""
        en et den det de og i på af for med til fra om er var ikke men som han hun vi jeg dette
        denne
    """),
    "norwegian": word_set("""
        en ei et den det de og i på av for med til fra om er var ikke men som han hun vi jeg dette
        denne
    """),
    "russian": word_set("""
        в на по он она оно они мы вы я и а но или из за к с о об от до для при не это этот эта эти
        как когда если что его её их был была было были после во со под над
    """),
}  # fmt: skip
"""Languages whose common nouns are small, and their words that open sentences, lower case.

German writes every noun with a capital, other scripts have none: there the rule says nothing.
"""
