import type { Redis } from 'ioredis';
import { z } from 'zod';
import { emailSchema, type UserRole } from './user.ts';
import { limitsSchema, type Limits } from '../limits/limits.ts';
import { ceilingSchema, readCeilingSchema, type Ceiling } from './ceiling.ts';
import { accountNames, type AccountNames } from '#shared/store/redis/account-names.ts';
import { callRedis, readHash } from '#shared/store/redis/call-redis.ts';
import { readStored, type ReportUnreadable } from '#shared/store/redis/stored-records.ts';
import { toStoredFields, createStoredSchema } from '#shared/store/redis/stored-value.ts';

const maxAddresses = 20;

/**
 * The recipients of the router's alerts: all administrators, nobody, or a list of e-mail addresses. `mails.lua` reads this setting, too.
 */
const alertEmailsSchema = z.strictObject({
  router: z
    .union([
      z.boolean(),
      z
        .array(emailSchema)
        .min(1, 'An e-mail address is needed.')
        .max(maxAddresses, `${maxAddresses} e-mail addresses are the most.`),
    ])
    .describe("Who gets the router's alerts by e-mail: administrators (true), nobody (false), or these addresses."),
});

/**
 * Minimum number of days for which entries of the audit trail are kept, so that a new administrator cannot remove entries before anybody
 * has seen them.
 */
const minAuditDays = 30;

export const consoleSettingsSchema = z.strictObject({
  invitationDays: z.number().int().min(1).max(30).describe("Days until an invitation's link expires."),
  sessionHours: z
    .number()
    .int()
    .min(1)
    .max(720)
    .describe('Hours after the last request of a sign-in session until the session ends.'),
  membersMakeKeys: z.boolean().describe('Let members create personal keys.'),
  requireSecondFactor: z.boolean().describe('Require a second factor of local accounts.'),
  auditDays: z
    .number()
    .int()
    .min(minAuditDays, `The audit trail is kept for ${minAuditDays} days at least.`)
    .max(3_650)
    .describe('Days for which entries of the audit trail are kept.'),
  newMembers: z.strictObject({ limits: limitsSchema, ceiling: ceilingSchema }),
  alertEmails: alertEmailsSchema,
});

export type ConsoleSettings = z.infer<typeof consoleSettingsSchema>;

const positiveNumber = z.coerce.number().positive();
const storedNewMembersSchema = createStoredSchema(
  z.object({ limits: z.object(limitsSchema.shape), ceiling: readCeilingSchema }),
);

const storedAlertEmailsSchema = createStoredSchema(z.object(alertEmailsSchema.shape));

export interface NewPersonSettings {
  limits?: Limits;
  ceiling?: Ceiling;
}

/** The values of settings that nobody has changed. */
const defaults: ConsoleSettings = {
  invitationDays: 7,
  sessionHours: 24,
  membersMakeKeys: true,
  requireSecondFactor: false,
  auditDays: 400,
  newMembers: { limits: {}, ceiling: {} },
  alertEmails: { router: true },
};

/** The values that replace settings that cannot be read. A switch gets the stricter of its two values. */
const substitutes: ConsoleSettings = { ...defaults, membersMakeKeys: false, requireSecondFactor: true };

/** The settings of the console, in Redis. Every method throws `store_unavailable` while Redis is unavailable. */
export class ConsoleSettingsStore {
  readonly #redis: Redis;
  readonly #names: AccountNames;
  readonly #report: ReportUnreadable;

  /** @param prefix start of all names in Redis */
  constructor(redis: Redis, prefix: string, report: ReportUnreadable) {
    this.#redis = redis;
    this.#names = accountNames(prefix);
    this.#report = report;
  }

  async read(): Promise<ConsoleSettings> {
    const fields = (await readHash(this.#redis, this.#names.settings)) ?? {};
    const read = <Name extends keyof ConsoleSettings>(name: Name, schema: z.ZodType<ConsoleSettings[Name]>) => {
      const text = fields[name];
      if (text === undefined) return defaults[name];
      const setting = readStored(schema, text);
      if ('value' in setting) return setting.value;
      this.#report(`setting ${name}`, setting.reason);
      return substitutes[name];
    };
    return {
      invitationDays: read('invitationDays', positiveNumber),
      sessionHours: read('sessionHours', positiveNumber),
      membersMakeKeys: read('membersMakeKeys', z.stringbool()),
      requireSecondFactor: read('requireSecondFactor', z.stringbool()),
      auditDays: read('auditDays', positiveNumber),
      newMembers: read('newMembers', storedNewMembersSchema),
      alertEmails: read('alertEmails', storedAlertEmailsSchema),
    };
  }

  /** Returns the initial limits and ceiling of a new person. A new administrator gets neither, because administrators can remove both. */
  async readNewPersonSettings(role: UserRole): Promise<NewPersonSettings> {
    if (role === 'admin') return {};
    const { limits, ceiling } = (await this.read()).newMembers;
    return { ...(Object.keys(limits).length > 0 && { limits }), ...(Object.keys(ceiling).length > 0 && { ceiling }) };
  }

  async change(change: { [name in keyof ConsoleSettings]?: ConsoleSettings[name] | undefined }): Promise<void> {
    const fields = toStoredFields(change);
    if (Object.keys(fields).length > 0) await callRedis(this.#redis.hset(this.#names.settings, fields));
  }
}
