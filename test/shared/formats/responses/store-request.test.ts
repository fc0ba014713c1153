import { describe, expect, it } from 'vitest';
import { readRepeatedFields } from '#shared/formats/responses/response-object.ts';
import { createStoreRequest } from '#shared/formats/responses/store-request.ts';
import { storedResponses } from '#shared/formats/responses/stored-responses.ts';

const none = new Map();
const call = { id: 'fc_1', type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
const said = (text: string) => ({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });

describe('the use of stored responses by a request', () => {
  it('is read from its fields', () => {
    const reference = { type: 'item_reference', id: 'fc_1' };
    const input = [reference, reference, { id: 'rs_1' } as never];
    const asked = createStoreRequest({ model: 'm', store: true, previous_response_id: 'resp_1', input });
    expect(asked).toMatchObject({ store: true, previous: 'resp_1', references: ['fc_1', 'rs_1'] });
    const plain = createStoreRequest({ model: 'm', store: null, previous_response_id: null, input: 'hi' });
    expect(plain).toMatchObject({ store: undefined, previous: undefined, references: [] });
  });

  it('includes storing a text as a message, and every item with an id', () => {
    const [message] = createStoreRequest({ model: 'm', input: 'hi' }).input(none);
    expect(message).toEqual({ ...said('hi'), id: expect.stringMatching(/^msg_[0-9a-f]{32}_in0$/) as string });
    const output = { type: 'function_call_output' as const, call_id: 'c', output: 'fine' };
    const input = [{ role: 'user' as const, content: 'hi' }, { type: 'item_reference', id: 'fc_1' }, output];
    const stored = createStoreRequest({ model: 'm', input }).input(new Map([['fc_1', call]]));
    expect(stored.map(({ type }) => type)).toEqual(['message', 'function_call', 'function_call_output']);
    expect(stored[1]).toBe(call);
    expect(new Set(stored.map(({ id }) => id)).size).toBe(3);
  });

  it('includes sending the history before the input, without ids that no upstream knows', () => {
    const asked = createStoreRequest({
      model: 'm',
      instructions: 'Brief.',
      previous_response_id: 'resp_1',
      input: 'now?',
    });
    const earlier = createStoreRequest({ model: 'm', instructions: 'Be loud.', input: 'first' }).input(none);
    const body = JSON.parse(asked.writeResolved([...earlier, call], asked.input(none)).toString()) as object;
    const input = [said('first'), call, said('now?')];
    expect(body).toEqual({ model: 'm', instructions: 'Brief.', previous_response_id: 'resp_1', input });
  });
});

describe('the credentials for an MCP server', () => {
  const address = 'https://wiki.example:8443';
  const rest = { type: 'mcp', server_label: 'wiki', server_url: address, require_approval: 'never' };
  const server = {
    ...rest,
    server_url: 'https://me:secret@wiki.example:8443/secret/mcp?key=secret',
    authorization: 'secret',
    headers: { 'x-key': 'secret' },
  };

  it('are neither in answers nor stored', () => {
    expect(readRepeatedFields({ tools: [server] })['tools']).toEqual([rest]);
    // An upstream that connects to the server may repeat the client's credentials.
    expect(storedResponses.toStoredAnswer({ id: 'resp_1', tools: [server] }, undefined)['tools']).toEqual([rest]);
    const added = { type: 'additional_tools', id: 'item_1' };
    const stored = storedResponses.toStoredInput([{ ...added, tools: [server] }, call]);
    expect(stored).toEqual([{ ...added, tools: [rest] }, call]);
  });

  it('reach an upstream that connects to the server', () => {
    const input = [{ type: 'additional_tools', tools: [server] }];
    const asked = createStoreRequest({ model: 'm', tools: [server], input });
    const sent: unknown = JSON.parse(asked.writeResolved([], asked.input(none)).toString());
    expect(sent).toMatchObject({ tools: [server], input: [{ tools: [server] }] });
  });
});
