import { describe, expect, it } from 'vitest';
import { judgePassword } from '#shared/accounts/sign-in/judge-password.ts';

const known = ['Wilhelmina Featherstone', 'wilhelmina.featherstone@glockenspiel.example'];

describe('judgePassword', () => {
  it.each(['password12', 'qwertyuiop', '1111111111', 'Featherstone1', 'glockenspiel1'])(
    'says what is wrong with %s',
    async (password) => {
      expect(await judgePassword(password, known)).toMatch(/\w{3,}.*\./);
    },
  );

  it.each(['correct horse battery staple', 'kR8#mq2!zP0x', 'violet-harbour-cricket-41'])(
    'takes %s',
    async (password) => {
      expect(await judgePassword(password, known)).toBeUndefined();
    },
  );

  it('leaves this thread free, also with the longest password', async () => {
    const worst = 'p4ssw0rd@$'.repeat(20);
    let longestPause = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longestPause = Math.max(longestPause, performance.now() - last);
      last = performance.now();
    }, 5);
    const begin = performance.now();
    await judgePassword(worst, known);
    clearInterval(timer);
    expect(longestPause).toBeLessThan(200);
    expect(performance.now() - begin).toBeLessThan(10_000);
  });
});
