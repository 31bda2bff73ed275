"""Small English word lists: what is no name, and what tells the type of one.

They are short on purpose. A list says which words open sentences, greet or exclaim; what is in none of them
is judged by its place in the sentence.
"""

from __future__ import annotations

from typing import Final

__all__ = [
    "ABBREVIATIONS",
    "CALENDAR",
    "COMMON",
    "DEMONYMS",
    "FUNCTION_WORDS",
    "HEADS",
    "HONORIFICS",
    "LAST_WORDS",
    "LEADING_WORDS",
    "ORG_WORDS",
    "PLACE_FIRST",
    "PLACE_LAST",
    "REGIONAL",
    "SEASONS",
    "SHOUTS",
    "TITLE_LAST",
    "word_set",
]


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text, which white space parts.

    Args:
        text: The words.
    """
    return frozenset(text.split())


FUNCTION_WORDS: Final = word_set("""
    a about above after again against ain all almost alone along already also although always am among
    an and another any anybody anyone anything anyway anyways are aren as at away be became because been
    before behind being below between both but by can could couldn despite did didn do does doesn doing
    don done down due during each eight either else enough even ever every everybody everyone everything
    everywhere except few fifth first five for four fourth from further had hadn has hasn have haven
    having he hence her here hers herself him himself his how however i if in indeed into is isn it its
    itself just last least less let lets lots many may maybe me meanwhile might mine more moreover most
    much must my myself near neither never nevertheless next nine no nobody none nor not nothing now of
    off often on once one only onto or other others our ours ourselves out over own per perhaps plus
    quite rather same second seven several shall she should shouldn since six so some somebody someone
    something sometimes soon still such ten than that the their theirs them themselves then thence there
    therefore these they third this those though three through throughout thus to together too toward
    towards two under unless unlike until unto up upon us very via was wasn we well were weren what
    whatever when whenever where whereas wherever whether which while who whoever whom whose why will
    with within without won would wouldn yes yet you your yours yourself yourselves
""")
"""Words that no name begins or ends with, lower case."""

SHOUTS: Final = word_set("""
    absolutely ad afaik afk ah aha ahem ahh aka alas alright am amen anyhow argh asap aw awesome aww
    awww ay aye bc bce bingo bon boo bravo btw buddy bye ce cet cheers congrats congratulations cool cya
    damn dang dear diy dude duh edt eek eh er est eta excuse faq farewell fine fixme folks fwiw fyi gee
    geez gmt gonna good goodbye goodnight gosh gotcha gotta great greetings guys ha hah haha hahaha hehe
    hello hey heya hi hiya hmm hmmm ho hooray hope howdy huh hurrah hurray id idk ids iirc imho imo jeez
    k kinda kudos lmao lol man mm mmm morning nah nay nb nice nope note oh ohh oi ok okay okey omg oo
    oof ooh oops ouch ow pc perfect phew please pm ps psst pst regards right rip rofl salut sheesh sorry
    sup super sure sweet ta tba tbd tbh thank thanks thankyou thx tldr todo totally true ttyl tut tv ugh
    uh um umm utc vip voila wanna welcome wey whatcha whew whoa whoo whoops why woah woo woohoo wow
    wowza wtf xo xoxo yahoo yay yea yeah yeh yep yes yikes yippee yo yoohoo yum yummy yup
