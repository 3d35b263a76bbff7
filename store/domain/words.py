"""Words whose price in o200k tokens is known, for the bound in `tokens`.

The words that a fleet's notes, asks and results are made of: common ones of English and of programs, and our own.
A word may stand here if the tokenizer gives it the price of its table wherever it stands: alone, after a space,
after any one character of punctuation (which has its own price), and with a contraction (`'s`, which costs one
more). tests/domain/test_tokens.py asks the tokenizer about every word. A word that is not here costs more than it
should, and nothing else.
"""

#: One token wherever it stands, with a capital too.
EVERYWHERE = """
ability able abort about above absolute abstract access account accounts ace ache ack act action actions active
activities activity actor acts actual actually adapt adapter add added adding addition additional address addresses
adds adjust admin ads adult advance advanced advantages advert after again age agency agent ago agree ahead ai aid
aim air alarm album ale alert alias align alive all allow allowed allows almost along alpha already also alt alter
alternative although always am amen among amount amp an anal analysis and android animal animals animated animation
annotation anonymous another answer answers ant any anything apart api app append application applications apply
appointment apps arc arch are area areas arg args argument arguments arm army around array art article articles
artist artists arts as aside ask aspect ass assembly assert assessment asset assets assign assigned assignment
assist assistant associated association ast async at atomic attr attribute attributes audio audit auth authenticate
authentication author authorized authors auto average avoid await award away axis baby back backend background
backup bad badge bag balance ball ban band bands bang bank banks bar bare barn bars base based basic basis basket
bass bat batch bath battery battle bay be bean bear bearing beat because bed beds been beer before beg begin being
below ben bench benchmark best bet beta better between bias bid big bike bill bin binary bind binding bio bird birth
birthday bit bits black blank blend blind block blocking blocks blog blogs blood blue board bob body bog bold bomb
bond bone bonus book booking books bool boolean boot border born borrow boss bot both bottom bound bout bow box
boxes boy br bra brain brand bread break bridge bright bring broadcast broken broker browse browser brush buck
bucket bud budget buf buff buffer bug build builder built bulk bull bundle burn burst bus business busy but button
buttons buy buyer by byte bytes cab cache cad cake calculate calendar call callback called caller calling calls cam
camera camp campaign can cancel candidate cannot cant canvas cap capital caps capture car card cards care career
cargo carry cars cart case cases cash casino cast cat catalog catch categories category cats cause cd cell cells
cent center central certain certificate chain chair challenge champ chance change changed changes changing channel
channels chap chapter char character characters charge charges charset chart chat cheap check checked checker
checking checks chef chi chief child children chip choice choices choose chunk church ci circle cities city civil
claim class classes classic clean cleanup clear cli click client clients clip clock clone close closed closing cloud
club cluster cmd cock cod code codec codes coding coffee coin col cold collect collection collections college colon
color colors column columns com comb combat combine combined come comfort coming command commands comment comments
commercial commission commit committee common community compact company compare comparison compatible compile
compiler complete completed completion complex component components compose composition compression compute computer
con concept concert condition conditions conduct conference confidence config configuration configure confirm
confirmation connect connected connecting connection connections connector cons consider console const constant
constants constraints construct construction constructor consult consume consumer contact contacts container
containers contains content contents contest context continue contract contracts contrast control controlled
controller controls conversation conversion convert converted cook cookie cookies cool cop copies copy copyright
cord core corner correct cost cot could count counter countries country counts county coupon course courses court
cover craft cream create created credentials credit crew criteria critical cron cross crow cry crypt crypto ctrl cub
cult culture cum cup cur curl currency current currently cursor curve custom customer cut cute cuts cycle dad daily
dam damage dance danger dark data database date dates dating day days db dead deal dealer death debug deck declare
decode deep def default defaults define defined definition definitions degree delay delegate delete deleted delivery
delta demo den density dent depart department depend dependency depending deploy deployment deposit deprecated depth
describe description descriptor design designer desired desk desktop destination destroy detail details detect dev
develop developer development device devices dial dialog dice dict dictionary did die dies diet diff difference
different difficulty dig digest digit digital dim dimension din dip dir dire direct direction directory disable
disabled disc discount discover dish disk dispatch display dist distance distributed distribution district div dl do
doc docker docs doctor document does dog dogs doing domain don done door doors dos dose dot double down download
draft drag draw drawer drawing dream dress drink drive driver drop drops drug dry dt dual dub due dump duplicate
duration during dust dynamic each ear early earn earth ease east easy eat echo economic edge edit editing editor
education effect effective effects egg eight either elect electric electron element elements eligible else em email
emails embedded emit employee employees employment empty en enable enabled encode encoding end ending endpoint ends
enemy energy engine engineering english ensure enter enterprise entities entity entries entry enum env environment
episode episodes epoch equal equals equip equipment era err error escape especial estate eval evaluate evaluation
even event events ever every exact exam example examples exc excel excellent except exception exceptions exchange
exclusive exec execute execution exercise exist existing exists exit expand expanded expect expected expense
expenses experience experiment experimental expert explicit export express expression ext extend extended extension
extensions external extra extract extras eye eyes fabric face faces fact factor factory facts fade fail failed
failure fair fake fall falls false family fan fans far fare farm fashion fast fat father fault favor favorite fear
feature features fed fee feed feedback feel fees feet female fen festival fetch few fib fiber field fields fig fight
figure file filename files fill filled film filter filters fin final find finding fine finger finish finished fir
fire firm first fish fit fitness fits five fix fixed fixture flag flags flash flat fleet flex flight flip float
floor flow flower flush fly fn focus fog fold folder follow fond font food foods foot for force forced fore forest
forge forget forgot form formal format formation formats formatter former forms formula fort forum forward found
foundation four fraction fragment frame frames framework free frequency fresh friend friendly friends from front
fruit fs fuel full fully fun func function functional functions fund future gab gain gal gallery game games gaming
gang gap garden gas gate gay gear gee gel gem gender gene general generate generated generation generator generic
gent get gets getting gift gig girl girls git github give given giving glass global go god gold gone good goods
google got grab grade graduate grammar grand grant graph graphic graphics grass great greater green grid gross
ground group groups grow growth guest gun gut gym habit hack had hair half hall ham hand handle handler handles
handling hands hang happy hard hardware hart has hash hat have having hay head header headers heading heads health
healthy heap hear heart heat heavy heel height held hell hello help helper hem hen her here hero hex hidden hide
high higher hint hip hire his history hit hits hoe hold holder holding hole holiday home homes hook hooks hop hope
horizontal horse hospital host hot hotel hour hours house housing how hr html http hub hum human ice icon id idea
ideal identifier identify identity idle if ignore ill illegal image images img immutable imp impact implement
implementation import importance important imports in inc incident include included includes including inclusive
income incorrect increase increment index individual industry infer info inform information ini init initial
initialize inject ink inline inn inner innovation input inputs ins insert inside inspect install installation
instance instances instant instead institution instruction instructions instrument int integer integration intent
inter interaction interactive interest interesting interface intern internal international internet interpret
interrupt interval into invalid invent inventory invest invite io ion iron is iss issue it item items iter iterator
its jack jam jar jaw jet job jobs join joint journal joy js json judge jug jump just keep ken kernel key keyboard
keys keyword keywords kick kid kids kill kin kind king kit know known lab label labels labor lady lag lake lambda
land lang language languages lap large largest laser last late later latest laugh launch law lay layer layers layout
lazy lead leader leading leaf league lean learn learning lease least leave led leer left leg legal len length lens
less lesson let lets letter level levels lever li lib libraries library license lie life lift light lighting lights
like likes limit limited limits line linear lines link linked links linux lip list listed listen listener listing
lists lit liter literal little live living ll load loaded loader loading loads loan local locale located location
locations lock locked log logged logger logging logic login logo logs long look looking looks loop lose loss lost
lot lots love low lower lt lua luck machine machines macro mad made magic mail main major make makes making male man
manage managed management manager manifest manual manufacturer many map mapping maps mar march margin mark marker
market marks mars mart mas mask mass massage master mat match matches matching mate material materials math matrix
matter max maximum may maybe md me mean media medicine medium mem member members membership memo memory men mental
mention menu merge mes mesh mess message messages met meta metadata metal meter method middle migration milk mill
million min mind mine miner mini mint mirror miss missing mission mist mitt mix mixed mob mobile mock mod modal mode
model module mom moment money monitor month moon more most mother motion motor mount mounted mouse move movement
moves movie movies moving ms msg much mud multi multipart multiple multiply museum music must my nag name named
names namespace nap nation national native natural nature nav navigate navigation near need nest nested net network
never new news next nice nick night nil nine nit no node nodes noise non none nor norm normal north not note notes
nothing notice notification notify nova now null number numbers numeric nun nut obj object objective objects odd of
off offer offers office official offline offset often oil ok okay old older on once one only open opening operand
operation operations operator operators opt optimal option optional options or orange order ordered orders ore org
organ organic organization organizations orient orientation origin original os other others our out outer output
outside over overall overflow override overs overview own owner pack package packed packet pad padding page pages
paid pain paint pair pal pan panel pant pap paper par paragraph parallel param parameter parameters params pare
parent parents park parking parse parsed parser part partner parts party pas pass passed passing password past pat
patch path paths patient pattern pause pay payload payment peer pen pend pending pens pep per percent percentage
perf perfect perform performance perhaps period permission permissions permit person personal pert pet pets phase
phone phones photo photos phrase physical pick picker picture pictures pie piece pieces pier pig pilot pin ping pink
pipe pipeline pis pit pitch pizza place placement places plain plan plane planning plans plant plants plastic plate
platform play played player players playing please plot plug plugin plugins plus pod point pointer points pole
policy poll pool poor pop port portable portal portfolio pose position positions positive post posted poster posting
posts pot potential pour power pr practice pre predicate predict prefer preferences preferred prefix premium prepare
prepared present presentation press pretty prevent preview previous price prices prim primary prime primer principal
print printed printer printing prior priority private pro problem proc procedure process processing processor prod
produce producer product production products profile profiles profit program progress project projects prom promise
promotion prompt proof prop proper properties property proposal props pros protect protected protein protocol
prototype provide provided provider proxy psych pub public publish published publisher pull pump pun purchase pure
purpose push put px py python quantity quart quarter query quest question questions queue quick quiet quit quite
quiz quote quotes race radio radius rail rain raise raised raises ram ran random range rank rap rapid rare rat rate
rated rates rather rating ratings ratio raw ray re reach react reaction read reader reading reads ready real really
rear reason received receiver recent recipe recommend recommended record recover red redis ref refer reference
references reflect refresh refund regex region regional regions register registered registration registry regular
reject rel relay release released remaining remark remember remote remove removed rename render rent repair repeat
replace replacement reply repo report reports repository represent representation request requests require required
requires res research reserve reserved reset resident resolution resolve resource resources respect respond response
responses rest restore result results resume retry return returned returns rev reverse review reviews revision
reward rice rich rid ride rig right rights ring rip rise risk river road rob robot rock rod role roles roll room
root rose rot rotate rotation round rounded route router routes routine row rows rs rub rule rules rum run runner
running runs runtime rust sad safe salary sale sales salt same sample samples sand sap sat save saved saving say
scale scan scenario scene schedule scheduled scheduler schema scheme school science scope score scores scratch
screen screens script scripts scroll sea search season seat sec second secondary seconds secret sect section
sections sector secure security see seed seek seen segment select selected selection selector self sell seller
selling send sender sending sense sensor sent sentence seq sequence serial serialization serialize series serve
server servers service services session sessions set sets setting settings seven sex sh shadow shape share shares
she sheet shell shift shim ship shipping ships shoot shop short shot shots show side sign signal signed silent
silver simple sin since sing single sink sir sit site sites six size sizes skill skills skin skip sky slash sleep
slice slide slot slots slow small smart smooth snap snow so sob social socket soft software solar sold solid solo
solution solutions solve some something sometimes son song songs soon sorry sort sorted sound sounds source sources
south spa space spaces span spark speaker spec special species specific speech speed spell spin split sport sports
spot spread spring square src stable stack staff stage stake stamp stand standard standing star stars start started
starting starts state statement states static station stations statistics status stay std steam stem step stick
sticky still stock stocks stone stop storage store stored stores stories storm story str strategy stream streams
street strength stress stretch strict strike string strings strip stroke strong struct structure stub stud student
students studio study stuff style styled styles sub submit subs success such suggest suite sum summary summer sun
sup super supplier support supported sure surf surface survey swap sweet switch symbol sync syntax sys system
systems tab table tables tag tags tail take taken taking talk tan tank tap tar target task tasks taste tax tea teach
team teen tell temper template templates tempo temporary ten tenant tent term terms test testing tests text texture
th than thank thanks that the them theme then there these they thin thing things think thinking third this those
though thought thread threads three threshold through throw throws thus tick ticket tickets tie tile time timeline
timer times tin tiny tip tips tit title titles to toast today todo toe toggle token tokens ton tone too tool tools
top topic torch tot total touch tour tout town tr trace track tracker tracking tracks trade traditional trail train
training trait transaction transactions transfer transform transition translate translation transparent transport
trash travel tree trees trend trial trigger trim trip truck true trust trusted truth try trying ts tube tuple turn
tutorial tweet two txt typ type typed types ul unable under undo unexpected unicode uniform union unique unit units
unix unknown unless unlock until up update updated updates upgrade upload upon upper uri url us usage use used user
users uses using usually utf util utilities utility utils valid validate validation validator validators valor value
values van var variable variant ve vector vend vendor vent venue verb verification verified verify version very vest
vet via vice video videos vie view views virtual virus visible vision visit visitor vista visual vm void volt vote
votes wait wake walk walking wall wallet walls wan want wanted war warm warn warning was wash watch water wave wax
way ways we weak weapon wear weather web week weekly weeks weight welcome well went were west wet what whatever
wheel when where whether which while white who whole why wide width wild will win wind window windows wine winner
winning wins winter wire wish with withdraw within without woman women won wonder wood word words work worked worker
workers workflow working works world worth would wrap wrapped wrapper write writer writes writing written wrong yak
year years yellow yes yet yield you young your zero zip zone zoom
"""

