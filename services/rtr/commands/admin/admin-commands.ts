import type { Command } from 'commander';
import { commandGroups, subjects, type OperationDescription } from '../../../console/contract/operation.ts';
import { addCommand, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { createApplyCommand } from './apply/apply-command.ts';
import { createLimitsCommand } from './limits-command.ts';
import { addOperationCommand } from './operations/operation-command.ts';
import { createRegistryCommand } from './registry-command.ts';
import { testWebhook } from './test-webhook.ts';

/**
 * Adds the commands that use the Admin API: those that are written here, and one for each other operation.
 * @param program the commands that exist are left as they are
 */
export function addAdminCommands(
  program: Command,
  operations: readonly OperationDescription[],
  run: RunAdminCommand,
): void {
  const written = [createLimitsCommand(run), createRegistryCommand(run), createApplyCommand(run)];
  for (const operation of operations) {
    const words = operation.command.split(' ');
    const name = words.pop() ?? '';
    const [root = name] = words;
    const own = written.find((command) => command.name() === root);
    if (own && !program.commands.includes(own)) program.addCommand(own);
    const parent = words.reduce(
      (command, word) => findGroup(command, word, commandGroups[word] ?? subjects[operation.subject]),
      program,
    );
    if (operation.command === 'webhooks test') addWebhookTest(parent, operation.summary, run);
    if (!parent.commands.some((command) => command.name() === name)) addOperationCommand(parent, name, operation, run);
  }
}

function findGroup(parent: Command, name: string, description: string): Command {
  return parent.commands.find((command) => command.name() === name) ?? parent.command(name).description(description);
}

function addWebhookTest(parent: Command, description: string, run: RunAdminCommand): void {
  addCommand(parent, 'test', description)
    .argument('<webhook>', 'id of the webhook')
    .action((id: string, options: AdminOptions) => run(options, (context) => testWebhook(context, id)));
}
