import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Argument, Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { createCompletionCommand } from '#services/rtr/commands/completion/completion-command.ts';
import { temporaryFolder } from '../../../helpers/files/temporary-folder.ts';

/** A program with what the commands of `rtr` have: commands below commands, choices, and options with values of every kind. */
function createProgram(): { program: Command; printed: string[] } {
  const printed: string[] = [];
  const program = new Command('rtr').exitOverride();
  const keys = program.command('keys').description("manage a person's keys");
  keys
    .command('create')
    .description('makes a key. Only once')
    .option('-n, --name <name>', 'its name')
    .addOption(new Option('--class <class>', 'its class').choices(['high', 'normal', 'low']))
    .option('--json', 'print JSON');
  keys.command('list').description('lists keys');
  program.command('worker').addArgument(new Argument('<kind>').choices(['gpu', 'cli', 'cloud']));
  program.addCommand(createCompletionCommand(program, (text) => printed.push(text)));
  return { program, printed };
}

/** Writes the script for a shell into a folder with one file, and returns its path. */
async function writeScript(shell: string): Promise<{ script: string; folder: string }> {
  const { program, printed } = createProgram();
  await program.parseAsync(['completion', shell], { from: 'user' });
  const folder = temporaryFolder();
  const script = join(folder, 'script');
  writeFileSync(script, `${printed.join('\n')}\n`);
  return { script, folder };
}

/** The words that follow what was typed: the last word is the one to complete. */
const completions: [typed: string, words: string[]][] = [
  ['rtr k', ['keys']],
  ['rtr keys ', ['create', 'help', 'list']],
  ['rtr keys cr', ['create']],
  ['rtr keys create --c', ['--class']],
  ['rtr keys create --class ', ['high', 'low', 'normal']],
  ['rtr keys create --name list --class n', ['normal']],
  ['rtr keys create --json --n', ['--name']],
  ['rtr worker c', ['cli', 'cloud']],
  ['rtr completion ', ['bash', 'fish', 'zsh']],
];

describe('the script of `rtr completion`', () => {
  it.each(completions)('completes "%s" in bash', async (typed, words) => {
    const { script } = await writeScript('bash');
    const typedWords = typed.split(' ').map((word) => `'${word}'`);
    const text = `source "$1"; COMP_WORDS=(${typedWords.join(' ')}); COMP_CWORD=${typedWords.length - 1}; _rtr; echo "\${COMPREPLY[@]}"`;
    const reply = execFileSync('bash', ['--norc', '-c', text, 'bash', script], { encoding: 'utf8' });
    expect(reply.trim().split(' ').toSorted()).toEqual(words);
  });

  it('leaves a value of any kind to bash, which completes files', async () => {
    const { script } = await writeScript('bash');
    const text = `source "$1"; COMP_WORDS=(rtr keys create -n ''); COMP_CWORD=4; _rtr; echo "\${#COMPREPLY[@]}"; complete -p rtr`;
    const reply = execFileSync('bash', ['--norc', '-c', text, 'bash', script], { encoding: 'utf8' });
    expect(reply).toBe('0\ncomplete -o default -F _rtr rtr\n');
  });
});

describe('in other shells', () => {
  it.each(completions)('completes "%s" in zsh', { tags: ['zsh'] }, async (typed, words) => {
    const { script, folder } = await writeScript('zsh');
    // The function runs as zsh's own function for completions of bash runs it.
    const typedWords = typed.split(' ').map((word) => `'${word}'`);
    const text = `source "$1"; COMP_WORDS=(${typedWords.join(' ')}); COMP_CWORD=${typedWords.length - 1}; () { emulate -L sh; setopt kshglob noshglob braceexpand; _rtr; }; print -- $COMPREPLY $_comps[rtr]`;
    const env = { ...process.env, HOME: folder, ZDOTDIR: folder };
    const reply = execFileSync('zsh', ['-f', '-c', text, 'zsh', script], { encoding: 'utf8', env });
    expect(reply.endsWith(' _bash_complete -o default -F _rtr\n')).toBe(true);
    const [offered = ''] = reply.split(' _bash');
    // zsh itself keeps the words that begin with what was typed.
    const matching = offered.split(' ').filter((word) => word.startsWith(typed.split(' ').at(-1) ?? ''));
    expect(matching.toSorted()).toEqual(words);
  });

  it.each(completions)('completes "%s" in fish', { tags: ['fish'] }, async (typed, words) => {
    const { script, folder } = await writeScript('fish');
    const text = 'source $argv[1]; complete -C $argv[2]';
    const env = { ...process.env, HOME: folder };
    const reply = execFileSync('fish', ['--no-config', '-c', text, script, typed], {
      encoding: 'utf8',
      env,
      cwd: folder,
    });
    expect(
      reply
        .trim()
        .split('\n')
        .map((line) => line.replace(/\t.*/, ''))
        .toSorted(),
    ).toEqual(words);
  });
});
