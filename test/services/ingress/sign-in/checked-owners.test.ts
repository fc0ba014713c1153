import { expect, it } from 'vitest';
import type { FoundKey } from '#shared/accounts/keys/key-record.ts';
import type { UserRecord } from '#shared/accounts/people/user.ts';
import { CheckedOwners } from '#services/ingress/sign-in/checked-owners.ts';
import { silentLog } from '../../../helpers/silent-log.ts';
import { until } from '../../../helpers/until.ts';

/**
 * Opens keys by the name of their owner, and records the checks. Ada has a password, Bob is blocked, and all others come from a provider.
 */
function open() {
  const owner = (name: string) => ({
    name,
    limits: {},
    isBlocked: name === 'bob',
    hasNoPassword: name !== 'ada' || undefined,
  });
  const keys = {
    find: async (id: string) => ({ id, kind: 'user', ownerId: id, owner: owner(id) }) as unknown as FoundKey,
    replaceHash: async () => true,
  };
  const users = { find: async (id: string) => ({ id }) as UserRecord };
  const owners = new CheckedOwners(keys, users, silentLog);
  const asked: string[] = [];
  const answers: (() => void)[] = [];
  owners.setConfirm(async ({ id }) => {
    asked.push(id);
    const { promise, resolve } = Promise.withResolvers<'confirmed'>();
    answers.push(() => resolve('confirmed'));
    return promise;
  });
  return { owners, asked, answerAll: () => answers.splice(0).forEach((answer) => answer()) };
}

it('the owners of keys are checked once a minute, sixteen at a time, and no request waits', async () => {
  const { owners, asked, answerAll } = open();
  for (const person of ['ada', 'bob', ...Array(20).keys()]) await owners.find(String(person));
  await until(() => asked.length === 16);
  answerAll();
  await owners.close();
  for (const person of Array(20).keys()) await owners.find(String(person));
  await until(() => asked.length === 20);
  expect(new Set(asked).size).toBe(20);
  expect(asked).not.toContain('ada');
  expect(asked).not.toContain('bob');
  answerAll();
  await owners.close();
});

it('the end of a process waits for running checks of providers', async () => {
  const { owners, asked, answerAll } = open();
  await owners.find('grace');
  await until(() => asked.length === 1);
  let isClosed = false;
  const closed = owners.close().then(() => {
    isClosed = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(isClosed).toBe(false);
  answerAll();
  await closed;
});
