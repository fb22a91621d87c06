#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "tui/commands/command.h"

/* What `completion` and `init` print for each shell. The scripts contain no lists; they call
 * `reprise complete` (complete.c). */

static const char bash_completion[] =
    "# Completion of reprise for bash.\n"
    "_reprise() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} IFS=$' \\t\\n' cut text i\n"
    "    local -a words\n"
    "    read -ra words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    local word=${words[${#words[@]} - 1]}\n"
    "    # bash replaces only the part after the last = or :\n"
    "    cut=${word%\"${word##*[=:]}\"}\n"
    "    COMPREPLY=()\n"
    "    while IFS= read -r text; do\n"
    "        case $text in\n"
    "        :files) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -f -- \"${word#*=}\") "
    ";;\n"
    "        :dirs) compopt -o filenames; mapfile -t COMPREPLY < <(compgen -d -- \"${word#*=}\") "
    ";;\n"
    "        *)\n"
    "            text=${text%%$'\\t'*}\n"
    "            printf -v text %q \"${text#\"$cut\"}\"\n"
    "            COMPREPLY+=(\"$text\")\n"
    "            ;;\n"
    "        esac\n"
    "    done < <(\"${words[0]/#\\~/$HOME}\" complete -- \"${words[@]:1}\" 2>/dev/null)\n"
    "    compopt -o nosort 2>/dev/null\n"
    "    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *: ]] && compopt -o nospace\n"
    "    return 0\n"
    "}\n"
    "complete -F _reprise reprise\n";

static const char zsh_completion[] = "#compdef reprise\n"
                                     "# Completion of reprise for zsh.\n"
                                     "_reprise() {\n"
                                     "    local line shell=\n"
                                     "    local -a values shown\n"
                                     "    for line in \"${(@f)$(\"${(Q)words[1]/#\\~/$HOME}\" "
                                     "complete -- \"${(@Q)words[2,CURRENT]}\" 2>/dev/null)}\"; do\n"
                                     "        case $line in\n"
                                     "        '') ;;\n"
                                     "        :files) shell=_files ;;\n"
                                     "        :dirs) shell='_files -/' ;;\n"
                                     "        *)\n"
                                     "            values+=(\"${line%%$'\\t'*}\")\n"
                                     "            shown+=(\"${line/$'\\t'/  -- }\")\n"
                                     "            ;;\n"
                                     "        esac\n"
                                     "    done\n"
                                     "    [[ -n $shell ]] && compset -P '--*='\n"
                                     "    [[ -n $shell ]] && { ${(z)shell}; return }\n"
                                     "    if (( $#values == 1 )) && [[ $values[1] == *: ]]; then\n"
                                     "        compadd -S '' -- $values\n"
                                     "    else\n"
                                     "        compadd -V reprise -l -d shown -- $values\n"
                                     "    fi\n"
                                     "}\n"
                                     "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                                     "    _reprise \"$@\"\n"
                                     "elif (( $+functions[compdef] )); then\n"
                                     "    compdef _reprise reprise\n"
                                     "fi\n";

static const char fish_completion[] =
    "# Completion of reprise for fish.\n"
    "function __reprise_complete\n"
    "    set -l words (commandline -opc)\n"
    "    set -l word (commandline -ct)\n"
    "    for line in (command reprise complete -- $words[2..] $word 2>/dev/null)\n"
    "        switch $line\n"
    "            case :files\n"
    "                __fish_complete_path (string replace -r -- '^--[^=]*=' '' $word)\n"
    "            case :dirs\n"
    "                __fish_complete_directories (string replace -r -- '^--[^=]*=' '' $word)\n"
    "            case '*'\n"
    "                printf '%s\\n' $line\n"
    "        end\n"
    "    end\n"
    "end\n"
    "complete -c reprise -f -k -a '(__reprise_complete)'\n";

/* %s: the key as this shell writes it.
 *
 * The line editor has turned bracketed paste on, and does not learn that the program turned it off; without it, a shell
 * runs pasted lines. A program that was killed cannot restore the terminal itself. An editor that it opens may read lines
 * of the terminal, and ^C in it must not end the function of the shell. */