#: One token wherever it stands; two with a capital.
SMALL = """
abilities academic accept accessible accord acid acl acting addons affected affiliate agenda agents ages agreement
airport alone alto ambient angle annotations announcement annual answered apache appear appearance appoint approve
approved apt architect architecture archive aren aria arms arrival asked asking asks ate attach attached attack
attempt attention attrs authenticated authority authorization automatic availability available aware awesome axe
backs bags bash behind belongs belt birds blocked boards boat boost boys branch brands brief bugs building builtin
bun came canonical carbon caught cement chars checkpoint chemical chmod chosen chunks classifier cloth clubs
clusters coach coal coins comes communication communications compiled computed configured confirmed consistent
contain contained contributors coordinates coverage covered covers creates creating creation creative credential
crime criminal critic ctx customers daemon datetime daughter decimal decision decoded decoder degrees dependencies
dependent deps derived digits dismiss division dns downloads drivers earned edges edited edition efficient encoded
ended entered erase errors escort especially essay essential estimate estimated etc evil exclude excluded expired
expires expiry exports extends extent fails fallback fd featured fell felt fiction filesystem finite flowers flu
fluid focused folders football forces formatted formed forth fro fur gave geld genre globals goal going graphql
grown gt guard guess guide gust hag handled handlers harm hate haven heard helps hers hes hid him hog holds homepage
hosting hostname hosts houses href https hug hurt ideas identified ids ignored implemented implements inch indexes
infect infection ingredients installed insurance issued issuer issues jest keeping knowledge kwargs lack lad laid
lain lands lava laws leaders leases ledger legacy legend legs letters licensed lid lies liked limitations lint lm
localhost lookup loops lowest lug maintenance mane mapped marked matched meal meaning means measure meet meeting
mentioned mere merged meters might mile minimal minimum minister minor minute minutes mongoose monthly months moo
mouth mum nab nearest necessary neck needed needs negative neighbor neutral newline nod nose noticed npm oauth
occasion occur ones onto opened opens operate opts oral orch organized otherwise ought ours outs oven owned owners
ownership owns pace paired pairs pang papers partial participants particularly partition partners passes paused
peace peak people performed persona persons picked pickle pid pill pip placed planet planned plays pleasant portion
possible postgres powers precision pressure pricing primitive prints privacy processed prove publication punt puts
qualified quality queued quoted rag rapport reachable redirect reduce rein related relation relations remain rend
renew reported repr resolved restart retain reuse rib rollback rolled roof rooms roots rough rst rug said schemas
sdk searched seeing sera served shall ski soil sole specified spent spots srv ssl stands stderr stdin stdout steel
steps stood structured structures takes teacher teachers teams telegram telephone telling temperature terminal
terminated terraform terror tested tg therapy tight ting tls tons traffic trained treated tries tt turned typically
typing ubuntu ultimate undefined unsigned unused urban urgent usr usual utc uv valuable vary vast verbs versions
vertical visited voice volume warnings waves wealth weer weights whose wife writers yard yards
"""

