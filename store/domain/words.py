"""Words whose price in o200k tokens is known, for the bound in `tokens`.

The words that a fleet's notes, asks and results are made of: common ones of English and of programs, and our own.
A word may stand here if the tokenizer gives it the price of its table wherever it stands: alone, after a space,
after any one character of punctuation (which has its own price), and with a contraction (`'s`, which costs one
more). tests/domain/test_tokens.py asks the tokenizer about every word. A word that is not here costs more than it
should, and nothing else.
"""

#: One token wherever it stands, with a capital too.
EVERYWHERE = """
able about above absolute abstract access account accounts ack action actions active actor actual actually
adapter add added adding addition additional address addresses adds admin advanced after again age agent ago
agree ai alias align alive all allow allowed allows almost alpha already also alt alternative always am
among an and annotation anonymous another answer answers any anything api app append application
applications apply apps are arg args argument arguments around array as ask assert asset assets assign
assigned assistant associated ast async at atomic attr attribute attributes audit auth authenticate
authentication author authorized auto avoid await away back backend background backup bad badge bar bare
base based basic be because been before begin being below ben bench benchmark best bet beta better between
bin binary bind bio bit bits black blank block blocking blocks body bool boolean border bot both bottom
bound box br brain brand break bridge bring broadcast broken browser bucket budget buf buffer bug build
built burst busy but button buttons buy by byte bytes cache calendar call callback called caller calling
calls can cannot capture car card cards care carry case cases catalog cause cd center certain certificate
chain change changed changes changing channel channels char character characters charset chat cheap check
checked checker checking checks child children choice choose chunk ci claim class classes clean cleanup
clear cli click client clients clock clone close closed cloud cluster cmd code codec codes coding col cold
collection color columns com come coming command commands comment comments commit common community compact
company compare comparison compatible compile compiler complete completion complex components compose
compression computer concept condition conditions config configuration configure confirm connect connected
connecting connection connections connector console const constant constants constraints construct
construction constructor consume consumer contact container containers contains content contents context
continue contract contracts contrast control conversation conversion convert converted cookie cookies copies
copy copyright core correct cost could count counter counts create created credentials criteria cron cross
crypto ctrl current currently cursor custom cut daily dark data database date day days db dead debug decode
deep def default defaults define defined definition definitions delay delete deleted delivery delta demo
dependency depending deploy deployment deprecated depth description descriptor design desktop detail details
detect dev development dict dictionary did diff difference different digest dir direction directory disable
disabled discover disk dispatch display dist distributed distribution div dl do doc docker docs doctor
document does doing domain don done door double down download draft drawer drive driver drop drops dt dual
due duplicate duration during dynamic each easy edge edit editor effect effects eight either element
elements eligible else em email embedded emit empty en enable enabled encode encoding end endpoint ends
engine english ensure enter enterprise entities entity entries entry enum env environment epoch equal equals
era err error eval evaluate evaluation even event events ever every exact example examples exc except
exception exceptions exchange exec execute execution exist existing exists exit expect expected experiment
experimental explicit export expression ext extension extensions external extra extract extras fact factory
facts fail failed failure fake fall falls false family far fast fault favorite feature features feed fetch
few field fields file filename files fill filter final find fine finished first fit fits five fix fixed
fixture flag flags fleet flight float flow flush fn folder follow font for force forge form formal format
formats formatter forms found four fraction frame frames framework free fresh from front fs full fully func
function functions future gate general generate generated generation generator generic get gets getting git
github give given global go gone good google got grade grammar grant graph greater group groups grow growth
had half hand handle handler handles handling hands hang hard hardware has hash have having head header
headers heading health heap height held hello help helper here hex hidden high higher hint history hit hits
hold holder holding home hook hooks host hour hours house how hr html http human id idea identify identity
idle if ignore image img immutable implement implementation import important imports in inc include included
includes including index individual industry info information ini init initial initialize inline input
inputs inside inspect install installation instance instances instead instructions int integer integration
interactive interesting interface internal internet interval into invalid io is iss issue it item items iter
iterator its job jobs join js json just keep kernel key keyboard keys keyword keywords kill kind know known
lab label lang language large last late later latest launch layer layout lead leading leaf learn lease least
leave left len length less lesson let lets letter level li lib libraries library license life light like
limit limited limits line lines link linked links linux list listed listen listener listing lists literal
live living ll load loader loading local locale location lock log logged logger logging logic login logo
logs long look looking looks loop loss lost lot low lower lt lua machine macro made main make makes making
manage management manager manifest manual many map mapping maps margin mark marker marks match matches
matching matter max maximum may maybe md me mean mem member members memo memory mental mention merge mess
message messages meta metadata method middle migration min mini mint missing mobile mock mode model module
moment money month more most mount mounted move movement moves ms msg much multi multipart multiple multiply
must my name named names namespace native nav near need nested net network never new next night nine no node
nodes noise non none nor normal not note notes nothing notice now null number numbers numeric obj object
objects of off offers office offline offset ok old older on once one only open opening operand operation
operations operator opt option optional options or order org origin original os other others our out output
outside over override own owner package page pages paid pair parallel param parameter parameters params
parent parse parsed parser part parts party pass passed passing password past patch path paths pattern pause
payload pending per perf perfect perform performance permission permissions person phone physical picker
piece pieces pin ping pipe pipeline place places plain plan plane planning platform play please plugin
plugins plus pod point pointer points policy poll pool port position positive post posted poster posting
power pr practice pre predicate prefix prepare present press pretty prevent preview previous primary
principal print printed private problem proc process processing produce product production profile program
progress project projects promise prompt proof properties property protected protocol prototype provide
provided proxy pub public publish published publisher pull pure purpose push put px py python query question
questions queue quick quiet radius raise raised raises ran random range rate rates rather ratio raw re reach
reaction read reader reading reads ready real really reason received recent recommended record red redis ref
reference references refresh regex register registered registration registry regular reject rel relay
release remember remote remove removed rename render repeat replace reply repo report reports repository
representation request requests require required requires res research reserved reset resolution resolve
resource resources response responses rest restore result results retry return returned returns review
revision rich rig right rights risk role roles room root rotate round route routes row rows rs rule rules
run runner running runs runtime rust safe salt same sample save saved say scale scan scheduled scheduler
schema scheme scope screen script scripts search seat second seconds secret section security see seen select
self send sender sending sense sent sentence seq sequence serialization serialize series serve server
servers service services session sessions set sets setting settings seven sh shape share shares shell shift
shim ships short show side sign signal signed silent simple since single six size skills skip slash slice
slot slots slow small so social socket software some something sort sorted sounds source sources space
spaces span spark spec special specific speed split src stable stack stage standard standing start started
starting starts state statement states static status stay std step sticky still stop storage store stored
story str stream streams strict string strings strong struct structure style sub success such suite summary
support supported sure surface swap symbol sync syntax sys system systems table tables tag tags take taken
tap target task tasks team tell template templates temporary ten tenant term test testing tests text th than
thanks that the them then there these they thin thing things think third this those thought thread threads
three through throw tick time timeline timer times title titles to toast today todo toggle token tokens too
tool tools top topic total touch tr trace tracker tracks trail transaction transform transport tree trial
trip true trust trusted try trying ts tuple tutorial two txt typ type typed types ul under undo unicode
union unit units unix unknown unless until up update updated updates upgrade upload upon upper uri url us
usage use used user users uses using usually utf util utilities utils valid validate validation validator
validators value values var variable ve vector vendor verb verification verified verify version very via
view virtual visible visual vm void vote wait walk walking wall want wanted warning was way ways we web week
weeks weight well went were what whatever wheel when where whether which while who whole why wide width will
window windows wins wire wish with withdraw within without word words work worked worker workflow working
works world worth would wrap wrapped wrapper write writer writes writing written wrong year years yes yet
yield you your zero zone
"""

