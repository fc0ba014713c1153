import { describe, expect, it } from 'vitest';
import { judgePassword } from '#shared/accounts/sign-in/judge-password.ts';

const known = ['Wilhelmina Featherstone', 'wilhelmina.featherstone@glockenspiel.example'];

describe('judgePassword', () => {
  it.each(['password12', 'qwertyuiop', '1111111111', 'Featherstone1', 'glockenspiel1'])(
    'says what is wrong with %s',
    async (password) => {
      expect(await judgePassword('10.0.0.1', password, known)).toMatch(/\w{3,}.*\./);
    },
  );

  it.each(['correct horse battery staple', 'kR8#mq2!zP0x', 'violet-harbour-cricket-41'])(
    'takes %s',
    async (password) => {
      expect(await judgePassword('10.0.0.1', password, known)).toBeUndefined();
    },
  );

  it('takes turns, so that somebody who asks again and again does not keep others from it', async () => {
    const asked = Promise.allSettled(Array.from({ length: 8 }, () => judgePassword('10.0.0.1', 'password12', known)));
    const other = judgePassword('10.0.0.2', 'violet-harbour-cricket-41', known);
    expect(await other).toBeUndefined();
    expect((await asked).filter(({ status }) => status === 'rejected')).toHaveLength(3);
  });

  it('leaves this thread free, also with the longest password', async () => {
    const worst = 'p4ssw0rd@$'.repeat(20);
    const begin = performance.now();
    const before = process.threadCpuUsage();
    await judgePassword('10.0.0.1', worst, known);
    // Of the processor: what else runs on this machine would lengthen a pause.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(200);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});
