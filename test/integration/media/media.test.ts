import { hash, randomBytes } from 'node:crypto';
import { inflateSync } from 'node:zlib';
import OpenAI, { toFile } from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import { readUsage, recordOf } from '../../helpers/accounts/read-usage.ts';
import { engineState, post as postTo } from '../../helpers/clients/keyed-requests.ts';
import { commonIngress } from '../../helpers/cluster/common-ingress.ts';
import { useCluster } from '../../helpers/cluster/share-cluster.ts';
import type { ServiceProcess } from '../../helpers/processes/start-process.ts';
import { until } from '../../helpers/until.ts';

/*
 * A model that draws, one that speaks, one that writes down sound and one that converses, on one demo engine behind a real ingress and a
 * real worker.
 */

let engineUrl: string;
let doomed: ServiceProcess;
const cluster = useCluster({ ingress: commonIngress() });
beforeAll(async () => {
  ({ engineUrl, worker: doomed } = await cluster.addEngine({
    DEMO_MODELS: 'painter,speaker,scribe,writer',
    DEMO_OPERATIONS: 'painter=draw+redraw speaker=speak scribe=transcribe+translate writer=generate',
  }));
});

const openai = (apiKey = cluster.key) => new OpenAI({ baseURL: `${cluster.url}/api/openai/v1`, apiKey, maxRetries: 0 });

const post = (path: string, body: object, headers: Record<string, string> = {}) =>
  postTo({ ...cluster, path: `/openai${path}`, body, headers });

/** Sends a request and expects that it is refused for this field. */
async function expectRefused(path: string, body: object, expected: object): Promise<void> {
  const answer = await post(path, body);
  const error = { type: 'invalid_request_error', ...expected };
  expect([answer.status, await answer.json()]).toMatchObject([400, { error }]);
}

function formOf(fields: Record<string, string | Blob>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

describe('pictures, by the official SDK', () => {
  it('are as many as requested, each a PNG', async () => {
    const { created, data = [] } = await openai().images.generate({ model: 'painter', prompt: 'A cat', n: 3 });
    expect(created).toBeGreaterThan(1_700_000_000);
    const pictures = data.map(({ b64_json: coded = '' }) => Buffer.from(coded, 'base64'));
    expect(pictures).toHaveLength(3);
    expect(new Set(pictures.map((picture) => picture.toString('hex'))).size).toBe(3);
    for (const picture of pictures) {
      expect(picture.subarray(1, 4).toString()).toBe('PNG');
      const length = picture.readUInt32BE(33);
      expect(inflateSync(picture.subarray(41, 41 + length))).toHaveLength(64 * (1 + 3 * 64));
    }
  });

  it('are drawn by any model that draws if none is named', async () => {
    const answer = await post('/images/generations', { prompt: 'A dog' });
    expect(await answer.json()).toMatchObject({ data: [{ b64_json: expect.any(String) as string }] });
  });

  it('are billed one by one', async () => {
    const asked = { model: 'painter', prompt: 'A cat', n: 2 };
    expect((await post('/images/generations', asked, { 'x-request-id': 'drawn' })).status).toBe(200);
    const billed = { operation: 'draw', outcome: 'done', images: 2, cost: 80_000_000 };
    expect(await recordOf(cluster, 'drawn')).toMatchObject(billed);
  });

  it('that are too many for a key are refused before they are drawn', async () => {
    const { raw } = await cluster.addKey({ limits: { tokensPerMinute: 1000 } });
    const many = openai(raw).images.generate({ model: 'painter', prompt: 'A cat', n: 2 });
    await expect(many).rejects.toMatchObject({ status: 400, code: 'request_exceeds_limit' });
  });
});

describe('changed pictures, by the official SDK', () => {
  const picture = (size: number) => toFile(randomBytes(size), 'a.png', { type: 'image/png' });

  it('are made from one picture, or several and a mask, whatever their size', async () => {
    const one = await openai().images.edit({ model: 'painter', prompt: 'A hat', image: await picture(100), n: 2 });
    expect(one.data).toHaveLength(2);
    const image = [await picture(1_000_001), await picture(70_000), await picture(5)];
    const mask = await picture(40_000);
    const asked = { model: 'painter', prompt: 'A hat', image };
    const [several, again, unmasked] = await Promise.all([
      openai().images.edit({ ...asked, mask }),
      openai().images.edit({ ...asked, mask }),
      openai().images.edit(asked),
    ]);
    expect(several.data).toEqual(again.data);
    expect(several.data).not.toEqual(unmasked.data);
  });

  it('are what the engine makes of the same form', async () => {
    const bytes = randomBytes(200_000);
    const form = (): FormData => {
      const made = formOf({ model: 'painter', prompt: 'A hat' });
      for (const part of [bytes, bytes.subarray(7)])
        made.append('image[]', new File([new Uint8Array(part)], 'a.png', { type: 'image/png' }));
      return made;
    };
    const [routed, direct] = await Promise.all([
      post('/images/edits', form(), { 'x-request-id': 'redrawn' }),
      fetch(`${engineUrl}/v1/images/edits`, { method: 'POST', body: form() }),
    ]);
    const [ours, theirs] = (await Promise.all([routed.json(), direct.json()])) as { data: object[] }[];
    expect(ours?.data).toEqual(theirs?.data);
    const billed = { operation: 'redraw', outcome: 'done', images: 1, cost: 40_000_000 };
    expect(await recordOf(cluster, 'redrawn')).toMatchObject(billed);
  });

  const [model, prompt, image] = ['painter', 'A hat', new Blob(['x'])];

  it.each<[string, Record<string, string | Blob>, string]>([
    ['no picture', { model, prompt }, 'image'],
    ['a text for a picture', { model, prompt, image: 'x' }, 'image'],
    ['no prompt', { model, image }, 'prompt'],
    ['too long a prompt', { model, prompt: 'a'.repeat(132_000), image }, 'prompt'],
    ['too large a number', { model, prompt, image, n: '11' }, 'n'],
    ['parts', { model, prompt, image, stream: 'true' }, 'stream'],
    ['another model', { model: 'writer', prompt, image }, 'model'],
  ])('are refused for %s', async (_, fields, param) => {
    await expectRefused('/images/edits', formOf(fields), { param });
  });
});

describe('a form', () => {
  it('with more pictures than the API takes is refused, not cut', async () => {
    const image = await Promise.all(Array.from({ length: 18 }, () => toFile(Buffer.from('x'), 'a.png')));
    const asked = openai().images.edit({ model: 'painter', prompt: 'A hat', image });
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringContaining('17') as string });
  });
});

