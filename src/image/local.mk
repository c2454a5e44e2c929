# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libimage.a
libimage_a_SOURCES = \
	src/image/cfi.h \
	src/image/cfi.c \
	src/image/image.c \
	src/image/image.h \
	src/image/image_debugdata.c \
	src/image/image_inflate.c \
	src/image/image_internal.h \
	src/image/image_open.c \
	src/image/image_relocate.c \
	src/image/image_sections.c \
	src/image/image_symbols.c \
	src/image/plt.c
