import { afterEach, describe, expect, it } from 'vitest';
import { openCliWorker, type OpenCliWorker } from '../../../helpers/clis/open-cli-worker.ts';
import { splitCommand } from '#services/cli-worker/clis/select-cli.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { said } from '../../../helpers/formats/said.ts';

let worker: OpenCliWorker;
afterEach(() => worker?.close());
const open = (command: string): Promise<OpenCliWorker> => openCliWorker({ kind: 'command', command });
const ask = (content: string, model?: string) =>
  worker.run(
    {
      messages: [said('system', 'Be brief.'), said('user', content)],
    },
    model ? { model } : {},
  );

describe('a command of a CLI worker', () => {
  it('gets the prompt on its standard input, and its output is the answer', async () => {
    worker = await open('cat');
    const { events } = await ask('$(touch x); `echo y` & 日本 \\n');
    expect(events[0]).toMatchObject({
      choices: [{ message: { content: 'Be brief.\n\n$(touch x); `echo y` & 日本 \\n' }, finish_reason: 'stop' }],
    });
  });

  it("gets the model's name at the place for it in its arguments", async () => {
    worker = await open("sh -c 'cat >/dev/null; echo model=$0' {model}");
    expect((await ask('hello')).text).toContain('model=m1');
    expect((await ask('hello', 'm2')).text).toContain('model=m2');
  });

  it('ends at a stop text and at the token limit', async () => {
    worker = await open('cat');
    const messages = [said('user', 'one STOP two')];
    const stopped = await worker.run({ messages, stop: ['STOP'] });
    expect(stopped.events[0]).toMatchObject({ choices: [{ message: { content: 'one ' }, finish_reason: 'stop' }] });
    const limited = await worker.run({ messages: [said('user', 'x'.repeat(1000))], max_tokens: 30 });
    expect(limited.events[0]).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 30 },
    });
  });

  it('fails the job when the program fails', async () => {
    worker = await open("sh -c 'echo half; exit 3'");
    await expect(ask('hello')).rejects.toEqual(errorWith('upstream_failed', { message: expect.stringContaining('3') }));
  });

  it('is split into words at blanks and quotes only', async () => {
    worker = await open('cat');
    expect(splitCommand(`a  "b c" 'd "e' f'g'"h" $X *`)).toEqual(['a', 'b c', 'd "e', 'fgh', '$X', '*']);
  });
});
