import type { Command } from 'commander';
import type { RunAdminCommand } from './admin-context.ts';
import { createApplyCommand } from './apply/apply-command.ts';
import { createAuditCommand } from './audit-command.ts';
import { createBackgroundCommand } from './background-command.ts';
import { createInvitationsCommand } from './invitations-command.ts';
import { createLimitsCommand } from './limits-command.ts';
import { createPricesCommand } from './prices-command.ts';
import { createRecordingsCommand } from './recordings-command.ts';
import { createRegistryCommand } from './registry-command.ts';
import { createSessionsCommand } from './sessions-command.ts';
import { createSettingsCommand } from './settings-command.ts';
import { createTeamsCommand } from './teams-command.ts';
import { createTokensCommand } from './tokens-command.ts';
import { createUsageCommand } from './usage-command.ts';
import { createUsersCommand } from './users-command.ts';
import { createWebhooksCommand } from './webhooks/webhooks-command.ts';
import { createModelsCommand, createWorkersCommand } from './workers-command.ts';

/** Returns the commands that use the Admin API, in the order in which the help lists them. */
export function createAdminCommands(run: RunAdminCommand): Command[] {
  return [
    createUsersCommand(run),
    createTeamsCommand(run),
    createInvitationsCommand(run),
    createLimitsCommand(run),
    createUsageCommand(run),
    createSessionsCommand(run),
    createRecordingsCommand(run),
    createPricesCommand(run),
    createAuditCommand(run),
    createWorkersCommand(run),
    createModelsCommand(run),
    createRegistryCommand(run),
    createWebhooksCommand(run),
    createSettingsCommand(run),
    createBackgroundCommand(run),
    createTokensCommand(run),
    createApplyCommand(run),
  ];
}
