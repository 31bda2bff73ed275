"""Names that the world knows: given names, places and organisations.

They are the commonest names of many countries, and what a gazetteer of the world would
hold first. What is in none of them is judged by its context.
"""

from __future__ import annotations

from typing import Final

from pgrecall_extract.words import word_set

__all__ = ["GIVEN_NAMES", "ORGANISATIONS", "PLACES"]


def _names(text: str) -> frozenset[str]:
    """Return the names of a text, which commas part."""
    return frozenset(" ".join(name.split()) for name in text.split(","))


PLACES: Final = _names("""
    aarhus, abidjan, abu dhabi, abuja, accra, addis ababa, adelaide, adriatic, aegean, afghanistan,
    africa, ahmedabad, alabama, alaska, albania, albuquerque, aleppo, alexandria, algeria, algiers,
    almaty, alps, amazon river, america, amman, amsterdam, andalusia, andes, angola, ankara, antananarivo,
    antarctica, antwerp, apennines, argentina, arizona, arkansas, armenia, asia, asunción, athens,
    atlanta, auckland, austin, australia, austria, azerbaijan, baghdad, baku, bali, balkans, baltimore,
    bamako, bangalore, bangkok, bangladesh, barcelona, basel, bavaria, beijing, beirut, belarus, belfast,
    belgium, belgrade, belize, bengaluru, benin, bergen, berlin, bern, bhutan, bilbao, birmingham, bogota,
    bogotá, bolivia, bologna, bombay, bonn, bordeaux, boston, botswana, brasilia, brasília, bratislava,
    brazil, bremen, brisbane, bristol, britain, brittany, brno, brooklyn, bruges, brunei, brussels,
    bucharest, budapest, buenos aires, bulawayo, bulgaria, burgundy, burma, burundi, busan, cairo,
    calcutta, calgary, california, cambodia, cambridge, cameroon, canada, canberra, cape town, caracas,
    cardiff, carpathians, casablanca, caspian, catalonia, caucasus, chengdu, chennai, chicago, chile,
    china, chisinau, christchurch, cincinnati, cleveland, cluj-napoca, cologne, colombia, colombo,
    colorado, congo, connecticut, copenhagen, cornwall, costa rica, crete, crimea, croatia, cuba,
    curitiba, cyprus, czech republic, córdoba, dakar, dallas, damascus, danube, dar es salaam, delaware,
    delhi, denmark, denver, detroit, dhaka, doha, dortmund, dresden, dubai, dublin, dubrovnik, durban,
    durham, dusseldorf, düsseldorf, east timor, ecuador, edinburgh, egypt, eindhoven, el salvador,
    england, eritrea, espoo, estonia, eswatini, ethiopia, europe, fiji, finland, flanders, florence,
    florida, france, frankfurt, fukuoka, gabon, galicia, galway, gambia, ganges, gdansk, gdańsk, geneva,
    genoa, georgia, germany, ghana, ghent, glasgow, gothenburg, granada, graz, great britain, greece,
    grenada, grenoble, guadalajara, guangzhou, guatemala, guinea, guyana, haarlem, hague, haifa, haiti,
    hamburg, hangzhou, hannover, hanoi, hanover, harare, havana, hawaii, helsinki, himalayas, hiroshima,
    ho chi minh city, honduras, hong kong, honolulu, houston, hungary, hyderabad, ibadan, iceland, idaho,
    illinois, india, indiana, indianapolis, indonesia, innsbruck, inverness, iowa, iran, iraq, ireland,
    islamabad, israel, istanbul, italy, izmir, jaipur, jakarta, jamaica, japan, jeddah, jerusalem,
    johannesburg, kabul, kampala, kansas, karachi, kathmandu, kaunas, kazakhstan, kentucky, kenya,
    khartoum, kiev, kigali, kinshasa, kobe, kolkata, kosovo, krakow, kraków, kuala lumpur, kuwait, kyiv,
    kyoto, kyrgyzstan, la paz, lagos, lahore, laos, lapland, las vegas, latvia, lausanne, lebanon, leeds,
    leicester, leipzig, lesotho, leuven, liberia, libreville, libya, liechtenstein, lille, lima, limassol,
    linz, lisbon, lithuania, liverpool, liège, ljubljana, loire, lombardy, lomé, london, los angeles,
    louisiana, luanda, lucerne, lucknow, lusaka, luxembourg, luxor, lviv, lyon, lódź, macau, macedonia,
    madagascar, madrid, maine, malaga, malawi, malaysia, maldives, malmo, malmö, malta, manchester,
    manhattan, manila, maputo, marrakech, marrakesh, marseille, maryland, massachusetts, mauritania,
    mauritius, mecca, medellin, medellín, mekong, melbourne, memphis, mexico, mexico city, miami,
    michigan, milan, minneapolis, minnesota, minsk, mississippi, missouri, mogadishu, moldova, mombasa,
    monaco, mongolia, montana, montenegro, monterrey, montevideo, montpellier, montreal, morocco, moscow,
    mozambique, mumbai, munich, muscat, myanmar, málaga, münster, nagasaki, nagoya, nairobi, namibia,
    nantes, naples, nashville, nebraska, nepal, netherlands, nevada, new delhi, new england, new
    hampshire, new jersey, new mexico, new orleans, new south wales, new york, new york city, new zealand,
    newcastle, nicaragua, nicosia, niger, nigeria, nile, normandy, north america, north carolina, north
    dakota, north korea, north macedonia, northern ireland, norway, nottingham, nottinghamshire,
    novosibirsk, nuremberg, odense, ohio, oklahoma, oman, ontario, oregon, orlando, osaka, oslo, ottawa,
    oulu, oxford, padua, pakistan, palermo, palestine, palma, panama, panama city, papua new guinea,
    paraguay, paris, patagonia, pennsylvania, perth, peru, philadelphia, philippines, phnom penh, pisa,
    pittsburgh, plovdiv, poland, port louis, portland, porto, portugal, poznan, poznań, prague, pretoria,
    pristina, provence, puerto rico, pune, punjab, pyongyang, pyrenees, qatar, quebec, queensland, quito,
    rabat, raleigh, ravenna, reykjavik, reykjavík, rhine, rhode island, riga, rio de janeiro, riyadh,
    rockies, romania, rome, rotterdam, russia, rwanda, sacramento, sahara, saint petersburg, salamanca,
    salt lake city, salzburg, samoa, san antonio, san diego, san francisco, san jose, san josé, san juan,
    san salvador, san sebastián, santiago, sao paulo, sapporo, sarajevo, sardinia, saudi arabia, saxony,
    scandinavia, scotland, seattle, seine, sendai, senegal, seoul, serbia, sevilla, seville, shanghai,
    sheffield, shenzhen, siberia, sicily, sierra leone, silicon valley, singapore, skopje, slovakia,
    slovenia, somalia, south africa, south america, south carolina, south dakota, south korea,
    southampton, soviet union, spain, sri lanka, st louis, st. louis, st. petersburg, stavanger,
    stockholm, strasbourg, stuttgart, sudan, surat, suriname, sweden, switzerland, sydney, syria, são
    paulo, taipei, taiwan, tajikistan, tallinn, tampa, tampere, tanger, tangier, tanzania, tartu,
    tashkent, tasmania, tbilisi, tehran, tel aviv, tennessee, texas, thailand, thames, thessaloniki,
    tianjin, tiber, tibet, tirana, tobago, togo, tokyo, tonga, toronto, toulouse, transylvania, trieste,
    trinidad, tripoli, trondheim, tucson, tunis, tunisia, turin, turkey, turkmenistan, turku, tuscany,
    u.k., u.s., uganda, uk, ukraine, ulaanbaatar, united kingdom, united states, uppsala, uruguay, usa,
    utah, utrecht, uzbekistan, valencia, valletta, vancouver, vancouver island, vatican city, venezuela,
    venice, vermont, verona, vienna, vietnam, vilnius, virginia, volga, wales, warsaw, wellington, west
    virginia, windhoek, wisconsin, wroclaw, wrocław, wuhan, wyoming, xi'an, yamoussoukro, yangtze,
    yaoundé, yemen, yerevan, yokohama, yorkshire, zagreb, zambia, zanzibar, zaragoza, zimbabwe, zurich,
    łódź
""")
"""Countries, regions, large cities and well-known rivers and mountains, lower case."""

