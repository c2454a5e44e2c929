# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of asyncio that each run a function of their own.  A function in_X() runs only
in the task that its caller names; outside() runs in none.  Nothing else takes time."""
import asyncio
import collections
import sys
import threading

sys.dont_write_bytecode = True
from python_spin import spinners  # noqa: E402

EXPECTED = {
    "in_main": "main", "in_plain": "plain, with comma", "in_accent": "héhé",
    "in_kanji": "作業🐍", "in_long": "x" * 120, "in_renamed": "after",
    "in_generated": "Task-N", "in_mine": "mine", "in_thread": "in a thread",
    # a task that is written in Python, and thus not of a known structure
    "in_python": "",
    # before 3.14 only asyncio's own loops tell
    "in_other": "of another loop" if sys.version_info >= (3, 14) else "",
    "outside": "",
}
if sys.version_info >= (3, 12):
    EXPECTED["in_eager"] = "eager"
globals().update(spinners(EXPECTED))


class Mine(asyncio.Task):
    pass


async def turns(work):
    for _ in range(3):
        work()
        await asyncio.sleep(0)


async def rename():
    asyncio.current_task().set_name("before")
    await asyncio.sleep(0)
    asyncio.current_task().set_name("after")
    await turns(in_renamed)


def start(work, name):
    task = asyncio.get_running_loop().create_task(turns(work))
    task.set_name(name)
    return task


async def here():
    loop = asyncio.get_running_loop()
    asyncio.current_task().set_name("main")
    in_main()
    loop.call_soon(outside)
    mine = Mine(turns(in_mine), loop=loop)
    mine.set_name("mine")
    tasks = [start(in_plain, "plain, with comma"), start(in_accent, "héhé"),
             start(in_kanji, "作業🐍"), start(in_long, "x" * 300), mine,
             loop.create_task(rename()), loop.create_task(turns(in_generated))]
    await asyncio.gather(*tasks)
    if hasattr(asyncio, "eager_task_factory"):
        task = asyncio.Task(turns(in_eager), loop=loop, name="eager",
                            eager_start=True)
        in_main()
        await task
    task = asyncio.tasks._PyTask(turns(in_python), loop=loop)
    task.set_name("python")
    await task
    in_main()


async def there():
    asyncio.current_task().set_name("in a thread")
    await turns(in_thread)


class Other(asyncio.SelectorEventLoop):
    """A loop of its own, as uvloop has: without timers and input."""

    def _run_once(self):
        ready, self._ready = self._ready, collections.deque()
        for handle in ready:
            handle._run()


async def elsewhere():
    asyncio.current_task().set_name("of another loop")
    await turns(in_other)


# first, when nothing is known of tasks yet
if hasattr(asyncio, "Runner"):
    with asyncio.Runner(loop_factory=Other) as runner:
        runner.run(elsewhere())
else:
    Other().run_until_complete(elsewhere())
other = threading.Thread(target=lambda: asyncio.run(there()))
other.start()
outside()
asyncio.run(here())
other.join()
outside()
