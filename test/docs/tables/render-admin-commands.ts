import type { Command } from 'commander';
import { createAdminCommands } from '#services/rtr/commands/admin/admin-commands.ts';
import { createAllBatchesCommand } from '#services/rtr/commands/admin/all-batches-command.ts';
import { createAllFilesCommand } from '#services/rtr/commands/admin/all-files-command.ts';
import { createKeysCommand } from '#services/rtr/commands/admin/keys-command.ts';
import { renderTable } from './render-table.ts';

/** The commands that speak to the Admin API, with what each does. */
export function renderAdminCommands(): string {
  const run = () => Promise.resolve();
  const [users, teams, invitations, ...others] = createAdminCommands(run);
  const keys = createKeysCommand({ overApi: run, inStore: run, namesRouter: () => true });
  const commands = [users, teams, invitations, keys, ...others].filter((command) => command !== undefined);
  const rows = [
    ...commands.flatMap((command) => rowsOf(command, 'rtr')),
    ...[createAllBatchesCommand(run), createAllFilesCommand(run)].flatMap((command) => rowsOf(command, 'rtr admin')),
  ];
  return renderTable(['command', 'what it does'], rows);
}

function rowsOf(command: Command, before: string): string[][] {
  const name = `${before} ${command.name()}`;
  if (command.commands.length > 0) return command.commands.flatMap((each) => rowsOf(each, name));
  const words = command.registeredArguments.map((argument) => {
    const text = argument.variadic ? `${argument.name()}...` : argument.name();
    return argument.required ? `<${text}>` : `[${text}]`;
  });
  return [[`\`${[name, ...words].join(' ')}\``, command.description()]];
}
