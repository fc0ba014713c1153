import { describe, expect, it } from 'vitest';
import type { JsonObject } from '#shared/core/json.ts';
import type { RunnableTool, ServedTool } from '#shared/formats/hosted/hosted-request.ts';
import {
  replaceHostedChoice,
  createHostedFunctions,
  replaceHostedTools,
} from '#shared/formats/responses/hosted/hosted-functions.ts';
import { findHostedTools, needsApproval } from '#shared/formats/responses/hosted/find-hosted-tools.ts';
import {
  isOwnHostedItem,
  replaceHostedItemsAt,
  replaceHostedItems,
  hasOutcome,
} from '#shared/formats/responses/hosted/with-function-calls.ts';
import { createResponsesHostedRequest } from '#shared/formats/responses/hosted/responses-hosted-answer.ts';
import type { ResponsesItem, ResponsesRequest } from '#shared/formats/responses/request.ts';
import { responsesToResponsesRequest } from '#shared/translate/same-format/responses-to-responses.ts';
import type { ModelTraits } from '#shared/translate/translation.ts';
import { bodyOf } from '../../hosted/hosted-turns.ts';

const request = (...tools: JsonObject[]): ResponsesRequest => ({ model: 'm', input: 'hi', tools }) as ResponsesRequest;
const mcp = (fields: JsonObject = {}): JsonObject => ({ type: 'mcp', server_label: 'wiki', ...fields });
const served = (name: string): ServedTool => {
  return { name, nameAtServer: name, description: 'd', inputSchema: { type: 'object' } };
};

function runnable(asked: ResponsesRequest, ...names: string[]): RunnableTool[] {
  return findHostedTools(asked).map((hosted) => ({
    hosted,
    servedTools: hosted.kind === 'mcp' ? names.map(served) : [served('find')],
  }));
}

describe('the hosted tools of a Responses request', () => {
  it.each([
    ['web_search', 'web_search'],
    ['web_search_2025_08_26', 'web_search'],
    ['web_search_preview', 'web_search'],
    ['web_search_preview_2025_03_11', 'web_search'],
    ['web_searching', undefined],
    ['file_search', undefined],
  ])('are recognized by their type: %s', (type, kind) => {
    expect(findHostedTools(request({ type })).map((tool) => tool.kind)).toEqual(kind === undefined ? [] : [kind]);
  });

  it('do not include a search limited to a cache', () => {
    expect(findHostedTools(request({ type: 'web_search', external_web_access: false }))).toEqual([]);
  });

  it.each<[JsonObject, string[]]>([
    [{}, ['a', 'b']],
    [{ allowed_tools: ['a'] }, ['a']],
    [{ allowed_tools: { tool_names: ['b'] } }, ['b']],
    [{ allowed_tools: { read_only: true } }, []],
    [{ allowed_tools: { read_only: true, tool_names: ['a'] } }, []],
  ])('allow tools of an MCP server with %j', (fields, allowed) => {
    const [tool] = findHostedTools(request(mcp(fields)));
    expect(['a', 'b'].filter((name) => tool?.allowsTool?.(name) ?? true)).toEqual(allowed);
  });

  it.each<[JsonObject, string[]]>([
    [{}, ['a', 'b']],
    [{ require_approval: 'always' }, ['a', 'b']],
    [{ require_approval: 'never' }, []],
    [{ require_approval: { never: { tool_names: ['a'] } } }, ['b']],
    [{ require_approval: { always: { tool_names: ['a'] } } }, ['a']],
    [{ require_approval: { always: { tool_names: ['a'] }, never: { tool_names: ['c'] } } }, ['a', 'b']],
    [{ require_approval: { never: { tool_names: ['a'], read_only: true } } }, ['a', 'b']],
    [{ require_approval: { always: { tool_names: ['a'], read_only: true } } }, ['a', 'b']],
  ])('need approval with %j', (fields, needed) => {
    expect(['a', 'b'].filter((name) => needsApproval(mcp(fields), name))).toEqual(needed);
  });

  it('have their turns request encrypted thinking only from upstreams that make it, unless the client asks for it', () => {
    const turnOf = (fields: JsonObject, traits: Partial<ModelTraits>): JsonObject => {
      const asked = { ...request({ type: 'web_search' }), store: false, ...fields };
      const turn = createResponsesHostedRequest(asked)?.createAnswer(asked, runnable(asked)).writeNextRequest(false);
      return responsesToResponsesRequest(bodyOf(turn ?? Buffer.from('{}')), { model: 'm', ...traits });
    };
    const include = ['reasoning.encrypted_content'];
    expect(turnOf({}, {})).toMatchObject({ store: false });
    expect(turnOf({}, {})).not.toHaveProperty('include');
    expect(turnOf({}, { encrypts: true })).toMatchObject({ store: false, include });
    expect(turnOf({ include }, {})).toMatchObject({ include });
  });

  it('become functions with free and valid names', () => {
    const own = { type: 'function', name: 'web_search' };
    const asked = request(own, { type: 'web_search' }, mcp({ server_label: 'my wiki' }));
    const functions = createHostedFunctions(asked, runnable(asked, 'get page', 'get_page'));
    const names = functions.map(({ name }) => name);
    expect(names).toEqual(['web_search_2', 'mcp_my_wiki_get_page', 'mcp_my_wiki_get_page_2']);
    const kinds = replaceHostedTools(asked.tools ?? [], functions).map((tool) => (tool as JsonObject)['type']);
    expect(kinds).toEqual(Array(4).fill('function'));
    expect(replaceHostedTools(asked.tools ?? [], [])).toEqual([own, { type: 'web_search' }]);
  });

  const fn = (name: string): JsonObject => ({ type: 'function', name });
  const among = (...tools: JsonObject[]): JsonObject => ({ type: 'allowed_tools', mode: 'auto', tools });
  it.each<[JsonObject | string, unknown]>([
    ['auto', 'auto'],
    [{ type: 'web_search_preview' }, fn('web_search')],
    [mcp(), 'required'],
    [mcp({ name: 'b' }), fn('mcp_wiki_b')],
    [fn('f'), fn('f')],
    [among(fn('f'), { type: 'web_search' }), among(fn('f'), fn('web_search'))],
  ])('are chosen by the names of their functions: %j', (choice, expected) => {
    const asked = request({ type: 'web_search' }, mcp());
    expect(replaceHostedChoice(choice, createHostedFunctions(asked, runnable(asked, 'a', 'b')))).toEqual(expected);
  });
});

