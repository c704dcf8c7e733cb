"""A client of a rosbridge that takes what it is sent, for the bench.

    python -m formiga.benchmarks.rosbridge_client ws://127.0.0.1:9090 /carts_0/scan
It prints the seconds from the first message to the last one, how many there were between, and their bytes.
"""

from __future__ import annotations

import json
import sys
import time

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


def main(url: str, topics: list[str]) -> None:
    """Until the server ends."""
    first = last = 0.0
    count = size = 0
    with connect(url, compression=None) as socket:
        for topic in topics:
            socket.send(json.dumps({"op": "subscribe", "topic": topic}))
        try:
            for message in socket:
                last = time.perf_counter()
                if first:
                    count, size = count + 1, size + len(message)
                first = first or last
        except ConnectionClosed:
            pass
    print(last - first, count, size)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
