import { Help, type Command } from 'commander';

/** Gives a command and its subcommands a help in sections: a sentence, USAGE, ARGUMENTS, COMMANDS, FLAGS, and their examples. */
export function useShortHelp(command: Command): void {
  command.configureHelp({ formatHelp, subcommandTerm: (subcommand) => subcommand.name() });
  for (const subcommand of command.commands) useShortHelp(subcommand);
}

function formatHelp(command: Command, help: Help): string {
  const terms = [
    ...help.visibleArguments(command).map((argument) => help.argumentTerm(argument)),
    ...help.visibleOptions(command).map((option) => help.optionTerm(option)),
    ...help.visibleCommands(command).map((subcommand) => help.subcommandTerm(subcommand)),
  ];
  const width = Math.max(...terms.map((term) => term.length));
  const list = (items: readonly (readonly [term: string, description: string])[]) =>
    items.map(([term, description]) => help.formatItem(term, width, description, help));
  const sections = {
    USAGE: [`  ${help.commandUsage(command).replace('[options]', '[flags]')}`],
    ARGUMENTS: list(
      help.visibleArguments(command).map((each) => [help.argumentTerm(each), help.argumentDescription(each)]),
    ),
    COMMANDS: list(
      help
        .visibleCommands(command)
        .map((each) => [help.subcommandTerm(each), toSentence(help.subcommandDescription(each))]),
    ),
    FLAGS: list(help.visibleOptions(command).map((each) => [help.optionTerm(each), help.optionDescription(each)])),
  };
  const texts = Object.entries(sections).flatMap(([title, lines]) =>
    lines.length === 0 ? [] : [`${title}\n${lines.join('\n')}`],
  );
  return `${[help.boxWrap(toSentence(help.commandDescription(command)), help.helpWidth ?? 80), ...texts].join('\n\n')}\n`;
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${text === '' || text.endsWith('.') ? '' : '.'}`;
}