#define EDITOR_MODES "icanon icrnl echo"
#define RESTORE_SCREEN "\\e[?1006l\\e[?1000l\\e[0m\\e[?25h\\e[?1049l"

static const char bash_init[] =
    "# Shell integration of reprise: eval \"$(reprise init bash)\" in ~/.bashrc\n"
    "__reprise_pick() {\n"
    "    local line code modes traps\n"
    "    modes=$(stty -g </dev/tty)\n"
    "    traps=$(trap -p INT)\n"
    "    trap : INT\n"
    "    stty " EDITOR_MODES " </dev/tty\n"
    "    line=$(reprise --print)\n"
    "    code=$?\n"
    "    ((code <= 128)) || printf '" RESTORE_SCREEN "' >/dev/tty\n"
    "    stty \"$modes\" </dev/tty\n"
    "    eval \"${traps:-trap - INT}\"\n"
    "    [[ $(bind -v) != *'enable-bracketed-paste on'* ]] || printf '\\e[?2004h' >/dev/tty\n"
    "    ((code == 0)) || return\n"
    "    READLINE_LINE=${READLINE_LINE:0:READLINE_POINT}$line${READLINE_LINE:READLINE_POINT}\n"
    "    ((READLINE_POINT += ${#line}))\n"
    "}\n"
    "bind -m emacs-standard -x '\"%1$s\": __reprise_pick'\n"
    "bind -m vi-insert -x '\"%1$s\": __reprise_pick'\n"
    "bind -m vi-command -x '\"%1$s\": __reprise_pick'\n";

static const char zsh_init[] =
    "# Shell integration of reprise: eval \"$(reprise init zsh)\" in ~/.zshrc\n"
    "__reprise_pick() {\n"
    "    local line modes\n"
    "    local -i code\n"
    "    zle -I\n"
    "    modes=$(stty -g </dev/tty)\n"
    "    line=$(reprise --print </dev/tty)\n"
    "    code=$?\n"
    "    if (( code > 128 )); then\n"
    "        printf '" RESTORE_SCREEN "' >/dev/tty\n"
    "        stty $modes </dev/tty\n"
    "    fi\n"
    "    (( ! ${+zle_bracketed_paste} )) || print -nr -- $zle_bracketed_paste[1] >/dev/tty\n"
    "    (( code )) || LBUFFER+=$line\n"
    "    zle reset-prompt\n"
    "}\n"
    "zle -N __reprise_pick\n"
    "bindkey -M emacs '%1$s' __reprise_pick\n"
    "bindkey -M viins '%1$s' __reprise_pick\n"
    "bindkey -M vicmd '%1$s' __reprise_pick\n";

static const char fish_init[] =
    "# Shell integration of reprise: reprise init fish | source, in ~/.config/fish/config.fish\n"
    "function __reprise_pick\n"
    "    set -l modes (stty -g </dev/tty)\n"
    "    stty " EDITOR_MODES " </dev/tty\n"
    "    function __reprise_interrupt --on-signal INT; end\n"
    "    set -l line (reprise --print </dev/tty | string collect)\n"
    "    set -l code $pipestatus[1]\n"
    "    if test $code -gt 128\n"
    "        printf '" RESTORE_SCREEN "' >/dev/tty\n"
    "    end\n"
    "    stty $modes </dev/tty\n"
    "    functions --erase __reprise_interrupt\n"
    "    printf '\\e[?2004h' >/dev/tty\n"
    "    test $code -eq 0; and commandline --insert -- $line\n"
    "    commandline -f repaint\n"
    "end\n"
    "bind %1$s __reprise_pick\n"
    "bind -M insert %1$s __reprise_pick\n";

