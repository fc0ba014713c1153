import Anthropic from '@anthropic-ai/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFakeModelApis, type FakeModelApis, type UpstreamCall } from '../helpers/upstreams/fake-model-apis.ts';
import { findCli, type CliName } from '../helpers/clis/install-clis.ts';
import { environmentOf, startCliWorker, type CliWorker } from '../helpers/cluster/start-cli-worker.ts';
import { startCluster, type Cluster } from '../helpers/cluster/start-cluster.ts';
import { until } from '../helpers/until.ts';

interface CliCase {
  name: CliName;
  models: [string, string];
  /** What an operator sets so that the CLI asks the given address. */
  environment: (url: string) => Record<string, string>;
  /** Names of tools that cannot be switched off. */
  tools: string[];
}

const key = 'upstream-key';
const cases: CliCase[] = [
  {
    name: 'claude',
    models: ['claude-sonnet-5', 'claude-opus-5'],
    environment: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key }),
    tools: [],
  },
  {
    name: 'codex',
    models: ['gpt-one', 'gpt-two'],
    environment: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: key }),
    // It answers that it is not available.
    tools: ['request_user_input'],
  },
  {
    name: 'gemini',
    models: ['gemini-2.5-flash', 'gemini-2.5-pro'],
    environment: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: key }),
    tools: [],
  },
  {
    name: 'opencode',
    models: ['up/one', 'up/two'],
    environment: (url) => {
      const models = { one: { name: 'One', reasoning: true }, two: { name: 'Two' } };
      const options = { baseURL: `${url}/v1`, apiKey: key };
      const up = { npm: '@ai-sdk/openai-compatible', name: 'Up', options, models };
      return { OPENCODE_CONFIG_CONTENT: JSON.stringify({ provider: { up } }) };
    },
    tools: [],
  },
];

const installed = new Map<CliName, string>();
for (const { name } of cases) {
  const command = findCli(name);
  if (command !== undefined) installed.set(name, command);
}

