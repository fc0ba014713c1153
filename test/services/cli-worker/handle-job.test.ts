import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { descendants, isAlive } from '../../helpers/cluster/start-cli-worker.ts';
import { until } from '../../helpers/until.ts';
import { openCliWorker } from '../../helpers/clis/open-cli-worker.ts';
import { said } from '../../helpers/formats/said.ts';
import { stopAfterTest } from '../../helpers/stop-after-test.ts';
import { errorWith } from '../../helpers/error-with.ts';
import { useStarted } from '../../helpers/use-started.ts';

const user = (content: string) => said('user', content);
/** The text in a whole chat answer. */
const contentOf = (answer: string): string => JSON.parse(answer).choices[0].message.content;

describe('a job on a CLI worker', () => {
  const worker = useStarted(() =>
    openCliWorker({
      size: 2,
      environment: { HOST_SECRET: 'must not leak', LET_THROUGH: 'yes', HOME: '/root/of/the/host' },
      further: ['LET_THROUGH'],
    }),
  );

  it('streams a chat answer that ends with finish reason and usage', async () => {
    const { events, end, text } = await worker.run({ messages: [user('hello')], stream: true });
    expect(events[0]).toMatchObject({ model: 'm1', choices: [{ delta: { role: 'assistant' } }] });
    expect(text).toContain('You said: hello');
    expect(events.at(-1)).toMatchObject({
      choices: [{ delta: {}, finish_reason: 'stop' }],
      usage: { prompt_tokens: 8, completion_tokens: 7, prompt_tokens_details: { cached_tokens: 2 } },
    });
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(end).toMatchObject({ finishReason: 'stop', usage: { promptTokens: 8, completionTokens: 7 } });
  });

  it('answers a messages client in its own format', async () => {
    const body = { max_tokens: 1000, messages: [user('hello')] };
    const { events } = await worker.run(body, { format: 'messages' });
    expect(events[0]).toMatchObject({ type: 'message', stop_reason: 'end_turn', usage: { output_tokens: 7 } });
  });

  it.each([true, false])('gives a messages client the signed thinking of the CLI (stream: %s)', async (stream) => {
    const body = { max_tokens: 1000, messages: [user('[replay thinking]')], stream };
    const { text } = await worker.run(body, { format: 'messages' });
    expect(text).toContain('Hm, let me think.');
    expect(text).toContain('"signature":"c2ln"');
    expect(text).not.toContain('unsigned');
  });

  it('answers a Responses client in its own format, with the thinking that the CLI shows', async () => {
    const body = { instructions: 'Be brief.', input: '[replay thinking]', store: false };
    const { events, end } = await worker.run(body, { format: 'responses', answerId: 'resp_1' });
    expect(events[0]).toMatchObject({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'm1',
      output: [{ type: 'reasoning', content: [{ type: 'reasoning_text' }] }, { type: 'message' }],
      usage: { output_tokens: end.usage.completionTokens },
    });
    const streamed = await worker.run({ ...body, stream: true }, { format: 'responses', answerId: 'resp_2' });
    expect(streamed.events[0]).toMatchObject({ type: 'response.created', response: { id: 'resp_2' } });
    const { output } = events[0] as { output: { content: unknown }[] };
    expect(streamed.events.at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: output.map(({ content }) => ({ content })) },
    });
  });

  it('passes system prompt, history and model to the CLI', async () => {
    const earlier = [said('system', 'Be brief.'), user('first'), said('assistant', 'second')];
    const { text } = await worker.run({ messages: [...earlier, user('third'), user('fourth')] }, { model: 'm2' });
    const received = { system: 'Be brief.', model: 'm2', history: ['user: first', 'assistant: second'] };
    expect(contentOf(text)).toBe(`Received ${JSON.stringify(received)}. You said: third|fourth`);
  });

  it('isolates conversations from each other', async () => {
    const answers = await Promise.all(
      Array.from({ length: 4 }, async (_, at) => (await worker.run({ messages: [user(`I am number-${at}.`)] })).text),
    );
    for (const [at, text] of answers.entries()) {
      expect(text.match(/number-\d/g)).toEqual([`number-${at}`]);
      expect(text).toContain(JSON.stringify(JSON.stringify({ system: '', model: 'm1', history: [] })).slice(1, -1));
    }
  });

  it('keeps the environment, the folders and the arguments free of other data', async () => {
    const { text } = await worker.run({ messages: [user('my secret question [status]')] });
    const status = JSON.parse(contentOf(text));
    expect(status.files).toEqual([]);
    expect(status.environment).toMatchObject({ ANTHROPIC_API_KEY: 'key', LET_THROUGH: 'yes' });
    expect(status.environment.HOME).not.toBe('/root/of/the/host');
    const others = Object.keys(status.environment).filter((name) => !/^(ANTHROPIC|CLAUDE|DISABLE|ENABLE)_/.test(name));
    expect(others.sort()).toEqual(['HOME', 'LET_THROUGH', 'PATH', 'TMPDIR']);
    expect(status.args.join(' ')).not.toContain('secret');
    // The process ends with its conversation, and its folders are removed.
    await until(() => !isAlive(status.pid) && !existsSync(status.cwd));
  });

  it('leaves limits, stop texts and sampling to the upstream', async () => {
    const asked = { messages: [user('[status]')], stop: ['STOP'], max_tokens: 30, temperature: 0 };
    const { text } = await worker.run(asked);
    const { fields } = JSON.parse(contentOf(text));
    expect(fields).toEqual({ stop_sequences: ['STOP'], max_tokens: 30, temperature: 0 });
  });

  it.each(['die', 'rubbish'])('fails the job when the CLI fails: %s', async (fault) => {
    await expect(worker.run({ messages: [user(`[${fault}]`)], stream: true })).rejects.toEqual(
      errorWith('upstream_failed', { movable: true }),
    );
    expect((await worker.run({ messages: [user('hello')] })).text).toContain('You said: hello');
  });

  it('does not fail when a ready CLI dies', async () => {
    await until(() => worker.ready() === 2);
    const ready = descendants(process.pid).filter((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('fake-claude'),
    );
    expect(ready.length).toBeGreaterThanOrEqual(2);
    for (const pid of ready) process.kill(pid, 'SIGKILL');
    // The set has not detected the death yet.
    expect((await worker.run({ messages: [user('hello')] })).text).toContain('You said: hello');
  });

  it('fails on a line without end', async () => {
    await expect(worker.run({ messages: [user('[flood]')] })).rejects.toMatchObject({ code: 'upstream_failed' });
  });

  it('ends with its client, also when the CLI does not stop by itself', async () => {
    for (const how of ['obey', 'slow', 'hang']) {
      const gone = new AbortController();
      const reason = new Error('the client is gone');
      const body = { messages: [user(`[${how}] [status]`)], stream: true };
      const running = worker.run(body, {}, gone.signal, () => gone.abort(reason));
      await expect(running).rejects.toBe(reason);
    }
    await until(() => worker.ready() === 2 && worker.workspaces().length === 2);
  });

  it('counts tokens without the CLI', async () => {
    const count = { format: 'messages', operation: 'count_tokens' } as const;
    const { events } = await worker.run({ messages: [user('hello there')] }, count);
    expect(events[0]?.['input_tokens']).toBeGreaterThan(2);
  });

  it('is refused with the name of the feature that this version of the CLI lacks', async () => {
    const refused = { code: 'unsupported_parameter', param: 'tools' };
    const chat = { messages: [user('hello')], tools: [{ type: 'function', function: { name: 'x' } }] };
    await expect(worker.run(chat)).rejects.toMatchObject(refused);
    const responses = { input: 'hello', tools: [{ type: 'function', name: 'f' }] };
    await expect(worker.run(responses, { format: 'responses' })).rejects.toMatchObject(refused);
  });
});

