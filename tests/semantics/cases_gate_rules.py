"""Rules of the Execution Gate: wrong policies, each with its finding."""

from __future__ import annotations

from semantics_support import Case

CASES = [
    Case(
        "VGL107",
        "rule r: when write() and «earlier read()» then hold",
        "`earlier` stands only in the body of `always`",
        help="a rule speaks of the pending call; what was before is a statement's, tested by `violates S`",
    ),
    Case(
        "VGL107",
        "rule r: when «write() implies read()» then hold",
        "`implies` stands only in the body of `always`",
        help="a rule speaks of the pending call; what was before is a statement's, tested by `violates S`",
    ),
    Case(
        "VGL202",
        "statement S: abs(write())\n\nrule «S»: when write() then hold",
        "`S` is declared twice",
        notes=("first declared here: S",),
    ),
    Case(
        "VGL201",
        "statement budget: atmost[3](pay())\n\nrule r: when violates «budgets» then block",
        "no statement named `budgets` is in this file",
        help="did you mean `budget`?",
        fixed="statement budget: atmost[3](pay())\n\nrule r: when violates budget then block",
    ),
    Case(
        "VGL201",
        "rule r: when violates «R7» then block",
        "no statement named `R7` is in this file",
        help="one of another layer is written `organisation.NAME`",
    ),
    Case("VGL209", "rule r: when violates «r» then block", "`r` is a rule; a call violates statements"),
    Case(
        "VGL211",
        "«@severity(info)»\nrule r: when write() then hold",
        "`@severity` describes a statement and has no effect here; what a rule does stands after `then`",
    ),
    Case(
        "VGL211",
        "«@on_violation(hold)»\nrule r: when write() then hold",
        "`@on_violation` describes a statement and has no effect here; what a rule does stands after `then`",
    ),
    Case(
        "VGL211",
        "«@delegable»\nrule r: when write() then block",
        "`@delegable` says who may confirm a hold, and this rule asks for none",
    ),
    Case(
        "VGL211",
        "«@delegable»\nstatement S: abs(write())",
        "`@delegable` says who may confirm a hold, and this statement asks for none",
    ),
    Case(
        "VGL211",
        "«@delegable(user)»\nrule r: when write() then hold",
        "`@delegable` does not take this",
        help="it says that the user may confirm what her organisation holds: `@delegable`",
    ),
    Case(
        "VGL215",
        "rule r: when send(to with («context.tier > 1»)) then hold",
        "an entry has members alone: `context.tier > 1` tests an event",
    ),
    Case(
        "VGL341",
        "rule r: when write(«status = error») then hold",
        "a rule is asked before the call, which has no status yet",
    ),
    Case(
        "VGL341",
        'pattern p = write(«output» ~ "*x*")\n\nrule r: when p then hold',
        "a rule is asked before the call, which has no output yet",
    ),
    Case(
        "VGL342",
        "rule r: when pay(currency = «usd») then hold",
        "`usd` is declared nowhere, and a rule has no variables",
        help='a text is written `"usd"`',
        fixed='rule r: when pay(currency = "usd") then hold',
    ),
    Case(
        "VGL342",
        "let LIMIT = 3\n\nrule r: when pay(amount > LIMIT and fee > «LIMTI») then hold",
        "`LIMTI` is declared nowhere, and a rule has no variables",
        help="did you mean `LIMIT`?",
        fixed="let LIMIT = 3\n\nrule r: when pay(amount > LIMIT and fee > LIMIT) then hold",
    ),
    Case(
        "VGL342",
        "pattern from(x) = copy(from = x)\n\nrule r: when from(«ann») then hold",
        "`ann` is declared nowhere, and a rule has no variables",
        help='a text is written `"ann"`',
        fixed='pattern from(x) = copy(from = x)\n\nrule r: when from("ann") then hold',
    ),
    Case(
        "VGL342",
        "rule r: when pay(amount > «limit») then hold",
        "`limit` is declared nowhere, and a rule has no variables",
        help="declare the number with `let limit = …` or `param limit: number`",
    ),
    Case(
        "VGL342",
        "rule r: when copy(from = «x», to = x) then hold",
        "`x` is declared nowhere, and a rule has no variables",
        help='a text is written `"x"`',
    ),
    Case(
        "VGL343",
        "rule r: when «context.teir» >= 2 then hold",
        "the context has no `context.teir`",
        help="did you mean `context.tier`?",
        fixed="rule r: when context.tier >= 2 then hold",
    ),
    Case(
        "VGL343",
        "rule r: when write() then hold record file, «context.agnet»",
        "the context has no `context.agnet`",
        help="did you mean `context.agent`?",
        fixed="rule r: when write() then hold record file, context.agent",
    ),
    Case(
        "VGL343",
        "rule r: when has «context.violates» then hold",
        "the context has no `context.violates`",
        help="which statements a call would violate is asked by `violates NAME`",
    ),
    Case(
        "VGL343",
        "rule r: when «context.tier > 3» then hold",
        "`context.tier` is never > 3: it is a whole number from 0 to 3",
    ),
    Case(
        "VGL343",
        "rule r: when «context.hour in {22, 24}» then hold",
        "`context.hour` is never `24`: it is a whole number from 0 to 23",
    ),
    Case(
        "VGL343",
        'rule r: when «context.calls = "many"» then hold',
        "`context.calls` is never `many`: it is a whole number",
    ),
    Case(
        "VGL343",
        'rule r: when «context.weekday = "Mon"» then hold',
        "`context.weekday` is never `Mon`: it is one of `mon`, `tue`, `wed`, `thu`, `fri`, `sat`, `sun`",
    ),
    Case(
        "VGL343",
        "rule r: when «context.agent > 3» then hold",
        "`context.agent` is text, and an order test needs a number",
    ),
    Case(
        "VGL344",
        "statement S: abs(write(«context.tier» >= 2))",
        "`context.tier` stands only in the rules of a gate",
    ),
    Case(
        "VGL344",
        "pattern p = write(«context.tier» >= 2)\n\nrule r: when p then hold\n\nstatement S: abs(p)",
        "`context.tier` stands only in the rules of a gate",
    ),
    Case(
        "VGL344",
        "statement S: abs(write() and «violates S»)",
        "`violates` stands only in the rules of a gate",
    ),
    Case(
        "VGL345",
        "rule «r»: when write() then pass",
        "`r` relaxes nothing, so that it never changes a decision",
        help="what it lowers stands after `relaxes`",
    ),
    Case(
        "VGL345",
        "rule r: when write() then pass relaxes «organisation.writes», writes",
        "what the organisation layer asks for cannot be relaxed",
    ),
    Case("VGL346", 'rule r: when write() then hold record file, «"file"»', "`file` is recorded twice"),
    Case("VGL346", "rule r: when write() then pass relaxes x, «default.x»", "`x` is relaxed twice"),
]