""")
"""Greetings, exclamations and chat abbreviations, lower case; never a name by themselves."""

COMMON: Final = (
    FUNCTION_WORDS
    | SHOUTS
    | word_set("""
    pr mr api url ui ux qa ci cd os faq
    ability able accept accessibility according account accuracy act action actions activity actor
    actually add added additional additionally adolescence adult advice afternoon age agree agreed
    agricultural agriculture ahead air alcohol allegedly allow although altogether amazing amount
    analysis animal animals annual anytime apart apparently appreciate approximately area areas army art
    article artist ask assume attention audience author average back bad balance ball band bank banks
    base baseball based basketball bath beach beautiful bees beginning belief believe best bet better
    beyond big biking bird birds birth black blood blue board boat body book books born boss bottom box
    boy brand bread break breakfast bring broken brother budget bug build building built business buy
    cake call called camera camping canceled cancer capital car card care career cars case cat catch
    cats cause cell central century ceo certain chair change changes chapter chat check cheering cheese
    chef chess chicken child children chill chocolate choose church cinnamon cities citizen citizenship
    city civil class classes classic clean clear clearly climate close closing cloth club coach code
    coffee cold college color come comedy coming comments commercial common communication communities
    community companies company compared completely computer concept congress connection conservation
    consider considering constitution construction consumer contact content context continental continue
    contrary control cook cookies cooking copper corn cost cotton count country county couple courage
    course court create creative creativity credit crime crossing crowd crucial cultural culture
    currency current currently customer customers cut cute cutting dad daily damage dance dancing dark
    data database date daughter day days dead deal death debt decade decided deep deer default defense
    definitely degree demand department depending desert design details develop developers development
    diet different difficult dinner direct direction disco discovery disease distance district doc
    doctor doctors dog dogs dollar door double drama drawing dream dreams dress drink drive drop early
    earth ease easily eastern easy eat economic economics economy edit editor education effect effort
    eggs election electric electricity email emergency emotional employees employment end energy
    engineers enjoy enjoyed entire environment equal error especially essentially estimated ethnic
    evening events eventually everyday evidence evolution exact exactly example excellent excited
    exciting exercise experience experts explain explore exploring express extra eyes face fact factors
    fair fall falls families family famous fan fans fantastic far farm fashion fast father favorite fear
    feedback feel feels feet female fiction field figure file files fill film films final finally find
    fingers fire fish fitness flag flexibility flight floor flour flowers focus follow following food
    football forces foreign forest forever forget form formal formally former formerly forward found
    founded fourteen fractional free freedom fresh friday friend friends friendship front fruit fuel
    full fun funding funny future gain gallery game games garden garlic gas general generally get girl
    give given glad glass go goal goals god gold golf gonna got government grab grade graduate grand
    grass gratitude greater green ground group groups grow guess guest guide guitar gun guy gym habits
    hair half hall hand hands happiness happy hard hardware hate head health healthy hear heart heat
    heavy held help helps hence high higher highest hill hint historians historic historical
    historically history hobby hold holiday holy home honest honestly honorary hooray hopefully hospital
    hot hotel hour hours house houses housing huge human humans humor hundreds hunting husband ice idea
    ideas image images imagine immediately important imports inc include included includes income
    increased incredible independent individual individuals industrial industry inflation info
    information infrastructure initially inside inspiration instead interest internal international
    internet irrigation island issue issues item items jazz job jobs join journal journey judges jump
    jumping jurisdiction keep key kid kids kind kings kitchen knowledge known labor lake land language
    languages large largely largest lastly late lately later law laws lead leader leaders learn least
    leave led left legal legend legislative length let letter letters level levels liberty library life
    light likewise limited line lines link linked list listen literally literature little live lively
    lives local located location locations long look looks loose lord lose loss lost lot love lovely low
    lower lowest loyal luck luckily lucky lunch machine magic magical mail main mainly maintain major
    majority make makes male manage manager manufacturing map marine mark market marketing marriage
    married mass master match material matter mayor meal mean means media medical medicine medieval
    meditation meet meetup member members memories memory men mental message messages metal middle
    military milk mind minister ministry miss mission mistakes mixed model modern mom moment moments
    money monster month monthly months moon mother motivation mountain mountains mouth move movement
    movie movies multiple mum museum museums music musical mutual mysterious name names narrow national
    native natural nature nearby nearly necessary need needs neighbors network new news nights noon
    normal normally north northern notable notably novel now nowadays number numerous nurses objects
    obviously ocean odd office officer officers official officially oil old older open opening
    operations opinions opportunity option options orange order orders organic original originally
    otherwise outdoor outside overall owned owner page pain paint painting pair paper parents park part
    parties partly parts party pass passion past pastries patience pay peace people percent performance
    perhaps period person personal personally pet petroleum pets phone photo photography photos physical
    piano pick picnic picture pictures piece pizza place places plan plane planet plans plant plants
    play player players plenty plot point points police policy political politics poor pop popular
    population portions positive possible possibly post pottery power practical practice precipitation
    present president pretty previous previously price prices prime prior private pro probably problem
    process produced product production products programs progress project projects proper property
    proud provide public published pure put quality question questions quick quickly quiet race rail
    railway rain random rare rate read reader reading ready real reality really reason reasons recent
    recently recipe record records red regarding regardless region regional regular related
    relationships release released religion religious remember remote rent report reports representative
    republic request research reset residents resilience rest restaurants result results return review
    rice rich ride rise river road robot rock role roof room rooms rose round route routes rules run
    running safety salt sand saw school schools science scientists scope score sea season seasons
    secondly section security see seems seen self send senior sentimental separate separation series
    serious seriously service services set setup share shared shop short show shows side sign
    significant silver similar similarly simple simply single sister sites situated size skating skills
    sleep slow slowly small smart snow snowfall soccer social society software soil solar soldiers solid
    son song songs sound sounds soup source south southern space speak special species specifically
    speed spend sport sports spring staff stage star starring start started starts state statement
    states station status stay stays steam steel step steps stick stock stop store stories storm story
    straight strange street strength stress strong student students studies study stuff style subject
    success sugar suggestions summer summers sunday sunset sunsets supper supplies support supporters
    suppose supposedly surely surprise surprisingly surrounding sushi swim system systems table take
    takes talk talks task taxes tea teachers team teams teamwork tech technically technology temperature
    temperatures tennis term terms territories territory test tests text theater theatre thing things
    think thinking thought thousands tickets tie time times tip tips title today tomorrow tonight top
    topics tough tour tourism town towns trade tradition traditional traditionally traffic trail train
    trains travel tree trees trick trip trips trust truth try tuition turn turns twelve twenty twice
    type types typically ultimately uncle understand unemployment unfortunately union unit united
    universities university unknown unlike unlikely update upper urban usage use used user users usually
    value values various vegan vehicles version victory video view views village violence virtual visit
    visitors vodka voice volume volunteers vote wage wait walk walks wall walls want war warm water wave
    way wear weather website week weekend weeks weight western white whole wide wife win wind window
    winds wine winner winters wish wishing witch women wonder wonderful wood word words work worker
    workers works world worse worst worth write writer wrong year years yellow yesterday yoga young
    younger youth zero
