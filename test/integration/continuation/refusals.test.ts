import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askText, type AskOptions, type StreamedText } from '../../helpers/clients/streamed-text.ts';
import { startCluster, type Cluster } from '../../helpers/cluster/start-cluster.ts';
import { until } from '../../helpers/until.ts';

let cluster: Cluster;
/** Another ingress, on which no stream continues. */
let without: string;

beforeAll(async () => {
  cluster = await startCluster({ workers: 3 });
  ({ url: without } = await cluster.addIngress({ CONTINUE_BYTES: '0' }));
  await until(async () => (await askText({ ...cluster, url: without, format: 'chat', prompt: 'Hi' })).text !== '');
});

afterAll(() => cluster.stop());

/** Asks for a stream whose worker is killed with its first byte, and another one started. */
async function cut(options: Omit<AskOptions, 'key' | 'url'> & { url?: string }): Promise<StreamedText> {
  const stop = new AbortController();
  const asked = askText({ ...cluster, ...options, signal: stop.signal, onStart: (worker) => (served = worker) });
  let served: string | undefined;
  await until(() => served !== undefined);
  const at = cluster.workers.findIndex(({ lines }) => lines.some(({ worker }) => worker === served));
  const [doomed] = cluster.workers.splice(at, 1);
  await doomed?.kill();
  const [answer] = await Promise.all([asked, cluster.addWorker()]);
  return answer;
}

async function outcome(name: string): Promise<number> {
  const text = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  return Number(new RegExp(`^rtr_continuations_total\\{outcome="${name}"\\} (\\d+)`, 'm').exec(text)?.[1]);
}

const slow = '[demo rate=40 tokens=200]\nCount.';
const thinkingMessage = { thinking: { type: 'enabled', budget_tokens: 1_024 } };
const tool = {
  type: 'function',
  function: {
    name: 'look',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  },
};
const schema = {
  type: 'json_schema',
  json_schema: { name: 'a', schema: { type: 'object', properties: { text: { type: 'string' } } } },
};

describe('a stream that cannot continue exactly', () => {
  it.each<[string, Omit<AskOptions, 'key' | 'url'>, 'refused' | 'none']>([
    ['log probabilities', { format: 'chat', prompt: slow, fields: { logprobs: true } }, 'refused'],
    ['thinking', { format: 'chat', prompt: `[demo rate=8]\nThink.`, fields: { reasoning_effort: 'high' } }, 'refused'],
    [
      'thinking of a message',
      { format: 'messages', prompt: '[demo rate=8]\nThink.', fields: thinkingMessage },
      'refused',
    ],
    [
      'a tool call',
      {
        format: 'chat',
        prompt: '[demo rate=8]\nLook at "a/b/c.txt".',
        fields: { tools: [tool], tool_choice: 'required' },
      },
      'refused',
    ],
    [
      'structured output',
      { format: 'chat', prompt: '[demo rate=8]\nSay "this and that".', fields: { response_format: schema } },
      'none',
    ],
  ])('with %s ends with the error of its worker', async (_, options, counted) => {
    const before = await outcome('refused');
    const answer = await cut(options);
    expect(answer.error).toContain('lost');
    expect(answer.comments).toEqual([]);
    expect((await outcome('refused')) - before).toBe(counted === 'refused' ? 1 : 0);
  });

  it('because its client does not want it ends with the error of its worker', async () => {
    const before = await outcome('continued');
    const answer = await cut({ format: 'chat', prompt: slow, headers: { 'x-rtr-continue': 'never' } });
    expect(answer.error).toContain('lost');
    expect(await outcome('continued')).toBe(before);
  });

  it('because its ingress continues none ends with the error of its worker', async () => {
    const answer = await cut({ url: without, format: 'chat', prompt: slow });
    expect(answer.error).toContain('lost');
  });

  it('is the only one: another one beside it goes on', async () => {
    const before = await outcome('continued');
    const answer = await cut({ format: 'chat', prompt: slow });
    expect([answer.error, answer.comments.length, answer.usage?.output]).toEqual([undefined, 1, 200]);
    expect((await outcome('continued')) - before).toBe(1);
  });

  it('is not asked for by any other word in its header', async () => {
    const answer = await askText({ ...cluster, format: 'chat', prompt: 'Hi', headers: { 'x-rtr-continue': 'no' } });
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining('x-rtr-continue')]);
  });
});
