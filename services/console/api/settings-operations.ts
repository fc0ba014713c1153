import { consoleSettingsSchema } from '#shared/accounts/people/console-settings.ts';
import { settingsSchema, type Settings } from '../contract/people.ts';
import { requireAccess } from './access.ts';
import { writeAudit, type ApiParts } from './api-parts.ts';
import { operation, type Operation } from './operations/operation.ts';
import { toCeilingAnswer } from './people/people-answers.ts';

export function settingsOperations(parts: Pick<ApiParts, 'accounts' | 'log'>): Operation[] {
  const { settings } = parts.accounts;
  const common = { path: '/settings', subject: 'settings', answer: settingsSchema } as const;
  return [
    operation({
      ...common,
      method: 'get',
      id: 'getSettings',
      summary: 'Returns the settings.',
      scopes: ['read'],
      command: 'settings show',
      handle: async ({ actor }) => {
        requireAccess('settings.manage', actor);
        return readAnswer();
      },
    }),
    operation({
      ...common,
      method: 'patch',
      id: 'changeSettings',
      summary: 'Changes settings.',
      scopes: [],
      command: 'settings set',
      body: consoleSettingsSchema.partial(),
      handle: async ({ actor, body: wanted }) => {
        requireAccess('settings.manage', actor);
        const before = await settings.read();
        await settings.change(wanted);
        await writeAudit(parts, actor, { action: 'settings.change', target: null, details: { before, after: wanted } });
        return readAnswer();
      },
    }),
  ];

  async function readAnswer(): Promise<Settings> {
    const { newMembers, ...others } = await settings.read();
    return { ...others, newMembers: { limits: newMembers.limits, ceiling: toCeilingAnswer(newMembers.ceiling) } };
  }
}
