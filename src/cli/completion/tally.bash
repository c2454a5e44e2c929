# SPDX-License-Identifier: GPL-2.0-or-later
# bash completion for tally, which knows all answers itself (tally --complete).

_tally() {
	local tally=${COMP_WORDS[0]} line=${COMP_LINE:0:COMP_POINT} cur words=()
	local answer besides= reply=() i skip

	# COMP_WORDS is also split at = and :, which are parts of our words.
	read -ra words <<<"$line"
	[[ $line == *[[:space:]] ]] && words+=("")
	cur=${words[${#words[@]} - 1]}
	while IFS= read -r answer; do
		if [[ $answer == :* ]]; then
			besides=${answer#:}
		else
			reply+=("${answer%%$'\t'*}")
		fi
	done < <("$tally" --complete "${words[@]:1}" 2>/dev/null)

	case $besides in
	command*)
		if declare -F _command_offset >/dev/null; then
			# The place among COMP_WORDS, which are split further.
			skip=${besides#command }
			local at=0
			for ((i = 1; i < ${#COMP_WORDS[@]}; i++)); do
				[[ ${COMP_WORDS[i]} == "${words[skip + 1]}" ]] &&
					at=$i && break
			done
			((at)) && _command_offset "$at" && return
		fi
		((${#words[@]} - 2 == ${besides#command })) &&
			reply+=($(compgen -c -- "$cur"))
		compopt -o default 2>/dev/null;;
	files) compopt -o default 2>/dev/null;;
	folders) compopt -o dirnames 2>/dev/null;;
	esac
	if [[ $cur == --*=* && ( $besides == files || $besides == folders ) ]]
	then
		local kind=-f
		[[ $besides == folders ]] && kind=-d
		reply=($(compgen $kind -- "${cur#*=}"))
	else
		# readline replaces what is behind the last = or : only.
		local before=
		[[ $cur == *[=:]* && $COMP_WORDBREAKS == *[=:]* ]] &&
			before=${cur%"${cur##*[=:]}"}
		for i in "${!reply[@]}"; do
			reply[i]=${reply[i]#"$before"}
		done
	fi
	COMPREPLY=("${reply[@]}")
	# What lists are made of is gone on with.
	[[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] &&
		compopt -o nospace 2>/dev/null
	return 0
}
complete -F _tally tally
