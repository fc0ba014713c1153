import { describe, expect, it } from 'vitest';
import { AnswerReader } from './answer-reader.ts';
import { chatBytes } from '../peers/upstream/answer-bytes.ts';
import { chunk, jsonAnswer, lastChunk, streamHead } from '../peers/upstream/scenario-connection.ts';

const wholeAnswer = Buffer.from(jsonAnswer(chatBytes.whole('m')));
const events = [chatBytes.begin('m'), chatBytes.text('m', 'one'), chatBytes.text('m', ' two'), chatBytes.end('m', 2)];
const stream = Buffer.from(streamHead + events.map(chunk).join('') + lastChunk);
const body = wholeAnswer.subarray(wholeAnswer.indexOf('\r\n\r\n') + 4);

describe('the reader of answers', () => {
  it('finds the end of a whole answer, wherever its bytes are split', () => {
    for (let at = 1; at < wholeAnswer.length; at += 1) {
      const reader = new AnswerReader();
      reader.push(wholeAnswer.subarray(0, at));
      expect(reader.isDone).toBe(false);
      reader.push(wholeAnswer.subarray(at));
      expect(reader).toMatchObject({ isDone: true, status: 200, bodyBytes: body.length });
    }
  });

  it('finds the end of a stream, wherever its bytes are split', () => {
    const reader = new AnswerReader();
    for (let at = 1; at < stream.length; at += 1) {
      reader.reset();
      reader.push(stream.subarray(0, at));
      expect(reader.isDone).toBe(false);
      reader.push(stream.subarray(at));
      expect(reader).toMatchObject({ isDone: true, status: 200 });
    }
  });

  it('counts the text of a stream only, and reports how the stream ended', () => {
    const reader = new AnswerReader();
    reader.push(stream);
    expect(reader.bodyBytes).toBe(Buffer.byteLength(events.join('')));
    expect(reader.tail.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('reads one answer after the other on a connection', () => {
    const reader = new AnswerReader();
    for (const answer of [wholeAnswer, stream, Buffer.from('HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n')]) {
      reader.reset();
      reader.push(answer);
      expect(reader.isDone).toBe(true);
    }
    expect(reader).toMatchObject({ status: 503, bodyBytes: 0 });
  });
});
