import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { firstAnswer } from '#services/ingress/mcp/first-answer.ts';

const never = new AbortController().signal;

/** Answers with its name at once or after some milliseconds, fails, or says nothing until it is aborted. */
async function ask(name: string, signal: AbortSignal): Promise<string> {
  if (name.startsWith('silent')) await sleep(60_000, undefined, { signal });
  if (name.startsWith('slow')) await sleep(name === 'slower' ? 600 : 50, undefined, { signal });
  if (name.startsWith('broken')) throw new Error(name);
  return name;
}

it('of several servers the first in their order that answers counts, and those after it are not asked', async () => {
  const asked: string[] = [];
  const asking: typeof ask = (name, signal) => {
    asked.push(name);
    return ask(name, signal);
  };
  expect(await firstAnswer(['broken', 'slow', 'quick'], asking, never)).toBe('slow');
  expect(asked).toEqual(['broken', 'slow']);
  expect(await firstAnswer([], ask, never)).toBeUndefined();
});

it('of several servers those that never answer hold up the others for moments, and are aborted then', async () => {
  const aborted: string[] = [];
  const asking: typeof ask = (name, signal) => {
    signal.addEventListener('abort', () => aborted.push(name));
    return ask(name, signal);
  };
  const names = ['silent 1', 'broken 1', 'silent 2', 'silent 3', 'quick'];
  // To wait for a silent one outlasts the test.
  expect(await firstAnswer(names, asking, never)).toBe('quick');
  expect(aborted).toEqual(names);
});

it('of several servers one that is slow counts if those after it fail', async () => {
  expect(await firstAnswer(['slower', 'broken'], ask, never)).toBe('slower');
});

it('of several servers the error of the first is thrown if none answers', async () => {
  await expect(firstAnswer(['broken 1', 'broken 2'], ask, never)).rejects.toThrow('broken 1');
});

it('of several servers none is asked any more when the client has gone', async () => {
  const gone = new AbortController();
  const answer = firstAnswer(['silent'], ask, gone.signal);
  gone.abort(new Error('gone'));
  await expect(answer).rejects.toThrow('gone');
});
