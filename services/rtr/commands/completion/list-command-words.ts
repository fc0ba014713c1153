import type { Command } from 'commander';

export interface Word {
  name: string;
  /** One sentence or a part of one. */
  description: string;
}

export interface OptionWords extends Word {
  /** The short form, such as `-h`. */
  short: string | undefined;
  takesValue: boolean;
  /** The possible values; empty if any value is possible. */
  choices: readonly string[];
}

/** What can follow a command on the command line. */
export interface CommandWords {
  /** The words of the command after the program's name, each after a space; empty for the program itself. */
  path: string;
  subcommands: readonly Word[];
  /** The possible values of its arguments. */
  choices: readonly string[];
  options: readonly OptionWords[];
}

/** Returns the words of a command and of all commands below it. */
export function listCommandWords(command: Command, path = ''): CommandWords[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command);
  const words = {
    path,
    subcommands: subcommands.map((each) => ({ name: each.name(), description: help.subcommandDescription(each) })),
    choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
    options: help.visibleOptions(command).map(({ long, short, required, optional, argChoices = [], description }) => ({
      name: long ?? short ?? '',
      short: long === undefined ? undefined : short,
      takesValue: required || optional,
      choices: argChoices,
      description,
    })),
  };
  return [words, ...subcommands.flatMap((each) => listCommandWords(each, `${path} ${each.name()}`))];
}
