# SPDX-License-Identifier: GPL-2.0-or-later
"""Tasks of asyncio that each run a function of their own.  A function in_X() runs only
in the task that its caller names; outside() runs in none.  Nothing else takes time."""
import asyncio
import sys
import threading
import time

PART = float(sys.argv[1])


def spin(name):
    """Makes a function of this name that runs for some CPU time of its thread."""
    body = f"""def {name}(clock=time.thread_time):
    end = clock() + PART
    while clock() < end:
        for i in range(20000):
            pass
"""
    made = {"time": time, "PART": PART}
    exec(compile(body, __file__, "exec"), made)
    return made[name]


in_main, in_plain, in_accent, in_kanji, in_long, in_renamed = map(spin, (
    "in_main", "in_plain", "in_accent", "in_kanji", "in_long", "in_renamed"))
in_generated, in_mine, in_python, in_thread, in_eager, outside = map(spin, (
    "in_generated", "in_mine", "in_python", "in_thread", "in_eager", "outside"))


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
    # a task that is written in Python, and thus not of a known structure
    task = asyncio.tasks._PyTask(turns(in_python), loop=loop)
    task.set_name("python")
    await task
    in_main()


async def there():
    asyncio.current_task().set_name("in a thread")
    await turns(in_thread)


other = threading.Thread(target=lambda: asyncio.run(there()))
other.start()
outside()
asyncio.run(here())
other.join()
outside()