describe('speech, by the official SDK', () => {
  const input = 'Grüße aus Köln. 👋';

  it('is the sound of the engine, with its type', async () => {
    const answer = await openai().audio.speech.create({ model: 'speaker', voice: 'alloy', input });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'audio/wav']);
    const sound = Buffer.from(await answer.arrayBuffer());
    expect(sound.subarray(0, 4).toString()).toBe('RIFF');
    expect((sound.length - 44) % 400).toBe(0);
    const body = JSON.stringify({ model: 'speaker', input });
    const direct = await fetch(`${engineUrl}/v1/audio/speech`, { method: 'POST', body });
    expect(sound.equals(Buffer.from(await direct.arrayBuffer()))).toBe(true);
  });

  it('arrives while it is spoken', async () => {
    const slow = { model: 'speaker', input: 'one two three four five six', demo: { tokens_per_second: 1.5 } };
    const begun = performance.now();
    const answer = await post('/audio/speech', slow);
    const arrivals: number[] = [];
    for await (const _ of answer.body ?? []) arrivals.push(performance.now() - begun);
    expect(arrivals.length).toBeGreaterThan(2);
    expect((arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0)).toBeGreaterThan(200);
  });

  it('is billed by the characters that people count', async () => {
    const answer = await post('/audio/speech', { model: 'speaker', input }, { 'x-request-id': 'spoken' });
    await answer.arrayBuffer();
    const billed = { operation: 'speak', outcome: 'done', characters: 17, cost: 255_000 };
    expect(await recordOf(cluster, 'spoken')).toMatchObject(billed);
  });

  it('that breaks off closes the connection, so that no client takes a part for the whole', async () => {
    const fault = { fault: 'drop', fault_after_tokens: 3 };
    const request = { model: 'speaker', input: 'one two three four five six', demo: fault };
    const answer = await post('/audio/speech', request, { 'x-request-id': 'broken' });
    expect(answer.status).toBe(200);
    await expect(answer.arrayBuffer()).rejects.toThrow();
    expect(await recordOf(cluster, 'broken')).toMatchObject({ operation: 'speak', outcome: 'failed' });
  });

  it('that does not begin is an error with its status', async () => {
    const answer = await post('/audio/speech', { model: 'speaker', input, demo: { fault: '500' } });
    expect([answer.status, await answer.json()]).toMatchObject([502, { error: { code: 'upstream_failed' } }]);
  });
});

