import type { Command } from 'commander';
import type { RunAdminCommand } from './admin-context.ts';
import { applyCommand } from './apply/apply-command.ts';
import { auditCommand } from './audit-command.ts';
import { backgroundCommand } from './background-command.ts';
import { invitationsCommand } from './invitations-command.ts';
import { limitsCommand } from './limits-command.ts';
import { pricesCommand } from './prices-command.ts';
import { recordingsCommand } from './recordings-command.ts';
import { registryCommand } from './registry-command.ts';
import { sessionsCommand } from './sessions-command.ts';
import { settingsCommand } from './settings-command.ts';
import { teamsCommand } from './teams-command.ts';
import { tokensCommand } from './tokens-command.ts';
import { usageCommand } from './usage-command.ts';
import { usersCommand } from './users-command.ts';
import { webhooksCommand } from './webhooks/webhooks-command.ts';
import { modelsCommand, workersCommand } from './workers-command.ts';

/** Returns the commands that use the Admin API, in the order in which the help lists them. */
export function adminCommands(run: RunAdminCommand): Command[] {
  return [
    usersCommand(run),
    teamsCommand(run),
    invitationsCommand(run),
    limitsCommand(run),
    usageCommand(run),
    sessionsCommand(run),
    recordingsCommand(run),
    pricesCommand(run),
    auditCommand(run),
    workersCommand(run),
    modelsCommand(run),
    registryCommand(run),
    webhooksCommand(run),
    settingsCommand(run),
    backgroundCommand(run),
    tokensCommand(run),
    applyCommand(run),
  ];
}
