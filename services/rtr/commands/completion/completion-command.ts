import { Argument, Command } from 'commander';
import { formatBashCompletion } from './format-bash-completion.ts';
import { formatFishCompletion } from './format-fish-completion.ts';
import { listCommandWords, type CommandWords } from './list-command-words.ts';

const formats: Readonly<Record<string, (commands: readonly CommandWords[]) => string>> = {
  bash: formatBashCompletion,
  zsh: formatBashCompletion,
  fish: formatFishCompletion,
};

/** Creates `rtr completion <shell>`, which prints a script that completes the commands, options and choices of `program`. */
export function createCompletionCommand(program: Command, print: (text: string) => void): Command {
  return new Command('completion')
    .description('print a script with which a shell completes the words of this program')
    .addArgument(new Argument('<shell>').choices(Object.keys(formats)))
    .addHelpText(
      'after',
      '\nbash: source <(rtr completion bash), in ~/.bashrc\nzsh:  source <(rtr completion zsh), in ~/.zshrc\nfish: rtr completion fish > ~/.config/fish/completions/rtr.fish',
    )
    .action((shell: string) => print(formats[shell]?.(listCommandWords(program)).trimEnd() ?? ''));
}
