import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ownSignature } from './thinking.ts';

/**
 * How a `messages` client gets a model's thinking: as `text`; in a block without text (`omitted`); or, if the client does not ask for
 * thinking, not at all (`none`), because such a client reads the first block as the answer.
 */
export type ShownThinking = 'text' | 'omitted' | 'none';

/** Returns how the client wants to get the thinking, for `Translation.recall`. */
export function readRequestedThinking({ thinking }: JsonObject): { thinking: ShownThinking } {
  if (!isJsonObject(thinking) || thinking['type'] === 'disabled') return { thinking: 'none' };
  return { thinking: thinking['display'] === 'omitted' ? 'omitted' : 'text' };
}

export function readRecalledThinking(recalled: JsonObject | undefined): ShownThinking {
  const shown = recalled?.['thinking'];
  return shown === 'none' || shown === 'omitted' ? shown : 'text';
}

/** Start of a signature that contains the thinking text which its block omits. */
const signatureStart = `${ownSignature}text.`;

/** Writes the text of thinking as the signature of a block without text, so that the client sends the text back. */
export function writeTextSignature(text: string): string {
  return `${signatureStart}${Buffer.from(text).toString('base64url')}`;
}

/** Reads the text in a signature; undefined for any other signature. */
export function readTextSignature(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(signatureStart)) return undefined;
  return Buffer.from(signature.slice(signatureStart.length), 'base64url').toString();
}
