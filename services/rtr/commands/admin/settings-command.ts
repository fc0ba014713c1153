import { Command } from 'commander';
import { RouterError } from '#shared/core/errors.ts';
import { consoleSettingsSchema } from '#shared/accounts/people/console-settings.ts';
import type { Settings } from './admin-answers.ts';
import { addCommand, type AdminContext, type AdminOptions, type RunAdminCommand } from './admin-context.ts';
import { readNamedValues } from './named-values.ts';
import { readPartyChange, withCeiling, withLimits, type PartySettings } from './party-settings.ts';
import { toKebabCase, printFacts, formatValues } from './print-answers.ts';

type SettingsOptions = AdminOptions & Omit<PartySettings, 'weight'>;

const { newMembers: _, alertEmails, ...others } = consoleSettingsSchema.shape;
const mailNames = Object.keys(alertEmails.shape).map((name) => `alertEmails.${name}`);
const settingNames = [...Object.keys(others), ...mailNames];

export function createSettingsCommand(run: RunAdminCommand): Command {
  const command = new Command('settings').description('see and change settings of sign-in, keys and the audit trail');
  addCommand(command, 'show', 'show the settings').action((options: AdminOptions) =>
    run(options, async (context) => printSettings(context, await context.client.get<Settings>('/settings'))),
  );
  withCeiling(
    withLimits(addCommand(command, 'set', 'change settings; the options set the limits and ceiling of new members')),
  )
    .argument(
      '[settings...]',
      `such as audit-days=90 members-make-keys=false; settings: ${settingNames.map(toKebabCase).join(', ')}`,
    )
    .addHelpText(
      'after',
      "\nalert-emails.router says who gets the router's alerts by email: true for administrators, false for nobody, or " +
        'e-mail addresses, separated by commas.',
    )
    .action((values: string[], options: SettingsOptions) =>
      run(options, (context) => setSettings(context, values, options)),
    );
  return command;
}

async function setSettings(context: AdminContext, values: readonly string[], options: SettingsOptions): Promise<void> {
  const { client } = context;
  const { newMembers, alertEmails: currentMails } = await client.get<Settings>('/settings');
  const newMemberChange = readPartyChange(newMembers, options);
  const changesNewMembers = Object.keys(newMemberChange).length > 0;
  const { mails, ...plain } = splitMails(readNamedValues(values, settingNames, readValue));
  const body = {
    ...plain,
    ...(Object.keys(mails).length > 0 && { alertEmails: { ...currentMails, ...mails } }),
    ...(changesNewMembers && { newMembers: { ...newMembers, ...newMemberChange } }),
  };
  if (Object.keys(body).length === 0)
    throw new RouterError('invalid_request', 'Name a setting, such as audit-days=90.');
  printSettings(context, (await client.send<Settings>('PATCH', '/settings', { body })).value);
}

/** Separates the settings of `alertEmails` from the other settings. Returns them in `mails`, without the prefix in their names. */
function splitMails(input: Readonly<Record<string, unknown>>): Record<string, unknown> & { mails: object } {
  const [mails, plain] = [mailNames, Object.keys(others)].map((names) =>
    Object.entries(input).filter(([name]) => names.includes(name)),
  );
  const inside = (mails ?? []).map(([name, value]) => [name.slice('alertEmails.'.length), value] as const);
  return { ...Object.fromEntries(plain ?? []), mails: Object.fromEntries(inside) };
}

/** Reads a boolean, a list of addresses, a number or a text. The router refuses values of a wrong type. */
function readValue(text: string, name: string): number | boolean | string | string[] {
  if (text === 'true' || text === 'false') return text === 'true';
  if (mailNames.includes(name)) return text.split(',').map((address) => address.trim());
  return /^\d+$/.test(text) ? Number(text) : text;
}

function printSettings(context: AdminContext, settings: Settings): void {
  const { newMembers, alertEmails: currentMails, ...plain } = settings;
  printFacts(context, settings, {
    ...Object.fromEntries(Object.entries(plain).map(([name, value]) => [toKebabCase(name), String(value)])),
    ...Object.fromEntries(
      Object.entries(currentMails).map(([name, value]) => [
        toKebabCase(`alertEmails.${name}`),
        [value].flat().join(','),
      ]),
    ),
    'limits of new members': formatValues(newMembers.limits) || 'none',
    'ceiling of new members': formatValues(newMembers.ceiling) || 'none',
  });
}
