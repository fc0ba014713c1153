import { expect, it } from 'vitest';
import type { FileRecord } from '#shared/accounts/files/file-records.ts';
import { createFileId } from '#shared/files/file-id.ts';
import { chatFormat } from '#shared/formats/chat/chat-format.ts';
import { inlineFiles } from '#shared/serving/files/inline-files.ts';
import { errorWith } from '../../../helpers/error-with.ts';

/** Puts files into a request that names each of them, and returns the bytes that were counted. */
async function inline(texts: readonly string[], maxBytes: number) {
  const files = new Map(texts.map((text) => [createFileId(), Buffer.from(text)]));
  const content = Array.from(files.keys(), (id) => ({ type: 'file', file: { file_id: `file-${id}` } }));
  const body = Buffer.from(JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));
  const counted: number[] = [];
  let read = 0;
  const source = {
    find: (_owner: string, id: string) => {
      const bytes = files.get(id)?.length;
      return Promise.resolve({ id, name: 'a.txt', mimeType: 'text/plain', bytes } as unknown as FileRecord);
    },
    read: ({ id }: FileRecord) => {
      read += 1;
      return Promise.resolve(
        (async function* () {
          yield await Promise.resolve(files.get(id) ?? Buffer.alloc(0));
        })(),
      );
    },
  };
  const inlining = inlineFiles(
    { files: source, maxBytes, store: { assertIntact: () => undefined } },
    chatFormat.read(body, 'generate'),
    {
      format: chatFormat,
      operation: 'generate',
      owner: 'ada',
      onBytes: (bytes) => void counted.push(bytes),
    },
  );
  const outcome = await inlining.then(
    (request) => request.withDefaults({}).length - body.length,
    (error: unknown) => error,
  );
  return { outcome, counted: counted.reduce((sum, bytes) => sum + bytes, 0), read };
}

// Six characters of JSON stand for each character.
const escaped = '\u0001'.repeat(600_000);

it('the memory of a text in a request is counted as long as the text is with its escapes', async () => {
  const { outcome, counted } = await inline([escaped], 10_000_000);
  expect(outcome).toBeGreaterThan(3_600_000 - 100);
  expect(counted).toBe(3_600_000);
});

it('texts that escapes make too large for a request are not all read', async () => {
  const { outcome, counted, read } = await inline([escaped, escaped, escaped, escaped], 6_000_000);
  expect(outcome).toEqual(errorWith('body_too_large', { param: 'messages[0].content[1]' }));
  expect(counted).toBeLessThan(6_000_000);
  expect(read).toBe(2);
});
