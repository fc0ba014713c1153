import { beforeAll, describe, expect, it } from 'vitest';
import { recordOf } from '../../helpers/accounts/read-usage.ts';
import {
  askText,
  textFormats,
  type AskOptions,
  type StreamedText,
  type TextFormat,
} from '../../helpers/clients/streamed-text.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import { until } from '../../helpers/until.ts';

/** A model that only the workers of this file serve. */
const model = 'cut';

/** Another ingress, on which streams do not continue. */
let without: string;
/** Kills the worker of the model, and starts another one in its place. */
let replaceWorker: () => Promise<void>;

const cluster = useCluster();
beforeAll(async () => {
  const [{ engineUrl, worker }, { url }] = await Promise.all([
    cluster.addEngine({ DEMO_MODELS: model }, { SLOTS: '16' }),
    cluster.addIngress({ CONTINUE_BYTES: '0' }),
  ]);
  without = url;
  let serving = worker;
  replaceWorker = async () => {
    await serving.kill();
    serving = await cluster.addWorker({ ENGINE_URL: engineUrl, SLOTS: '16' });
  };
  await until(async () => (await ask({ url: without, format: 'chat', prompt: 'Hi' })).text !== '');
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
  if (format === 'completions') return '[demo tokens=300 rate=100]\nCount:';
  return `Say it.\n[demo say ${JSON.stringify(tricky)}]\n[demo rate=100]`;
}

describe('a stream whose worker is killed in its middle', () => {
  const cuts = new Map<TextFormat, StreamedText>();
  beforeAll(async () => {
    const asked = textFormats.map((format) => ({
      format,
      prompt: promptOf(format),
      headers: { 'x-request-id': `cut-${format}` },
    }));
    const answers = await cutAll(asked, 100);
    for (const [at, format] of textFormats.entries()) cuts.set(format, answers[at] as StreamedText);
  });

  it.each(textFormats)('of the format %s goes on elsewhere as if nothing had happened', async (format) => {
    const cut = cuts.get(format);
    const uncut = await ask({ format, prompt: promptOf(format).replace('rate=100', 'rate=0') });
    expect(uncut.error).toBeUndefined();
    expect(cut?.error).toBeUndefined();
    expect(cut?.text).toBe(uncut.text);
    expect(cut?.finalText).toBe(uncut.finalText);
    expect(cut?.ids.size).toBe(uncut.ids.size);
    expect(cut?.finish).toEqual(uncut.finish);
    expect(cut?.usage).toEqual(uncut.usage);
    expect(cut?.comments.join()).toMatch(/^: rtr moved to \S+$/);
    const numbers = (cut?.events ?? []).flatMap(({ sequence_number: number }) =>
      typeof number === 'number' ? [number] : [],
    );
    expect(numbers).toEqual(numbers.map((_, at) => at));
    const id = `cut-${format}`;
    const { input, output } = uncut.usage ?? {};
    const record = { outcome: 'done', attempts: 2, promptTokens: input, completionTokens: output };
    expect(await recordOf(cluster, id)).toMatchObject(record);
    const served = () =>
      cluster.ingress.lines.find(({ msg, requestId }) => msg === 'request served' && requestId === id);
    await until(() => served() !== undefined);
    expect(served()).toMatchObject({ moves: ['worker_lost'], continuations: ['continued'] });
  });
});

async function outcomes(): Promise<Record<string, number>> {
  const text = await (await fetch(`${cluster.adminUrl}/metrics`)).text();
  const found = text.matchAll(/^rtr_continuations_total\{outcome="(\w+)"\} (\d+)/gm);
  return Object.fromEntries(Array.from(found, ([, name, count]) => [name, Number(count)]));
}

describe('a stream that cannot continue exactly', () => {
  const slow = '[demo rate=60 tokens=200]\nCount.';
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
  const refused: Record<string, () => Asked> = {
    'log probabilities': () => ({ format: 'chat', prompt: slow, fields: { logprobs: true } }),
    thinking: () => ({ format: 'chat', prompt: '[demo rate=8]\nThink.', fields: { reasoning_effort: 'high' } }),
    'thinking of a message': () => ({
      format: 'messages',
      prompt: '[demo rate=8]\nThink.',
      fields: { thinking: { type: 'enabled', budget_tokens: 1_024 } },
    }),
    'a tool call': () => ({
      format: 'chat',
      prompt: '[demo rate=8]\nLook at "a/b/c.txt".',
      fields: { tools: [tool], tool_choice: 'required' },
    }),
  };
  const others: Record<string, () => Asked> = {
    'structured output': () => ({
      format: 'chat',
      prompt: '[demo rate=8]\nSay "this and that".',
      fields: { response_format: schema },
    }),
    'a client that wants none': () => ({ format: 'chat', prompt: slow, headers: { 'x-rtr-continue': 'never' } }),
    'an ingress that continues none': () => ({ url: without, format: 'chat', prompt: slow }),
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