""")
)
"""Words that open a sentence with a capital without being names, lower case."""

LEADING_WORDS: Final = (
    FUNCTION_WORDS
    | SHOUTS
    | word_set("""
    according additionally apparently ask because call current currently dear early especially finally
    former formerly fortunately get good got great happy hopefully including initially instead late
    lately later like located love loved maybe meet merry met miss modern nearby nice only originally
    previously recently remember saw see similarly so speaking specifically take tell today tomorrow
    took traditionally tried try typically ultimately unfortunately unlike use used using usually visit
    yesterday
    add added adding book booked booking bought bump buy call calling cancel cancelled change changed check
    checked configure configured contact created delete deleted deploy deployed disable disabled discussed
    drop dropped email emailed enable enabled ensure export finished fix fixed import install installed
    invite joined merge merged migrate migrated move moved notify order ordered pay phone picked ping
    prefer prefers put read rebuild remind remove removed rename renamed renew renewed replace replaced
    restart restarted restore reverted rewrote run running saw scheduled send set sent signed started
    stopped switched talked test tested told update updated upgrade upgraded uploaded visited visiting
    watched wrote
    assume imagine pretend suppose
""")
)
"""Words that are cut off the begin of a phrase that opens a sentence, lower case."""

CALENDAR: Final = word_set("""
    ad apr april aug august autumn bc bce ce dec december fall feb february fri friday jan january jul july
    jun june mar march may mon monday nov november oct october sat saturday sep sept september spring
    summer sun sunday thu thur thurs thursday tue tues tuesday wed wednesday winter
