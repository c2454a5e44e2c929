# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libruntime.a
libruntime_a_SOURCES = \
	src/runtime/frame_part.c \
	src/runtime/frame_part.h \
	src/runtime/hotspot.c \
	src/runtime/hotspot.h \
	src/runtime/hotspot_frame.c \
	src/runtime/hotspot_internal.h \
	src/runtime/php_frames.c \
	src/runtime/php_frames.h \
	src/runtime/python_asyncio.c \
	src/runtime/python_asyncio.h \
	src/runtime/python_frames.c \
	src/runtime/python_frames.h \
	src/runtime/python_objects.c \
	src/runtime/python_objects.h \
	src/runtime/python_recall.c \
	src/runtime/python_recall.h \
	src/runtime/python_states.c \
	src/runtime/python_states.h \
	src/runtime/python_task.c \
	src/runtime/python_task.h \
	src/runtime/python_thread_name.c \
	src/runtime/python_thread_name.h \
	src/runtime/ruby_frames.c \
	src/runtime/ruby_frames.h
