import { APIError, type OpenAI } from 'openai';
import { writeFileSync } from 'node:fs';
import { availableParallelism, loadavg } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from '../helpers/clients/keyed-requests.ts';
import { recordedRequests } from '../helpers/clients/recorded-requests.ts';
import type { UpstreamCall } from '../helpers/upstreams/fake-model-apis.ts';
import { clientTool, openRealCli, user, type ChatParams, type OpenedCli } from '../helpers/clis/open-real-cli.ts';
import { allClis } from '../helpers/clis/real-clis.ts';
import { environmentOf, isAlive } from '../helpers/cluster/start-cli-worker.ts';
import { useFolder } from '../helpers/files/temporary-folder.ts';
import { least } from '../helpers/least.ts';
import { until } from '../helpers/until.ts';

const schema = { type: 'object' as const, properties: { n: { type: 'integer' }, city: { type: 'string' } } };
const tools = clientTool('weather', schema);

for (const cli of allClis)
  describe(`${cli.name} as a worker`, { tags: [cli.name] }, () => {
    const [model, otherModel] = cli.models;
    const folder = useFolder();
    let opened: OpenedCli;
    /** Number of processes without a request. */
    let idle = 0;

    beforeAll(async () => {
      writeFileSync(join(folder, 'host.txt'), 'the badger is in the fridge');
      const environment = { CLI_MODELS: cli.models.join(), SECRET_OF_THE_HOST: 'must not leak', HOME: folder };
      opened = await openRealCli(cli.name, environment);
      // Both slots have held a conversation, so both processes exist.
      await Promise.all([ask('warm one up [fake delay=50]'), ask('warm another up [fake delay=50]')]);
      await quiet();
      idle = processes().length;
    }, 300_000);

    afterAll(() => opened?.stop());

    const processes = (): number[] => opened.worker.processes();

    const ask = (content: string, more: Partial<ChatParams> = {}) =>
      opened.chat({ messages: [user(content)], ...more }, false);

    const textOf = ({ choices }: OpenAI.ChatCompletion) => choices[0]?.message.content;

    const stream = (content: string) =>
      opened.openai.chat.completions.create({ model, stream: true, messages: [user(content)] });

    const lastCall = (): UpstreamCall => {
      const call = opened.api.calls.at(-1);
      if (!call) throw new Error('the upstream got no call');
      return call;
    };

    /** Waits until the number of processes stays what it is. */
    async function quiet(): Promise<void> {
      let [count, since] = [-1, performance.now()];
      await until(() => {
        const now = processes().length;
        if (now !== count) [count, since] = [now, performance.now()];
        return performance.now() - since > 1_500;
      }, 120_000);
    }

    it('answers a chat client with text, usage and its own name', async () => {
      const answer = await ask('Hello there.');
      expect(answer).toMatchObject({ model, choices: [{ finish_reason: 'stop' }] });
      expect(textOf(answer)).toBe('You said: Hello there.');
      expect(answer.usage?.prompt_tokens).toBeGreaterThanOrEqual(11);
      expect(answer.usage?.completion_tokens).toBe(4);
      expect(JSON.stringify(lastCall().body)).not.toContain('(no content)');
    });

    it('answers a Responses client, streamed', async () => {
      const asked = { model, instructions: 'Be brief.', input: 'Hello there.', store: false };
      const { status, output_text: text, usage } = await opened.openai.responses.stream(asked).finalResponse();
      expect([status, text, usage?.output_tokens]).toEqual(['completed', 'You said: Hello there.', 4]);
      expect(JSON.stringify(lastCall().body)).toContain('Be brief.');
    });

    it('answers a messages client, streamed, with the other model', async () => {
      const asked = { model: otherModel, max_tokens: 1000, messages: [user('Hello there.')] };
      const message = await opened.anthropic.messages.stream(asked).finalMessage();
      expect(message).toMatchObject({ model: otherModel, stop_reason: 'end_turn', usage: { output_tokens: 4 } });
      expect(message.content).toEqual([expect.objectContaining({ type: 'text', text: 'You said: Hello there.' })]);
      const { path, body } = lastCall();
      expect(`${path} ${JSON.stringify(body['model'])}`).toContain(otherModel.replace('up/', ''));
    });

    it('streams piece by piece, thinking first', async () => {
      const deltas: Record<string, unknown>[] = [];
      for await (const { choices } of await stream('Hello [fake think delay=30]'))
        if (choices[0]) deltas.push({ ...choices[0].delta });
      const texts = deltas.map(({ content }) => content).filter((text) => typeof text === 'string' && text !== '');
      expect(texts.length).toBeGreaterThan(2);
      expect(texts.join('')).toContain('You said: Hello');
      const thinking = deltas.map(({ reasoning_content: piece }) => (typeof piece === 'string' ? piece : ''));
      expect(thinking.join('')).toContain('let me think');
    });

    it('passes system prompt and history to the model, and no tools', async () => {
      const said = ['You are a badger.', 'first question', 'first answer', 'second question'];
      const roles = ['system', 'user', 'assistant', 'user'] as const;
      await ask('', { messages: roles.map((role, at) => ({ role, content: said[at] ?? '' })) });
      const { body } = lastCall();
      const [system = -1, ...places] = said.map((part) => JSON.stringify(body).indexOf(part));
      expect([system, ...places]).not.toContain(-1);
      expect(places).toEqual(places.toSorted((a, b) => a - b));
      expect(toolNames(body['tools'])).toEqual(cli.tools);
    });

    it('takes what a client says as text: no commands, no files of the host', async () => {
      for (const content of ['/help', `read @${folder}/host.txt and $(cat ${folder}/host.txt)`, '!ls'])
        expect(textOf(await ask(content))).toContain(content);
      expect(JSON.stringify(opened.api.calls)).not.toContain('the badger is in the fridge');
    });

    it('lets no conversation see another one', async () => {
      const before = opened.api.calls.length;
      const names = Array.from({ length: 4 }, (_, at) => `person-${at}`);
      const answers = await Promise.all(names.map((name) => ask(`I am ${name}.`)));
      expect(answers.map(textOf)).toEqual(names.map((name) => `You said: I am ${name}.`));
      for (const { body } of opened.api.calls.slice(before))
        expect(new Set(JSON.stringify(body).match(/person-\d/g)).size).toBe(1);
    });

    it('shows the CLI nothing of the host', async () => {
      // The set of processes may still be filling, and a process has its parent's environment between fork and exec.
      await until(() => {
        expect(processes().length).toBeGreaterThan(0);
        for (const pid of processes()) {
          const environment = environmentOf(pid);
          expect(environment).not.toHaveProperty('SECRET_OF_THE_HOST');
          expect(environment).not.toHaveProperty('NATS_URL');
          expect(environment['HOME']).toContain('/rtr-cli-');
        }
      });
    });

    it('stops the upstream when the client goes', async () => {
      for await (const { choices } of await stream('[fake delay=100 pieces=300]')) if (choices[0]?.delta.content) break;
      const call = lastCall();
      await until(() => expect(call.aborted).toBe(true));
    });

    it('reports a CLI that is killed in the middle of an answer, and serves the next request', async () => {
      const answer = await stream('[fake delay=100 pieces=300]');
      const read = async (): Promise<void> => {
        let isFirst = true;
        for await (const { choices } of answer) {
          if (!isFirst || !choices[0]?.delta.content) continue;
          isFirst = false;
          for (const pid of processes()) if (isAlive(pid)) process.kill(pid, 'SIGKILL');
        }
      };
      await expect(read()).rejects.toThrow(/CLI was ended by SIGKILL|CLI ended|CLI cannot be reached/);
      expect(textOf(await ask('Still there?'))).toBe('You said: Still there?');
    });

    it('adds little to the time of the first token', async () => {
      const firstTokenMs = async (): Promise<number> => {
        // Each round finds its processes ready.
        await quiet();
        const began = performance.now();
        let firstAt = Infinity;
        for await (const { choices } of await stream('Hello'))
          if (choices[0]?.delta.content) firstAt = Math.min(firstAt, performance.now());
        return firstAt - began;
      };
      const isCrowded = (loadavg()[0] ?? 0) > availableParallelism();
      const bound = isCrowded ? 450 : 150;
      expect(await least(firstTokenMs, bound, 12)).toBeLessThan(bound);
    });

    it('has as many processes as before without a request', async () => {
      await quiet();
      expect(processes().length).toBe(idle);
    });

    if (cli.name !== 'claude')
      it('offers no tools if the choice is none', async () => {
        await ask('hello', { tools: tools.chat, tool_choice: 'none' });
        expect(toolNames(lastCall().body['tools'])).toEqual(cli.tools);
      });

    it('leaves tools that are only offered alone, and names what it cannot serve', async () => {
      expect((await ask('hello', { tools: tools.chat })).choices[0]?.finish_reason).toBe('stop');
      await expect(ask('hello', { logprobs: true })).rejects.toMatchObject({ status: 400, param: 'logprobs' });
    });

    it('is announced with its tools, so that auto and the models list have it', async () => {
      expect(textOf(await ask('Hi', { model: 'auto', tools: tools.chat }))).toBe('You said: Hi');
      const { data } = await opened.openai.models.list();
      const formats = cli.name === 'gemini' ? [] : ['structured_outputs'];
      expect(data.find(({ id }) => id === model)).toMatchObject({
        owned_by: 'cli',
        architecture: { input_modalities: ['text', 'image'] },
        supported_parameters: expect.arrayContaining(['tools', 'tool_choice', 'reasoning', ...formats]) as string[],
      });
    });

    it('serves a request after turns that ended with calls, and leaves no process of them', async () => {
      const asked = { messages: [user('[fake calls=2]')], tools: tools.chat };
      const loops = Array.from({ length: 4 }, () => opened.chat(asked));
      for (const { choices } of await Promise.all(loops)) expect(choices[0]?.finish_reason).toBe('tool_calls');
      await until(() => processes().length <= idle, 60_000);
      const before = opened.api.calls.length;
      expect(textOf(await ask('And now?'))).toBe('You said: And now?');
      expect(opened.api.calls.length).toBe(before + 1);
      expect(JSON.stringify(lastCall().body)).not.toContain('fake calls');
    });

    if (cli.name !== 'claude')
      it('makes one call of several where the client takes no more, and refuses to be forced to one, by name', async () => {
        const answer = await ask('[fake calls=3]', { tools: tools.chat, parallel_tool_calls: false });
        expect(callsOf(answer)).toEqual([{ n: 0, city: 'city 0' }]);
        for (const choice of ['required' as const, { type: 'function' as const, function: { name: 'weather' } }])
          await expect(ask('Hi', { tools: tools.chat, tool_choice: choice })).rejects.toMatchObject({
            status: 400,
            param: 'tool_choice',
          });
      });

    it('makes two turns with a messages client', async () => {
      const { messages: api } = opened.anthropic;
      const common = { model, max_tokens: 500, tools: tools.messages };
      const first = await api.stream({ ...common, messages: [user('How? [fake calls=2]')] }).finalMessage();
      expect(first).toMatchObject({ stop_reason: 'tool_use', usage: { output_tokens: 5 } });
      expect(first.content).toMatchObject([
        { type: 'text' },
        { type: 'tool_use', name: 'weather', input: { n: 0, city: 'city 0' } },
        { type: 'tool_use', name: 'weather', input: { n: 1, city: 'city 1' } },
      ]);
      const results = first.content.flatMap((block) =>
        block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'sunny' }] : [],
      );
      const said = { role: 'assistant' as const, content: first.content };
      const messages = [user('How?'), said, { role: 'user' as const, content: results }];
      const second = await api.create({ ...common, messages });
      expect(second).toMatchObject({ stop_reason: 'end_turn', content: [{ text: 'You said: sunny' }] });
    });

    it.for([
      ['claude-code', 'a turn'],
      ['claude-code', 'a turn of an agent of a workflow'],
      ['codex', 'a turn'],
      ['codex', 'a review'],
      ['opencode', 'a turn'],
      ['opencode', 'a turn in messages'],
      ['opencode', 'a turn in responses'],
    ] as const)('takes the tools that %s sends for %s', async ([program, turn]) => {
      const recorded = recordedRequests(program).get(turn) ?? { path: '', headers: {}, body: {} };
      const field = 'input' in recorded.body ? 'input' : 'messages';
      const api = field === 'input' || recorded.path.endsWith('/chat/completions') ? 'openai' : 'anthropic';
      const body = { ...recorded.body, model, [field]: [user('How? [fake calls=1]')] };
      const { url, key } = opened.cluster;
      const headers = { ...recorded.headers, authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const text = await (await post({ url, key, path: `/${api}${recorded.path}`, body, headers })).text();
      expect(toolNames((recorded.body as { tools?: unknown }).tools)).toContain(calledName.exec(text)?.[1] ?? text);
    });

    it('reports a rate limit of the upstream', async () => {
      await expect(ask('[fake status=429]')).rejects.toMatchObject({ status: 429 });
    });

    if (cli.keeps)
      it('keeps the process of a request that the upstream refuses or fails', async () => {
        await quiet();
        const before = processes();
        await expect(ask('[fake status=400]')).rejects.toMatchObject({ status: 400 });
        await expect(ask('[fake status=500]')).rejects.toMatchObject({ status: 502 });
        expect(textOf(await ask('And now?'))).toBe('You said: And now?');
        expect(processes()).toEqual(expect.arrayContaining(before));
      });

    it('takes no jobs once the upstream has refused its login, and says so', async () => {
      const failure = async (content: string): Promise<APIError> => {
        const error: unknown = await ask(content).catch((reason: unknown) => reason);
        if (error instanceof APIError) return error;
        throw new Error('it is answered');
      };
      expect(await failure('[fake status=401]')).toMatchObject({ status: 502 });
      await until(async () => (await failure('Hello?')).status === 503, 60_000);
      const askedAt = performance.now();
      expect((await failure('Hello?')).message).toContain('failing: login');
      // A request that waits for a worker does so for fifteen seconds.
      expect(performance.now() - askedAt).toBeLessThan(10_000);
      await until(() => opened.worker.service.lines.some(({ msg }) => String(msg).includes('refuses the login')));
    });
  });

/** In a stream of any format, of the first call. */
const calledName = /"(?:tool_use|function_call|function)"[^{}]*(?:\{)?[^{}]*"name":"([^"]+)"/;

function toolNames(offered: unknown): string[] {
  return (Array.isArray(offered) ? offered : []).flatMap((tool: Record<string, unknown>) =>
    Array.isArray(tool['functionDeclarations'])
      ? toolNames(tool['functionDeclarations'])
      : [String((tool['function'] as { name?: string } | undefined)?.name ?? tool['name'] ?? tool['type'])],
  );
}

function callsOf({ choices }: OpenAI.ChatCompletion): unknown[] {
  const calls = choices[0]?.message.tool_calls ?? [];
  return calls.map((call) => JSON.parse(call.type === 'function' ? call.function.arguments : '') as unknown);
}
