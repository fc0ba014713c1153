import { Command } from 'commander';
import { describeOperations } from '#services/console/api/create-operations.ts';
import { addAdminCommands } from '#services/rtr/commands/admin/admin-commands.ts';
import { renderTable } from './render-table.ts';

/** The commands that speak to the Admin API, with what each does. */
export function renderAdminCommands(): string {
  const program = new Command('rtr');
  addAdminCommands(
    program,
    describeOperations().filter(
      ({ subject, path }) => subject !== 'workers' || !path.startsWith('/worker-credentials'),
    ),
    () => Promise.resolve(),
  );
  const rows = program.commands.flatMap((command) => rowsOf(command, 'rtr'));
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
