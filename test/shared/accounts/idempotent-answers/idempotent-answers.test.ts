import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import type { ExecutionRef } from '#shared/store/answer-journal/answer-journal.ts';
import type { JournalEntry } from '#shared/store/answer-journal/journal-writer.ts';
import { IdempotentAnswers, type AnswerHead } from '#shared/accounts/idempotent-answers/idempotent-answers.ts';
import { OwnerKeys } from '#shared/store/secrets/owner-keys.ts';
import { useKeyStore } from '../../../helpers/accounts/open-key-store.ts';

const facts = { endpoint: 'POST /', digest: 'd' };
const bounds = { ownerKeys: 100, answerBytes: 10_000, ownerBytes: 20_000, totalBytes: 30_000 };
const secrets = [randomBytes(32)];

const open = useKeyStore();
let answers: IdempotentAnswers;
beforeEach(() => void (answers = make()));

function make(changed: Partial<typeof bounds> = {}): IdempotentAnswers {
  const parts = { bounds: { ...bounds, ...changed }, keys: new OwnerKeys(() => secrets) };
  return new IdempotentAnswers(open.redis, open.prefix, parts);
}

const claimOf = (owner: string, key: string, attempt?: string, from = answers) =>
  from.claim(owner, key, facts, false, attempt);

async function claimed(owner: string, key: string, from = answers): Promise<ExecutionRef> {
  const claim = await claimOf(owner, key, undefined, from);
  if (claim.outcome !== 'claimed') throw new Error(claim.outcome);
  return claim.execution;
}

function entry(from: number, last: number, bytes?: Buffer, head?: AnswerHead): JournalEntry {
  return { from, last, bytes, fields: { head } };
}

/** Returns whether the content of each of these answers was removed. */
const areLost = (...attempts: { execution: ExecutionRef }[]) =>
  Promise.all(attempts.map(async ({ execution }) => (await answers.read(execution, 'f', -1))?.isLost));

/** Ends the lease of an execution. */
async function expireLease({ owner, id }: ExecutionRef): Promise<void> {
  await open.redis.hset(`${open.prefix}idempotent-answer:${owner}:${id}`, 'leaseUntil', '1');
}

it('a claim is granted to one of many, and names the execution to the others', async () => {
  const claims = await Promise.all(Array.from({ length: 50 }, () => claimOf('ada', 'k')));
  const [first, ...others] = claims.toSorted((one, two) => one.outcome.localeCompare(two.outcome));
  if (first?.outcome !== 'claimed') throw new Error('nobody has claimed it');
  const taken = { outcome: 'taken', execution: first.execution, isOver: false, facts };
  expect(others).toMatchObject(others.map(() => taken));
});

it('a claim is granted again, with the next number, once the lease is over', async () => {
  const first = await claimed('ada', 'k');
  expect(await answers.renew(first)).toBe(0);
  await expireLease(first);
  expect((await answers.read(first, 'f', -1))?.state).toBe('gone');
  expect(await claimOf('ada', 'k')).toMatchObject({ outcome: 'claimed', number: 1 });
  expect(await answers.renew(first)).toBe(-1);
  expect(await answers.append(first, entry(0, 0, Buffer.from('a')))).toBe('superseded');
  expect(await answers.read(first, 'f', -1)).toBeUndefined();
});

it('a claim is not granted shortly after an outage of Redis, in which no lease could be renewed', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const first = await claimed('ada', 'k');
  await expireLease(first);
  const isBack = once(open.redis, 'ready');
  open.redis.disconnect(true);
  await isBack;
  vi.advanceTimersByTime(5_999);
  expect(await claimOf('ada', 'k')).toMatchObject({ outcome: 'taken', execution: first });
  expect((await answers.read(first, 'f', -1))?.state).toBe('running');
  vi.advanceTimersByTime(1);
  expect(await claimOf('ada', 'k')).toMatchObject({ outcome: 'claimed', number: 1 });
});

