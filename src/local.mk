# SPDX-License-Identifier: GPL-2.0-or-later
# A folder is a library; the order is the layers', lowest first.
include src/base/local.mk
include src/image/local.mk
include src/disasm/local.mk
include src/hints/local.mk
include src/events/local.mk
include src/symbolize/local.mk
include src/unwind/local.mk
include src/runtime/local.mk
include src/profile/local.mk
include src/preload/local.mk
include src/launch/local.mk
include src/record/local.mk
include src/count/local.mk
include src/import/local.mk
include src/verify/local.mk
include src/compare/local.mk
include src/views/local.mk
include src/export/local.mk
include src/push/local.mk
include src/continuous/local.mk
include src/check/local.mk
include src/history/local.mk
include src/tui/local.mk
include src/cmd/local.mk
include src/cli/local.mk

TALLY_LIBS += libcmd.a libcontinuous.a libpush.a libimport.a libverify.a libcount.a librecord.a liblaunch.a libtui.a libhistory.a libcheck.a libexport.a libviews.a \
	libcompare.a libprofile.a libsymbolize.a libruntime.a libtallyunwind.a libevents.a libhints.a \
	libdisasm.a libimage.a libbase.a $(ZYDIS_LIBS) $(SQLITE_LIBS)
