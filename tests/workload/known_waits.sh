# SPDX-License-Identifier: GPL-2.0-or-later
# What a recording of known_waits.c must say; sourced by tests of the kernel module, which
# define fact and near, and set TALLY.

# Nanoseconds of waits that a function has, with what it called.
waited() { # FILE FUNCTION [EVENT]
	"$TALLY" report --no-pager --format=csv -e "${3-blocked,runnable}" -s symbol \
		--percent-limit 0 "$1" |
		awk -F, -v f="$2" '$1 == f { sum += $(NF - 2) }
			END { printf "%.0f\n", sum }'
}
known() { # NAME FILE
	awk -v n="$1" '$1 == n { print $2 }' "$2"
}
within() { # TEXT GOT WANT PERCENT
	near "$1" "$2" "$3" $(($3 * $4 / 100))
}
# NAME.tally is the recording, NAME what the program printed.
check_known_waits() { # TEXT NAME PERCENT
	within "$1: the waits of a thread are what the kernel counts" \
		"$(waited $2.tally all_sites)" "$(known all_sites $2)" $3
	for site in site_lock site_pipe site_sleep; do
		within "$1: what $site waits is its own time" \
			"$(waited $2.tally $site)" "$(known $site $2)" $3
	done
	t_is "$1: no switch is lost" "$(fact $2.tally wait_ns_unknown)" 0
}
