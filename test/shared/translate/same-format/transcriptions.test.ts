import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { estimateSoundSeconds } from '#shared/formats/transcriptions/transcriptions-format.ts';
import { encodeForm } from '#shared/translate/upstreams/encode-form.ts';
import { translationBetween } from '../translation-between.ts';

const translation = translationBetween('transcriptions', 'transcriptions');
const data = Buffer.from('sound').toString('base64');
const file = { name: 'a "b".mp3', type: 'audio/mpeg', bytes: 5, start: data, data };

async function read(request: JsonObject): Promise<FormData> {
  const { body, contentType } = encodeForm(request, 'mark');
  return new Response(new Uint8Array(Buffer.concat(body)), { headers: { 'content-type': contentType } }).formData();
}

describe('a transcription request', () => {
  it('is encoded as a form with its texts, lists of texts and file', async () => {
    const granularities = { 'timestamp_granularities[]': ['word', 'segment'] };
    const asked = { file, model: 'auto', language: 'de', temperature: 0.5, ...granularities, odd: { a: 1 } };
    const form = await read(translation.translateRequest(asked, { model: 'm' }));
    expect(form.get('model')).toBe('m');
    expect(form.get('temperature')).toBe('0.5');
    expect(form.getAll('timestamp_granularities[]')).toEqual(['word', 'segment']);
    expect(form.has('odd')).toBe(false);
    const sent = form.get('file') as File;
    expect([sent.name, sent.type, await sent.text()]).toEqual(['a "b".mp3', 'audio/mpeg', 'sound']);
  });

  it('cannot add headers or parts through its names', async () => {
    const sneaky = { ...file, name: 'a"\r\nx: y\r\n\r\n--mark', type: 'audio/mpeg\r\nx: y' };
    const form = await read({ file: sneaky, 'a"\r\n\r\nb': 'c' });
    expect([...form.keys()]).toHaveLength(2);
    expect(await (form.get('file') as File).text()).toBe('sound');
  });
});

describe('a transcription', () => {
  const answerContext = { id: 'transcription-1', model: 'm', created: 1, recalled: { seconds: 4 } };

  const tokens = { type: 'tokens', input_tokens: 14, output_tokens: 45 };
  it.each([
    [{ text: 'a', usage: { type: 'duration', seconds: 7 } }, { units: { seconds: 7 } }],
    [{ text: 'a', duration: '2.01' }, { units: { seconds: 3 } }],
    [{ text: 'a', duration: 2.9 }, { units: { seconds: 3 } }],
    [{ text: '' }, { units: { seconds: 4 } }],
    [
      { text: 'a', usage: tokens },
      { promptTokens: 14, completionTokens: 45, units: { seconds: 4 } },
    ],
  ])('passes and has its usage counted: %j', (body, usage) => {
    const reply = translation.translateReply(body, answerContext);
    expect(reply.body).toEqual(body);
    expect(reply.ending.usage).toMatchObject(usage);
  });

  it('is an upstream failure without a text', () => {
    expect(() => translation.translateReply({}, answerContext)).toThrow('what was said');
  });
});

it("the duration of sound comes from a WAV file's header, or is an estimate of at least a second", () => {
  const head = Buffer.alloc(66);
  head.write('RIFF', 0, 'latin1');
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(32_000, 28);
  expect(estimateSoundSeconds({ bytes: 320_001, start: head.toString('base64') })).toBe(11);
  head.writeUInt32LE(0, 28);
  expect(estimateSoundSeconds({ bytes: 160_000, start: head.toString('base64') })).toBe(10);
  expect(estimateSoundSeconds({ bytes: 160_000, start: '' })).toBe(10);
  expect(estimateSoundSeconds({ bytes: 1, start: 'AA==' })).toBe(1);
});
