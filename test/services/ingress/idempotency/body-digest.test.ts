import { createHash, Hash, randomBytes } from 'node:crypto';
import { expect, it, onTestFinished, vi } from 'vitest';
import { BodyDigest, computeDigest } from '#services/ingress/idempotency/body-digest.ts';

function digest(type: string | undefined, pieces: readonly Buffer[]): string {
  const made = new BodyDigest(type);
  for (const piece of pieces) made.update(piece);
  return made.digest();
}

function form(boundary: string, content: Buffer, at: number): { type: string; pieces: Buffer[] } {
  const head = `--${boundary}\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), content, Buffer.from(`\r\n--${boundary}--\r\n`)]);
  return { type: `multipart/form-data; boundary=${boundary}`, pieces: [body.subarray(0, at), body.subarray(at)] };
}

it('the digest of a body that arrives is its SHA-256', () => {
  const body = randomBytes(10_000);
  const expected = createHash('sha256').update(body).digest('base64');
  expect(digest('application/json', [body.subarray(0, 5), body.subarray(5)])).toBe(expected);
  expect(computeDigest(body)).toBe(expected);
});

it('the digest of a form does not depend on its boundary, nor on how it arrives', () => {
  const content = randomBytes(200);
  const digests = new Set<string>();
  for (const boundary of ['abc', '----formdata-undici-0123456789', 'x'.repeat(70)]) {
    for (let at = 0; at < 350; at += 1) {
      const { type, pieces } = form(boundary, content, at);
      digests.add(digest(type, pieces));
      digests.add(digest(type.replace(/boundary=(.*)/, 'boundary="$1"; charset=utf-8'), pieces));
    }
  }
  expect(digests.size).toBe(1);
  const { type, pieces } = form('abc', randomBytes(200), 10);
  expect(digests.has(digest(type, pieces))).toBe(false);
});

it('the digest of a form is that of its content, in which the boundary is text where no line begins with it', () => {
  const of = (content: string): string => {
    const { type, pieces } = form('a', Buffer.from(content), 100);
    return digest(type, pieces);
  };
  const digests = new Set(['x--ay', 'x--y', '\n--ay', '\n--y'].map(of));
  expect(digests.size).toBe(4);
});

it('the digest of a form is the SHA-256 of its text without the boundary', () => {
  const plain = createHash('sha256');
  const { type, pieces } = form('abc', Buffer.from('content'), 3);
  plain.update(Buffer.concat(pieces).toString().replaceAll('--abc', '--'));
  expect(digest(type, pieces)).toBe(plain.digest('base64'));
});

it('the digest of a form costs no more the more often its boundary is repeated', () => {
  const update = vi.spyOn(Hash.prototype, 'update');
  onTestFinished(() => update.mockRestore());
  const pieces = Array.from({ length: 100 }, () => Buffer.from('\r\n--a'.repeat(1_000)));
  digest('multipart/form-data; boundary=a', pieces);
  expect(update.mock.calls.length).toBeLessThan(300);
});
