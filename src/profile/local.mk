# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libprofile.a
libprofile_a_SOURCES = \
	src/profile/chunk.c \
	src/profile/columns.c \
	src/profile/columns.h \
	src/profile/fill_code.c \
	src/profile/fill_elf.c \
	src/profile/fill_generated.c \
	src/profile/fill_images.c \
	src/profile/fill_internal.h \
	src/profile/fill_jit.c \
	src/profile/fill_kcore.c \
	src/profile/fill_kernel.c \
	src/profile/fill_kernel.h \
	src/profile/fill_kernel_file.c \
	src/profile/fill_lines.c \
	src/profile/fill_old.c \
	src/profile/fill_symbols.c \
	src/profile/fill_symbols.h \
	src/profile/fill_targets.c \
	src/profile/fill_texts.c \
	src/profile/format.h \
	src/profile/merge.c \
	src/profile/merge.h \
	src/profile/merge_facts.c \
	src/profile/merge_internal.h \
	src/profile/merge_symbols.c \
	src/profile/model.c \
	src/profile/model.h \
	src/profile/packed_symbols.c \
	src/profile/paths.c \
	src/profile/paths.h \
	src/profile/places.c \
	src/profile/reader.c \
	src/profile/reader.h \
	src/profile/refs.c \
	src/profile/related.c \
	src/profile/related.h \
	src/profile/sections.c \
	src/profile/sections_get.c \
	src/profile/strings.c \
	src/profile/symbol_order.c \
	src/profile/symbol_order.h \
	src/profile/tables.c \
	src/profile/unsampled.c \
	src/profile/writer.c \
	src/profile/writer.h