it('a claim is granted again when it is repeated because the reply was lost', async () => {
  const first = await claimOf('ada', 'k', 'mine');
  expect(await claimOf('ada', 'k', 'mine')).toEqual(first);
  expect(await claimOf('ada', 'k', 'other')).toMatchObject({ outcome: 'taken', execution: { attempt: 'mine' } });
});

it('a claim is not granted to a request that continues an unknown answer', async () => {
  expect(await answers.claim('ada', 'k', facts, true)).toEqual({ outcome: 'unknown' });
  expect((await answers.claim('ada', 'k', facts, false)).outcome).toBe('claimed');
});

it('an answer is read from any event on, as bytes', async () => {
  const execution = await claimed('ada', 'k');
  const head = { status: 200, headers: { a: 'b' }, requestId: 'r', isEvents: true };
  const pieces = [randomBytes(500), randomBytes(10), randomBytes(300)];
  expect(await answers.append(execution, entry(0, 4, pieces[0], head))).toBe('kept');
  // Written twice, as if the reply was lost.
  for (let time = 0; time < 2; time++) expect(await answers.append(execution, entry(5, 5, pieces[1]))).toBe('kept');
  for (let time = 0; time < 2; time++) await answers.finish(execution, entry(6, 9, pieces[2]), 'whole', false);
  const read = async (after: number) => (await answers.read(execution, 'f', after))?.entries.map(({ bytes }) => bytes);
  expect(await read(-1)).toEqual(pieces);
  expect(await read(3)).toEqual(pieces);
  expect(await read(4)).toEqual(pieces.slice(1));
  expect(await read(9)).toEqual([]);
  const known = { state: 'whole', next: 10, isLost: false };
  expect(await answers.read(execution, 'f', -1)).toMatchObject({ ...known, head, facts });
  expect(await answers.read(execution, 'f', 5)).toMatchObject({ ...known, head: undefined, facts: undefined });
});

it('an answer with a missing part is not kept', async () => {
  const execution = await claimed('ada', 'k');
  await answers.append(execution, entry(0, 4, Buffer.from('a')));
  expect(await answers.append(execution, entry(6, 7, Buffer.from('b')))).toBe('lost');
  expect(await answers.read(execution, 'f', -1)).toMatchObject({ isLost: true, entries: [] });
  const other = await claimed('ada', 'other');
  await answers.append(other, entry(0, 4, Buffer.from('a')));
  await answers.finish(other, entry(6, 6), 'whole', false);
  expect(await answers.read(other, 'f', -1)).toMatchObject({ isLost: true, state: 'whole' });
  // Nobody executes it again.
  expect((await answers.claim('ada', 'other', facts, false)).outcome).toBe('taken');
});

it('an answer is abandoned only when it has no followers', async () => {
  const execution = await claimed('ada', 'k');
  await answers.read(execution, 'one', -1);
  await answers.read(execution, 'two', -1);
  expect(await answers.abandon(execution)).toBe(2);
  await answers.leave(execution, 'one');
  expect(await answers.renew(execution)).toBe(1);
  await open.redis.zadd(`${open.prefix}idempotent-followers:ada:${execution.id}`, 1, 'two');
  expect(await answers.abandon(execution)).toBe(0);
  expect(await answers.read(execution, 'three', -1)).toMatchObject({ state: 'cancelled' });
  expect((await answers.claim('ada', 'k', facts, false)).outcome).toBe('claimed');
});

