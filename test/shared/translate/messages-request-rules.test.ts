import { describe } from 'vitest';
import type { Json, JsonObject } from '#shared/core/json.ts';
import { parseMessagesRequest } from '#shared/formats/messages/parse-messages-request.ts';
import { readRequestRules } from './field-rules.ts';
import { translationBetween, upstreamsOf } from './translation-between.ts';
import { writeReasoningSignature, writeReturnedSignature } from '#shared/translate/vocabulary/reasoning-signature.ts';
import { syntheticSignature } from '#shared/translate/vocabulary/thinking.ts';
import { createResultCitations, toHostedCallId } from '#shared/formats/messages/hosted/result-citations.ts';
import { eachAlone, targetFor, testRules, topOf, type Example } from './hold-rule.ts';

const user = { role: 'user', content: 'hi' };
const text = (text: string) => ({ type: 'text', text });
const base: JsonObject = { model: 'm', max_tokens: 100, messages: [user] };
const top = topOf(base);
const tool = { name: 'f', input_schema: { type: 'object', $schema: 'https://x' } };

/** Returns a turn with and without a block, or with and without a field of the block; `field` is the field of the rule. */
function block(block: Json, field = '', { role = 'user', before = [], without = [] }: Turn = {}): Example {
  const turn = (...blocks: Json[]): JsonObject => ({
    messages: [...before, { role, content: [text('a'), ...blocks] }],
  });
  return top(turn(block), turn(...without), field === '' ? '' : `messages[].content[].${field}`);
}

interface Turn {
  role?: string;
  before?: Json[];
  without?: Json[];
}

function ofAssistant(added: Json, field = '', without: Json[] = []): Example {
  return block(added, field, { role: 'assistant', without });
}

/** Returns a turn with a tool result, with and without further fields. */
function ofResult(fields: JsonObject, field: string): Example {
  return block({ ...result, ...fields }, field, { before: called, without: [result] });
}

const thinking = (signature: string, thinking = 'hm') => ({ type: 'thinking', thinking, signature });
const toolNamed = (name: string) => ({ type: 'tool_reference', name });

function signedBy(model: string, encrypted: string): string {
  return writeReasoningSignature({ model, id: 'rs_1', encrypted, origin: undefined });
}

/** Returns a history with and without an edit. */
function edited(edit: JsonObject, messages: Json[]): Example {
  return top({ context_management: { edits: [edit] } }, { messages }, 'context_management.edits[].type');
}

/** Returns an answer with or without a search. */
function searched(id: string, path = ''): Example {
  const found = { type: 'web_search_result', title: 't', url: 'https://x.example/', encrypted_content: 'e' };
  const search: Json[] = [
    { type: 'server_tool_use', id, name: 'web_search', input: { query: 'q' } },
    { type: 'web_search_tool_result', tool_use_id: id, content: [found] },
  ];
  const answer = (...content: Json[]): JsonObject => ({ messages: [user, { role: 'assistant', content }] });
  return top(answer(text('a'), ...search, text('a')), answer(text('a'), text('a')), path);
}

