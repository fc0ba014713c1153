import { describe, expect, it } from 'vitest';
import { speechUpstream } from '#shared/translate/same-format/same-formats.ts';
import { BytesListener } from '#shared/upstream/bytes-listener.ts';
import { translationBetween } from '../translation-between.ts';

const translation = translationBetween('speech', 'speech');
function listen() {
  const heads: object[] = [];
  const pieces: Uint8Array[] = [];
  const take = (piece: Uint8Array): void => void pieces.push(piece);
  const listener = new BytesListener(speechUpstream, (head) => void heads.push(head), take);
  return { listener, heads, pieces };
}

describe('a speech request', () => {
  const asked = { model: 'auto', input: 'Hé 👋', voice: 'alloy' };

  it('passes with the name of the chosen model', () => {
    expect(translation.translateRequest(asked, { model: 'm' })).toEqual({ ...asked, model: 'm' });
  });

  it('is billed by its characters', () => {
    const recalled = translation.recallFields?.(asked);
    const answerContext = { id: 'speech-1', model: 'm', created: 1, promptTokens: () => 3, recalled };
    const usage = { promptTokens: 3, units: { characters: 4 } };
    expect(translation.bytes?.ending(answerContext)).toMatchObject({ usage });
  });
});

describe('a speech answer', () => {
  it('passes with its type as it arrives, and does not change when the connection reads on', () => {
    const { listener, heads, pieces } = listen();
    listener.onStart(200, { 'content-type': 'audio/mpeg', 'x-other': '1' });
    expect(heads).toEqual([{ 'content-type': 'audio/mpeg' }]);
    const chunk = Buffer.from([1, 2, 3]);
    expect(listener.onData(chunk)).toBe('more');
    chunk.fill(0);
    listener.end();
    expect(pieces.map((piece) => [...piece])).toEqual([[1, 2, 3]]);
  });

  it('is an error if the upstream sent one, and none of it passes', () => {
    const { listener, heads, pieces } = listen();
    listener.onStart(400, { 'content-type': 'application/json' });
    expect(listener.onData(Buffer.from('{"error":{"message":"No such voice."}}'))).toBe('nothing');
    expect(() => listener.end()).toThrow('No such voice.');
    expect([heads, pieces]).toEqual([[], []]);
  });

  it('is an upstream failure without a byte', () => {
    const { listener } = listen();
    listener.onStart(200, {});
    expect(() => listener.end()).toThrow('without content');
    listener.end(true);
  });
});