describe('the items of hosted calls, in a later request', () => {
  const plain = (...items: JsonObject[]): unknown[] =>
    replaceHostedItems(items as ResponsesItem[], new Map([['r3', 'done']]));
  const approval = (id: string): JsonObject => {
    return { type: 'mcp_approval_request', id, server_label: 'w', name: 'f', arguments: '{"a":1}' };
  };
  const answer = (id: string, approve = true, more: JsonObject = {}): JsonObject => {
    return { type: 'mcp_approval_response', approval_request_id: id, approve, ...more };
  };
  const outputs = (items: unknown[]): unknown[] => items.flatMap((item) => (item as JsonObject)['output'] ?? []);

  it('become function calls with their outputs', () => {
    const found = { title: 'T', url: 'https://x.example/', text: 'x' };
    expect(plain({ type: 'web_search_call', id: 'ws', action: { query: 'q' }, results: [found] })).toEqual([
      { type: 'function_call', call_id: 'ws', name: 'web_search', arguments: '{"query":"q"}' },
      { type: 'function_call_output', call_id: 'ws', output: '1. T\nhttps://x.example/\nx' },
    ]);
    const called = { type: 'mcp_call', id: 'c', server_label: 'w', name: 'f', arguments: '', output: 'o' };
    expect(plain({ type: 'mcp_list_tools', id: 'l' }, called)).toEqual([
      { type: 'function_call', call_id: 'c', name: 'mcp_w_f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'o' },
    ]);
  });

  it('of other upstreams become function calls with the known part of the output', () => {
    const sources = [{ type: 'url', url: 'https://x.example/' }];
    const search = (fields: JsonObject): unknown[] => outputs(plain({ type: 'web_search_call', id: 'ws', ...fields }));
    expect(search({ action: { type: 'search', queries: ['q'], sources } })).toEqual(['https://x.example/']);
    expect(search({ status: 'failed' })).toEqual(['Error: the search failed.']);
    expect(search({})).toEqual(['The next message contains the results.']);
  });

  it('stay if the upstream knows them, or if the next message contains the outcome', () => {
    const items = [
      approval('mcpr_1'),
      answer('mcpr_1'),
      { type: 'web_search_call', id: 'ws_1', action: { query: 'q' } },
      answer('mcpr_rtr_1_0'),
      { type: 'mcp_call', id: 'mcp_rtr_1_0', server_label: 'w', name: 'f', arguments: '{}', output: 'o' },
    ] as ResponsesItem[];
    const left = (takes: (item: ResponsesItem) => boolean): number[] =>
      replaceHostedItemsAt(items, undefined, takes).flatMap(([at, item]) => (item === items[at] ? [at] : []));
    expect(left(isOwnHostedItem)).toEqual([0, 1, 2]);
    expect(left(hasOutcome)).toEqual([2]);
    expect(replaceHostedItemsAt(items, undefined, isOwnHostedItem).map(([at]) => at)).toEqual([0, 1, 2, 4, 4]);
  });

  it('become one function call if an approval request is repeated', () => {
    expect(plain(approval('r3'), answer('r3'), approval('r3'), answer('r3'))).toHaveLength(2);
  });

  it('report whether the client has approved the call', () => {
    const refused = [approval('r2'), answer('r2', false, { reason: 'no!' })];
    const approved = ['r3', 'r4'].flatMap((id) => [approval(id), answer(id)]);
    const ran = { ...approval('c'), type: 'mcp_call', output: 'ran', approval_request_id: 'r4' };
    const all = outputs(plain(approval('r1'), ...refused, ...approved, ran));
    expect(all).toEqual(['The user has not approved this call.', 'The user has refused this call: no!', 'done', 'ran']);
  });
});