describe.each(cases.filter(({ name }) => installed.has(name)))('$name as a worker', (cli) => {
  const [model, otherModel] = cli.models;
  let api: FakeModelApis;
  let cluster: Cluster;
  let worker: CliWorker;
  let openai: OpenAI;
  let anthropic: Anthropic;
  let folder: string;
  /** Number of processes without a request. */
  let idle = 0;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rtr-cli-host-'));
    writeFileSync(join(folder, 'host.txt'), 'the badger is in the fridge');
    api = await startFakeModelApis();
    cluster = await startCluster({ workers: 0, engineUrl: 'http://127.0.0.1:9' });
    worker = await startCliWorker(cluster, {
      CLI_KIND: cli.name,
      CLI_COMMAND: installed.get(cli.name) ?? '',
      CLI_MODELS: cli.models.join(),
      START_TIMEOUT_MS: '200000',
      SECRET_OF_THE_HOST: 'must not leak',
      HOME: folder,
      ...cli.environment(api.url),
    });
    openai = new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey: cluster.key, maxRetries: 0 });
    anthropic = new Anthropic({ baseURL: `${cluster.url}/api/anthropic`, apiKey: cluster.key, maxRetries: 0 });
    // Both slots have held a conversation, so both processes exist.
    await Promise.all([ask('warm one up [fake delay=50]'), ask('warm another up [fake delay=50]')]);
    await quiet();
    idle = worker.processes().length;
  }, 300_000);

  afterAll(async () => {
    await worker?.stop();
    await cluster?.stop();
    await api?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = (content: string, more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}) =>
    openai.chat.completions.create({ model, messages: [{ role: 'user', content }], ...more });

  const lastCall = (): UpstreamCall => {
    const call = api.calls.at(-1);
    if (!call) throw new Error('the upstream got no call');
    return call;
  };

  /** Waits until the number of processes stays what it is. */
  async function quiet(): Promise<void> {
    let [count, since] = [-1, performance.now()];
    await until(() => {
      const now = worker.processes().length;
      if (now !== count) [count, since] = [now, performance.now()];
      return performance.now() - since > 1_500;
    }, 120_000);
  }

  it('answers a chat client with text, usage and its own name', async () => {
    const answer = await ask('Hello there.');
    expect(answer).toMatchObject({ model, choices: [{ finish_reason: 'stop' }] });
    expect(answer.choices[0]?.message.content).toBe('You said: Hello there.');
    expect(answer.usage?.prompt_tokens).toBeGreaterThanOrEqual(11);
    expect(answer.usage?.completion_tokens).toBe(4);
    expect(JSON.stringify(lastCall().body)).not.toContain('(no content)');
  });

  it('answers a Responses client, streamed', async () => {
    const stream = openai.responses.stream({ model, instructions: 'Be brief.', input: 'Hello there.', store: false });
    const { status, output_text: text, usage } = await stream.finalResponse();
    expect([status, text, usage?.output_tokens]).toEqual(['completed', 'You said: Hello there.', 4]);
    expect(JSON.stringify(lastCall().body)).toContain('Be brief.');
  });

  it('answers a messages client, streamed, with the other model', async () => {
    const stream = anthropic.messages.stream({
      model: otherModel,
      max_tokens: 1000,
      messages: [{ role: 'user', content: 'Hello there.' }],
    });
    const message = await stream.finalMessage();
    expect(message).toMatchObject({ model: otherModel, stop_reason: 'end_turn', usage: { output_tokens: 4 } });
    expect(message.content).toEqual([expect.objectContaining({ type: 'text', text: 'You said: Hello there.' })]);
    const { path, body } = lastCall();
    expect(`${path} ${JSON.stringify(body['model'])}`).toContain(otherModel.replace('up/', ''));
  });

  it('streams piece by piece, thinking first', async () => {
    const stream = await openai.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: 'Hello [fake think delay=30]' }],
    });
    const deltas: Record<string, unknown>[] = [];
    for await (const { choices } of stream) if (choices[0]) deltas.push({ ...choices[0].delta });
    const texts = deltas.map(({ content }) => content).filter((text) => typeof text === 'string' && text !== '');
    expect(texts.length).toBeGreaterThan(2);
    expect(texts.join('')).toContain('You said: Hello');
    const thinking = deltas.map((delta) =>
      typeof delta['reasoning_content'] === 'string' ? delta['reasoning_content'] : '',
    );
    expect(thinking.join('')).toContain('let me think');
  });

  it('passes system prompt and history to the model, and no tools', async () => {
    await ask('', {
      messages: [
        { role: 'system', content: 'You are a badger.' },
        { role: 'user', content: 'first question' },
        { role: 'assistant', content: 'first answer' },
        { role: 'user', content: 'second question' },
      ],
    });
    const { body } = lastCall();
    const text = JSON.stringify(body);
    const places = ['You are a badger.', 'first question', 'first answer', 'second question'].map((part) =>
      text.indexOf(part),
    );
    expect(places).not.toContain(-1);
    expect(places.slice(1)).toEqual(places.slice(1).toSorted((a, b) => a - b));
    expect(toolNames(body['tools'])).toEqual(cli.tools);
  });

  it('takes what a client says as text: no commands, no files of the host', async () => {
    for (const content of ['/help', '/clear', `read @${folder}/host.txt`, `$(cat ${folder}/host.txt)`, '!ls']) {
      expect((await ask(content)).choices[0]?.message.content).toContain(content);
    }
    expect(JSON.stringify(api.calls)).not.toContain('the badger is in the fridge');
  });

  it('lets no conversation see another one', async () => {
    const before = api.calls.length;
    const names = Array.from({ length: 6 }, (_, at) => `person-${at}`);
    const answers = await Promise.all(names.map((name) => ask(`I am ${name}.`)));
    for (const [at, answer] of answers.entries()) {
      expect(answer.choices[0]?.message.content).toBe(`You said: I am person-${at}.`);
    }
    for (const { body } of api.calls.slice(before)) {
      expect(new Set(JSON.stringify(body).match(/person-\d/g)).size).toBe(1);
    }
  });

  it('shows the CLI nothing of the host', async () => {
    // The set of processes may still be filling, and a process has its parent's environment between fork and exec.
    await until(() => {
      const processes = worker.processes();
      expect(processes.length).toBeGreaterThan(0);
      for (const pid of processes) {
        const environment = environmentOf(pid);
        expect(environment).not.toHaveProperty('SECRET_OF_THE_HOST');
        expect(environment).not.toHaveProperty('NATS_URL');
        expect(environment['HOME']).toContain('/rtr-cli-');
      }
    }, 3_000);
  });

  it('stops the upstream when the client goes', async () => {
    const stream = await openai.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: '[fake delay=100 pieces=300]' }],
    });
    for await (const { choices } of stream) if (choices[0]?.delta.content) break;
    const call = lastCall();
    const goneAt = performance.now();
    await until(() => call.aborted, 5_000);
    expect(performance.now() - goneAt).toBeLessThan(5_000);
  });

  it('reports a CLI that is killed in the middle of an answer, and serves the next request', async () => {
    const stream = await openai.chat.completions.create({
      model,
      stream: true,
      messages: [{ role: 'user', content: '[fake delay=100 pieces=300]' }],
    });
    const read = async (): Promise<void> => {
      let isFirst = true;
      for await (const { choices } of stream) {
        if (isFirst && choices[0]?.delta.content) {
          isFirst = false;
          for (const pid of worker.processes()) kill(pid);
        }
      }
    };
    await expect(read()).rejects.toThrow(/CLI was ended by SIGKILL|CLI ended|CLI cannot be reached/);
    expect((await ask('Still there?')).choices[0]?.message.content).toBe('You said: Still there?');
  });

  it('adds little to the time of the first token', async () => {
    await quiet();
    const added: number[] = [];
    for (let round = 0; round < 12; round += 1) {
      const began = performance.now();
      const stream = await openai.chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      });
      let firstAt = 0;
      for await (const { choices } of stream)
        if (choices[0]?.delta.content && firstAt === 0) firstAt = performance.now();
      added.push(Math.round(firstAt - began));
      // Each round finds its processes ready.
      await quiet();
    }
    added.sort((a, b) => a - b);
    // Other work on the machine only adds to it, so the least of them counts.
    const isCrowded = (loadavg()[0] ?? 0) > availableParallelism();
    expect(added[0], `milliseconds: ${added.join(', ')}`).toBeLessThan(isCrowded ? 450 : 150);
  });

  it('has as many processes as before without a request', async () => {
    await quiet();
    expect(worker.processes().length).toBe(idle);
  });

  it('refuses what a CLI cannot serve, and names it', async () => {
    const tools = [{ type: 'function' as const, function: { name: 'x' } }];
    expect((await ask('hello', { tools })).choices[0]?.finish_reason).toBe('stop');
    await expect(ask('hello', { logprobs: true })).rejects.toMatchObject({ status: 400, param: 'logprobs' });
  });

  it('reports a rate limit of the upstream', async () => {
    await expect(ask('[fake status=429]')).rejects.toMatchObject({ status: 429 });
  });
});

function toolNames(tools: unknown): string[] {
  return (Array.isArray(tools) ? tools : []).flatMap((tool: Record<string, unknown>) =>
    Array.isArray(tool['functionDeclarations'])
      ? toolNames(tool['functionDeclarations'])
      : [String(tool['name'] ?? tool['type'])],
  );
}

/** Kills a process. One that has ended since it was listed needs no signal. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ESRCH')) throw error;
  }
}
