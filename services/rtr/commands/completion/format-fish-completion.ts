import type { CommandWords } from './list-command-words.ts';

/** Returns a script that completes the words of `rtr` in fish, with their descriptions, without starting a program. */
export function formatFishCompletion(commands: readonly CommandWords[]): string {
  const paths = commands.flatMap(({ path }) => (path === '' ? [] : [path]));
  const lines = commands.flatMap(({ path, subcommands, choices, options }) => {
    const start = `complete -c rtr -n ${quote(`test "$(__rtr_command)" = ${quote(path)}`)}`;
    return [
      ...subcommands.map(({ name, description }) => `${start} -f -a ${quote(name)} -d ${quote(shorten(description))}`),
      ...(choices.length === 0 ? [] : [`${start} -f -a ${quote(choices.join(' '))}`]),
      ...options.map(({ name, short, takesValue, choices: values, description }) => {
        const shortFlag = short === undefined ? '' : ` -s ${short.slice(1)}`;
        const value = values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${start} -l ${name.replace(/^-+/, '')}${shortFlag}${value} -d ${quote(shorten(description))}`;
      }),
    ];
  });
  return `# Completion of rtr for fish: rtr completion fish | source
function __rtr_command
    set -l at ''
    for word in (commandline -opc)[2..]
        if contains -- "$at $word" ${paths.map(quote).join(' ')}
            set at "$at $word"
        end
    end
    echo "$at"
end
${lines.join('\n')}
`;
}

/** Returns the first sentence of a description. */
function shorten(description: string): string {
  return description.replace(/(?<=[^.])[.:;] .*$|\.$/s, '');
}

/** Quotes a text for fish, in which a backslash also escapes within single quotes. */
function quote(text: string): string {
  return `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
}