#: One token wherever it stands; two with a capital.
SMALL = """
accept acl acting addons agents ambient annotations announcement answered apache appear approve approved
architecture archive aren asked asking asks attempt attention attrs authenticated authority authorization
automatic available axe backs bash behind belongs blocked branch brief bugs building builtin came canonical
caught chars checkpoint chmod chosen chunks classifier clusters comes compiled computed configured contain
contributors coverage creates creating creation credential ctx daemon datetime decimal decision decoded
decoder dependencies deps derived digits dns downloads edited encoded ended erase errors etc exclude
excluded expired expires expiry exports extends fails fallback fd filesystem finite folders formatted formed
gave globals going graphql gt guide handled handlers haven helps holds homepage hosting hostname hosts href
https ids ignored implemented implements indexes installed issued issuer issues keeping knowledge kwargs
lands leases ledger legacy licensed lint lm localhost lookup loops mapped marked matched means meet merged
might minimal minimum minor minutes months nearest necessary needed needs negative newline npm oauth occur
ones opened opens orch otherwise ours outs owned owners ownership owns paired pairs partition passes paused
people picked pickle pid pip possible postgres primitive prints prove queued quoted reachable redirect
related remain renew reported repr resolved restart reuse rollback rolled rooms rst said schemas sdk
searched seeing specified spent srv ssl stands stderr stdin stdout steps structured takes telegram terminal
terminated terraform tested tg tls treated tries tt turned typically typing ubuntu undefined unused urgent
usr utc uv verbs versions warnings whose
"""