it('the bounds of answers count what is stored, and nothing once it has expired', async () => {
  const { redis } = open;
  for (const pair of ['ada a', 'ada b', 'bob a']) {
    const [owner = '', key = ''] = pair.split(' ');
    const execution = await claimed(owner, key);
    await answers.append(execution, entry(0, 0, Buffer.alloc(1_000)));
    await answers.finish(execution, entry(1, 1), 'whole', false);
  }
  const name = (kind: string) => `${open.prefix}idempotent-${kind}`;
  const sum = async () => {
    const owners = await redis.zrange(name('bytes'), '0', '-1', 'WITHSCORES');
    return owners.filter((_, at) => at % 2 === 1).reduce((total, bytes) => total + Number(bytes), 0);
  };
  expect(await sum()).toBeGreaterThan(3_000);
  expect(Number(await redis.get(name('total')))).toBe(await sum());
  for (const member of await redis.zrange(name('expiries'), '0', '-1')) await redis.zadd(name('expiries'), 1, member);
  await claimed('eve', 'a');
  expect([Number(await redis.get(name('total'))), await sum()]).toEqual([512, 512]);
  const left = (await redis.keys(`${open.prefix}idempotent-*`)).filter((each) => !each.includes('eve'));
  expect(left.toSorted()).toEqual(['bytes', 'expiries', 'total'].map(name));
});

it('the bounds of answers remove the oldest answers of the owner, and in all the oldest of the owner with the most bytes', async () => {
  const fill = async (owner: string, key: string, bytes: number, from = answers) => {
    const execution = await claimed(owner, key, from);
    const kept = await from.append(execution, entry(0, 0, randomBytes(bytes)));
    await from.finish(execution, entry(1, 1), 'whole', false);
    return { execution, kept };
  };
  const old = await fill('ada', '1', 6_000);
  const next = await fill('ada', '2', 6_000);
  const bob = await fill('bob', '1', 5_000);
  const last = await fill('ada', '3', 6_000);
  expect(await areLost(old, next, last, bob)).toEqual([true, false, false, false]);
  const eve = await fill('eve', '1', 5_000);
  expect(await areLost(next, bob, eve)).toEqual([true, false, false]);
  expect((await fill('eve', '2', 9_000)).kept).toBe('lost');
});

it('the bounds of answers remove the largest running answer of the owner with the most bytes, so that nobody is shut out', async () => {
  const begin = async (owner: string, key: string, bytes: number) => {
    const execution = await claimed(owner, key);
    return { execution, kept: await answers.append(execution, entry(0, 0, randomBytes(bytes))) };
  };
  const small = await begin('ada', '1', 5_000);
  const large = await begin('ada', '2', 6_000);
  const eve = await begin('eve', '1', 7_000);
  const bob = await begin('bob', '1', 5_000);
  const all = [large, small, eve, bob];
  expect(all.map(({ kept }) => kept)).toEqual(['kept', 'kept', 'kept', 'kept']);
  const appended = all.map(({ execution }) => answers.append(execution, entry(1, 1, Buffer.from('b'))));
  expect(await Promise.all(appended)).toEqual(['lost', 'kept', 'kept', 'kept']);
  // Now another owner has the most.
  expect((await begin('bob', '2', 7_000)).kept).toBe('kept');
  expect(await areLost(eve, small, bob)).toEqual([true, false, false]);
});

it('the bounds of answers hold although the bytes of a running answer are counted wrongly', async () => {
  const ada = await claimed('ada', '1');
  const name = (kind: string) => `${open.prefix}idempotent-${kind}`;
  await open.redis.hincrby(name('bytes-of:ada'), ada.id, 29_000);
  await open.redis.zincrby(name('bytes'), 29_000, 'ada');
  await open.redis.incrby(name('total'), 29_000);
  const bob = await claimed('bob', '1');
  expect(await answers.append(bob, entry(0, 0, Buffer.alloc(1_000)))).toBe('kept');
});

it('the bounds of answers refuse further keys to an owner with too many, and to nobody else', async () => {
  const few = make({ ownerKeys: 2 });
  for (const key of ['1', '2']) await claimed('ada', key, few);
  await expect(few.claim('ada', '3', facts, false)).rejects.toMatchObject({ code: 'rate_limit_exceeded' });
  expect((await few.claim('ada', '2', facts, false)).outcome).toBe('taken');
  expect((await few.claim('bob', randomUUID(), facts, false)).outcome).toBe('claimed');
});
