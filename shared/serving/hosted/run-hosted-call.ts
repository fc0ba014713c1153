import { RouterError } from '#shared/core/errors.ts';
import type { HostedCall } from '#shared/formats/hosted/hosted-request.ts';
import type { HostedFailure, HostedOutcome, SearchResult } from '#shared/formats/hosted/hosted-outcome.ts';
import { readSearchResults } from '#shared/formats/tools/read-search-results.ts';
import type { ToolResult } from '#shared/formats/tools/tool-result.ts';
import type { Registry } from '#shared/registry/registry.ts';
import type { Caller } from '../caller.ts';
import { serveTool, type ToolComponents } from '../serve-tool.ts';
import { ToolReply } from '../tool-reply.ts';
import { readQuery, buildHostedInput } from './hosted-input.ts';

export interface HostedCallParts extends ToolComponents {
  settings: Registry['hosted_tools'];
}

/**
 * Runs a call of a hosted tool on the tools tier, as a job of the caller's key.
 * @param signal aborts when the caller has left
 * @param onKeepAlive called from time to time while the tool runs
 * @returns the outcome, even if the tool fails or may not run
 */
export async function runHostedCall(
  parts: HostedCallParts,
  call: HostedCall,
  caller: Caller,
  signal: AbortSignal,
  onKeepAlive: () => void,
): Promise<HostedOutcome> {
  const { settings } = parts;
  const refusal = findRefusal(call);
  if (refusal) return refusal;
  const reply = new ToolReply(() => undefined, onKeepAlive);
  try {
    const tool = call.servedTool.name;
    const body = Buffer.from(JSON.stringify({ tool, input: buildHostedInput(call, settings) }));
    const running = await serveTool(parts, { tool, body, stream: true }, reply, caller);
    if (!running) return toFailure('unavailable', 'The client is gone.');
    const { promise: aborted, resolve } = Promise.withResolvers<undefined>();
    const onAbort = (): void => resolve(undefined);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
    try {
      const result = await Promise.race([reply.result, aborted]);
      return result ? toOutcome(call, result, settings) : toFailure('unavailable', 'The call was cancelled.');
    } finally {
      signal.removeEventListener('abort', onAbort);
      // The cancellation has no effect on a call that has ended.
      running.cancel();
      await running.finished;
    }
  } catch (error) {
    if (!(error instanceof RouterError)) throw error;
    return toFailure(toFailureReason(error), error.message);
  }
}

function findRefusal(call: HostedCall): HostedOutcome | undefined {
  const { hosted } = call;
  if (hosted.kind === 'mcp') return undefined;
  const query = readQuery(call);
  if (query.trim() === '') return toFailure('invalid_input', 'The call lacks its input.');
  if (hosted.kind === 'web_search' || (hosted.allowsUrl?.(query) ?? true)) return undefined;
  return toFailure('url_not_allowed', 'The request does not allow pages of this address.');
}

function toOutcome(call: HostedCall, result: ToolResult, settings: Registry['hosted_tools']): HostedOutcome {
  const { max_result_bytes: maxBytes, web_search: search } = settings;
  const { hosted } = call;
  const text = cutText(readText(result), maxBytes);
  if (hosted.kind === 'mcp') return { kind: 'output', text, isError: result.is_error };
  if (hosted.kind === 'web_fetch' && !isAllowedPage(call, result))
    return toFailure('url_not_allowed', 'The address leads to a page that the request does not allow.');
  if (result.is_error) return toFailure('unavailable', text);
  if (hosted.kind === 'web_fetch') return { kind: 'fetched', url: readQuery(call), text };
  const searchResults = readSearchResults(result, search?.results);
  return {
    kind: 'found',
    results: limitResults(
      searchResults.filter(({ url }) => hosted.allowsUrl?.(url) ?? true),
      maxBytes,
    ),
  };
}

/**
 * Whether the request allows the fetched page. After redirects, this page may differ from the requested page. A result that names no page
 * counts as the requested page.
 */
function isAllowedPage({ hosted }: HostedCall, { structured_content: data }: ToolResult): boolean {
  const url = data?.['url'];
  return typeof url !== 'string' || (hosted.allowsUrl?.(url) ?? true);
}

/** Returns the texts of a result. For a result without text, returns its data as JSON. */
function readText({ content, structured_content: data }: ToolResult): string {
  const texts = content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
  return texts.length > 0 || data === undefined ? texts.join('\n\n') : JSON.stringify(data);
}

/** Limits results to `maxBytes` in total. Each result gets an equal share for its text. Results that do not fit are dropped. */
function limitResults(results: readonly SearchResult[], maxBytes: number): SearchResult[] {
  let bytesLeft = maxBytes;
  return results.flatMap((result, at) => {
    const { title, url, age = '' } = result;
    const otherBytes = Buffer.byteLength(title + url + age);
    const text = cutText(result.text, Math.max(0, Math.floor(bytesLeft / (results.length - at)) - otherBytes));
    bytesLeft -= Buffer.byteLength(text) + otherBytes;
    return bytesLeft < 0 ? [] : [{ ...result, text }];
  });
}

/** Returns at most `maxBytes` from the beginning of a text. */
function cutText(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  let end = Math.min(maxBytes, bytes.length);
  // The cut must not split a character.
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return end === bytes.length ? text : bytes.toString('utf8', 0, end);
}

function toFailure(reason: HostedFailure, message: string): HostedOutcome {
  return { kind: 'failed', reason, message };
}

function toFailureReason({ code }: RouterError): HostedFailure {
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
