import { isJsonObject, type JsonObject } from '#shared/core/json.ts';
import { ownSignature } from './thinking.ts';

/**
 * The form in which a `messages` client gets a model's thinking. `text`: as text. `omitted`: in a block without text. `none`: not at all,
 * because the client asks for no thinking and would read the first block as the answer.
 */
export type ShownThinking = 'text' | 'omitted' | 'none';

/** Returns the form of thinking that the client asks for, for `Translation.recall`. */
export function readRequestedThinking({ thinking }: JsonObject): { thinking: ShownThinking } {
  if (!isJsonObject(thinking) || thinking['type'] === 'disabled') return { thinking: 'none' };
  return { thinking: thinking['display'] === 'omitted' ? 'omitted' : 'text' };
}

export function readRecalledThinking(recalled: JsonObject | undefined): ShownThinking {
  const shown = recalled?.['thinking'];
  return shown === 'none' || shown === 'omitted' ? shown : 'text';
}

/** Start of a signature that contains the thinking text of a block without text. */
const signatureStart = `${ownSignature}text.`;

/** Writes thinking text as the signature of a block without text, so that the client sends the text back. */
export function writeTextSignature(text: string): string {
  return `${signatureStart}${Buffer.from(text).toString('base64url')}`;
}

/** Reads the text in a signature; undefined for any other signature. */
export function readTextSignature(signature: unknown): string | undefined {
  if (typeof signature !== 'string' || !signature.startsWith(signatureStart)) return undefined;
  return Buffer.from(signature.slice(signatureStart.length), 'base64url').toString();
}