ORGANISATIONS: Final = _names("""
    accenture, adidas, adobe, airbus, alibaba, allianz, amd, amnesty international, asml, astrazeneca,
    audi, barclays, basf, bayer, bbc, bcg, bloomberg, bmw, boeing, bosch, bp, bridgestone, caltech,
    capgemini, cbs, cern, chanel, chevron, cia, cisco, citibank, citigroup, cnn, coca-cola, daimler, dell,
    deloitte, deutsche bahn, deutsche bank, disney, doctors without borders, dropbox, ebay, electrolux,
    epfl, ericsson, esa, eth zurich, eth zürich, etsy, european commission, european union, exxonmobil,
    facebook, fbi, fedex, ferrari, fiat, fifa, ford motor, fujitsu, general electric, general motors,
    goldman sachs, google, greenpeace, gucci, h&m, harvard, heineken, hewlett-packard, hitachi, honda,
    hsbc, huawei, hyundai, ibm, ikea, imf, infosys, intel, interpol, jpmorgan, kia, kpmg, l'oréal, lenovo,
    linkedin, lufthansa, maersk, mastercard, mazda, mckinsey, mercedes-benz, microsoft, mit, mitsubishi,
    morgan stanley, nasa, nato, nestlé, netflix, nike, nintendo, nissan, nokia, novartis, nsa, nvidia,
    oecd, opec, openai, oracle, panasonic, paypal, pepsi, pepsico, peugeot, pfizer, philips, porsche,
    princeton, pwc, qualcomm, red crescent, red cross, renault, roche, rolls-royce, ryanair, samsung,
    sanofi, santander, sap, shell oil, siemens, sony, spacex, stanford, starbucks, tata, tesco, toshiba,
    toyota, ubs, ucla, unesco, unhcr, unicef, unilever, united nations, ups, vodafone, volkswagen, volvo,
    walmart, wells fargo, wikimedia, world bank, world health organization, yahoo, yale
""")
"""Well-known companies, institutions and authorities, lower case."""

