import type { CommandWords } from './list-command-words.ts';

/**
 * Returns a script that completes the words of `rtr` in bash, and in zsh with the functions of bash. The script contains all words, so
 * that no key press starts a program. Files are completed where a value of any kind can stand.
 */
export function formatBashCompletion(commands: readonly CommandWords[]): string {
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [path]));
  const withValues = commands.flatMap(({ path, options }) =>
    options.flatMap(({ name, short, takesValue, choices }) => {
      if (!takesValue) return [];
      return [name, ...(short === undefined ? [] : [short])].map((flag) => ({ at: `${path} ${flag}`, choices }));
    }),
  );
  const anyValue = withValues.flatMap(({ at, choices }) => (choices.length === 0 ? [at] : []));
  const values = withValues.flatMap(({ at, choices }) =>
    choices.length === 0 ? [] : [`    ${quote(at)}) words=${quote(choices.join(' '))} ;;`],
  );
  const words = commands.map(({ path, subcommands, choices, options }) => {
    const following = [...subcommands.map(({ name }) => name), ...choices].join(' ');
    return `    ${quote(path)}) words=${quote(following)} flags=${quote(options.map(({ name }) => name).join(' '))} ;;`;
  });
  return `# Completion of rtr for bash and zsh. For bash: source <(rtr completion bash). For zsh: source <(rtr completion zsh).
if [ -n "\${ZSH_VERSION-}" ]; then
  autoload -U +X compinit && compinit
  autoload -U +X bashcompinit && bashcompinit
fi
_rtr() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" at='' words='' flags='' word index
  COMPREPLY=()
  for ((index = 1; index < COMP_CWORD; index++)); do
    word="\${COMP_WORDS[index]}"
    case "$at $word" in
      ${paths.map(quote).join('|')}) at="$at $word" ;;
    esac
  done
  case "$at $prev" in
    ${anyValue.map(quote).join('|')}) return ;;
${values.join('\n')}
  esac
  if [ -z "$words" ]; then
    case "$at" in
${words.join('\n')}
    esac
    case "$cur" in
      -*) words="$flags" ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _rtr rtr
`;
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
