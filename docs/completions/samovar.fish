# fish completion for samovar
function __samovar_complete
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    for line in (samovar __complete -- $words 2>/dev/null)
        if test "$line" = ":file"
            __fish_complete_path (commandline -ct)
        else
            echo $line
        end
    end
end
complete -c samovar -f -a '(__samovar_complete)'
