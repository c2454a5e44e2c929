# SPDX-License-Identifier: GPL-2.0-or-later
# fish completion for tally, which knows all answers itself (tally --complete).

function __tally_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l tally $words[1]
    for answer in ($tally --complete $words[2..-1] 2>/dev/null)
        switch $answer
            case ':files'
                __fish_complete_path (string replace -r '^--[^=]*=' '' -- (commandline -ct))
            case ':folders'
                __fish_complete_directories (string replace -r '^--[^=]*=' '' -- (commandline -ct))
            case ':command *'
                set -l first (math (string replace ':command ' '' -- $answer) + 2)
                complete -C (string join ' ' -- (string escape -- $words[$first..-2]) $words[-1])
            case ':'
            case '*'
                echo $answer
        end
    end
end

complete -c tally -f -a '(__tally_complete)'
