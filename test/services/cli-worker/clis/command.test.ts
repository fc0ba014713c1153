import { describe, expect, it } from 'vitest';
import { openCliWorker } from '../../../helpers/clis/open-cli-worker.ts';
import { splitCommand } from '#services/cli-worker/clis/select-cli.ts';
import { errorWith } from '../../../helpers/error-with.ts';
import { stopAfterTest } from '../../../helpers/stop-after-test.ts';
import { said } from '../../../helpers/formats/said.ts';

/** Starts a worker for a command; `ask` sends it a message. */
async function open(command: string) {
  const { run } = stopAfterTest(await openCliWorker({ kind: 'command', command }));
  const ask = (content: string, model = 'm1') =>
    run({ messages: [said('system', 'Be brief.'), said('user', content)] }, { model });
  return { run, ask };
}

describe('a command of a CLI worker', () => {
  it('gets the prompt on its standard input, and its output is the answer', async () => {
    const { ask } = await open('cat');
    const { events } = await ask('$(touch x); `echo y` & 日本 \\n');
    expect(events[0]).toMatchObject({
      choices: [{ message: { content: 'Be brief.\n\n$(touch x); `echo y` & 日本 \\n' }, finish_reason: 'stop' }],
    });
  });

  it("gets the model's name at the place for it in its arguments", async () => {
    const { ask } = await open("sh -c 'cat >/dev/null; echo model=$0' {model}");
    expect((await ask('hello')).text).toContain('model=m1');
    expect((await ask('hello', 'm2')).text).toContain('model=m2');
  });

  it('ends at a stop text and at the token limit', async () => {
    const { run } = await open('cat');
    const stopped = await run({ messages: [said('user', 'one STOP two')], stop: ['STOP'] });
    expect(stopped.events[0]).toMatchObject({ choices: [{ message: { content: 'one ' }, finish_reason: 'stop' }] });
    const limited = await run({ messages: [said('user', 'x'.repeat(1000))], max_tokens: 30 });
    expect(limited.events[0]).toMatchObject({
      choices: [{ finish_reason: 'length' }],
      usage: { completion_tokens: 30 },
    });
  });

  it('fails the job when the program fails', async () => {
    const { ask } = await open("sh -c 'echo half; exit 3'");
    await expect(ask('hello')).rejects.toEqual(errorWith('upstream_failed', { message: expect.stringContaining('3') }));
  });

  it('is split into words at blanks and quotes only', () => {
    expect(splitCommand(`a  "b c" 'd "e' f'g'"h" $X *`)).toEqual(['a', 'b c', 'd "e', 'fgh', '$X', '*']);
  });
});