#: One token after a space; two elsewhere, and with a capital.
AFTER_A_SPACE = """
abandon absent absolutely abuse accepts accessories accident accommodation according accounted accounting accuracy
accurate achieve achieved acquire acquired acres across adapted additionally addressed addressing administration
admit adopt adults advantage advent adventure advertising advice affect afford affordable afraid afternoon afterward
against agencies agreed aims aircraft alcohol algorithm algorithms aliases alike allowing alongside amazing
amenities amounts analyst ancient annotated announced anxiety anyone anyway anywhere apartment apparently appeal
appeared appears applicable applied applies applying approach approaches appropriate approval approvals approves
approximately arbitrary arrangement arrest arrive arrived arrives artificial aspects asserted assess assistance
assume assumed assurance asynchronous asyncio attacks attempts attend attended attending attitude attorney attract
attractive attributed attribution audience audited audits august authentic authorities automatically autonomous
awarded awards awareness backlog backward backwards badly basically basketball bathroom batter beach bearer become
becomes becoming bedroom bedrooms began beginning begins behalf behave behavior behaviour belie belief believe
believed believes belong benchmarks beneficial benefit benefits bent beside betting beyond bigger biggest billion
bills binds bless blocker blockers blow bodies bottle bought boundary bowl breakfast breaking breaks breast breath
brilliant bringing brings broad broke brother brought brown brows budgets buildings builds bump bunch bundled
businesses butter buyers buying cabin cable calculated callable callbacks calm cameras campus cancelled cancer
candid candidates capabilities capability capable capacity careful carefully carried carries carrying casinos casual
catalogue catching cater caused causes causing cedar celebrate centers century certainly certainty certificates
certified challenges champion chances chaos characteristics charged checkpoints cheese chest chicken childhood
chocolate choosing chose chromium chronic circuit citizens claimed claims clamp classifiers classroom clause
cleaning clearly clicking climate climb clinical clocks closely closer closes clothes clothing coaching coarse coast
cob coherence collaboration collected colleges combination comfortable commitment commits committed commonly
communicate communities companies compared compares compatibility compensation competition competitive compilation
complaint complement completely compliance complicated compliment comprehensive computers concentration concepts
concern concerning concerns conclusion concrete concurrent conducted confident configurable confirms conflict
conform confront connects conscious consent consideration considered considering consist consists constantly
consulting consumers consumption containing contemporary continued continues continuing continuity continuous
contribute contributing contribution contributions convent convention conventional convey cooking cooper
coordination copied coroutine corporate corps correctly correspond corrupted costs cotton couldn counted coup couple
couples covering crack crash crazy crisis crowd crush crushing ctxt cuisine cultural curated cutting damaged
dangerous deadline deaf dealing deals debate debt debugger debugging debut decade decades decent decide decided
decides deciding decisions declared decline declined declines decoding decoration decrease decreases dedicated
deeper deeply defect defend defense definitely deletes deleting delicious delight deliver delivered delivering
demand demands denied dental depends deployed depression described describes descriptions designed designers designs
desire despite detailed detected detection detector determine determined developed developers developing develops
diabetes diagnosis diagnostic diagnostics diary didn died differ differences differs difficult dimensions dining
dinner directed directions directly director directories disappoint discounts discovered discovering discovery
discuss discussion discussions disease dishes dispatched displayed displays distinct distinction distribute divers
diverse divided doctors documentation documented documents doesn doll dollar dollars domestic donate dotenv doubt
downtown drain drama drawn dreams drift drinking drinks driven driving dropped dropping drugs dumpster durability
durable duty earlier earnings easier easily eating economy edits educational effectively efficiency effort efforts
eggs election electrical electricity electronic embargo emergency emitted emotional emotions employ employed
employer emulator enables encore encounter encourage endpoints enforcement enforcing engage engaged engagement
engaging engineer engines enhance enhancement enjoy enough ensuring entering entertain entire entitled entrance
enumerate environmental equally equipped equivalent escapes essays establish established evaluates evaluating
evening eventually everybody everyday everyone everything everywhere evidence evolution exactly examination examine
exceed exceeded exceptional excess excited exciting executable executed executes executive exhaust existed existence
expansion expectations expensive experienced experiences expertise experts explain explained explains explicitly
explore exploring exposed exposes exposing exposure expressed extensive exterior extreme extremely faced facile
facilities facility facing factors faculty failing failures fairly faith falling familiar families famous fantastic
faster faults featuring federal feeling feelings feels fellow fifth fighting figures filed filenames filing filling
films finally finance financial findings finds finest firms fiscal fishing fixes flavor flaw flexibility flexible
flights flood flour flying focuses focusing folks followed followers following follows forbidden forecast foreign
forever forged forgotten formally formatting founded fourth fragile franc fraud freedom freely frequent frequently
freshness frozen fruits fulfill functionality fundamental funding funds funny furniture further gag gained gall
gambling gaps garage gather generally generates gentle genuine giant gifts gives glad globe goals gob goes golden
golf gonna gore gorgeous gotten govern government grace granted greatest greatly grew grinding grouped growing
guests guidance guidelines guitar guy guys handshake happen harder hashes healing healthcare hearing heating helped
helpful helping hence hexadecimal highest highlight highlights highly hints hiring historic historical holidays
honest honor honored honour hoof hopes hoping hosted hotels household however huge humans humor hundred hundreds
husband hypothesis identities illness imagine immediate immediately implementations implied importantly imported
impossible impress impression impressive improve improved improvement improvements inbox inches increased increases
increasing incredible indeed independent indicate indicated indicates individuals industrial industries inference
inferred infinity influence informed infrastructure initially initiate initiative injected injection injury
innovative insensitive inserted insight insights inspector inspiration inspired instal installing installs instantly
institutions instruct integers integrated integrity intellect intelligence intended intense intention interact
interested interests interior interpreter interview interviews introduce introduced introduction invariant
investigation investing investment investments investors invited invoked involve involved involving island isn
isolated isolation iterable itself jog joined joining journey juice jumps justice justify keeps kept keyed killed
killing kinds kitchen knew knock knowing knows lacks ladies landed landscape laptop larger latency latter launched
lawyer leadership leads leak leaks learned leather leaves leaving legislation lessons lieu lifecycle lifestyle
lifetime likely limiter linking liquid listening listings literally literature lived lives loans locally locate
longer looked losers loses losing losses loud loved lovely loves loving lowercase loyal lucky lunch luxury magazine
magnet mailbox mainly maintain maintained maintaining majority malformed managers manages managing mandatory mange
manner manufacturers manufacturing markdown marketing markets markup marriage married massive matt matters mature
maxim mayor meals meant measured measures meat mechanical medical medication meets memories mend merely messaging
methods microsoft midday migrate migrations miles milestone milestones military millions mineral mining minted
mismatch missed mistake mistakes mixture models modern modification modified modifies modify modules moist mold mole
moments monitoring mood moral morning mortgage mostly mountain moved municipal murder muscle muse musical muss
mutants mutate mutations myself naming narrow nations naturally nearby nearly needing neigh neighborhood neither
networks newer newest newly newsletter newspaper nights nobody normalize normally noted novel november nuclear
numerous nursing obligation observed obtain obtained obvious obviously occurred occurrence occurs ocean odds offered
offering officer officers offices officials omitted ongoing operating opinion opinions opportunities opportunity
opposite optimize originally origins outcome outcomes outdoor outstanding overdue overwritten packages packaging
painting pairing paragraphs parses parsing particular parties partly partnership passage passer passion passionate
pasted patients patterns paying payments pays penal pendant perfectly performances performing periods permanent
permitted persists personality personalized personally personnel perspective petite photograph photography piano
picks pills pinned pint platforms pleased pleasure plenty plumbing pocket pointing poker police policies political
politics polling popular population possess possibility possibly potentially pounds powder powerful practical
precise predefined pregnancy pregnant premier preparation preparing prescription presence presented presents
president presses previously pride primarily primitives principals principles priorities prison privileged prize
probably probes problems procedures proceed proceeds processes produced produces producing profession professional
professor programme programming programs promote promoting prompts propagate properly propose proposed protection
protest proud proven proves provides providing publishing pulled pup purchased purchases purposes putting pytest
quickly quietly quorum racing radical ranked rapidly rarely reached reaches reaching readable readers readline
reality realize realized reasonable reasons recall recalled recap receipt receipts receive receives receiving
recently recipes recipient recognition recommendations reconstruct recorded recording records recovery recruit
recursive redeem redeemed redemption redistribute reduced reducing reduction referred reform refusal refuse refused
refuses regard regarding regardless regards regression regularly regulations rejected rejection rejects relating
relationship relative relatively relax releases relevant reliable relief religion religious rely remained remains
remembers remind reminders removal removes removing rendered rendering rental reordered repeated repl replaced
replaces replay replied reporting representative represented representing represents reputation requested requester
requesting requirement requirements researchers residence residential residents resist resistance resolves resort
respected respective respectively responsibility responsible restaurant restaurants restrictions resulting resumed
resumes retail retirement retries retrieval returning reused reveal revel revenue reviewed reviewing revisions
revoke revolution riding rising risks robust romantic roster rout rubber rural saber sac safety sag sang
satisfaction satisfied sauce savings saw saying says scans scenes schedules scholar schools scientific scientists
scopes scored screening seam seams searching seasons seats secrets seeded seeds seeking seem seemed seems sees sends
senior sensitive sentences sentinel separate sequences sequential serious seriously serves serving settle settled
settlement settles setup setuptools sever several severe sexual sexy shaped shapes shared sharing sharp shifts
shipped shirt shock shoes shooting shopping shops should shoulder showed shower showing shown shows shut shutdown
sick sides sight signals signature signatures significant signing signs signup silently similar simply simulated
singer singles sister sits sitting situation situations skilled skipped slight sloppy slowly smaller smell smile
smoke smoking society sockets sod somebody someone somewhat somewhere sop sought soul soup sour sow spacious spawned
spawning speak speakers speaking specialist specialized specifically specification specifies specify specifying
spend spending spike spirit spiritual spoke spray stability stages staging stale stamped stamps standards stark
stated statements stayed staying stays stopped stops straight strange strategic strategies streaming strictly
stronger strongest strongly struggle struggling stuck studied studies studying stunning stylesheet stylish subclass
subclasses subject submitted subprocess subscribe subscription subscriptions substantial succeed successful
successfully suffer suffering sufficient sugar suggested suggestions suggests suit suitable suites superior
supplement supplied suppliers supplies supply supporting supports supposed surfaced surfaces surge surgery surprise
surprising surround survive suspect sustain sustainable sweep swimming symbols symptoms synchronous synthesis tablet
tack tact tale talent talked talking talks tall tang tape taps targeted targets taught taxes teaching technique
techniques teeth telemetry television tells temperatures tend tens terrible terse their themes theory therefore
thesis thick thinks thorough thoughts thous thousand thousands threading threat throughout throughput thrown tied
till timed timeout timers timezone timing tired tissue together tokenizer told toll tomorrow tonight took tooling
tooth topics torn totally touches tough tournament toward towards traceback trading tradition trailer trailing
transferable transfers transformation transitions transmission transportation traveling travels treat treatment
trends trick tried trio trips trouble truly truncated tub tuples turning turns twee twenty twice typer typical typo
ugly ultimately ultra unauthorized unavailable uncertain unchanged underlying underneath understand understanding
understood unified universal universe universities university unopened unreachable unrelated unstable updater
upgraded upstream useful utilize utilizing vacation validates variables variety various vehicle vehicles verdict
verifies verifying versus victim victims victory viewed viewing village vintage violence visiting visitors visits
vital vocabulary waiting waits wakes walked walkthrough wanting wants warns warrant warranty wasn waste watched
watching weapons wearing webhook wedding weekend weird western wheels whenever wherever whilst whitespace whoever
whom widely wider willing withdrawn witness wonderful wondering workload workloads workshop worlds worldwide worry
worse worst wrappers writ writable wrote yap yesterday yoga younger yours yourself youth zoo
"""

#: Two tokens wherever it stands, with a capital too.
TWO = """
approver approvers assignee claude closeout codex conformance deploys gemini handoff huddle lapsed logmem
mcp mutating rebase refactor requeue scoping valkey
"""

#: One token wherever it stands, in capitals.
CAPITALS = """
AI API ASCII CI CLI CODE GET HTML HTTP HTTPS INFO IP JSON KB NO OPTIONS OS POST PR PUT README REST RFC SDK
SHA SSL TCP TLS UI URL UTF
"""
