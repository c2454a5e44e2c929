# SPDX-License-Identifier: GPL-2.0-or-later
noinst_LIBRARIES += libtui.a
libtui_a_SOURCES = \
	src/tui/annotate_page.c \
	src/tui/open_tree.c \
	src/tui/menu_page.c \
	src/tui/model.c \
	src/tui/page.c \
	src/tui/page.h \
	src/tui/screen.h \
	src/tui/strip.c \
	src/tui/table_page.c \
	src/tui/text_page.c \
	src/tui/tree_base.c \
	src/tui/tree_base.h \
	src/tui/tree_page.c \
	src/tui/tui.c \
	src/tui/tui.h