describe('a job whose CLI fails', () => {
  it('ends when the CLI is silent for too long', async () => {
    const worker = stopAfterTest(await openCliWorker({ timeouts: { idleMs: 300 } }));
    const running = worker.run({ messages: [user('[hang]')], stream: true });
    await expect(running).rejects.toEqual(errorWith('upstream_timeout'));
  });

  it('waits for a process and for the first piece within one timeout', async () => {
    const environment = { FAKE_START: 'slow' };
    const firstMs = 2_000;
    const worker = stopAfterTest(await openCliWorker({ environment, further: ['FAKE_START'], timeouts: { firstMs } }));
    const startedAt = performance.now();
    const jobs = Array.from({ length: 2 }, () => worker.run({ messages: [user('[silent]')] }));
    const outcomes = await Promise.allSettled(jobs);
    expect(performance.now() - startedAt).toBeLessThan(firstMs + 900);
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({ status: 'rejected', reason: { code: 'upstream_timeout' } });
  });

  it('maps errors of the upstream', async () => {
    const worker = stopAfterTest(await openCliWorker());
    const replay = (name: string) => worker.run({ messages: [user(`[replay ${name}]`)] });
    await expect(replay('429')).rejects.toEqual(errorWith('rate_limit_exceeded'));
    await expect(replay('401')).rejects.toEqual(errorWith('upstream_failed'));
    expect(worker.logins.at(-1)).toBe('refused');
    await expect(replay('drop')).rejects.toEqual(errorWith('upstream_failed'));
    expect(worker.reports).toEqual([]);
  });

  it('reports a CLI that cannot be started', async () => {
    const worker = stopAfterTest(await openCliWorker({ environment: { FAKE_START: 'die' }, further: ['FAKE_START'] }));
    await expect(worker.run({ messages: [user('hello')] })).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(worker.reports[0]).toBe(false);
    await worker.close();
    expect(worker.workspaces()).toEqual([]);
  });

  it('fails when the start takes too long', async () => {
    const worker = stopAfterTest(
      await openCliWorker({ environment: { FAKE_START: 'hang' }, further: ['FAKE_START'], startMs: 500 }),
    );
    await expect(worker.run({ messages: [user('hello')] })).rejects.toMatchObject({ code: 'upstream_timeout' });
  });
});