#: One token after a space; two elsewhere, and with a capital.
AFTER_A_SPACE = """
absent accepts according accounted acquire across adapted addressed addressing afterward against agreed aims
algorithm algorithms aliases alike annotated anyone anyway appears applied approach appropriate approval
approvals approves arbitrary arrives asserted assume assumed assurance asynchronous asyncio attributed
attribution audience audited audits august automatically autonomous backlog backward backwards badly
basically bearer become becomes beginning begins behalf behave behavior behaviour benchmarks beside beyond
binds blocker blockers bodies boundary breaking breaks brings budgets builds bump bundled callable callbacks
cancelled capabilities capability carried carries carrying catalogue catching caused cedar certainty
certificates chaos checkpoints chromium claimed clamp classifiers clause clocks closer closes coarse
coherence commits companies compared compares compatibility compilation concurrent configurable confirms
conflict connects consent considered consulting consumers containing continuity contributing contribution
convention coordination copied coroutine correctly corrupted costs couldn counted couple covering crash ctxt
curated deadline deaf debugger debugging decide decided decides deciding decisions declared decline declined
declines decoding decreases deletes deleting delivered demand denied depends deployed described descriptions
designed detailed detected detection detector determine developers develops diagnostics diary didn differ
differs directions directly directories discovering discovery dispatched distinct distinction documentation
documented documents doesn donate dotenv drift driven dropped dropping durability durable earlier easier
edits emitted emulator endpoints enforcement enforcing engineer entire entitled equivalent escapes evaluates
evaluating eventually everyone everything everywhere evidence exactly exceeded executable executed executes
existed explain explicitly exposed exposes exposing exposure facing failing failures fairly faster faults
filenames filing finance finds fixes flavor flaw following forbidden forged forgotten formally formatting
fragile freely freshness frozen functionality funding further gaps generates gives goes granted grouped
handshake happen harder hashes hence hexadecimal hints honored honour however humans hypothesis identities
immediately implementations importantly imported improve improved improvement improvements inbox independent
indicates inference inferred infinity infrastructure initiate injected injection insensitive inserted
inspector installing installs integers intended interpreter invariant invoked involved isn isolated
isolation iterable itself journey jumps keeps kept keyed killed kinds knew knowing knows lacks landed laptop
latency leak leaks learned leaves leaving lifecycle lifetime limiter linking lives locally longer losers
loses lowercase mailbox malformed manages mandatory markdown markup matters meant memories messaging methods
microsoft midday migrate migrations milestone milestones minted mismatch missed mistake models modern
modified modifies modify modules morning moved muse mutants mutate mutations myself naming narrow needing
neither newer nobody normalize normally november obligation obvious obviously occurrence occurs omitted
operating optimize origins outcome outstanding overdue overwritten packages packaging pairing paragraphs
parses parsing particular partly pasted patterns perfectly permanent persists picks pinned platforms
plumbing pointing policies polling powerful precise predefined presses primitives principals priorities
privileged probably probes proceeds processes produced programming programs prompts propagate properly
protection proven proves provides providing publishing pytest quietly quorum ranked rarely reached reaches
readable readers readline reasons recall recalled recap receipt receipts receive receives recipient
reconstruct recorded records recovery recursive redeem redeemed redemption refusal refuse refused refuses
regardless regression rejected rejection rejects relative releases relevant remembers reminders removes
removing rendered rendering reordered repl replaced replaces replay replied reporting representing
represents requested requester requesting requirement requirements resolves respected responsible resulting
resumed resumes retries retrieval returning reused reviewed reviewing revisions revoke roster safety saw
says scans schedules scopes seam seams seats secrets seeded seeds sees sends sentences sentinel separate
sequences sequential serving settle settled settlement settles setup setuptools several shaped shapes shared
sharing shifts shipped should shown shows shutdown signature signatures signs signup silently similar simply
simulated sits sitting skipped sloppy smaller sockets somebody someone somewhere spawned spawning speak
specialist specialized specification specifies specify specifying spike stability staging stale stamped
stamps staying stays stops straight streaming strictly strongest stuck stylesheet subclass subclasses
subject subprocess subscriptions suggested suitable suites supplied supports supposed surfaced surfaces
survive sweep symbols synchronous synthesis talking tape taps targets taught telemetry tells their thousands
threading throughput tied timed timeout timers timezone timing together tokenizer told tomorrow tooling
topics touches traceback trailing transferable transfers transitions travels treat tried trio truncated
tuples twice typer typo ugly unauthorized unavailable uncertain unchanged underlying underneath understood
unified universal unopened unreachable unrelated unstable updater upgraded upstream useful validates
variables various verdict verifies verifying versus vocabulary waiting waits wakes walkthrough wants warns
wasn watched webhook wheels wherever whitespace whoever withdrawn workload workloads worlds wrappers
writable wrote yesterday
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
