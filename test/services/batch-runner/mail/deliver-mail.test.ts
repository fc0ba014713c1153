import { describe, expect, it } from 'vitest';
import type { WebhookOwner } from '#shared/accounts/webhooks/webhook-event.ts';
import { made } from '../../../helpers/accounts/made.ts';
import { until } from '../../../helpers/until.ts';
import { openTestMails } from '../../../helpers/mail/open-test-mails.ts';

const dayMs = 24 * 3_600_000;
/** The end of a try that has sent its mail. */
const delivered = { state: 'delivered', counts: true, ms: 1 } as const;

describe('the recipients of an alert', () => {
  it('are the person, the owners of the team, and administrators for events without such a person', async () => {
    const { addPerson, smtp, accounts, report, deliverDue } = await openTestMails();
    await addPerson('ada', { role: 'admin' });
    const bob = await addPerson('bob');
    await addPerson('eve');
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

  it('exclude people who are blocked, are gone or have switched alerts off, also for mails that wait already', async () => {
    const { addPerson, smtp, accounts, deliverDue, mails, report } = await openTestMails();
    await addPerson('blocked', { blockedAt: '1' });
    for (const name of ['off', 'late']) await addPerson(name);
    await accounts.users.setAlertEmails('off', false);
    for (const name of ['blocked', 'off', 'gone', 'late']) await report({ owners: [`user:${name}`] });
    expect(await mails.count()).toBe(1);
    await accounts.users.setAlertEmails('late', false);
    expect([await deliverDue(), await mails.count(), smtp.mails]).toEqual([[], 0, []]);
  });

  it('of the router are the addresses that administrators have set, or nobody', async () => {
    const { addPerson, smtp, accounts, redis, deliverDue, prefix, report } = await openTestMails();
    await addPerson('ada', { role: 'admin' });
    for (const router of [['ops@example.com', 'duty@example.com'], false, true]) {
      await accounts.settings.change({ alertEmails: { router } });
      await report();
    }
    await redis.hset(`${prefix}console-settings`, 'alertEmails', 'who knows');
    await report();
    await deliverDue();
    const to = smtp.mails.flatMap((mail) => mail.to).toSorted();
    expect(to).toEqual(['ada@example.com', 'ada@example.com', 'duty@example.com', 'ops@example.com']);
  });

  it('get at most 30 in an hour, and the last one announces the pause', async () => {
    const { addPerson, smtp, deliverDue, report } = await openTestMails();
    const [bob, eve] = [await addPerson('bob'), await addPerson('eve')];
    const key = { id: 'k1', kind: 'user', expires_at: 1 };
    for (let count = 1; count <= 40; count += 1)
      await report({ owners: [bob], type: 'rtr.key.expired', data: { ...key, name: `k${count}` } });
    await report({ owners: [eve] });
    expect(await deliverDue()).toHaveLength(31);
    const toBob = smtp.mails.filter(({ to }) => to.includes('bob@example.com'));
    const last = toBob.filter(({ text }) => text.includes('the last alert by e-mail'));
    expect(last.map(({ headers }) => headers.get('subject'))).toEqual(['Model Router: The key “k30” has expired']);
  });
});

describe('alerts about workers', () => {
  async function openWorkerAlerts() {
    const open = await openTestMails();
    const { addPerson, smtp, deliverDue, report } = open;
    await addPerson('ada', { role: 'admin' });
    /** Returns the announcement of a pause in each mail; empty for a mail without one. */
    const reportWorkers = async (credential: string, count: number): Promise<string[]> => {
      smtp.mails.length = 0;
      for (let number = 1; number <= count; number += 1)
        await report({ data: { id: `${credential}.w${number}`, tier: 'gpu' } });
      await deliverDue();
      return smtp.mails.map(({ text }) => /This is the last alert [^:]* until/.exec(text)?.[0] ?? '');
    };
    return { ...open, reportWorkers };
  }

  it('of a credential end with a mail that says so, also when those of others have taken the rest of its share', async () => {
    const { reportWorkers } = await openWorkerAlerts();
    const last = (credential: string): string =>
      `This is the last alert by e-mail about workers with the credential ${credential} to you until`;
    expect((await reportWorkers('first', 14)).filter(Boolean)).toEqual([]);
    const ofSecond = await reportWorkers('second', 40);
    expect([ofSecond.length, ofSecond.filter(Boolean)]).toEqual([8, [last('second')]]);
    expect(await reportWorkers('first', 3)).toEqual([last('first')]);
    expect(await reportWorkers('second', 3)).toEqual([]);
  });

  it('have half of the mails of an hour that the others leave for each credential, and announce the pause of these', async () => {
    const { smtp, deliverDue, report, reportWorkers } = await openWorkerAlerts();
    const sent = await reportWorkers('invented', 40);
    const last = 'This is the last alert by e-mail about workers with the credential invented to you until';
    expect([sent.length, sent.filter(Boolean)]).toEqual([15, [last]]);
    expect(await reportWorkers('box', 5)).toEqual(['', '', '', '', '']);
    smtp.mails.length = 0;
    for (let count = 0; count < 10; count += 1)
      await report({ type: 'rtr.model.unserved', data: { models: ['m'], count: 1 } });
    for (let count = 0; count < 9; count += 1)
      await report({ type: 'rtr.errors.high', data: { requests: 9, failed: 9, percent: 100, threshold: 5 } });
    await deliverDue();
    const subjects = smtp.mails.map(({ headers }) => headers.get('subject') ?? '');
    expect(subjects.filter((subject) => subject.includes('model'))).toHaveLength(5);
    expect(subjects.filter((subject) => subject.includes('requests fail'))).toHaveLength(5);
  });
});

describe('alerts to one recipient', () => {
  it('are tried two at once, and the next one as soon as a try has ended, while those to others go on', async () => {
    const { addPerson, mails, report } = await openTestMails();
    const [bob, eve] = [await addPerson('bob'), await addPerson('eve')];
    for (let count = 0; count < 5; count += 1) await report({ owners: [bob] });
    await report({ owners: [eve] });
    const [first, second, third] = await mails.takeDue(64);
    expect(await mails.takeDue(64)).toEqual([]);
    expect(await mails.beginTry(made(first))).toMatchObject({ to: bob });
    expect(await mails.beginTry(made(second))).toMatchObject({ to: bob });
    expect(await mails.beginTry(made(third))).toMatchObject({ to: eve });
    await mails.end(made(first), { ...delivered, state: 'pending', delayMs: 60_000 });
    expect(await mails.takeDue(64)).toHaveLength(1);
    await mails.end(made(second), delivered);
    await mails.end(made(third), delivered);
    expect(await mails.takeDue(64)).toHaveLength(1);
    expect(await mails.takeDue(64)).toEqual([]);
  });

  it('that wait for a day are bounded in number, so that those to others have room', async () => {
    const { addPerson, mails, report, redis, prefix } = await openTestMails();
    const [bob, eve] = [await addPerson('bob'), await addPerson('eve')];
    for (let hour = 0; hour < 3; hour += 1) {
      for (let count = 0; count < 30; count += 1) await report({ owners: [bob], type: 'rtr.key.expired' });
      await redis.del(`${prefix}alert-mails-to:${bob}`);
    }
    await report({ owners: [eve] });
    expect(await mails.count()).toBe(51);
    let ended = 0;
    for (let due = await mails.takeDue(64); due.length > 0; due = await mails.takeDue(64))
      for (const mail of due) ended += Number(await mails.end(mail, delivered));
    expect(ended).toBe(51);
    expect(await redis.keys(`${prefix}alert-mails-of*`)).toEqual([]);
  });
});

async function openWithMail() {
  const mails = await openTestMails();
  await mails.report({ owners: [await mails.addPerson('bob')] });
  return mails;
}

/** Opens the same alert while it is sent to a server that accepts it and never answers. */
async function openHanging() {
  const open = await openWithMail();
  open.smtp.answers.push('hang');
  const [due] = await open.mails.takeDue(1);
  const running = new AbortController();
  const sent = open.deliver(made(due), running.signal).catch(() => undefined);
  await until(() => open.smtp.mails.length === 1);
  const abort = async (): Promise<void> => {
    running.abort();
    await sent;
  };
  return { ...open, due: made(due), abort };
}

describe('an alert by e-mail', () => {
  it('is sent once to each recipient, however many runners report it, and is not kept', async () => {
    const { addPerson, smtp, redis, deliverDue, mails, prefix, report } = await openTestMails();
    const owners = [await addPerson('bob'), await addPerson('eve')];
    const reported = await Promise.all([1, 2, 3].map(() => report({ owners }, 'one thing')));
    expect(reported.filter(Boolean)).toHaveLength(1);
    await Promise.all([deliverDue(), deliverDue(), deliverDue()]);
    expect(smtp.mails.flatMap(({ to }) => to).toSorted()).toEqual(['bob@example.com', 'eve@example.com']);
    expect(new Set(smtp.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(2);
    expect(await mails.count()).toBe(0);
    expect(await redis.keys(`${prefix}alert-mail:*`)).toEqual([]);
  });

  it('that is never sent is dropped after two days', async () => {
    const { smtp, redis, deliverDue, mails, prefix } = await openWithMail();
    const [name = ''] = await redis.keys(`${prefix}alert-mail:*`);
    expect((await redis.pttl(name)) / dayMs).toBeCloseTo(2, 2);
    await redis.pexpire(name, 1);
    await until(async () => (await redis.exists(name)) === 0);
    expect([await deliverDue(), await mails.count(), smtp.mails]).toEqual([[], 0, []]);
  });

  it('is stored only if mails are sent, and only for an event that concerns people', async () => {
    const without = await openTestMails(false);
    const bob = await without.addPerson('bob');
    expect(await without.report({ owners: [bob] })).toBe(true);
    expect(await without.mails.count()).toBe(0);
    const open = await openTestMails();
    await open.report({ type: 'rtr.usage.exported', owners: [await open.addPerson('bob')] });
    expect(await open.mails.count()).toBe(0);
  });

  it('that the server refuses at first is tried again, and arrives once', async () => {
    const { smtp, deliverDue, makeDue, mails } = await openWithMail();
    smtp.answers.push(451, 421);
    expect(await deliverDue()).toEqual(['failed']);
    expect(await deliverDue()).toEqual([]);
    await makeDue();
    expect(await deliverDue()).toEqual(['failed']);
    await makeDue();
    expect(await deliverDue()).toEqual(['delivered']);
    expect([smtp.mails.length, await mails.count()]).toEqual([1, 0]);
  });

  it('waits while the server is away, longer each time, and is given up after a day with a line in the log', async () => {
    const { smtp, redis, deliverDue, logged, makeDue, mails, prefix } = await openWithMail();
    await smtp.close();
    const waits: number[] = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await makeDue();
      expect(await deliverDue()).toEqual(['failed']);
      const [, dueAt] = await redis.zrange(`${prefix}alert-mails-due`, '0', '0', 'WITHSCORES');
      waits.push(Number(dueAt) - Date.now());
    }
    expect(waits[1]).toBeGreaterThan(2 * (waits[0] ?? 0));
    expect(waits[2]).toBeGreaterThan(2 * (waits[1] ?? 0));
    const [id] = await redis.zrange(`${prefix}alert-mails-due`, '0', '0');
    await redis.hset(`${prefix}alert-mail:${id}`, 'createdAt', Date.now() - dayMs);
    await makeDue();
    expect(await deliverDue()).toEqual(['dead']);
    expect(await mails.count()).toBe(0);
    expect(logged.filter((line) => line.includes('given up'))).toHaveLength(1);
    expect(logged.join()).not.toContain('bob');
  });

  it('to a recipient whom the server does not know is given up at once', async () => {
    const { deliverDue, smtp } = await openWithMail();
    smtp.answers.push(550);
    expect(await deliverDue()).toEqual(['dead']);
  });

  it('whose runner died after sending it arrives again with the same Message-ID, but not while it is being sent', async () => {
    const { smtp, deliver, deliverDue, makeDue, mails, due, abort } = await openHanging();
    await deliver(due, new AbortController().signal);
    expect(smtp.mails).toHaveLength(1);
    // As if its lease had ended.
    await makeDue();
    expect(await deliverDue()).toEqual(['delivered']);
    expect(smtp.mails).toHaveLength(2);
    expect(new Set(smtp.mails.map(({ headers }) => headers.get('message-id'))).size).toBe(1);
    await abort();
    expect(await mails.count()).toBe(0);
  });

  it('that a stopping runner returns is due at once, as if it had not been tried', async () => {
    const { redis, mails, prefix, outcomes, due, abort } = await openHanging();
    await abort();
    expect(outcomes).toEqual(['returned']);
    expect(await redis.hget(`${prefix}alert-mail:${due.id}`, 'attempts')).toBe('0');
    await until(async () => (await mails.takeDue(1)).length === 1);
  });
});
