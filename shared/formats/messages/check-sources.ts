import { RouterError } from '#shared/core/errors.ts';
import type { MessagesBlock, MessagesMessage } from './request.ts';

/**
 * Checks the data of images and documents with a base64 source.
 * @throws RouterError `invalid_request` that names the first invalid source
 */
export function checkSources(messages: readonly MessagesMessage[]): void {
  for (const [at, { content }] of messages.entries()) checkBlocks(content, `messages.${at}.content`);
}

function checkBlocks(content: string | readonly MessagesBlock[] | null | undefined, path: string): void {
  if (typeof content === 'string') return;
  for (const [at, block] of (content ?? []).entries()) {
    if (block.type === 'tool_result') checkBlocks(block.content, `${path}.${at}.content`);
    if (block.type !== 'image' && block.type !== 'document') continue;
    const { source } = block;
    if (source.type !== 'base64' || isBase64(source.data)) continue;
    const param = `${path}.${at}.source.data`;
    throw new RouterError('invalid_request', `${param}: Input should be valid base64`, { param });
  }
}

/**
 * Whether a text is base64. Allows line breaks, which command-line tools add. Searches for invalid characters, because a pattern for the
 * whole text would overflow on data of many megabytes.
 */
function isBase64(data: string): boolean {
  const padding = data.indexOf('=');
  const end = padding === -1 ? data.length : padding;
  return end > 0 && /^={0,2}[\r\n]*$/.test(data.slice(end)) && !/[^A-Za-z0-9+/\r\n]/.test(data.slice(0, end));
}
