import { describe, expect, it } from 'vitest';
import { judgePassword } from '#shared/accounts/sign-in/judge-password.ts';

const known = ['Wilhelmina Featherstone', 'wilhelmina.featherstone@glockenspiel.example'];
const weak = ['password12', 'qwertyuiop', '1111111111', 'Featherstone1', 'glockenspiel1'];
const strong = ['correct horse battery staple', 'kR8#mq2!zP0x', 'violet-harbour-cricket-41'];

describe('judgePassword', () => {
  it('says what is wrong with weak passwords, and in turns, so that who asks again and again keeps no other from it', async () => {
    // One is judged and four wait.
    const asked = Promise.allSettled(
      [...weak, 'one', 'two', 'three'].map((password) => judgePassword('10.0.0.1', password, known)),
    );
    const others = strong.map((password, at) => judgePassword(`10.0.0.${at + 2}`, password, known));
    expect(await Promise.all(others)).toEqual([undefined, undefined, undefined]);
    const outcomes = await asked;
    for (const judged of outcomes.slice(0, weak.length))
      expect(judged).toMatchObject({ value: expect.stringMatching(/\w{3,}.*\./) });
    expect(outcomes.slice(weak.length).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
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
