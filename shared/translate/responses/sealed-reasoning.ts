import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import type { ResponsesReasoning } from '#shared/formats/responses/request.ts';
import { parseUpstreamJson } from '../upstreams/parse-upstream-json.ts';

/** The content of a reasoning item. */
export interface Reasoning {
  text: string;
  /** The state that the upstream needs to continue its thinking, such as a signature; undefined if it needs none. */
  sealed: JsonObject | undefined;
}

/** Returns the text to seal as a reasoning item's `encrypted_content`. */
export function writeReasoning({ text, sealed }: Reasoning): string {
  return JSON.stringify({ text, ...(sealed !== undefined && { sealed }) });
}

/**
 * Reads a reasoning item that a client sends back. The text is the sealed text; without it, the `content` of the item; without that, the
 * summary. Content that was sealed for another owner, or by another server, cannot be read.
 */
export function readReasoning(
  item: ResponsesReasoning,
  unseal: ((sealed: string) => string | undefined) | undefined,
): Reasoning {
  const opened = typeof item.encrypted_content === 'string' ? unseal?.(item.encrypted_content) : undefined;
  const content = opened === undefined ? undefined : parseUpstreamJson(opened);
  const { text, sealed } = isJsonObject(content) ? content : {};
  const visibleText = joinTexts(item.content) || joinTexts(item.summary);
  return {
    text: typeof text === 'string' ? text : visibleText,
    sealed: isJsonObject(sealed) ? sealed : undefined,
  };
}

function joinTexts(parts: readonly { text: string }[] | null | undefined): string {
  return (parts ?? []).map(({ text }) => text).join('\n\n');
}
