# SPDX-License-Identifier: GPL-2.0-or-later
# The library that the timer source puts into programs: it needs no other, is
# compiled without what configure or the user chose for tally (sanitizers …), and
# becomes part of tally (src/record/timer/timer_library.c).
preload_parts = \
	src/preload/clone.c \
	src/preload/environment.c \
	src/preload/exec.c \
	src/preload/filter.c \
	src/preload/follow.c \
	src/preload/fork.c \
	src/preload/frames.c \
	src/preload/init.c \
	src/preload/maps.c \
	src/preload/memory.c \
	src/preload/names.c \
	src/preload/php.c \
	src/preload/python.c \
	src/preload/resolve.c \
	src/preload/ring.c \
	src/preload/ruby.c \
	src/preload/sample.c \
	src/preload/shell.c \
	src/preload/threads.c \
	src/runtime/frame_part.c \
	src/runtime/php_frames.c \
	src/runtime/python_asyncio.c \
	src/runtime/python_frames.c \
	src/runtime/python_objects.c \
	src/runtime/python_recall.c \
	src/runtime/python_states.c \
	src/runtime/python_task.c \
	src/runtime/python_thread_name.c \
	src/runtime/ruby_frames.c
preload_parts_h = \
	src/preload/preload.h \
	src/preload/shared.h \
	src/runtime/frame_part.h \
	src/runtime/php_frames.h \
	src/runtime/python_asyncio.h \
	src/runtime/python_frames.h \
	src/runtime/python_objects.h \
	src/runtime/python_recall.h \
	src/runtime/python_states.h \
	src/runtime/python_task.h \
	src/runtime/python_thread_name.h \
	src/runtime/ruby_frames.h
preload_flags = -D_GNU_SOURCE -O2 -g0 -fPIC -fvisibility=hidden \
	-fno-stack-protector -fno-builtin -fomit-frame-pointer \
	-fasynchronous-unwind-tables -foptimize-sibling-calls -pthread
preload_link = -shared -nostdlib -Wl,-z,now -Wl,-z,relro \
	-Wl,-z,noexecstack -Wl,-z,initfirst -Wl,--hash-style=gnu -Wl,--eh-frame-hdr \
	-Wl,--build-id=sha1 -Wl,-soname,tally-timer
EXTRA_DIST += $(preload_parts) $(preload_parts_h)
CLEANFILES += src/preload/timer.so

src/preload/timer.so: $(preload_parts) $(preload_parts_h)
	$(AM_V_GEN)$(MKDIR_P) src/preload && cd $(srcdir) && \
	$(CC) $(TALLY_CFLAGS) $(preload_flags) -Isrc $(preload_link) \
		-o $(abs_top_builddir)/$@ $(preload_parts)
src/record/timer/timer_library.$(OBJEXT): src/preload/timer.so
