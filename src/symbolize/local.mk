# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libsymbolize.a
libsymbolize_a_SOURCES = \
	src/symbolize/arena.c \
	src/symbolize/arena.h \
	src/symbolize/debug_dirs.c \
	src/symbolize/debug_dirs.h \
	src/symbolize/debug_file.c \
	src/symbolize/debug_file.h \
	src/symbolize/demangle.c \
	src/symbolize/demangle.h \
	src/symbolize/demangle_ada.c \
	src/symbolize/demangle_d.c \
	src/symbolize/demangle_d.h \
	src/symbolize/demangle_d_type.c \
	src/symbolize/demangle_d_value.c \
	src/symbolize/demangle_go.c \
	src/symbolize/demangle_langs.c \
	src/symbolize/demangle_short.c \
	src/symbolize/dwarf.h \
	src/symbolize/dwarf_abbrev.c \
	src/symbolize/dwarf_cover.c \
	src/symbolize/dwarf_files.c \
	src/symbolize/dwarf_form.c \
	src/symbolize/dwarf_funcs.c \
	src/symbolize/dwarf_inline.c \
	src/symbolize/dwarf_lines.c \
	src/symbolize/dwarf_load.c \
	src/symbolize/dwarf_names.c \
	src/symbolize/dwarf_open.c \
	src/symbolize/dwarf_ranges.c \
	src/symbolize/dwarf_resolve.c \
	src/symbolize/dwarf_skip.c \
	src/symbolize/dwarf_split.c \
	src/symbolize/dwarf_split_index.c \
	src/symbolize/dwarf_units.c \
	src/symbolize/kallsyms.c \
	src/symbolize/kernel_files.c \
	src/symbolize/kernel_files.h \
	src/symbolize/range_index.c \
	src/symbolize/range_index.h \
	src/symbolize/symbolize.h \
	src/symbolize/symbolizer.c \
	src/symbolize/symtab.c \
	src/symbolize/symtab.h
