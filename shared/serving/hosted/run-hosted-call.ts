import { RouterError } from '#shared/core/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '#shared/core/json.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { HostedFailure, HostedOutcome, SearchResult } from '#shared/formats/hosted/hosted-outcome.ts';
import { readSearchResults } from '#shared/formats/tools/read-search-results.ts';
import type { ToolResult } from '#shared/formats/tools/tool-result.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { Caller } from '../caller.ts';
import { serveTool, type ToolParts } from '../serve-tool.ts';
import { ToolReply } from '../tool-reply.ts';

export interface HostedCallParts extends ToolParts {
  settings: Registry['hosted_tools'];
}

/** Names that tools in use give the field with the query or the address, the most telling first. */
const usualFields = {
  web_search: ['query', 'q', 'search_query', 'searchQuery', 'search', 'keywords', 'objective', 'question', 'text'],
  web_fetch: ['url', 'uri', 'link', 'address', 'urls'],
};

/**
 * Runs a call of a hosted tool on the tools tier, as a job of the caller's key.
 * @param signal aborts when the caller is gone
 * @param onKeepAlive called while the tool runs, now and then
 * @returns what came of it: a tool that fails, or may not run, is an outcome too
 */
export async function runHostedCall(
  parts: HostedCallParts,
  call: HostedCall,
  caller: Caller,
  signal: AbortSignal,
  onKeepAlive: () => void,
): Promise<HostedOutcome> {
  const { settings } = parts;
  const refused = refusalOf(call);
  if (refused) return refused;
  const reply = new ToolReply(() => undefined, onKeepAlive);
  try {
    const tool = call.served.name;
    const body = Buffer.from(JSON.stringify({ tool, input: inputOf(call, settings) }));
    const running = await serveTool(parts, { tool, body, stream: true }, reply, caller);
    if (!running) return failed('unavailable', 'The client is gone.');
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const result = await Promise.race([reply.result, aborted]);
      return result ? outcomeOf(call, result, settings) : failed('unavailable', 'The call was cancelled.');
    } finally {
      signal.removeEventListener('abort', onAbort);
      // A call that is over is not affected.
      running.cancel();
      await running.finished;
    }
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return failed(reasonOf(error), error.message);
  }
}

function refusalOf(call: HostedCall): HostedOutcome | undefined {
  const { hosted } = call;
  if (hosted.kind === 'mcp') return undefined;
  const asked = askedOf(call);
  if (asked.trim() === '') return failed('invalid_input', 'The call lacks its input.');
  if (hosted.kind === 'web_search' || (hosted.allowsUrl?.(asked) ?? true)) return undefined;
  return failed('url_not_allowed', 'The request does not allow pages of this address.');
}

/** What a search or a fetch is for: its query or its address; '' if the model gave none. */
function askedOf({ hosted, input }: HostedCall): string {
  const asked = input[hosted.kind === 'web_search' ? 'query' : 'url'];
  return typeof asked === 'string' ? asked : '';
}

/** The input of the tool that stands behind the hosted one. */
function inputOf(call: HostedCall, settings: Registry['hosted_tools']): JsonObject {
  const { hosted, served, input } = call;
  if (hosted.kind === 'mcp') return input;
  const asked = askedOf(call);
  const { field, input: further = {} } = settings[hosted.kind] ?? {};
  const schema = served.inputSchema;
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  const name = field ?? fieldOf(properties, schema['required'], usualFields[hosted.kind]);
  const takesList = isJsonObject(properties[name]) && properties[name]['type'] === 'array';
  return { ...further, [name]: takesList ? [asked] : asked };
}

/** The first field with a usual name, else the only one that is required, else the usual one. */
function fieldOf(properties: JsonObject, required: Json | undefined, usual: readonly string[]): string {
  const named = usual.find((name) => properties[name] !== undefined);
  const [only, ...others] = Array.isArray(required) ? required : [];
  return named ?? (typeof only === 'string' && others.length === 0 ? only : (usual[0] ?? ''));
}

function outcomeOf(call: HostedCall, result: ToolResult, settings: Registry['hosted_tools']): HostedOutcome {
  const { max_result_bytes: most, web_search: search } = settings;
  const { hosted } = call;
  const text = cut(textOf(result), most);
  if (hosted.kind === 'mcp') return { kind: 'output', text, isError: result.is_error };
  if (result.is_error) return failed('unavailable', text);
  if (hosted.kind === 'web_fetch') return { kind: 'fetched', url: askedOf(call), text };
  const found = readSearchResults(result, search?.results);
  return {
    kind: 'found',
    results: within(
      found.filter(({ url }) => hosted.allowsUrl?.(url) ?? true),
      most,
    ),
  };
}

/** The texts of a result, or its data if it has none. */
function textOf({ content, structured_content: data }: ToolResult): string {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length > 0 || data === undefined ? texts.join('\n\n') : JSON.stringify(data);
}

/** Results of so many bytes in sum: each gets an equal part for its text, and those that do not fit are left out. */
function within(results: readonly SearchResult[], most: number): SearchResult[] {
  let left = most;
  return results.flatMap((result, at) => {
    const { title, url, age = '' } = result;
    const further = Buffer.byteLength(title + url + age);
    const text = cut(result.text, Math.max(0, Math.floor(left / (results.length - at)) - further));
    left -= Buffer.byteLength(text) + further;
    return left < 0 ? [] : [{ ...result, text }];
  });
}

function cut(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  // A character that is cut in two is left out.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, most)).replace(/\uFFFD+$/, '');
}

function failed(reason: HostedFailure, message: string): HostedOutcome {
  return { kind: 'failed', reason, message };
}

function reasonOf({ code }: RouterError): HostedFailure {
  switch (code) {
    case 'rate_limit_exceeded':
    case 'token_limit_exceeded':
    case 'insufficient_quota':
    case 'overloaded':
      return 'too_many_requests';
    case 'invalid_request':
    case 'missing_parameter':
      return 'invalid_input';
    default:
      return 'unavailable';
  }
}
