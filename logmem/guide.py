"""Setting Telegram up at a terminal: the token, the phone, a first tap. Enter leaves any step for later."""

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import botkeys, pairing, show
from .asking import asked, fresh, unless_left
from .botapi import Known, NoBot, whose
from .fault import Fault
from .practice import QUESTION, practised

if TYPE_CHECKING:
    from store.settings import Settings

    from .operate import Operator

LATER = "Left for later: {}"
BOTFATHER = "https://t.me/BotFather"
TRIES = 5  # for a token that is one
LOOK = 0.3  # seconds between two looks at how the bot does
START = 30.0  # seconds that it may take to be at work
INDENT = "   "


@dataclass(frozen=True, slots=True)
class Guide:
    """Takes a person through it. `url` is where the API answers here, `command` how they call us."""

    settings: "Settings"
    operator: "Operator"
    url: str
    command: str

    async def all(self, person: str) -> None:
        """Token, pairing, practice; what is done already is passed over."""
        bot = await self.token(person.partition(":")[2])
        if bot and not await self._paired(person, bot):
            await self.pair(person, bot.username, you=True)

    async def token(self, name: str) -> Known | None:
        """The bot whose token is there, or is given now; None where it is left for later."""
        if there := botkeys.token(self.settings):
            try:
                return await whose(self.settings, there)
            except NoBot:
                if botkeys.from_environment():
                    self._told("Telegram knows no bot with the token of LOGMEM_BOT_TOKEN. Set another one there.", "")
                    return None
                self._told("Telegram knows no bot with the token that is saved. Give another one.", "")
            except Fault as why:
                self._told(f"The token that is set: {why}", f"{self.command} telegram set-up")
                return None
        show.line("")
        show.prose("Telegram: asks come to your phone, and a tap decides. You need a bot of your own.", style="bold")
        show.styled(
            "   1. In Telegram, send ", ("@BotFather", "bold"), f" ({BOTFATHER}) the message ", ("/newbot", "bold")
        )
        show.line(f"   2. Send it a name for your bot, such as: LogMem of {name}")
        show.line(f"   3. Send it a user name that ends in bot, such as: {name.replace('-', '_')}_logmem_bot")
        show.line("   It answers with a token. Paste it here; it is not shown as you do.")
        fresh()
        for _ in range(TRIES):
            said = (await asked("Token [Enter: later]: ", hidden=True)).strip()
            if not said:
                break
            try:
                found = await whose(self.settings, said)
            except Fault as why:
                self._told(str(why), "")
                continue
            botkeys.save(self.settings.home, said)
            show.prose(f"@{found.username} is your bot. Its token is in", indent=INDENT)
            show.line(f"{INDENT}{botkeys.token_file(self.settings.home)}")
            return found
        self._later(f"{self.command} telegram")
        return None

    async def _paired(self, person: str, bot: Known) -> bool:
        """Whether the person has a phone already, and is told which."""
        found = await self.operator.do("people", person=person)
        if "telegram" not in found:
            return False
        name = person.partition(":")[2]
        show.prose(f"{person} is paired already, with {pairing.described(found)}.", indent=INDENT, style="green")
        show.prose(f"If @{bot.username} is new to that phone, press Start there:", indent=INDENT)
        show.styled(INDENT, (f"{pairing.SERVICE}/{bot.username}", "cyan"))
        show.line(f"{INDENT}For another phone: {self.command} human pair {name}")
        return True

    async def pair(self, person: str, bot: str = "", *, you: bool = False) -> bool:
        """Pair a person's phone, and send a first ask there; whether it was paired. `you`: it is who sits here."""
        again = f"{self.command} human pair {person.partition(':')[2]}"
        later = f"{self.command} telegram" if you else again
        if not await self._at_work(bot, later):
            return False
        code = await pairing.made(self.operator, person, bot=bot, waits=True)
        whose_phone = "your phone" if you else f"the phone of {person}"
        show.line("")
        show.prose(f"Pair {whose_phone}: point its camera here, open the link, press Start.", style="bold")
        show.line("")
        pairing.tell(code)
        show.line(f"   It works once, within {code.life}. Waiting for Start … (Enter: later)")
        claim = await pairing.waited(self.operator, code)
        if claim is None:
            self._later(later)
            return False
        if not await pairing.confirmed(self.operator, claim, whom="you" if you else person):
            self._told("Refused: that account is not paired, and the code is used up.", again)
            return False
        show.prose(
            f"Paired. What waits for {person} comes to that phone from now on.", indent=INDENT, style="green"
        )  # fmt: skip
        await self.practice(person)
        return True

    async def _at_work(self, bot: str, later: str) -> bool:
        """Whether the bot is at work, which may have been started just now; else why a code would not be heard."""
        from .telegram import WRONG

        how = await pairing.bot_is(self.operator, bot)
        if how == "" or not (bot or botkeys.token(self.settings)):
            waited: str | None = how
        else:
            show.line("   Waiting for the bot to start … (Enter: later)")
            waited = await unless_left(self._started(bot))
        if waited is None:
            self._later(later)
        elif waited:
            why = WRONG.get(waited, waited)
            self._told(f"The bot is not at work ({why}), so nobody would hear a code.", f"{self.command} telegram")
        return waited == ""

    async def _started(self, bot: str) -> str:
        """'' once the bot is at work; how it does if that takes too long."""
        how = "starting"
        try:
            async with asyncio.timeout(START):
                while how := await pairing.bot_is(self.operator, bot):  # noqa: ASYNC110 - it tells nobody of itself
                    await asyncio.sleep(LOOK)
        except TimeoutError:
            pass
        return how

    async def practice(self, person: str) -> None:
        """Send a first ask, and tell what became of it."""
        show.line(f'   A practice ask is on its way to it: "{QUESTION}"')
        show.line("   Press Approve or Reject on that card. (Enter: never mind)")
        try:
            end = await practised(self.operator, self.url, person)
        except Fault as why:
            self._told(str(why), "")
            return
        if end is None:
            show.line("   Taken back. Nothing hangs on it.")
            return
        if end["status"] in ("approved", "rejected"):
            by = f"{end['decided_by']} {end['status']} it, via {end['via']}."
            show.prose(f"{by} So does every ask come, and so is it decided.", indent=INDENT, style="green")
        else:
            show.prose(f"It is {end['status']}: {end['says']}", indent=INDENT)

    def _told(self, what: str, again: str) -> None:
        """What did not go as it should, and the command that helps."""
        show.prose(what, indent=INDENT, style="yellow")
        if again:
            show.line(f"{INDENT}Try again: {again}")

    def _later(self, command: str) -> None:
        show.line(INDENT + LATER.format(command))
