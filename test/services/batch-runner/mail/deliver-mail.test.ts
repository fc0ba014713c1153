import { describe, expect, it } from 'vitest';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { startSmtp } from '../../../helpers/mail/start-smtp.ts';
import { until } from '../../../helpers/until.ts';
import { openTestMails, type TestMails } from '../../../helpers/mail/open-test-mails.ts';

const dayMs = 24 * 3_600_000;

/** Makes somebody with an account. */
async function addPerson({ connection, prefix }: TestMails, name: string, more: object = {}): Promise<WebhookOwner> {
  const fields = { id: name, name, email: `${name}@example.com`, role: 'member', ...more };
  await connection.redis.hset(`${prefix}user:${name}`, fields);
  if (fields.role === 'admin') await connection.redis.sadd(`${prefix}admins`, name);
  return `user:${name}`;
}

describe('the recipients of an alert', () => {
  it('are the person, the owners of the team, and administrators for what concerns nobody else', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { accounts, report, deliverDue } = open;
    await addPerson(open, 'ada', { role: 'admin' });
    const bob = await addPerson(open, 'bob');
    await addPerson(open, 'eve');
    const team = await accounts.teams.create('Blue');
    await accounts.teams.setMember(team.id, 'bob', 'owner');
    await accounts.teams.setMember(team.id, 'eve', 'member');
    const empty = await accounts.teams.create('Red');
    const recipients = async (owners: WebhookOwner[]): Promise<string[]> => {
      smtp.mails.length = 0;
      await report({ owners });
      await deliverDue();
      return smtp.mails.flatMap(({ to }) => to).toSorted();
    };
    expect(await recipients([bob, 'router'])).toEqual(['bob@example.com']);
    expect(await recipients([`team:${team.id}`, 'router'])).toEqual(['bob@example.com']);
    expect(await recipients([bob, `team:${team.id}`])).toEqual(['bob@example.com']);
    expect(await recipients(['router'])).toEqual(['ada@example.com']);
    expect(await recipients([`team:${empty.id}`, 'router'])).toEqual(['ada@example.com']);
  });

  it('are without who is blocked, is gone or has switched alerts off, also when a mail waits already', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { accounts, deliverDue, mails, report } = open;
    await addPerson(open, 'blocked', { blockedAt: '1' });
    await addPerson(open, 'off');
    await accounts.users.setAlertEmails('off', false);
    await addPerson(open, 'late');
    for (const name of ['blocked', 'off', 'gone', 'late']) await report({ owners: [`user:${name}`] });
    expect(await mails.count()).toBe(1);
    await accounts.users.setAlertEmails('late', false);
    expect(await deliverDue()).toEqual([]);
    expect(await mails.count()).toBe(0);
    expect(smtp.mails).toEqual([]);
  });

  it('of the router are the addresses that administrators have set, or nobody', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { accounts, connection, deliverDue, prefix, report } = open;
    await addPerson(open, 'ada', { role: 'admin' });
    const set = (router: boolean | string[]) => accounts.settings.change({ alertEmails: { router } });
    await set(['ops@example.com', 'duty@example.com']);
    await report();
    await set(false);
    await report();
    await set(true);
    await report();
    await connection.redis.hset(`${prefix}console-settings`, 'alertEmails', 'who knows');
    await report();
    await deliverDue();
    expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual([
      'ada@example.com',
      'ada@example.com',
      'duty@example.com',
      'ops@example.com',
    ]);
  });

  it('get 30 in an hour at most, and the last one says so', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { deliverDue, report } = open;
    const [bob, eve] = [await addPerson(open, 'bob'), await addPerson(open, 'eve')];
    for (let count = 0; count < 40; count += 1) await report({ owners: [bob] });
    await report({ owners: [eve] });
    expect(await deliverDue()).toHaveLength(31);
    const toBob = smtp.mails.filter(({ to }) => to.includes('bob@example.com'));
    expect(toBob.filter(({ text }) => text.includes('the last alert by e-mail'))).toHaveLength(1);
    expect(toBob.at(-1)?.text).toContain('the last alert by e-mail');
  });
});