GIVEN_NAMES: Final = word_set("""
    aaliyah aarav aaron abdul abdullah abena abigail adaeze adam adama adele adrian adriana adriano agata
    agnes agnieszka ahmad ahmed aiko aino aisha aisling alan albert alejandro aleksander aleksandra
    alessandra alessandro alex alexander alexandra alexandre alexandru alexei alexey alexis alice alicia
    alina aline alison allison alma alvaro alyssa amadou amanda amar amara ambrose amelia amina amir amit
    amna amparo amy ana anais anastasia anders andrea andreas andreea andrei andres andrew andrzej andré
    angela angelo anil anita anja anjali anke ankit ann anna anne anneke annette annie annika anouk ansel
    anthony antoine anton antonia antonina antonio anwar anya arash arjun armando arnaud arne arthur
    arturo arun asha ashley ashok astrid audrey aurelie aurélie aya ayaan ayesha aylin ayumi ayşe babak
    barbara bartosz bastian beata beatrice beatriz becky ben benedict benjamin benoit benoît bernadette
    bernard bernardo beth betty bianca bilal bill birgit bjorn björn bob bobby bogdan boris boyd bradley
    bram brandon brenda brendan brett brian bridget bruce bruno bryan brynn caitlin calvin cameron camila
    camille carl carla carlo carlos carmen carol carole caroline carolyn carrie casper catarina caterina
    catherine cathy cecile cecilia cedric celia celine chandra chantal charles charlotte chiara chidi
    chinedu chinwe chioma chloe chris christina christine christopher chukwu ciara cindy claire clara
    clarissa claude claudia claudio clemens colin colleen concetta connor cora corinne cornelia craig
    cristian cristiano cristina curtis cynthia dagmar daisuke dalia damian damien dan daniel daniela
    daniele danielle daria darius darren dave david deborah debra deepak deepika delia denis denise dennis
    derek derrick devon diana diane diego dieter dimitri dimitris dina dinesh dirk dmitri domenico dominic
    dominik dominique don donald donatella donna dora doreen doris dorota dorothy douglas dwayne dylan
    ebba edgar edith eduardo edward edwin efua eileen einar ekaterina elaine eleanor elena eleni eli elias
    elif elin elisa elisabeth elise elizabeth elke ella ellen ellie elsa emeka emil emilia emilie emilio
    emily emir emma emmanuel emre enrico enrique eric erik erika erin ernest ernesto esra esteban esther
    ethan etienne eugene eunice eva evan evelyn ewa ezra fabian fabio fabrice faisal farah farhad farid
    fatima federica federico felicity felix fernanda fernando filip filippo finn fiona flavia florence
    florian frances francesca francesco francis francisco francois frank franz françois fred frederick
    frederik fredrik frida friedrich gabriel gabriela gabriele gabriella gareth gary gauri gavin geoffrey
    georg george georgina gerald geraldine gerhard gertrude giacomo gianluca gina giorgio giovanni gisela
    giulia giuseppe gloria goran gordon gottfried graham greg gregory greta grzegorz guadalupe guido
    guillaume guillermo gulsen gunnar gustav gustavo gwen hamid hamza hana hanna hannah hans harold harry
    haruka haruki haruto hasan hassan heather hector hediye heidi heike heinrich helen helena helga helmut
    hendrik henk henri henrik henry herbert hiroko hiroshi hitoshi holger howard hugh hugo hussein ian
    ibrahim ida ifeoma ignacio ikram ilona ilse imane imran ines inga inge ingeborg ingrid inès irene
    irina iryna isaac isabel isabella isabelle isha ishaan ismail ivan ivana ivo jaakko jaap jacek jack
    jackie jacob jacqueline jacques jadwiga jaime jakob jakub jalal jamal james jamie jan jane janet
    janusz jared jarek jasmin jasmine jason javier jean jeanette jeanne jeff jeffrey jelena jennifer jenny
    jens jeremy jerome jerry jesse jessica jill jim jimmy joan joanna joao joaquin jochen joe joel johan
    johann johanna johannes john johnny jolanta jon jonas jonathan jorge jose josef josefina joseph
    josephine joshua josé joyce joão juan judith judy juha juhani jukka julia julian julie junko jurgen
    justin justyna jérôme jörg jürgen kaan kabir kamal kamila kana karen karim karin karl karla karolina
    kasper katarina katarzyna kate katharina katherine kathleen kathrin kathryn katie katja katrin kavita
    kavya kayla kaylee kazuki kazuo keiko keisha keith kelly kenji kenneth kerstin kevin khadija khalid
    kiran kirsten klara klaus kofi komal konrad konstantin kristen kristian kristin kristina kristof
    krzysztof kunal kwabena kwame kwasi kyle kyoko lakshmi lamine larissa larry lars lasse laszlo latisha
    laura lauren lawrence leah leandro leena leila lena lennart leo leon leonard leonardo leonie leopold
    leticia liam lidia lieke lily lina linda linh linnea lisa lisbeth liz lorena lorenzo lorraine lotte
    louis louise lourdes luana luca lucas lucia luciana lucie lucy ludwig luigi luis luisa luiz lukas
    lukasz luke lydia lynn maarten maciej mads magdalena maggie magnus mahmoud maja makoto malgorzata
    malik manfred manish manoj manuel manuela marc marcel marcela marcelo marcin marco marcos marcus
    margaret margarida margot maria mariam mariana marianne marie marija marina mario marit marius
    marjorie mark markus marlene marta martha marthe martin martina martín mary masako mateo mateus
    mateusz mathias mathieu mathilde matt matteo matthew matthias matti maurice mauricio max maximilian
    maya małgorzata meera megan mehdi mehmet mehwish mei melanie melinda melissa meredith mia michael
    michal michał michelle miguel miho mikael mike mikhail mikko milena milica miloš mina minh minho
    miriam mitchell mohamed mohammad mohammed mohan molly monica monika monique moritz moses mpho muhammad
    muriel mustafa myriam nadia nadine nadja nancy naoko naomi narendra nasser natalia natalie natasha
    nate nathalie nathan navid neha neil nele ngoc ngozi nia niamh nicholas nick nicola nicolai nicolas
    nicole nicolò niels nikhil niklas nikola nikolai nikos nils nilufar nina nisha nitin njeri nkechi noah
    noam noel noelle nora norbert norma nuno nuria octavia odette olaf oleksandr olena olga oliver olivia
    olumide omar omer onur orla oscar oskar osman ottilie otto owen pablo paige pamela paolo parvati
    pascal patricia patrick patrik paul paula paulina pauline pavel pawel paweł pedro peggy pekka penelope
    peter petra phil philip philippa philippe pia pierre pieter pilar piotr pooja prakash pranav prashant
    preeti priya priyanka qadir quentin rachel rachid rafael rafał ragnar rahul raj rajesh rakesh ralph
    ramesh ramon ramona rana randall ranjit raquel rashid raul ravi raymond rebecca reiko reinhard rekha
    renata rene renee renée reza rhonda ricardo riccardo richard rick rikard riku rina rita ritu robert
    roberta roberto rocio rocío rodolfo rodrigo roger rohan rohit roland rolf romain ronald ronan ronnie
    rosa rosalie rosanna rosario rosemary roxanne roy ruben rudolf rui rupert ruslan russell rustam ruth
    ryan saad sabine sabrina sadia saeed saif sakura salma salman salvador salvatore sam samantha samir
    samira samuel sandeep sandra sandrine sanjay sara sarah saskia satoshi scott sean sebastian selin
    selma serena sergei sergey sergio seun shabnam shakira shanice shankar shannon sharon sheila shelly
    sherry shinji shirin shirley shiro shreya siddharth sigrid silke silvia simon simone sina siobhan
    sofia sofie solveig sophia sophie soren sota stacy stanislav stanley stefan stefania stefano steffen
    stella stephane stephanie stephen steve steven stuart stéphane subhash sunil sunita suresh susan
    susana susanna susanne sushila suzanne sven svetlana swati sylvia søren tadeusz takashi takeshi tamar
    tamara tanja tanya tarek tariq tatiana tatsuya ted teresa terry thabo thandi thandiwe theo theodore
    theresa thierry thijs thomas thorsten tiago tiffany tim timo timothy tina tobias todd tom tomas tomasz
    tommy tomoko tomás tony torsten tracey tracy trevor trinh tristan trond tuan tunde tyler uche ulla
    ulrich ulrike umberto ursula usha uwe vadim valentin valentina valeria valerie vanessa vanja vasco
    vera veronica veronika victor victoria vijay vikram viktor viktoria vinay vincent vincenzo virginia
    vivek vivian vladimir volker vytautas wafa walter wanda wanjiru warren wayne wei wendy wenjing werner
    wesley wiebke wilhelm willem william wim wojciech wolfgang xavier ximena xiomara yael yannick yara
    yasmin yasmine yasuko yaw yelena yetunde yevgeny yoko yolanda yosef youssef yui yuki yukiko yulia yumi
    yuri yusuf yvette yvonne zahra zainab zara zbigniew zeynep zlatan zoe zofia zoltan zoë zsofia zuzana
    étienne łukasz
""")
"""Common given names, lower case."""