const called: Json[] = [user, { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: {} }] }];
const page = { url: 'https://x.example/', title: 't', text: '', age: undefined };
const citations = createResultCitations(page.url, [page]);
const billing = text('x-anthropic-billing-header: v');
const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aa' };
const linked = { type: 'url', url: 'https://x/a.pdf' };
const referred = { type: 'tool_reference', tool_name: 'f' };
const addition = { type: 'tool_addition', tool: { type: 'tool_definition', definition: { ...tool, name: 'g' } } };
const returned = writeReturnedSignature({ signature: 's' }, { origin: 'here', model: 'target' }, undefined);
const execution = { type: 'server_tool_use', id: 's', name: 'code_execution', input: {} };
const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'aa' } };
const bash = { type: 'bash_20250124', name: 'bash' };
const noUses = { type: 'tool_uses', value: 0 };
const deferred = { ...tool, defer_loading: true };
const editor = { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool' };
const result = { type: 'tool_result', tool_use_id: 't', content: 'r' };
const document = { type: 'document', title: 't', source: { type: 'text', media_type: 'text/plain', data: 'd' } };

function ofDocument(fields: JsonObject, field: string): Example {
  return block({ ...document, ...fields }, field, { without: [document] });
}

function ofImage(fields: JsonObject, field: string): Example {
  return block({ ...image, ...fields }, field, { without: [image] });
}

const examples: Record<string, Example> = {
  model: { with: base, without: base },
  system: top({ system: [{ ...text('s'), cache_control: { type: 'ephemeral' } }] }),
  'system[] billing header': top({ system: [billing, text('s')] }, { system: [text('s')] }, 'system'),
  'messages[] system': top({ messages: [user, { role: 'system', content: 's' }] }),
  'messages[] user': top({ messages: [user, { role: 'user', content: 'b' }] }),
  'messages[] assistant': top({ messages: [user, { role: 'assistant', content: 'b' }] }),
  'messages[].content[] text': block(text('b'), 'text'),
  'messages[].content[] image': block(image, 'source'),
  'messages[].content[] image, by file id': block({ type: 'image', source: { type: 'file', file_id: 'f' } }, 'source'),
  'messages[].content[] document, text': block(document, 'source'),
  'messages[].content[] document, context': ofDocument({ context: 'c' }, 'context'),
  'messages[].content[] document, citations': ofDocument({ citations: { enabled: true } }, 'citations'),
  'messages[].content[] document, PDF': block({ type: 'document', source: pdf }, 'source'),
  'messages[].content[] document, by URL': block({ type: 'document', source: linked }, 'source'),
  'messages[].content[] tool_use': ofAssistant({ type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }, 'input'),
  'messages[].content[] tool_result': block(result, 'tool_use_id', { before: called }),
  'messages[].content[] tool_result, image': ofResult({ content: [image] }, 'content'),
  'messages[].content[].is_error': ofResult({ is_error: true }, 'is_error'),
  'messages[].content[] tool_result, tool_reference': ofResult({ content: [referred] }, 'content'),
  'messages[].content[] tool_addition': block(addition, 'tool', { role: 'system', before: [user] }),
  'messages[].content[] tool_removal': top(
    { messages: [user, { role: 'system', content: [{ type: 'tool_removal', tool: toolNamed('f') }] }] },
    { tools: [tool, { ...tool, name: 'g' }] },
    'messages[].content[].tool',
  ),
  'messages[].content[] thinking': ofAssistant(thinking('s'), 'thinking'),
  'messages[].content[] thinking, signed here': ofAssistant(thinking(syntheticSignature)),
  'messages[].content[] thinking, of a Responses worker': ofAssistant(thinking(signedBy('target', 'gAAA'))),
  'messages[].content[] redacted_thinking': ofAssistant({ type: 'redacted_thinking', data: 'd' }, 'data'),
  'messages[].content[] redacted_thinking, made here': ofAssistant({ type: 'redacted_thinking', data: returned }),
  'messages[].content[] compaction': ofAssistant({ type: 'compaction', content: 'so far' }, 'content'),
  'messages[].content[] of other types': ofAssistant(execution, 'input'),
  'messages[].content[] web search or fetch': searched('srvtoolu_1', 'messages[].content[].tool_use_id'),
  'messages[].content[] web search or fetch, run here': searched(toHostedCallId('call_1')),
  'messages[].content[].citations, made here': ofAssistant({ ...text('b'), citations }, '', [text('b')]),
  'messages[].content[].transformations': ofImage({ transformations: { oversized_image: 'error' } }, 'transformations'),
  'messages[].content[].toolset_name': ofResult({ toolset_name: 'set' }, 'toolset_name'),
  'messages[].content[].cache_control': ofImage({ cache_control: { type: 'ephemeral' } }, 'cache_control'),
  max_tokens: { with: { ...base, max_tokens: 9 }, without: base },
  'max_tokens of 0': { with: { ...base, max_tokens: 0 }, without: base },
  ...eachAlone(base, { temperature: 0.5, top_p: 0.5, top_k: 5, stop_sequences: ['END'], stream: true, container: 'x' }),
  ...eachAlone(base, { mcp_servers: [{ name: 'x' }], compaction: { type: 'enabled' }, thread: { type: 'create' } }),
  ...eachAlone(base, { output_format: { type: 'json_schema', schema: { type: 'string' } } }),
  'tools[]': top({ tools: [tool] }),
  'tools[].strict': top({ tools: [{ ...tool, strict: true }] }, { tools: [tool] }),
  'tools[].strict of bash, text_editor, memory, computer': top(
    { tools: [{ ...bash, strict: true }] },
    { tools: [bash] },
    'tools[].strict',
  ),
  'tools[].max_characters': top({ tools: [{ ...editor, max_characters: 9 }] }, { tools: [editor] }),
  'tools[] bash, text editor, memory, computer': top({ tools: [bash] }),
  'tools[] run by the upstream': top({ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }),
  ...Object.fromEntries(
    ['cache_control', 'eager_input_streaming', 'input_examples', 'allowed_callers', 'user_location'].map((field) => [
      `tools[].${field}`,
      top({ tools: [{ ...tool, [field]: [true] }] }, { tools: [tool] }),
    ]),
  ),
  'tools[].defer_loading': top(
    { tools: [tool, { ...deferred, name: 'g' }] },
    { tools: [tool, { ...tool, name: 'g' }] },
  ),
  'tools[] tool_search_tool': top(
    { tools: [{ type: 'tool_search_tool_bm25_20251119', name: 'search' }, deferred] },
    { tools: [deferred] },
    'tools[].type',
  ),
  tool_choice: top({ tool_choice: { type: 'any' } }, { tools: [tool] }),
  'tool_choice.disable_parallel_tool_use': top(
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
    { tools: [tool], tool_choice: { type: 'auto' } },
  ),
  thinking: top({ thinking: { type: 'adaptive' } }),
  'output_config.effort': top({ output_config: { effort: 'low' } }, { thinking: { type: 'adaptive' } }),
  'output_config.task_budget': top({ output_config: { task_budget: { total: 50_000 } } }, { output_config: {} }),
  'output_config.format': top({ output_config: { format: { type: 'json_schema', schema: { type: 'string' } } } }),
  'metadata.user_id': top({ metadata: { user_id: 'u' } }),
  'context_management.edits[] clear_thinking': edited(
    { type: 'clear_thinking_20251015' },
    ['a', 'b'].flatMap((said): Json[] => [
      user,
      { role: 'assistant', content: [thinking(signedBy('target', said), said), text(said)] },
    ]),
  ),
  'context_management.edits[] clear_tool_uses': edited(
    { type: 'clear_tool_uses_20250919', trigger: noUses, keep: noUses },
    [...called, { role: 'user', content: [result] }],
  ),
  'context_management.edits[] of other types': edited({ type: 'compact_20260112' }, [user]),
  ...Object.fromEntries(
    'cache_control service_tier speed inference_geo fallbacks diagnostics betas billing_policy fallback_credit_token safeguards'
      .split(' ')
      .map((field) => [field, top({ [field]: 'x' })]),
  ),
  "* that names what the provider's account has stored": top({ previous_response_id: 'r' }, {}, 'previous_response_id'),
  '*': top({ min_p: 0.1 }, {}, 'min_p'),
};

describe.each(upstreamsOf('messages'))("the rules for a messages client's request to a %s upstream", (upstream) => {
  const { translateRequest: request } = translationBetween('messages', upstream);
  testRules(readRequestRules('messages', upstream), examples, (body, field, count) =>
    request(parseMessagesRequest(body), { model: targetFor(field, count), origin: 'here' }),
  );
});
