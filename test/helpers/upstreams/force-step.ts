import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { ScriptStep } from '#services/demo-engine/request/read-turn.ts';

/** Ids of the tokens that begin a call and end an answer, in the model's vocabulary. */
export interface ForcingTokens {
  call: number;
  end: number;
}

/**
 * Returns a request, chat or Responses, that llama-server can answer only with this step, whatever its weights. A call is forced by the
 * grammar of the tool's parameters, each pinned to one value; a text by a grammar of that text. Without a step, or where its tool is not
 * offered, the model may answer any short text, but calls nothing.
 */
export function forceStep(request: JsonObject, step: ScriptStep | undefined, tokens: ForcingTokens): JsonObject {
  const { tools, tool_choice: _choice, response_format: _format, ...plain } = request;
  const silent: JsonObject = { ...plain, chat_template_kwargs: { enable_thinking: false } };
  const isChat = 'messages' in request;
  const short = { ...silent, [isChat ? 'max_tokens' : 'max_output_tokens']: 40 };
  if (step === undefined) return short;
  if (step.kind === 'say') return { ...silent, grammar: `root ::= ${JSON.stringify(step.text)}` };
  const offered = Array.isArray(tools) ? tools.filter(isJsonObject) : [];
  if (!offered.some((tool) => nameOf(tool) === step.name)) return short;
  const called = { name: step.name, parameters: pinned(JSON.parse(step.arguments) as JsonObject) };
  return {
    ...silent,
    tools: [isChat ? { type: 'function', function: called } : { type: 'function', ...called }],
    tool_choice: 'required',
    parallel_tool_calls: false,
    // The grammar forbids an end before the call, and allows text before it and further calls after it.
    logit_bias: [
      [tokens.call, 20],
      [tokens.end, 40],
    ],
  };
}

function nameOf(tool: JsonObject): Json | undefined {
  return isJsonObject(tool['function']) ? tool['function']['name'] : tool['name'];
}

/** Returns a JSON schema that only this object fulfils. */
function pinned(value: JsonObject): JsonObject {
  const properties = Object.fromEntries(Object.entries(value).map(([name, only]) => [name, { const: only }]));
  return { type: 'object', properties, required: Object.keys(value), additionalProperties: false };
}
