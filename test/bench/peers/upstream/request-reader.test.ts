import { describe, expect, it } from 'vitest';
import { RequestReader } from './request-reader.ts';

const first = 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nContent-Length: 5\r\n\r\nhello';
const second = 'GET /health HTTP/1.1\r\nhost: x\r\n\r\n';
const both = Buffer.from(first + second);

describe('the reader of requests', () => {
  it('takes one request after the other, wherever the bytes are cut', () => {
    for (let at = 1; at < both.length; at += 1) {
      const read: string[] = [];
      const reader = new RequestReader(({ line, body }) => read.push(`${line}: ${body.toString()}`));
      reader.push(both.subarray(0, at));
      reader.push(both.subarray(at));
      expect(read).toEqual(['POST /v1/messages: hello', 'GET /health: ']);
    }
  });

  it('refuses a body of unknown length', () => {
    const reader = new RequestReader(() => undefined);
    const head = 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n';
    expect(() => reader.push(Buffer.from(head))).toThrow('no content-length');
  });
});
