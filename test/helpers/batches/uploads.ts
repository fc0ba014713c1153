import { randomBytes } from 'node:crypto';
import { toFile, type OpenAI } from 'openai';

/**
 * Uploads this number of random bytes, once.
 * @returns the id of the file
 */
export async function uploadBytes(openai: OpenAI, bytes: number): Promise<string> {
  const file = await toFile(randomBytes(bytes), 'a.bin');
  return (await openai.files.create({ file, purpose: 'user_data' }, { maxRetries: 0 })).id;
}

/** Returns the purposes of all files of an owner, in alphabetical order. */
export async function purposesOf(openai: OpenAI): Promise<string[]> {
  return (await openai.files.list()).data.map(({ purpose }) => purpose).toSorted();
}
