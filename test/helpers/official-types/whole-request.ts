import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';

const known = 'known_tool';

/** Completes a request to one that a client would send: with a question, and the calls that results belong to. */
export function wholeRequest(client: string, fields: JsonObject): JsonObject {
  switch (client) {
    case 'chat':
      return chatRequest(fields);
    case 'messages':
      return messagesRequest(fields);
    default:
      return responsesRequest(fields);
  }
}

function chatRequest(fields: JsonObject): JsonObject {
  const body: JsonObject = { model: 'm', messages: [user], ...fields };
  const messages = listOf(body, 'messages').flatMap((message) => {
    const { role, tool_call_id: id } = message;
    if (role !== 'tool') return [message];
    return [{ role: 'assistant', content: null, tool_calls: [chatCall(id ?? null)] }, message];
  });
  const hasCalls = JSON.stringify(messages).includes('"tool_calls"');
  const choice = nameIn(body['tool_choice'], 'function') ?? nameIn(body['tool_choice'], 'custom');
  const wantsTool = hasCalls || given(body['tool_choice']) || given(body['parallel_tool_calls']);
  const tool = { type: 'function', function: { name: choice ?? known, parameters: { type: 'object' } } };
  const allowed = isJsonObject(body['tool_choice']) ? body['tool_choice']['allowed_tools'] : undefined;
  if (isJsonObject(allowed)) allowed['tools'] = [{ type: 'function', function: { name: known } }];
  return { ...body, messages: framed(messages), ...(wantsTool && !body['tools'] && { tools: [tool] }) };
}

function chatCall(id: Json): JsonObject {
  return { id, type: 'function', function: { name: known, arguments: '{}' } };
}

function messagesRequest(fields: JsonObject): JsonObject {
  const body: JsonObject = { model: 'm', max_tokens: 30_000, messages: [user], ...fields };
  const messages = listOf(body, 'messages').flatMap((message) => {
    const ids = listOf(message, 'content').flatMap((block) =>
      block['type'] === 'tool_result' ? [block['tool_use_id'] ?? null] : [],
    );
    const calls = ids.map((id) => ({ type: 'tool_use', id, name: known, input: {} }));
    return calls.length > 0 ? [{ role: 'assistant', content: calls }, message] : [message];
  });
  const choice = isJsonObject(body['tool_choice']) ? body['tool_choice']['name'] : undefined;
  const wantsTool = JSON.stringify(messages).includes('"tool_use"') || given(body['tool_choice']);
  const tool = { name: choice ?? known, input_schema: { type: 'object' } };
  return { ...body, messages: framed(messages), ...(wantsTool && !body['tools'] && { tools: [tool] }) };
}

const callTypes: Readonly<Record<string, JsonObject>> = {
  function_call_output: { type: 'function_call', name: known, arguments: '{}' },
  custom_tool_call_output: { type: 'custom_tool_call', name: known, input: 'x' },
  tool_search_output: { type: 'tool_search_call', execution: 'client', arguments: {} },
};

function responsesRequest(fields: JsonObject): JsonObject {
  const { reasoning } = fields;
  const body: JsonObject = {
    model: 'm',
    input: 'Hi',
    ...(fields['prompt_cache_options'] !== undefined && { prompt_cache_key: 'k' }),
    ...fields,
    // Summaries of thinking need thinking.
    ...(isJsonObject(reasoning) && { reasoning: { effort: 'low', ...reasoning } }),
  };
  const choice = isJsonObject(body['tool_choice']) ? body['tool_choice']['name'] : undefined;
  const tool = { type: 'function', name: choice ?? known, parameters: { type: 'object' }, strict: false };
  if (isJsonObject(body['tool_choice']) && body['tool_choice']['tools']) {
    body['tool_choice']['tools'] = [{ type: 'function', name: known }];
  }
  const wantsTool = given(body['tool_choice']) || given(body['parallel_tool_calls']) || given(body['max_tool_calls']);
  const tools = wantsTool && !body['tools'] ? { tools: [tool] } : {};
  if (!Array.isArray(body['input'])) return { ...body, ...tools };
  const input = listOf(body, 'input').flatMap((item) => {
    const call = callTypes[typeof item['type'] === 'string' ? item['type'] : ''];
    // Without an id, the search was not the client's.
    const called = item['type'] === 'tool_search_call' ? { call_id: 's', ...item } : item;
    return call ? [{ ...call, call_id: item['call_id'] ?? null }, item] : [called];
  });
  return { ...body, ...tools, input: [{ role: 'user', content: 'Hi' }, ...input] };
}

const user: JsonObject = { role: 'user', content: 'Hi' };

/** Makes a conversation begin and end with the user. */
function framed(messages: JsonObject[]): JsonObject[] {
  return messages.at(-1)?.['role'] === 'user' && messages[0]?.['role'] === 'user'
    ? messages
    : [user, ...messages, user];
}

function listOf(value: JsonObject, field: string): JsonObject[] {
  const list = value[field];
  return Array.isArray(list) ? list.filter(isJsonObject) : [];
}

function nameIn(choice: Json | undefined, kind: string): Json | undefined {
  const inner = isJsonObject(choice) ? choice[kind] : undefined;
  return isJsonObject(inner) ? inner['name'] : undefined;
}

function given(value: Json | undefined): boolean {
  return value !== undefined && value !== null;
}
