import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import { createSealer } from '#shared/core/seal.ts';
import { responsesToResponsesRequest } from '#shared/translate/same-format/responses-to-responses.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { writeReasoning } from '#shared/translate/responses/sealed-thinking.ts';
import { errorWith } from '../../../helpers/error-with.ts';

const { seal, unseal } = createSealer(Buffer.alloc(32, 7));

function sent(body: JsonObject, traits: Partial<ModelTraits> = {}): JsonObject {
  const before = structuredClone(body);
  const request = responsesToResponsesRequest(body, { model: 'target', unseal, origin: 'here', ...traits });
  expect(body).toEqual(before);
  return request;
}

function input(items: JsonObject[]): unknown {
  return sent({ model: 'm', store: false, input: items })['input'];
}

describe("a Responses client's request, for a Responses upstream", () => {
  it('passes except for its model, whatever its fields, items and tools are', () => {
    const body = {
      model: 'm',
      stream: true,
      store: false,
      include: ['reasoning.encrypted_content'],
      instructions: 'Be brief.',
      input: [
        { type: 'message', id: 'msg_ef9dacf6-d388-5373-9a76-e5390ea3aa49', role: 'developer', content: 'd' },
        { type: 'reasoning', id: 'rs_1', summary: [], content: null, encrypted_content: 'gAAAAtheirs' },
        { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c', name: 'apply_patch', input: '*** Begin Patch' },
        { type: 'custom_tool_call_output', call_id: 'c', output: [{ type: 'input_image', image_url: 'data:,' }] },
        { type: 'future_item', deep: [1, { two: null }] },
      ],
      tools: [
        { type: 'namespace', name: 'mcp__x', tools: [{ type: 'function', name: 'f' }] },
        { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "x"' } },
        { type: 'web_search', external_web_access: false },
      ],
      reasoning: { effort: 'medium', context: 'x' },
      client_metadata: { 'x-codex-turn-metadata': '{}' },
    };
    expect(sent(body)).toEqual({ ...body, model: 'target' });
  });

  it('asks the upstream to store nothing, and to return the thinking that a stored answer needs', () => {
    const kept = { store: false, include: ['reasoning.encrypted_content'] };
    const encrypts = { encrypts: true };
    expect(sent({ model: 'm', input: 'hi' }, encrypts)).toEqual({ model: 'target', input: 'hi', ...kept });
    const logprobs = ['message.output_text.logprobs'];
    const asked = sent({ model: 'm', input: 'hi', store: true, include: logprobs }, encrypts);
    expect(asked).toMatchObject({ store: false, include: [...logprobs, ...kept.include] });
    expect(sent({ model: 'm', input: 'hi', store: false }, encrypts)).not.toHaveProperty('include');
  });

  it('asks an upstream that is not known to encrypt its thinking for encryption only if the client does', () => {
    expect(sent({ model: 'm', input: 'hi' })).toEqual({ model: 'target', input: 'hi', store: false });
    const include = ['reasoning.encrypted_content'];
    expect(sent({ model: 'm', input: 'hi', include })).toMatchObject({ include });
  });

  it("may name a prompt of the provider's account only if the worker allows that", () => {
    const body = { model: 'm', store: false, prompt: { id: 'pmpt_1' } };
    const refused = errorWith('unsupported_parameter', { param: 'prompt' });
    expect(() => sent(body)).toThrow(refused);
    expect(sent(body, { takesPrompts: true })).toEqual({ ...body, model: 'target' });
  });

  it('keeps what this upstream has encrypted, and not what another upstream has encrypted', () => {
    const marked = (of: string, type = 'reasoning', fields: JsonObject = {}): JsonObject => {
      return { type, id: 'x_1', ...fields, encrypted_content: `rtr.${of}.gAAAA_-=` };
    };
    const own = { type: 'reasoning', id: 'x_1', encrypted_content: 'gAAAA_-=' };
    expect(input([marked('here'), marked('there'), own])).toEqual([own, own]);
    const content = [{ type: 'reasoning_text', text: 'Hm.' }];
    const plain = { type: 'reasoning', summary: [], content };
    expect(input([marked('there', 'reasoning', plain)])).toEqual([plain]);
    const compacts = { compacts: true };
    const body = (of: string): JsonObject => ({ model: 'm', store: false, input: [marked(of, 'compaction')] });
    expect(sent(body('here'), compacts)['input']).toEqual([{ ...own, type: 'compaction' }]);
    const refused = errorWith('invalid_request', { param: 'input[0].encrypted_content' });
    expect(() => sent(body('there'), compacts)).toThrow(refused);
    const said = (encrypted_content: string): JsonObject => {
      return { type: 'agent_message', content: [{ type: 'encrypted_content', encrypted_content }] };
    };
    expect(input([said('rtr.here.gAAA'), said('rtr.there.gAAA')])).toEqual([said('gAAA')]);
  });

  it('contains no references to responses or items that the router has resolved', () => {
    const user = { role: 'user', content: 'hi' };
    const items = [{ type: 'item_reference', id: 'msg_1' }, user];
    const request = sent({ model: 'm', store: false, previous_response_id: 'resp_1', input: items });
    expect(request).toEqual({ model: 'target', store: false, input: [user] });
  });

  it('has no ids of items that this router has written', () => {
    const own = `fc_${'0a'.repeat(16)}_3`;
    const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
    expect(input([{ ...call, id: own }])).toEqual([call]);
    // An id from a later turn of an answer with hosted tools.
    expect(input([{ ...call, id: `${own}_5` }])).toEqual([call]);
    expect(input([{ ...call, id: 'fc_theirs' }])).toEqual([{ ...call, id: 'fc_theirs' }]);
  });

  it('has the text of thinking that this router has sealed, and drops empty thinking', () => {
    const sealed = seal(writeReasoning({ text: 'Hm.', sealed: { signature: 'EqkC' } }));
    const empty = seal(writeReasoning({ text: '', sealed: { signature: 'EqkC' } }));
    const item = (fields: JsonObject): JsonObject => ({ type: 'reasoning', id: 'rs_1', summary: [], ...fields });
    const spoken = { content: [{ type: 'reasoning_text', text: 'Hm.' }] };
    expect(input([item({ encrypted_content: sealed })])).toEqual([{ type: 'reasoning', summary: [], ...spoken }]);
    expect(input([item({ encrypted_content: empty })])).toEqual([]);
    expect(input([item({ encrypted_content: null })])).toEqual([]);
    expect(input([item({ ...spoken, encrypted_content: '' })])).toEqual([item({ ...spoken, encrypted_content: '' })]);
  });
});
