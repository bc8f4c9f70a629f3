"""A node of a gate, for tests: asks for the same things again and again, and prints each answer when it has it."""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from gate_support import request

from vigil_lang.gate.gate import Gate


def main(state: str, name: str) -> None:
    gate, choose = Gate(Path(state)), random.Random(name)
    print("ready", flush=True)
    while True:
        amount = choose.randint(501, 520)
        asked = request("payment.transfer", amount=amount, recipient="bob")
        for each in (asked, request("get_weather", run=name)):
            answer = gate.decide(each)
            print(json.dumps([answer.seq, answer.decision.mode, answer.is_fault]), flush=True)


main(*sys.argv[1:])