describe('an alert by e-mail', () => {
  it('is sent once to each recipient, however many report it, and is not kept', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { connection, deliverDue, mails, prefix, report } = open;
    const owners = [await addPerson(open, 'bob'), await addPerson(open, 'eve')];
    const reported = await Promise.all([1, 2, 3].map(() => report({ owners }, 'one thing')));
    expect(reported.filter(Boolean)).toHaveLength(1);
    await Promise.all([deliverDue(), deliverDue(), deliverDue()]);
    expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual(['bob@example.com', 'eve@example.com']);
    expect(new Set(smtp.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(2);
    expect(await mails.count()).toBe(0);
    expect(await connection.redis.keys(`${prefix}alert-mail:*`)).toEqual([]);
  });

  it('that nobody sends is forgotten after two days', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { connection, deliverDue, mails, prefix, report } = open;
    await report({ owners: [await addPerson(open, 'bob')] });
    const [name = ''] = await connection.redis.keys(`${prefix}alert-mail:*`);
    expect((await connection.redis.pttl(name)) / dayMs).toBeCloseTo(2, 2);
    await connection.redis.pexpire(name, 1);
    await until(async () => (await connection.redis.exists(name)) === 0);
    expect(await deliverDue()).toEqual([]);
    expect(await mails.count()).toBe(0);
    expect(smtp.mails).toEqual([]);
  });

  it('is stored only if somebody sends mails, and only of an event for people', async () => {
    const smtp = await startSmtp();
    const without = await openTestMails(smtp.port, false);
    const bob = await addPerson(without, 'bob');
    expect(await without.report({ owners: [bob] })).toBe(true);
    expect(await without.mails.count()).toBe(0);
    const open = await openTestMails(smtp.port);
    await open.report({ type: 'rtr.usage.exported', owners: [await addPerson(open, 'bob')] });
    expect(await open.mails.count()).toBe(0);
  });

  it('that the server refuses at first is tried again, and comes once', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { deliverDue, makeDue, mails, report } = open;
    await report({ owners: [await addPerson(open, 'bob')] });
    smtp.answers.push(451, 421);
    expect(await deliverDue()).toEqual(['failed']);
    expect(await deliverDue()).toEqual([]);
    await makeDue();
    expect(await deliverDue()).toEqual(['failed']);
    await makeDue();
    expect(await deliverDue()).toEqual(['sent']);
    expect(smtp.mails).toHaveLength(1);
    expect(await mails.count()).toBe(0);
  });

  it('waits while the server is away, longer each time, and is given up after a day with a line in the log', async () => {
    const smtp = await startSmtp();
    await smtp.close();
    const open = await openTestMails(smtp.port);
    const { connection, deliverDue, logged, makeDue, mails, prefix, report } = open;
    await report({ owners: [await addPerson(open, 'bob')] });
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await makeDue();
      expect(await deliverDue()).toEqual(['failed']);
      const [, dueAt] = await connection.redis.zrange(`${prefix}alert-mails-due`, '0', '0', 'WITHSCORES');
      waits.push(Number(dueAt) - Date.now());
    }
    expect(waits[1]).toBeGreaterThan(2 * (waits[0] ?? 0));
    expect(waits[2]).toBeGreaterThan(2 * (waits[1] ?? 0));
    const [id] = await connection.redis.zrange(`${prefix}alert-mails-due`, '0', '0');
    await connection.redis.hset(`${prefix}alert-mail:${id}`, 'createdAt', Date.now() - dayMs);
    await makeDue();
    expect(await deliverDue()).toEqual(['dead']);
    expect(await mails.count()).toBe(0);
    expect(logged.filter((line) => line.includes('given up'))).toHaveLength(1);
    expect(logged.join()).not.toContain('bob');
    await startSmtp({}, smtp.port);
  });

  it('to a recipient whom the server does not know is given up at once', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    await open.report({ owners: [await addPerson(open, 'bob')] });
    smtp.answers.push(550);
    expect(await open.deliverDue()).toEqual(['dead']);
  });

  it('whose runner died after it was sent comes again with the same Message-ID; one that is under way does not', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { deliver, deliverDue, makeDue, mails, report } = open;
    await report({ owners: [await addPerson(open, 'bob')] });
    smtp.answers.push('hang');
    const [due] = await mails.takeDue(1);
    if (!due) throw new Error('nothing is due');
    const dying = new AbortController();
    const lost = deliver(due, dying.signal).catch(() => undefined);
    await until(() => smtp.mails.length === 1);
    await deliver(due, new AbortController().signal);
    expect(smtp.mails).toHaveLength(1);
    // As if its lease had ended.
    await makeDue();
    expect(await deliverDue()).toEqual(['sent']);
    expect(smtp.mails).toHaveLength(2);
    expect(new Set(smtp.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(1);
    dying.abort();
    await lost;
    expect(await mails.count()).toBe(0);
  });

  it('that a runner gives back when it ends is due at once, as if it had not been tried', async () => {
    const smtp = await startSmtp();
    const open = await openTestMails(smtp.port);
    const { connection, deliver, mails, prefix, report, outcomes } = open;
    await report({ owners: [await addPerson(open, 'bob')] });
    smtp.answers.push('hang');
    const [due] = await mails.takeDue(1);
    if (!due) throw new Error('nothing is due');
    const ending = new AbortController();
    const given = deliver(due, ending.signal);
    await until(() => smtp.mails.length === 1);
    ending.abort();
    await given;
    expect(outcomes).toEqual(['returned']);
    expect(await connection.redis.hget(`${prefix}alert-mail:${due.id}`, 'attempts')).toBe('0');
    await until(async () => (await mails.takeDue(1)).length === 1);
  });
});
