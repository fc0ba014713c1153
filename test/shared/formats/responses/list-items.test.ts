import { describe, expect, it } from 'vitest';
import { listItems } from '#shared/formats/responses/stored-responses.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const items = Array.from({ length: 45 }, (_, at) => ({ id: `msg_${at}` }));

function ids(query: Record<string, unknown>): unknown[] {
  return (listItems(items, query) as { data: { id: string }[] }).data.map(({ id }) => id);
}

describe('a page of input items', () => {
  it('has the 20 newest items first by default', () => {
    expect(ids({})).toEqual(Array.from({ length: 20 }, (_, at) => `msg_${44 - at}`));
    expect(ids({ order: 'asc', limit: '2' })).toEqual(['msg_0', 'msg_1']);
    expect(listItems([], {})).toEqual({ object: 'list', data: [], first_id: null, last_id: null, has_more: false });
  });

  it('continues after an item, and reports whether more items follow', () => {
    expect(listItems(items, { order: 'asc', limit: '2', after: 'msg_41' })).toEqual({
      object: 'list',
      data: [{ id: 'msg_42' }, { id: 'msg_43' }],
      first_id: 'msg_42',
      last_id: 'msg_43',
      has_more: true,
    });
    const last = { data: [{ id: 'msg_44' }], has_more: false };
    expect(listItems(items, { order: 'asc', after: 'msg_43' })).toMatchObject(last);
  });

  it.each([{ limit: '0' }, { limit: '101' }, { limit: 'x' }, { order: 'up' }, { after: 'msg_x' }])(
    'is refused for %o, with the name of the parameter',
    (query) => {
      const [param] = Object.keys(query);
      expect(() => listItems(items, query)).toThrow(errorWith('invalid_request', { param }));
    },
  );
});