""")
"""Days, months and seasons, lower case: times, and another enricher's work."""

SEASONS: Final = word_set("spring summer autumn winter")
"""Seasons, lower case; "Winter Olympics" is a name all the same."""

TITLE_LAST: Final = word_set("above again alone apart away below down inside off out over together up")
"""Small words that nobody writes with a capital inside a sentence unless they end a title, lower case."""

DEMONYMS: Final = word_set("""
    afghan african albanian algerian american americans anglo arab arabian arabic argentine argentinian
    armenian asian australian austrian azerbaijani bangladeshi basque bavarian belgian bolivian bosnian
    brazilian breton british briton bulgarian burmese cambodian cameroonian canadian canadians caribbean
    catalan catholic celtic chilean chinese christian christians colombian croatian cuban cypriot czech
    dane danish dutch dutchman ecuadorian egyptian english englishman estonian ethiopian european
    europeans filipino finnish flemish french frenchman georgian german germanic germans ghanaian greek
    greeks haitian hebrew hindu hispanic hungarian icelandic indian indians indonesian iranian iraqi
    irish irishman islamic israeli italian italians ivorian jamaican japanese jew jewish jews jordanian
    kazakh kenyan korean kurdish kuwaiti latin latino latvian lebanese liberian libyan lithuanian
    macedonian malay malaysian maltese mediterranean mexican mexicans moldovan mongolian moroccan muslim
    muslims nepalese nepali nigerian nordic norse norwegian ottoman pakistani palestinian panamanian
    paraguayan persian peruvian philippine polish portuguese protestant prussian punjabi roman romanian
    romans russian russians samoan saudi scandinavian scot scots scottish senegalese serbian singaporean
    slavic slovak slovene slovenian somali soviet spaniard spanish sudanese sumatran swede swedish swiss
    syrian taiwanese tamil tanzanian thai tibetan tongan tunisian turk turkish turks ugandan ukrainian
    uruguayan uzbek venezuelan victorian vietnamese welsh welshman yemeni yugoslav zimbabwean
""")
"""Nationalities, languages and creeds, lower case: adjectives more often than names."""

HONORIFICS: Final = word_set("""
    admiral ambassador archbishop aunt auntie baron baroness bishop brother capt captain cardinal
    chairman chancellor cmdr coach col colonel commander congressman congresswoman count countess dame
    dr duchess duke emperor empress father gen general gov governor grandma grandpa imam judge justice
    king lady lieutenant lord lt maj major mayor minister miss mr mrs ms mx pastor pope president prince
    princess prof professor queen rabbi rep representative rev reverend saint secretary sen senator
    sergeant sgt sir sister uncle
""")
"""Titles before a person's name, lower case, without their full stop."""

ABBREVIATIONS: Final = word_set("""
    a.k.a al approx assn bros c ca capt cf cmdr co col corp dept dr e.g ed eds etc fig ft gen gov hon
    i.e inc jr lt ltd maj messrs mr mrs ms mt mx pp prof rep rev sen sgt sr st u.k u.s univ vol vs
""")
"""What a full stop after it ends no sentence, lower case."""

ORG_WORDS: Final = word_set("""
    ab academy ag agency airlines airways alliance army association authority bank bureau bv church club
    co college commission committee company congress consortium cooperative corp corporation council
    court department ensemble enterprises entertainment federation foundation fund gmbh group holdings
    hospital inc industries institute institution kg kgaa laboratories laboratory labs league llc llp
    ltd ministry motors navy network news nv orchestra organisation organization oy parliament
    partners party pharmaceuticals pictures plc police press pty records sa school senate society
    software solutions spa srl studios syndicate systems team tech technologies trust union university
    ventures
""")
"""Words that end, or for "University of ..." begin, the name of an organisation, lower case."""

