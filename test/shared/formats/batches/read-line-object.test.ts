import { expect, it } from 'vitest';
import { readLineObject } from '#shared/formats/batches/read-line-object.ts';

it.each([
  ['{"custom_id":', 'invalid_json', 'This request is not valid JSON: it must be one JSON object.'],
  ['[]', 'invalid_request', 'This request is not a JSON object.'],
  ['{"custom_id":"a","body":1}', 'missing_parameter', 'Missing or invalid body: it must be an object.'],
])('a request of a batch that is %s is refused in words about the request', (line, code, message) => {
  expect(() => readLineObject(Buffer.from(line), 'body')).toThrow(expect.objectContaining({ code, message }));
});
