import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished, vi } from 'vitest';
import { hashPassword } from '#shared/accounts/sign-in/passwords.ts';
import { checkPasswordStrength } from '#shared/accounts/sign-in/check-password-strength.ts';

const known = ['Wilhelmina Featherstone', 'wilhelmina.featherstone@glockenspiel.example'];
const weak = ['password12', 'qwertyuiop', '1111111111', 'Featherstone1', 'glockenspiel1'];

it('checkPasswordStrength loads its dictionaries once for checks in a row, and gives their memory back after 30 seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const threads: Worker[] = [];
  const onThread = (thread: Worker) => void threads.push(thread);
  process.on('worker', onThread);
  onTestFinished(() => void process.off('worker', onThread));
  const check = () => checkPasswordStrength('10.0.0.1', 'violet-harbour-cricket-41', known);
  for (let checks = 0; checks < 3; checks++) {
    await check();
    vi.advanceTimersByTime(29_000);
  }
  const [thread] = threads;
  if (!thread) throw new Error('no thread has checked the password');
  const ended = once(thread, 'exit');
  vi.advanceTimersByTime(1_000);
  await ended;
  expect(threads).toEqual([thread]);
  await check();
  expect(threads).toHaveLength(2);
  vi.advanceTimersByTime(30_000);
});

it('checkPasswordStrength explains the weakness of passwords, and serves clients in rotation, so that one with many delays no other', async () => {
  // One runs and four wait.
  const check = (password: string, address = '10.0.0.1') => checkPasswordStrength(address, password, known);
  const outcomes = Promise.allSettled([...weak, 'one', 'two', 'three'].map((password) => check(password)));
  expect(await check('violet-harbour-cricket-41', '10.0.0.2')).toBeUndefined();
  const judged = { status: 'fulfilled', value: expect.stringMatching(/\w{3,}.*\./) };
  const refused = expect.objectContaining({ status: 'rejected' });
  expect(await outcomes).toEqual([...weak.map(() => judged), refused, refused, refused]);
});

it.each(['correct horse battery staple', 'kR8#mq2!zP0x'])('checkPasswordStrength takes %s', async (password) => {
  expect(await checkPasswordStrength('10.0.0.1', password, known)).toBeUndefined();
});

it('checkPasswordStrength leaves this thread free, also with the longest password', async () => {
  const begin = performance.now();
  const before = process.threadCpuUsage();
  await checkPasswordStrength('10.0.0.1', 'p4ssw0rd@$'.repeat(20), known);
  // Of the processor: what else runs on this machine would lengthen a pause.
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(200);
  expect(performance.now() - begin).toBeLessThan(15_000);
});

it('checkPasswordStrength holds the name of a person against the passwords of that person alone', async () => {
  const isWeak = async (name: string) => (await checkPasswordStrength('10.0.0.1', 'zyxwarthon1', [name])) !== undefined;
  expect([await isWeak('Zyxwarthon'), await isWeak('Ada')]).toEqual([true, false]);
});

it('hashes a password with the cost that OWASP recommends for Argon2id', async () => {
  expect(await hashPassword('correct horse')).toMatch(/^\$argon2id\$v=19\$m=19456,(t=2,p=1|p=1,t=2)\$/);
});
