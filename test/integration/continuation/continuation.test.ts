import { beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../helpers/accounts/read-usage.ts';
import { askText, textFormats } from '../../helpers/clients/streamed-text.ts';
import type { AskOptions, StreamedText, TextFormat } from '../../helpers/clients/streamed-text.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';

/** A model that only the workers of this file serve. */
const model = 'cut';

/** Another ingress, whose memory has room for streams of small requests. */
let small: string;
/** Kills the worker of the model, and starts another one in its place. */
let replaceWorker: () => Promise<void>;

const cluster = useCluster();
beforeAll(async () => {
  const [{ engineUrl, worker }, { url }] = await Promise.all([
    cluster.addEngine({ DEMO_MODELS: model }, { SLOTS: '16' }),
    cluster.addIngress({ MEMORY_BYTES: String(8 * 1024 * 1024) }),
  ]);
  small = url;
  let serving = worker;
  replaceWorker = async () => {
    await serving.kill();
    serving = await cluster.addWorker({ ENGINE_URL: engineUrl, SLOTS: '16' });
  };
  await until(async () => (await ask({ url: small, format: 'chat', prompt: 'Hi' })).text !== '');
});

type Asked = Omit<AskOptions, 'key' | 'url'> & { url?: string };

function ask(asked: Asked): Promise<StreamedText> {
  return askText({ url: cluster.url, key: cluster.key, model, ...asked });
}

/** Sends all these requests, and kills their worker once each has begun, or has this many characters. */
async function cutAll(asked: readonly Asked[], length = 0): Promise<StreamedText[]> {
  const begun = new Set<number>();
  const answers = asked.map((options, at) =>
    ask({
      ...options,
      onStart: () => void (length === 0 && begun.add(at)),
      onText: (text) => void (text.length >= length && begun.add(at)),
    }),
  );
  await until(() => begun.size === asked.length);
  await replaceWorker();
  return Promise.all(answers);
}

/** A text with parts that are easily lost or doubled: spaces, line ends, characters of several tokens. */
const tricky = Array.from(
  { length: 12 },
  (_, at) => `${at}. Über 👩‍👩‍👧‍👦 — naïve  text,\n\n    indented\tline ${'ha'.repeat(at)} 漢字 `,
).join('\n');

/** Returns a prompt for this text: the demo engine answers with about 400 tokens in some seconds; completions get filler. */
function promptOf(format: TextFormat): string {
  if (format === 'completions') return '[demo tokens=300 rate=60]\nCount:';
  return `Say it.\n[demo say ${JSON.stringify(tricky)}]\n[demo rate=60]`;
}

describe('a stream whose worker is killed in its middle', () => {
  const cuts = new Map<TextFormat, StreamedText>();
  beforeAll(async () => {
    const headers = (format: TextFormat) => ({ 'x-request-id': `cut-${format}` });
    const asked = textFormats.map((format) => ({ format, prompt: promptOf(format), headers: headers(format) }));
    const answers = await cutAll(asked, 100);
    for (const [at, format] of textFormats.entries()) cuts.set(format, answers[at] as StreamedText);
  });

  it.each(textFormats)('of the format %s goes on elsewhere as if nothing had happened', async (format) => {
    const cut = cuts.get(format);
    const uncut = await ask({ format, prompt: promptOf(format).replace('rate=60', 'rate=0') });
    expect(uncut.error).toBeUndefined();
    const { text, finalText, finish, usage, error } = uncut;
    expect(cut).toMatchObject({ text, finalText, finish, usage, error });
    expect(cut?.ids.size).toBe(uncut.ids.size);
    expect(cut?.comments.join()).toMatch(/^: rtr moved to \S+$/);
    const numbers = (cut?.events ?? []).flatMap(({ sequence_number: number }) =>
      typeof number === 'number' ? [number] : [],
    );
    expect(numbers).toEqual(numbers.map((_, at) => at));
    const requestId = `cut-${format}`;
    const counts = { promptTokens: usage?.input, completionTokens: usage?.output };
    expect(await recordOf(cluster, requestId)).toMatchObject({ outcome: 'done', attempts: 2, ...counts });
    const served = { msg: 'request served', requestId, moves: ['worker_lost'], continuations: ['continued'] };
    await until(() => expect(cluster.ingress.lines).toContainEqual(expect.objectContaining(served)));
  });
});

async function outcomes(): Promise<Record<string, number>> {
  const text = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const found = text.matchAll(/^rtr_continuations_total\{outcome="(\w+)"\} (\d+)/gm);
  return Object.fromEntries(Array.from(found, ([, name, count]) => [name, Number(count)]));
}

describe('a stream that cannot continue exactly', () => {
  const slow = '[demo rate=30 tokens=200]\nCount.';
  const parameters = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] };
  const tools = [{ type: 'function', function: { name: 'look', parameters } }];
  const schema = { type: 'object', properties: { text: { type: 'string' } } };
  const response_format = { type: 'json_schema', json_schema: { name: 'a', schema } };
  const thinking = { type: 'enabled', budget_tokens: 1_024 };
  const chat = (prompt: string, fields: object) => () => ({ format: 'chat' as const, prompt, fields });
  const think = '[demo rate=8]\nThink.';
  const refused: Record<string, () => Asked> = {
    'log probabilities': chat(slow, { logprobs: true }),
    thinking: chat(think, { reasoning_effort: 'high' }),
    'thinking of a message': () => ({ format: 'messages', prompt: think, fields: { thinking } }),
    'a tool call': chat('[demo rate=8]\nLook at "a/b/c.txt".', { tools, tool_choice: 'required' }),
  };
  const others: Record<string, () => Asked> = {
    'structured output': chat('[demo rate=8]\nSay "this and that".', { response_format }),
    'a client that wants none': () => ({ format: 'chat', prompt: slow, headers: { 'x-rtr-continue': 'never' } }),
    // One stream gets a quarter of an eighth of the memory.
    'an ingress without room for its request': () => ({
      url: small,
      format: 'chat',
      prompt: `${slow}\n${'x'.repeat(300_000)}`,
    }),
  };
  const all = Object.entries({ ...refused, ...others });
  let answers: StreamedText[];
  let counted: Record<string, number>;

  beforeAll(async () => {
    const before = await outcomes();
    answers = await cutAll([...all.map(([, asked]) => asked()), { format: 'chat', prompt: slow }]);
    const after = await outcomes();
    counted = Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]));
  });

  it.each(all.map(([what], at) => [what, at] as const))('ends with the error of its worker: %s', (_, at) => {
    expect(answers[at]?.error).toContain('lost');
    expect(answers[at]?.comments).toEqual([]);
  });

  it('does not affect another stream beside it', () => {
    const beside = answers.at(-1);
    expect([beside?.error, beside?.comments.length, beside?.usage?.output]).toEqual([undefined, 1, 200]);
  });

  it('is counted, unless it opted out of continuing', () => {
    expect(counted).toMatchObject({ refused: Object.keys(refused).length, continued: 1 });
  });

  it('is refused with any other word in its header', async () => {
    const answer = await ask({ format: 'chat', prompt: 'Hi', headers: { 'x-rtr-continue': 'no' } });
    expect([answer.status, answer.error]).toEqual([400, expect.stringContaining('x-rtr-continue')]);
  });
});
