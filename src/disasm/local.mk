# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libdisasm.a
libdisasm_a_SOURCES = \
	src/disasm/disasm.h \
	src/disasm/disasm_none.c \
	src/disasm/disasm_zydis.c
