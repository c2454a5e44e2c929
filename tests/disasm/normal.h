/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_DISASM_NORMAL_H
#define TESTS_DISASM_NORMAL_H
#include <stdbool.h>
#include <stddef.h>

/* One spelling for what objdump and other disassemblers write differently. */
void normal(const char *text, bool intel, char *out, size_t room);

#endif