PLACE_LAST: Final = word_set("""
    abbey airport archipelago arena avenue basin bay beach borough boulevard bridge canal canyon castle
    cathedral center centre city coast county cove creek desert district drive falls forest garden gardens
    glacier gorge gulf hall harbor harbour heights hill hills island islands isle lake lane library mount
    mountain mountains ocean palace parish park peninsula plateau plaza port prefecture province range
    reef reservoir river road sanctuary sea springs square stadium station strait street temple territory
    theater theatre tower township trail valley village volcano zoo territories municipality governorate
    oblast voivodeship canton woods isles ridge rapids fjord dam tunnel monument memorial ranch motorway
    counties provinces
""")
"""Words that end the name of a place, lower case."""

LAST_WORDS: Final[dict[str, str]] = {
    **dict.fromkeys(
        word_set("project program programme initiative mission expedition"),
        "PROJECT",
    ),
    **dict.fromkeys(
        word_set("""
            telescope satellite spacecraft rover sdk api cli ide db sql os toolkit framework compiler
            linux server app plugin phone watch
        """),
        "TECHNOLOGY",
    ),
    **dict.fromkeys(
        word_set("""
            nebula galaxy comet crater museum gallery café cafe restaurant bar pub hotel inn bakery bistro
            cemetery monastery temple mosque synagogue campus quarter desert falls beach pier
        """),
        "PLACE",
    ),
    **dict.fromkeys(
        word_set("""
            clinic analytics freight logistics consulting insurance movement foods energy robotics
            therapeutics biotech choir fc polytechnic kindergarten gymnasium nursery pharmacy brothers
            airways rangers publishing publishers semiconductor semiconductors aerospace
            electronics telecom communications railways financial investments media
        """),
        "ORG",
    ),
    **dict.fromkeys(
        word_set("""
            marathon olympics paralympics games cup prize prizes award awards medal treaty act agreement
            accord war wars battle revolution rebellion uprising festival carnival championship
            championships tournament derby conference summit convention theorem conjecture
            paradox disease syndrome principle effect manifesto declaration constitution bible stone tour
            crisis massacre famine era dynasty day night symphony sonata concerto
            trilogy chronicles
        """),
        "CONCEPT",
    ),
}  # fmt: skip
"""What the last word of a longer name, or the one before "of", says about its type; lower case."""

REGIONAL: Final = word_set("""
    north south east west northern southern eastern western central greater upper lower inner outer
    downtown metropolitan
""")
"""Words that make a part of a place of it, lower case."""

PLACE_FIRST: Final = word_set("""
    lake mount mt fort cape port san santa são river isle gulf bay camp villa rio el los las café cafe
    hotel restaurant chez
""")
"""Words that begin the name of a place, lower case."""

HEADS: Final[dict[str, str]] = {
    **dict.fromkeys(
        word_set("""
            airport bay borough bridge capital castle cathedral church city commune community
            country county creek district hamlet island lake locality mountain municipality
            neighborhood neighbourhood palace parish park peak peninsula province region river
            road settlement stadium state stream street suburb town township tributary valley
            village
        """),
        "PLACE",
    ),
    **dict.fromkeys(
        word_set("""
            agency airline association bank brewery broadcaster bureau charity club college
            company corporation hospital institute label league manufacturer ministry museum
            organisation organization party publisher retailer school startup team union
            university
        """),
        "ORG",
    ),
    **dict.fromkeys(
        word_set("""
            actor actress administrator architect artist athlete author biologist bishop boxer
            brother businessman businesswoman chemist coach comedian composer cricketer dancer
            daughter director doctor drummer economist emperor engineer entrepreneur equestrian
            explorer footballer friend general golfer grandmaster guitarist historian husband
            journalist judge king lawyer mathematician missionary musician novelist nurse
            officer painter philosopher physicist pianist player poet politician priest producer
            professor queen rapper scientist screenwriter sculptor senator singer sister soldier
            son songwriter swimmer teacher wife wrestler writer
        """),
        "PERSON",
    ),
    **dict.fromkeys(
        word_set("""
            api app application compiler database engine framework language library protocol sdk
            server software tool
        """),
        "TECHNOLOGY",
    ),
}
"""What "X is a ..." says about the type of X: the head noun, lower case, and the type."""