/* The dot keeps newlines at the end of a name. */
static const char posix_functions[] =
    "\n# Changes to the directory of the chosen session, or of session ID: rcd [ID]\n"
    "rcd() {\n"
    "    local dir\n"
    "    dir=$(reprise --print-directory ${1:+\"--resume=$1\"} && printf .) || return\n"
    "    dir=${dir%.}\n"
    "    cd -- \"${dir%?}\"\n"
    "}\n\n";

static const char fish_functions[] =
    "\n# Changes to the directory of the chosen session, or of session ID: rcd [ID]\n"
    "function rcd\n"
    "    set -l id\n"
    "    set -q argv[1]; and set id --resume=$argv[1]\n"
    "    set -l dir (reprise --print-directory $id </dev/tty | string collect -N)\n"
    "    set -l code $pipestatus[1]\n"
    "    test $code -eq 0; or return $code\n"
    "    cd (string replace -r '\\n\\z' /. -- $dir | string collect)\n"
    "end\n\n";

static const char tmux_init[] =
    "# In ~/.tmux.conf: run-shell 'reprise init tmux | tmux source-file -'\n"
    "bind-key %1$s display-popup -E -d '#{pane_current_path}' -w 90%% -h 90%% reprise\n";

struct shell_scripts {
    const char *name, *completion, *init, *functions;
    const char *alt, *ctrl; /* how the shell writes such a key; %c is its letter */
    const char *key;        /* unless --key names another one */
};

static const struct shell_scripts shells[] = {
    { "bash", bash_completion, bash_init, posix_functions, "\\e%c", "\\C-%c", "alt-r" },
    { "zsh", zsh_completion, zsh_init, posix_functions, "^[%c", "^%c", "alt-r" },
    { "fish", fish_completion, fish_init, fish_functions, "\\e%c", "\\c%c", "alt-r" },
    { "tmux", NULL, tmux_init, "", "M-%c", "C-%c", "R" },
};

static enum err_code find_shell(const char *name, const struct shell_scripts **out, struct err *e)
{
    for (size_t i = 0; i < sizeof shells / sizeof shells[0]; i++)
        if (strcmp(shells[i].name, name) == 0) {
            *out = &shells[i];
            return ERR_OK;
        }
    return err_set(e, ERR_USAGE, "", "no scripts for \"%.80s\"; use bash, zsh, fish or tmux", name);
}

/* "alt-r", "ctrl-g"; for tmux also a single letter, which follows its prefix key. */
static enum err_code init_write_key(const struct shell_scripts *shell, const char *key,
                                    char out[16], struct err *e)
{
    const char *form = strncmp(key, "alt-", 4) == 0    ? shell->alt
                       : strncmp(key, "ctrl-", 5) == 0 ? shell->ctrl
                       : shell->completion             ? NULL
                                                       : "%c";
    const char *letter = form && form[0] != '%' ? strchr(key, '-') + 1 : key;

    if (!form || !isalnum((unsigned char)letter[0]) || letter[1])
        return err_set(e, ERR_USAGE, "", "\"%.80s\" is not a key; use alt-r or ctrl-g", key);
    snprintf(out, 16, "%.*s%c", (int)(strlen(form) - 2), form, letter[0]);
    return ERR_OK;
}

enum err_code init_run(struct invocation *in, struct err *e)
{
    const struct shell_scripts *shell;
    char key[16];
    enum err_code rc = find_shell(in->argv[0], &shell, e);

    if (!rc)
        rc = init_write_key(shell, in->options.key ? in->options.key : shell->key, key, e);
    if (rc)
        return rc;
    out_addf(&in->out, shell->init, key);
    out_addf(&in->out, "%s%s", shell->functions, shell->completion ? shell->completion : "");
    return ERR_OK;
}

enum err_code init_completion_run(struct invocation *in, struct err *e)
{
    const struct shell_scripts *shell;

    TRY(find_shell(in->argv[0], &shell, e));
    if (!shell->completion)
        return err_set(e, ERR_USAGE, "", "no completion for \"%s\"; use bash, zsh or fish",
                       shell->name);
    out_addf(&in->out, "%s", shell->completion);
    return ERR_OK;
}