describe('transcriptions, by the official SDK', () => {
  /** Returns sound of this size; a second has 1000 bytes. */
  function wave(bytes: number): Buffer {
    const file = randomBytes(bytes);
    file.write('RIFF', 0, 'latin1');
    file.write('WAVEfmt ', 8, 'latin1');
    file.writeUInt32LE(1000, 28);
    return file;
  }

  function textOf(name: string, content: Buffer): string {
    return `I heard ${content.length} bytes of “${name}”, ${hash('sha256', content).slice(0, 12)}.`;
  }

  it.each([1, 2, 3, 100_000, 3_000_001])('of a file of %d bytes are those of the engine', async (bytes) => {
    const content = randomBytes(bytes);
    const file = await toFile(content, 'Rede, "Köln".mp3', { type: 'audio/mpeg' });
    const { text } = await openai().audio.transcriptions.create({ model: 'scribe', file });
    // A quote in a name is written as browsers do.
    expect([textOf('Rede, "Köln".mp3', content), textOf('Rede, %22Köln%22.mp3', content)]).toContain(text);
  });

  it('have segments on request, and all fields of the form reach the engine', async () => {
    const content = wave(5500);
    const answer = await openai().audio.transcriptions.create({
      model: 'scribe',
      file: await toFile(content, 'a.wav'),
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
      language: 'en',
    });
    expect(answer).toMatchObject({ duration: 5.5, text: textOf('a.wav', content), segments: [{ end: 5.5 }] });
    const state: unknown = await (await fetch(`${engineUrl}/demo/state`)).json();
    const fields = expect.arrayContaining(['timestamp_granularities[]', 'language', 'file']);
    expect(state).toMatchObject({ last: { fields } });
  });

  it.each([
    ['text', 'text/plain; charset=utf-8', /^I heard 2500 bytes of “a.wav”, [0-9a-f]{12}.\n$/],
    ['srt', 'text/plain; charset=utf-8', /^1\n00:00:00,000 --> 00:00:02,500\nI heard/],
    ['vtt', 'text/vtt', /^WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nI heard/],
  ] as const)('as %s pass unchanged from the engine', async (format, type, text) => {
    const file = new File([new Uint8Array(wave(2500))], 'a.wav', { type: 'audio/wav' });
    const form = formOf({ file, model: 'scribe', response_format: format });
    const answer = await post('/v1/audio/transcriptions', form, { 'x-request-id': `as-${format}` });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, type]);
    expect(await answer.text()).toMatch(text);
    // Such answers have no counts: the length is that of the file.
    const billed = { operation: 'transcribe', outcome: 'done', seconds: 3, cost: 300_000 };
    expect(await recordOf(cluster, `as-${format}`)).toMatchObject(billed);
  });

  it('may be in English', async () => {
    const content = wave(1500);
    const file = await toFile(content, 'a.wav');
    const asked = { model: 'scribe', file, response_format: 'verbose_json' } as const;
    const answer = await openai().audio.translations.create(asked);
    expect(answer).toMatchObject({ task: 'translate', text: textOf('a.wav', content) });
  });

  it('of 25 MiB are finished by another worker when theirs is killed, billed once, and bounded in sum', async () => {
    const content = wave(25 * 1024 * 1024);
    const file = await toFile(content, 'long.wav');
    const asked = { model: 'scribe', file, prompt: '[demo delay=4000]' };
    // The start of its next worker may take a while.
    const headers = { 'x-request-id': 'moved', 'x-rtr-max-wait': '60' };
    const answer = openai().audio.transcriptions.create(asked, { headers });
    answer.catch(() => undefined);
    await until(async () => expect((await engineState({ engineUrl })).active).toBe(1));
    doomed.child.kill('SIGKILL');
    const another = openai().audio.transcriptions.create({ model: 'scribe', file });
    await expect(another).rejects.toMatchObject({ status: 503, code: 'overloaded' });
    await cluster.addWorker({ ENGINE_URL: engineUrl });
    expect((await answer).text).toBe(textOf('long.wav', content));
    const seconds = Math.ceil(content.length / 1000);
    const billed = { operation: 'transcribe', outcome: 'done', seconds, attempts: 2 };
    expect(await recordOf(cluster, 'moved')).toMatchObject(billed);
    expect((await readUsage(cluster.prefix)).filter(({ id }) => id === 'moved')).toHaveLength(1);
  });

  it('of a file that is too large are refused', async () => {
    const file = await toFile(Buffer.alloc(33 * 1024 * 1024, 1), 'a.wav');
    const asked = openai().audio.transcriptions.create({ model: 'scribe', file });
    await expect(asked).rejects.toMatchObject({ status: 413 });
  });

  it('are billed by the seconds that the engine reports', async () => {
    const headers = { 'x-request-id': 'written-down' };
    const file = await toFile(wave(9001), 'a.wav');
    await openai().audio.transcriptions.create({ model: 'scribe', file }, { headers });
    const billed = { operation: 'transcribe', outcome: 'done', seconds: 10, cost: 1_000_000 };
    expect(await recordOf(cluster, 'written-down')).toMatchObject(billed);
  });

  it('count against the limits of a key by the length of the sound', async () => {
    const { raw } = await cluster.addKey({ limits: { tokensPerMinute: 1000 } });
    const sound = async (seconds: number) => ({ model: 'scribe', file: await toFile(wave(seconds * 1000), 'a.wav') });
    expect(await openai(raw).audio.transcriptions.create(await sound(60))).toHaveProperty('text');
    const long = openai(raw).audio.transcriptions.create(await sound(600));
    await expect(long).rejects.toMatchObject({ status: 400, code: 'request_exceeds_limit' });
  });

  it('that the engine fails to make are an error with its status', async () => {
    const file = await toFile(wave(100), 'a.wav');
    const asked = { model: 'scribe', file, prompt: '[demo fault=500]' };
    await expect(openai().audio.transcriptions.create(asked)).rejects.toMatchObject({ status: 502 });
    const wrong = openai().audio.transcriptions.create({ ...asked, model: 'writer' });
    await expect(wrong).rejects.toMatchObject({ status: 400, param: 'model' });
  });

  const file = new Blob(['x']);

  it.each<[string, object, object]>([
    ['a form without a file', formOf({ model: 'scribe' }), { param: 'file' }],
    ['a form with a text for a file', formOf({ model: 'scribe', file: 'x' }), { param: 'file' }],
    ['a form without a model', formOf({ file }), { param: 'model' }],
    ['a form that is to be streamed', formOf({ model: 'scribe', file, stream: 'true' }), { param: 'stream' }],
    ['a body that is not a form', { model: 'scribe', file: 'x' }, {}],
  ])('of %s are refused', async (_, body, expected) => {
    await expectRefused('/v1/audio/transcriptions', body, expected);
  });
});

describe('bad input', () => {
  const [missing, wrong, unsupported] = ['missing_required_parameter', 'invalid_type', 'unsupported_parameter'];

  it.each<[string, object, param: string, code: string | undefined]>([
    ['/images/generations', {}, 'prompt', missing],
    ['/images/generations', { prompt: '' }, 'prompt', wrong],
    ['/images/generations', { prompt: 'a', n: 11 }, 'n', wrong],
    ['/images/generations', { prompt: 'a', stream: true }, 'stream', unsupported],
    ['/audio/speech', { input: 'a' }, 'model', missing],
    ['/audio/speech', { model: 'speaker' }, 'input', missing],
    ['/audio/speech', { model: 'speaker', input: '' }, 'input', wrong],
    ['/audio/speech', { model: 'speaker', input: 'a', speed: 9 }, 'speed', wrong],
    ['/audio/speech', { model: 'speaker', input: 'a', stream_format: 'sse' }, 'stream_format', unsupported],
    ['/audio/speech', { model: 'writer', input: 'a' }, 'model', wrong],
    ['/images/generations', { model: 'writer', prompt: 'a' }, 'model', wrong],
  ])('at %s, %j is refused with the field', async (path, body, param, code) => {
    await expectRefused(path, body, { param, code });
  });
});
