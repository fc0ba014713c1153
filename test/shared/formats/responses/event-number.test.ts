import { describe, expect, it } from 'vitest';
import { findEventNumber } from '#shared/formats/responses/event-number.ts';

describe('the number of an event', () => {
  it.each([
    ['first', { sequence_number: 12, type: 'a' }],
    ['last, after items', { type: 'a', item: { list: [1, { b: '}' }] }, sequence_number: 12 }],
    ['after the same name in an item', { item: { sequence_number: 3 }, sequence_number: 12 }],
    ['after the same name in a text', { delta: '"sequence_number":3', sequence_number: 12 }],
    ['after a text that ends with backslashes', { delta: String.raw`a\\\"`, text: '\\', sequence_number: 12 }],
    ['after a field with that value', { type: 'sequence_number', sequence_number: 12 }],
  ])('is found %s', (_, data) => {
    for (const json of [JSON.stringify(data), JSON.stringify(data, null, 1).replaceAll('\n', ' ')]) {
      const event = `event: a\ndata: ${json}\n\n`;
      const place = findEventNumber(event);
      expect(place?.value).toBe(12);
      const changed = event.slice(0, place?.start) + '13' + event.slice(place?.end);
      expect(JSON.parse(changed.slice(changed.indexOf('{')))).toEqual({ ...data, sequence_number: 13 });
    }
  });

  it.each([
    ['none', 'data: {"type":"a"}\n\n'],
    ['one in an item only', 'data: {"item":{"sequence_number":3}}\n\n'],
    ['a comment', ': keep-alive\n\n'],
    ['no data', ''],
  ])('is not found in an event with %s', (_, event) => {
    expect(findEventNumber(event)).toBeUndefined();
  });
});
