import { expect, it } from 'vitest';
import { readEndpoint } from '#services/console/web/pages/batches/read-endpoint.ts';

const line = '{"custom_id":"1","method":"POST","url":"/v1/responses","body":{"model":"demo"}}';

it.each([
  ['one line', line],
  ['lines of Windows', `${line}\r\n{"url":"/v1/other"}\r\n`],
  ['a byte order mark', `\uFEFF${line}\n`],
  ['blank lines before it', `\uFEFF\r\n\n \t\n${line}\n`],
  ['a first line of more than a mebibyte', `${line.slice(0, -1)},"pad":"${'x'.repeat(2_000_000)}"}\n`],
])('the endpoint of a file is the endpoint of its first request: %s', async (_, text) => {
  expect(await readEndpoint(new Blob([text]))).toBe('/v1/responses');
});

const objects = ['{"url":7}', '{"custom_id":"1"}', '{"url":"/v1/responses"'];

it.each(['', '\n', `[]\n${line}`, '[]', 'null', ...objects, 'custom_id,url'])(
  'the endpoint of a file is unknown if the file begins with %j',
  async (text) => {
    expect(await readEndpoint(new Blob([text]))).toBeUndefined();
  },
);
