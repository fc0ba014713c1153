import { afterEach, describe, expect, it } from 'vitest';
import { openCliWorker, type OpenCliWorker } from '../../../helpers/clis/open-cli-worker.ts';
import { splitCommand } from '#services/cli-worker/clis/cli-of.ts';

let worker: OpenCliWorker;
afterEach(() => worker?.close());
const open = (command: string): OpenCliWorker => openCliWorker({ kind: 'command', command });
const ask = (content: string, model?: string) =>
  worker.run(
    {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content },
      ],
    },
    model ? { model } : {},
  );

describe('a command as a worker', () => {
  it('gets the prompt on its standard input, and its output is the answer', async () => {
    worker = open('cat');
    const { events } = await ask('$(touch x); `echo y` & 日本 \\n');
    expect(events[0]).toMatchObject({
      choices: [{ message: { content: 'Be brief.\n\n$(touch x); `echo y` & 日本 \\n' }, finish_reason: 'stop' }],
    });
  });

  it("gets the model's name where its arguments have a place for it", async () => {
    worker = open("sh -c 'cat >/dev/null; echo model=$0' {model}");
    expect((await ask('hello')).text).toContain('model=m1');
    expect((await ask('hello', 'm2')).text).toContain('model=m2');
  });

  it('fails the job when the program fails', async () => {
    worker = open("sh -c 'echo half; exit 3'");
    await expect(ask('hello')).rejects.toMatchObject({
      code: 'upstream_failed',
      message: expect.stringContaining('3'),
    });
  });

  it('is split into words at blanks and quotes, and nothing else', () => {
    worker = open('cat');
    expect(splitCommand(`a  "b c" 'd "e' f'g'"h" $X *`)).toEqual(['a', 'b c', 'd "e', 'fgh', '$X', '*']);
  });
});
