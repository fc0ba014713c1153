import { Command } from 'commander';
import { RouterError } from '#shared/core/errors.ts';
import { consoleSettingsSchema } from '#shared/accounts/people/console-settings.ts';
import type { Settings } from './admin-answers.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { namedValues } from './named-values.ts';
import { partyChange, withCeiling, withLimits, type PartySettings } from './party-settings.ts';
import { kebab, printFacts, valuesText } from './print-answers.ts';

type SettingsOptions = AdminOptions & Omit<PartySettings, 'weight'>;

const names = Object.keys(consoleSettingsSchema.shape).filter((name) => name !== 'newMembers');

/** `rtr settings …`: settings of sign-in, keys and the audit trail. */
export function settingsCommand(run: RunAdminCommand): Command {
  const command = new Command('settings').description('see and change settings of sign-in, keys and the audit trail');
  addCommand(command, 'show', 'show the settings').action((options: AdminOptions) =>
    run(options, async (context) => printSettings(context, await context.client.get<Settings>('/settings'))),
  );
  withCeiling(
    withLimits(addCommand(command, 'set', 'change settings; limits and the ceiling are those of new members')),
  )
    .argument('[settings...]', `as audit-days=90 members-make-keys=false; of ${names.map(kebab).join(', ')}`)
    .action((values: string[], options: SettingsOptions) =>
      run(options, (context) => setSettings(context, values, options)),
    );
  return command;
}

async function setSettings(context: AdminContext, values: readonly string[], options: SettingsOptions): Promise<void> {
  const { client } = context;
  const { newMembers } = await client.get<Settings>('/settings');
  const start = partyChange(newMembers, options);
  const isStart = Object.keys(start).length > 0;
  const body = {
    ...namedValues(values, names, readValue),
    ...(isStart && { newMembers: { ...newMembers, ...start } }),
  };
  if (Object.keys(body).length === 0) throw new RouterError('invalid_request', 'Name a setting, as audit-days=90.');
  printSettings(context, (await client.send<Settings>('PATCH', '/settings', { body })).value);
}

/** A number or a truth value; the router says where it is none that fits. */
function readValue(text: string): number | boolean | string {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^\d+$/.test(text) ? Number(text) : text;
}

function printSettings(context: AdminContext, settings: Settings): void {
  const { newMembers, ...others } = settings;
  printFacts(context, settings, {
    ...Object.fromEntries(Object.entries(others).map(([name, value]) => [kebab(name), String(value)])),
    'limits of new members': valuesText(newMembers.limits) || 'none',
    'ceiling of new members': valuesText(newMembers.ceiling) || 'none',
  });
}
